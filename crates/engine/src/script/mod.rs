//! Lua 5.4: what sessions and data generators are written in.

mod ask;
pub(crate) mod calls;
pub mod constants;
pub(crate) mod host;
pub mod natives;
pub(crate) mod page;
mod pairs;
pub mod sandbox;
pub(crate) mod session;
mod stack;

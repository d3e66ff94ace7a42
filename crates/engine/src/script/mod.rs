//! Lua 5.4: what sessions and data generators are written in.

pub(crate) mod calls;
pub mod constants;
pub(crate) mod host;
pub mod natives;
pub(crate) mod page;
pub mod sandbox;
pub(crate) mod session;

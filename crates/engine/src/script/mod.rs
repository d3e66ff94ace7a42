//! Lua 5.4: what sessions and data generators are written in.

mod ask;
pub mod budget;
pub(crate) mod calls;
pub mod constants;
mod cpu_budget;
pub mod feeder;
pub(crate) mod host;
mod json;
pub mod natives;
pub mod one_page;
pub(crate) mod page;
mod pairs;
pub(crate) mod parts;
pub(crate) mod promises;
pub mod sandbox;
pub(crate) mod session;
mod stack;

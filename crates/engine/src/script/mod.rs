//! Lua 5.4: what sessions and data generators are written in.

pub mod natives;
pub mod sandbox;

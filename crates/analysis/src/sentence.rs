//! What people read of studies: find, compare, sweep and capacity.

pub mod capacity;
pub mod compare;
pub mod find;
pub mod sweep;

pub use model::units::{number, percent};

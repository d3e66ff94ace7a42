//! What is made once and kept: data sets, file sets, built applications.

pub mod application;
pub mod dataset;
pub(crate) mod file_set;
mod in_use;
mod lock;

pub(crate) use in_use::Use;

//! What is made once and kept: data sets, file sets as they are and as servers settle them, applications that were prepared, what
//! is built from sources.

mod cache;
pub(crate) mod dataset;
pub(crate) mod file_set;
mod filling;
mod in_use;
mod own_file_system;
pub(crate) mod prepared;
pub(crate) mod product;
mod removal;
mod settled_files;
pub(crate) mod shards;

pub(crate) use in_use::Use;
pub use removal::{is_anything_kept, remove_all, remove_unfinished};

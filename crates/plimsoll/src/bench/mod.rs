//! Where the rooms are wired together: a plan becomes a stack with its data, a measured and judged run, a record; and
//! a study becomes trials on real stacks.

pub(crate) mod build;
pub(crate) mod ceiling;
pub(crate) mod dataset;
pub(crate) mod diagnose;
pub(crate) mod file_set;
pub(crate) mod hog;
pub(crate) mod judge;
pub(crate) mod keep;
pub(crate) mod lock;
pub(crate) mod measure;
pub(crate) mod measuring;
pub(crate) mod outcome;
pub(crate) mod pace;
pub(crate) mod page_cache;
pub(crate) mod prove;
pub(crate) mod server;
pub(crate) mod setup;
pub(crate) mod signals;
pub(crate) mod stage;
pub(crate) mod trial;
pub(crate) mod watching;

//! A sweep.

pub(crate) mod cells;
pub(crate) mod published;

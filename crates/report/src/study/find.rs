//! A find.

pub(crate) mod course;

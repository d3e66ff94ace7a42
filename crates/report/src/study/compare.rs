//! A comparison.

pub(crate) mod blocks;

//! Users that a fleet's agents drive instead of this process.

pub mod agent;
mod build;
mod bundle;
pub mod choice;
pub(crate) mod local;
pub(crate) mod standing;

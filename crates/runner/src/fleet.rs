//! Users that a fleet's agents drive instead of this process.

pub mod agent;
mod broker;
mod build;
mod bundle;
pub mod choice;
pub mod down;
pub mod folder;
pub(crate) mod handed_over;
pub mod health;
mod hosts;
pub mod init;
mod leftovers;
mod local;
pub mod look;
mod named;
mod placed;
mod roles;
pub(crate) mod set_up;
pub(crate) mod standing;
pub mod status;
pub(crate) mod taking_over;
pub mod up;

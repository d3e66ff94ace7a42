//! A kit's SQL: how the private database is reached, and its files as statements that know their lines.

pub(crate) mod file;
pub(crate) mod server;

pub use server::Server;

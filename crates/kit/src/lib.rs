//! Kits (layer 2): a kit's folder in the catalogue becomes a scenario for the engine ([`scenario`]), a data set in a database
//! ([`data::load`]), which can be shared out over several ([`shards`]), a set of files ([`files::make`]), sources to build the
//! application from ([`build::Sources`]) and a correctness check after a run ([`check()`]).
//!
//! The principal type is [`Kit`], a folder that has been read. A new workload is a new folder; nothing in this room
//! knows a particular one.
//!
//! Not here: servers (they are stood up by others, who hand in a socket), snapshots, text for a terminal.

mod check;
mod copies;
mod folder;
mod lint;
mod operations;
mod scenario;
mod script;
mod sql;

pub mod build;
pub mod data;
pub mod files;
pub mod shards;

pub use check::{CheckInputs, CheckOptions, check, open_transactions};
pub use copies::{Copies, compare_copies};
pub use folder::{Kit, Setup};
pub use lint::{check_published, check_targets, lint, notes};
pub use operations::occurrences;
pub use scenario::scenario;
pub use sql::Server;

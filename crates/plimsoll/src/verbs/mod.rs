//! One file a verb: its arguments, and what it does with the rooms.

pub(crate) mod capacity;
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod faults;
pub(crate) mod find;
pub(crate) mod finish;
pub(crate) mod hit;
pub(crate) mod keeper;
pub(crate) mod kept;
pub(crate) mod list;
pub(crate) mod observer;
pub(crate) mod reader;
pub(crate) mod recipe_args;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod server_args;
pub(crate) mod show;
pub(crate) mod sweep;
pub(crate) mod try_kit;
pub(crate) mod up;

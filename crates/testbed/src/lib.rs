//! Private servers (layer 1): starts, confines, watches and removes them, and leaves nothing behind however the tool
//! ends.
//!
//! The principal type is [`Lab`]: what one run of the tool owns on this machine. Its other half is the
//! [`keeper`], a small process that outlives the tool by exactly as long as it takes to remove the lab. Every change to
//! the machine is a line in the lab's ledger; undo is the ledger's replay, by the lab itself, by its keeper, or by the
//! next [`sweep`].
//!
//! Beside labs: [`ssh`] starts processes on other machines, and [`Detached`] some here, that outlive the tool until it is told
//! to end them.
//!
//! Not here: what a server's numbers mean (`observe`), which data set is loaded (`kit`), what is started for which run
//! (`experiment`), anything for a terminal (`plimsoll`). No server program is named in this room: services are folders
//! of data in `catalogue/services`.

mod app;
mod apply;
mod build;
mod cgroup;
mod controller;
mod core_file;
mod delays;
mod detached;
mod disk;
mod guarded;
mod helper;
mod holds;
mod host;
mod image;
mod inject;
mod iproute;
mod job;
pub mod keeper;
mod killed;
mod lab;
mod launch;
mod ledger;
mod limits;
mod link_probe;
mod links;
mod listener;
mod log;
mod machine;
mod mounting;
mod needed;
mod network;
mod owner;
pub mod packages;
pub mod page_cache;
mod port;
mod prepare;
pub mod process;
pub mod program;
mod quiet;
mod ready;
mod refusal;
mod render;
mod slow;
pub mod snapshot;
pub mod ssh;
mod stack;
mod star;
mod start;
mod status;
mod subnet;
mod sweep;
pub mod switch;
#[cfg(test)]
mod tests;
mod toll;
mod undo;
mod unmount;

pub use app::check_app;
pub use build::BuildCommand;
pub use core_file::{CoreFile, allow_cores, core_file};
pub use detached::{Detached, LastingProcess, StopOutcome};
pub use helper::{Helper, Helping};
pub use host::{check_hosts, try_host};
pub use image::{Mounted, check_images, make_image};
pub use keeper::KeeperCommand;
pub use lab::{Lab, LabOptions};
pub use launch::{Launch, Running};
pub use link_probe::{LinkFigures, RoundTrips};
pub use machine::{MachineKnobFound, check_machine, look_at_machine};
pub use needed::Needed;
pub use prepare::{available_memory_bytes, numbered};
pub use process::boot_id;
pub use program::BuiltServers;
pub use quiet::{be_usual, keep_process_quiet};
pub use ready::Ask;
pub use refusal::HostRefusal;
pub use stack::{AlarmSeen, Death, Instance, Stack, Stopped, Tier};
pub use start::{SettledFiles, Snapshots, StartOptions, Step, StepEvent};
pub use status::check as check_service;
pub use sweep::{Swept, sweep};

/// The directory in which labs make their cgroups; `None` where this process may make none.
pub fn cgroup_root() -> Option<std::path::PathBuf> {
    let base = cgroup::writable_base()?;
    // Trying made it; it goes again unless a lab is in it.
    let _ = std::fs::remove_dir(&base);
    Some(base)
}

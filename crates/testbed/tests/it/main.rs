//! The testbed on real processes and real servers.
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod bench;
mod cached;
mod cleanup;
mod data;
mod faults;
mod files;
mod held;
mod kept_files;
mod packaging;
mod servers;
mod stacks;
mod tiny;
mod waiting;

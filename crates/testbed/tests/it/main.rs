//! The testbed on real processes and real servers.
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod bench;
mod cleanup;
mod stacks;
mod waiting;

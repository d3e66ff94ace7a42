//! The testbed on real processes and real servers.

mod cleanup;
mod waiting;

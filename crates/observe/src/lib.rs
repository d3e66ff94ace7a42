//! Reads the machine and the tiers (layer 1): CPU, memory and waiting, as series of one point a second.
//!
//! The principal type is [`Watch`]: made once for a run, asked once a second, it gives the readings since the last
//! time and keeps them all. Behind it stand [`TierProbe`] (a tier's CPU and memory, from its cgroup or its process
//! tree), [`HostProbe`] (all CPUs, steal among it) and [`OwnProbe`] (this process and its threads), [`Servers`] (what servers tell about themselves). [`machine`]
//! describes what the run runs on.
//!
//! Everything is read, nothing is written, and nothing read may be taken for granted: a process that vanishes between
//! two reads, a file that this kernel doesn't have, are absent figures and never errors.
//!
//! Not here: starting or confining anything (`testbed`), means over a run (`analysis`).

mod cgroup;
mod host;
mod machine;
mod own;
mod process;
mod reread;
mod servers;
mod tier;
mod watch;

pub use cgroup::{cgroup2_mount, cgroup2_of};
pub use host::{CpuTimes, HostProbe, HostSample};
pub use machine::machine;
pub use own::{OwnProbe, OwnSample, ThreadUsage};
pub use process::{ProcessTable, ProcessUsage};
pub use servers::Servers;
pub use tier::{TierProbe, TierSample};
pub use watch::Watch;

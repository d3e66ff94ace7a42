//! Reads the machine and the tiers (layer 1): CPU, memory and waiting, as series of one point a second.
//!
//! The principal type is [`Watch`]: made once for a run, asked once a second, it gives the readings since the last
//! time. It lives in a process of its own, whose whole life is [`observer`]: what it costs is then seen and confined.
//! Behind it stand [`TierProbe`] (a tier's CPU and memory, from its cgroup or its process tree), [`HostProbe`] (all CPUs,
//! steal among it) and [`Servers`] (what servers tell about themselves). Only [`OwnWatch`], the generator's look at itself, runs in the tool. [`machine`] describes
//! what the run runs on.
//!
//! Everything is read, nothing is written, and nothing read may be taken for granted: a process that vanishes between
//! two reads, a file that this kernel doesn't have, are absent figures and never errors.
//!
//! Not here: starting or confining anything (`testbed`), means over a run (`analysis`).

mod cgroup;
mod facilities;
mod host;
mod host_more;
mod job;
mod machine;
mod memory_limit;
pub mod observer;
mod own;
mod own_watch;
mod points;
mod process;
mod reread;
mod servers;
mod sockets;
mod threads;
mod tier;
mod tier_more;
mod watch;

pub use cgroup::{cgroup2_mount, cgroup2_of};
pub use facilities::{Facility, facilities};
pub use host::{CpuTimes, HostProbe, HostSample};
pub use job::{Answer, GENERATOR, Job, OBSERVERS, TierJob};
pub use machine::machine;
pub use own::{OwnProbe, OwnSample, ThreadUsage};
pub use own_watch::OwnWatch;
pub use process::{ProcessTable, ProcessUsage};
pub use servers::Servers;
pub use tier::{TierProbe, TierSample};
pub use watch::Watch;

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
mod instrument;
mod job;
mod machine;
pub mod observer;
mod points;
mod process;
mod reread;
mod server;
mod sockets;
mod tier;
mod watch;

pub use cgroup::{cgroup2_mount, cgroup2_of};
pub use facilities::{Facility, facilities};
pub use host::{CpuTimes, HostProbe, HostSample};
pub use instrument::{OwnProbe, OwnSample, OwnWatch, ThreadUsage};
pub use job::{Answer, GENERATOR, Job, OBSERVERS, TierJob};
pub use machine::machine;
pub use process::{ProcessTable, ProcessUsage};
pub use server::Servers;
pub use tier::{TierProbe, TierSample};
pub use watch::Watch;

//! Reads the machine and the tiers (layer 1): CPU, memory and waiting, as series of one point a second.
//!
//! The principal type is [`Watch`]: made once for a run, asked once a second, it gives the readings since the last
//! time. It lives in a process of its own, whose whole life is [`observer`]: what it costs is then seen and confined.
//! Behind it stand the observers of `host` (the machine) and `tier` (what the kernel says of a tier), and [`Servers`]
//! (what servers tell about themselves). Only [`OwnWatch`], the generator's look at itself, runs in the tool. Each observer
//! declares the [`signals`] that it gives. [`machine`] describes what the run runs on.
//!
//! Everything is read, nothing is written, and nothing read may be taken for granted: a process that vanishes between
//! two reads, a file that this kernel doesn't have, are absent figures and never errors.
//!
//! Not here: starting or confining anything (`testbed`), means over a run (`analysis`).

mod abort_on;
mod calls;
mod cgroup;
mod facilities;
mod host;
mod instrument;
mod job;
mod machine;
pub mod observer;
mod points;
mod process;
mod random;
mod rates;
mod reread;
mod server;
mod sockets;
mod tier;
mod watch;

use model::Signal;

pub use abort_on::AbortOn;
pub use cgroup::{cgroup2_mount, processes as processes_of_cgroup};
pub use facilities::{Facility, facilities};
pub use host::StealSince;
pub use instrument::OwnWatch;
pub use job::{Answer, CallCounting, Job, NETWORK, TierJob};
pub use machine::machine;
pub use model::record::instrument::{GENERATOR, OBSERVERS, VIEWER};
pub use process::is_living;
pub use server::{Servers, figures};
pub use watch::Watch;

/// Every signal that an observer gives: of tiers, then of the machine. Those of a server's own are in its manifest.
pub fn signals() -> impl Iterator<Item = Signal> {
    tier::signals()
        .chain(host::signals_of_far().cloned())
        .chain(calls::SIGNALS.iter().copied().cloned())
        .chain(server::SIGNALS.iter().copied().cloned())
        .chain(host::signals().cloned())
}

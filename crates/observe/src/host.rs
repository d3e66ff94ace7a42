//! The machine, one file an observer.

mod cpu;
mod more;

pub use cpu::{CpuTimes, HostProbe, HostSample};
pub(crate) use more::HostMore;

//! A tier as the kernel sees it, one file an observer.

mod memory_limit;
mod more;
mod threads;
mod usage;

pub(crate) use more::{TierMore, stalled_s};
pub(crate) use threads::Threads;
pub use usage::{TierProbe, TierSample};

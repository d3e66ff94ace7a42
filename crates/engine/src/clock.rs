//! Where times come from. The engine is generic over it, so that every timing claim can be tested on a virtual clock.

use std::time::Instant;

/// A monotonic clock; nanoseconds since the run's start, negative times do not exist.
pub trait Clock {
    /// Now.
    fn now_ns(&self) -> u64;
}

/// The machine's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock {
    origin: Instant,
}

impl MonotonicClock {
    /// A clock that reads 0 at `origin` and before it.
    pub fn starting(origin: Instant) -> MonotonicClock {
        MonotonicClock { origin }
    }
}

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        Instant::now().saturating_duration_since(self.origin).as_nanos() as u64
    }
}

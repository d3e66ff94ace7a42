//! Where times come from. The engine is generic over it, so that every timing claim can be tested on a virtual clock.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A monotonic clock; nanoseconds since the run's start.
pub trait Clock {
    /// Now.
    fn now_ns(&self) -> u64;

    /// It stood still for that long up to now, for all clones.
    fn leave_out(&self, length: Duration);
}

/// The machine's monotonic clock. A thread makes its own before the run's start is known, and sets it then; until
/// then, and until the start itself, it reads 0.
#[derive(Debug, Clone, Default)]
pub struct MonotonicClock {
    origin: Rc<Cell<Option<Instant>>>,
}

impl MonotonicClock {
    /// Sets the run's start, for all clones.
    pub fn start_at(&self, origin: Instant) {
        self.origin.set(Some(origin));
    }
}

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        self.origin
            .get()
            .map_or(0, |origin| Instant::now().saturating_duration_since(origin).as_nanos() as u64)
    }

    fn leave_out(&self, length: Duration) {
        self.origin.set(self.origin.get().map(|origin| origin + length));
    }
}

//! A run's beginning in the hands of somebody else: the run gets ready, says so, and waits for the time that it is given.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where a run waits, ready, until all others with which it begins are so too.
#[derive(Debug, Clone, Default)]
pub struct Barrier(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_armed: bool,
    start: Option<Start>,
    max_late: Duration,
}

#[derive(Debug, Clone, Copy)]
enum Start {
    At(Instant),
    Never,
}

impl Barrier {
    /// The first second begins at that time.
    pub fn set(&self, origin: Instant) {
        self.decide(Start::At(origin));
    }

    /// The run doesn't begin; one that has begun is not touched.
    pub fn call_off(&self) {
        self.decide(Start::Never);
    }

    /// Whether all threads of the run stand ready.
    pub fn is_armed(&self) -> bool {
        self.state().is_armed
    }

    /// Whether it was called off before it began.
    pub fn is_called_off(&self) -> bool {
        matches!(self.state().start, Some(Start::Never))
    }

    /// How long after the time that was set the last thread began that has begun so far.
    pub fn max_late(&self) -> Duration {
        self.state().max_late
    }

    /// All threads stand ready: waits for the time, or for word that there will be none.
    pub(crate) fn arm(&self) -> Option<Instant> {
        let mut state = self.state();
        state.is_armed = true;
        loop {
            match state.start {
                Some(Start::At(origin)) => return Some(origin),
                Some(Start::Never) => return None,
                None => state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// A thread has begun so long after the time that was set.
    pub(crate) fn began(&self, late: Duration) {
        let mut state = self.state();
        state.max_late = state.max_late.max(late);
    }

    fn decide(&self, start: Start) {
        self.state().start.get_or_insert(start);
        self.0.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Stopping a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Stops a run from outside, from a signal handler's thread for one.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<AtomicU8>);

/// How a run is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Not at all.
    No,
    /// No new sessions; those under way may end within the drain time.
    Gently,
    /// Now.
    AtOnce,
}

impl Control {
    /// Asks for a stop; a later, harder one wins.
    pub fn ask(&self, stop: Stop) {
        self.0.fetch_max(stop as u8, Ordering::Relaxed);
    }

    /// Whether both stop the same run.
    pub fn is(&self, other: &Control) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What has been asked for.
    pub fn stop(&self) -> Stop {
        match self.0.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Gently,
            _ => Stop::AtOnce,
        }
    }
}

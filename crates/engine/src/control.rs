//! Steering a run from outside: stopping it, and the number of its users.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Steers a run from outside, from a signal handler's thread for one.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<Asked>);

/// What has been asked for.
#[derive(Debug, Default)]
struct Asked {
    /// A [`Stop`].
    stop: AtomicU8,
    /// Users of a load that is changed by hand; 0 before anybody asked for a number.
    users: AtomicU32,
}

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
        self.0.stop.fetch_max(stop as u8, Ordering::Relaxed);
    }

    /// Asks for a number of users over all threads, from 1 to the load's most; more than that are not given. A load that nobody
    /// may change stays as it is. Who is there too many leaves when it would begin its next session.
    pub fn ask_users(&self, users: u32) {
        self.0.users.store(users, Ordering::Relaxed);
    }

    /// The number of users that was asked for last.
    pub(crate) fn users(&self) -> Option<u32> {
        Some(self.0.users.load(Ordering::Relaxed)).filter(|users| *users > 0)
    }

    /// Whether both steer the same run.
    pub fn is(&self, other: &Control) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What has been asked for.
    pub fn stop(&self) -> Stop {
        match self.0.stop.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Gently,
            _ => Stop::AtOnce,
        }
    }
}

//! The user's wish to stop: once means "end well and keep what was measured", twice "at once".

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::{Control, Stop};
use model::{Kind, Problem, Result};

/// The user's wish to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    asked: Arc<AtomicUsize>,
    /// Set when it is asked for; for rooms that only need to know that much.
    pub cancelled: Arc<AtomicBool>,
    /// Of the runs that are under way.
    running: Arc<Mutex<Vec<Control>>>,
}

impl Interrupt {
    /// The user asks to stop. False when nobody will act on it, because no run is under way or it was asked twice
    /// already.
    pub fn ask(&self) -> bool {
        let count = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.cancelled.store(true, Ordering::SeqCst);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let stop = if count == 1 { Stop::Gently } else { Stop::AtOnce };
        running.iter().for_each(|control| control.ask(stop));
        count == 1 || count == 2 && !running.is_empty()
    }

    /// How often the user has asked to stop.
    pub fn count(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// An error when the user has asked to stop: nothing has been measured yet.
    pub fn check(&self) -> Result<()> {
        if self.count() == 0 {
            return Ok(());
        }
        Err(Problem::new(Kind::Interrupted, "interrupted before anything was measured").into())
    }

    /// The run is over: the wish no longer reaches its control.
    pub fn release(&self, control: &Control) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| !other.is(control));
    }

    /// Lets the wish reach a run's control until [`Self::release`].
    pub fn steer(&self, control: &Control) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(control.clone());
        match self.count() {
            0 => {}
            1 => control.ask(Stop::Gently),
            _ => control.ask(Stop::AtOnce),
        }
    }
}

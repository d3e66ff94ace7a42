//! Ctrl-C, SIGTERM and SIGHUP: once means "end well and keep what was measured", twice "at once". Where no run is under
//! way, and after that, the next one ends the process itself: the keeper removes what it leaves.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::{Control, Stop};
use model::{Kind, Problem, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The user's wish to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    signals: Arc<AtomicUsize>,
    /// Set with the first signal; for rooms that only need to know that much.
    pub(crate) cancelled: Arc<AtomicBool>,
    running: Arc<Mutex<Option<Control>>>,
}

impl Interrupt {
    /// Takes over SIGINT and SIGTERM for this process, and SIGHUP unless it is ignored already (`nohup`).
    pub(crate) fn watch() -> Result<Interrupt> {
        let interrupt = Interrupt::default();
        let hangup = (!hangup_is_ignored()).then_some(SIGHUP);
        let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))
            .map_err(|error| Problem::environment(format!("failed to watch for signals: {error}")))?;
        let watcher = interrupt.clone();
        let body = move || signals.forever().for_each(|_| watcher.came());
        std::thread::Builder::new()
            .name("signals".to_string())
            .spawn(body)
            .map_err(|error| Problem::environment(format!("failed to start a thread: {error}")))?;
        Ok(interrupt)
    }

    fn came(&self) {
        let count = self.signals.fetch_add(1, Ordering::SeqCst) + 1;
        self.cancelled.store(true, Ordering::SeqCst);
        match (&*self.running.lock().unwrap_or_else(PoisonError::into_inner), count) {
            (_, 1) | (Some(_), 2) => {}
            // Only this ends a wait for a server that hangs.
            #[allow(clippy::exit)]
            _ => std::process::exit(Kind::Interrupted.exit_code().into()),
        }
        if let Some(control) = &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            control.ask(if count == 1 { Stop::Gently } else { Stop::AtOnce });
        }
    }

    /// How often the user has asked to stop.
    pub(crate) fn count(&self) -> usize {
        self.signals.load(Ordering::SeqCst)
    }

    /// An error when the user has asked to stop: nothing has been measured yet.
    pub(crate) fn check(&self) -> Result<()> {
        if self.count() == 0 {
            return Ok(());
        }
        Err(Problem::new(Kind::Interrupted, "interrupted before anything was measured").into())
    }

    /// The run is over: signals no longer reach its control.
    pub(crate) fn release(&self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Lets signals reach a run's control until [`Self::release`].
    pub(crate) fn steer(&self, control: &Control) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(control.clone());
        match self.count() {
            0 => {}
            1 => control.ask(Stop::Gently),
            _ => control.ask(Stop::AtOnce),
        }
    }
}

/// Bit 0 of the mask of ignored signals is SIGHUP (proc_pid_status(5)).
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

//! Time slices: several runs on one machine of which one goes on at a time, while the clocks of the others stand still.
//!
//! What changes on a machine from one ten seconds to the next hits two runs that follow each other differently, and two
//! that take turns every second alike. To its users a run that takes turns looks like one that has the machine to
//! itself: their pauses, their schedules and every second that is recorded leave out the time in which it rested.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a slice lasts, and who has it. All runs that share it must be on threads of their own.
#[derive(Debug)]
pub struct TimeSlices {
    length: Duration,
    state: Mutex<State>,
    changed: Condvar,
    /// Users of each run who were waiting for an answer when it rested.
    interrupted: Vec<AtomicU64>,
}

#[derive(Debug)]
struct State {
    /// Threads of each run that are there; absent for a run that has not come yet.
    threads: Vec<Option<usize>>,
    /// The run whose turn it is; nobody's until all have come.
    whose: Option<usize>,
    /// Threads of that run that have stopped.
    resting: usize,
    /// When the last of each run's threads stopped.
    stopped: Vec<Option<Instant>>,
    /// When the slice under way began.
    began: Instant,
}

impl TimeSlices {
    /// For this number of runs.
    pub fn new(runs: usize, length: Duration) -> Arc<TimeSlices> {
        let state = State {
            threads: vec![None; runs],
            whose: None,
            resting: 0,
            stopped: vec![None; runs],
            began: Instant::now(),
        };
        let interrupted = (0..runs).map(|_| AtomicU64::new(0)).collect();
        Arc::new(TimeSlices { length, state: Mutex::new(state), changed: Condvar::new(), interrupted })
    }

    /// A run that will not come, or has ended before its threads were there: nobody waits for it. One that came is left
    /// alone.
    pub fn leave_out(&self, run: usize) {
        let mut state = self.state();
        if state.threads[run].is_none() {
            state.threads[run] = Some(0);
            state.begin_if_complete();
            self.changed.notify_all();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked held it for no longer than a few assignments: what is in it is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, mut state: MutexGuard<'_, State>, run: usize) {
        while state.whose != Some(run) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    fn begin_if_complete(&mut self) {
        if self.whose.is_none() && self.threads.iter().all(Option::is_some) {
            self.pass_on(self.threads.len() - 1);
        }
    }

    /// The next run after this one that has a thread gets the slice; the same again where it is the only one.
    fn pass_on(&mut self, after: usize) {
        let runs = self.threads.len();
        let order = (1..=runs).map(|step| (after + step) % runs);
        let next = order.into_iter().find(|run| self.threads[*run].is_some_and(|threads| threads > 0));
        (self.whose, self.resting, self.began) = (next, 0, Instant::now());
    }
}

/// A run's part in time slices.
#[derive(Debug, Clone)]
pub struct Share {
    slices: Arc<TimeSlices>,
    run: usize,
}

impl Share {
    /// That of run number `run`, from 0.
    pub fn of(slices: &Arc<TimeSlices>, run: usize) -> Share {
        Share { slices: Arc::clone(slices), run }
    }

    /// Operations that were waiting for an answer when the run rested: of what they took, that is left out.
    pub fn interrupted(&self) -> u64 {
        self.slices.interrupted[self.run].load(Ordering::Relaxed)
    }

    /// Leaves the run out when this is dropped without the run having come: whoever may fail before it begins holds it.
    pub fn or_leave_out(&self) -> LeaveOut<'_> {
        LeaveOut { share: self }
    }

    /// The run has come, with this number of threads.
    pub(crate) fn join(&self, threads: usize) {
        let mut state = self.slices.state();
        state.threads[self.run] = Some(threads);
        state.begin_if_complete();
        self.slices.changed.notify_all();
    }

    /// A seat for one of these threads, to be taken on it.
    pub(crate) fn seat(&self) -> Seat {
        Seat { share: self.clone() }
    }
}

/// Leaves a run out when dropped, if it has not come.
#[derive(Debug)]
pub struct LeaveOut<'a> {
    share: &'a Share,
}

impl Drop for LeaveOut<'_> {
    fn drop(&mut self) {
        self.share.slices.leave_out(self.share.run);
    }
}

/// One thread of a run that takes turns; dropping it leaves.
#[derive(Debug)]
pub(crate) struct Seat {
    share: Share,
}

impl Seat {
    /// How long a slice lasts.
    pub(crate) fn slice_ns(&self) -> u64 {
        self.share.slices.length.as_nanos() as u64
    }

    /// Waits until it is this run's first turn, which begins then; how long that was after `since`.
    pub(crate) fn begin(&self, since: Instant) -> Duration {
        let Share { slices, run } = &self.share;
        slices.wait(slices.state(), *run);
        slices.state().began.saturating_duration_since(since)
    }

    /// The slice is over and this thread has stopped, with `waiting` users of its own who wait for an answer: waits until it
    /// is the run's turn again. How long all of the run rested: its clocks stood still for that long.
    pub(crate) fn rest(&self, waiting: u64) -> Duration {
        let Share { slices, run } = &self.share;
        slices.interrupted[*run].fetch_add(waiting, Ordering::Relaxed);
        let mut state = slices.state();
        state.resting += 1;
        let is_last = Some(state.resting) == state.threads[*run];
        if is_last {
            state.stopped[*run] = Some(Instant::now());
            state.pass_on(*run);
            slices.changed.notify_all();
        } else {
            // The last one to stop passes the slice on: this turn is over when it has.
            let began = state.began;
            while state.began == began {
                state = slices.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        slices.wait(state, *run);
        let state = slices.state();
        let stopped = state.stopped[*run].unwrap_or(state.began);
        state.began.saturating_duration_since(stopped)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Share { slices, run } = &self.share;
        let mut state = slices.state();
        let left = state.threads[*run].unwrap_or(1) - 1;
        state.threads[*run] = Some(left);
        // Where the others of its run rest already, it was the last one that they waited for.
        if state.whose == Some(*run) && state.resting == left {
            state.stopped[*run] = Some(Instant::now());
            state.pass_on(*run);
        }
        slices.changed.notify_all();
    }
}

//! Runs that begin at the same moment, and that end when one of them can't go on.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One of several such runs.
#[derive(Debug, Clone)]
pub(crate) struct Together {
    common: Arc<Common>,
}

#[derive(Debug)]
struct Common {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Those that have not come to their beginning yet.
    awaited: usize,
    /// One has ended before its time.
    over: bool,
}

impl Together {
    /// All of that number.
    pub(crate) fn all(count: usize) -> Vec<Together> {
        let state = Mutex::new(State { awaited: count, over: false });
        let common = Arc::new(Common { state, changed: Condvar::new() });
        vec![Together { common }; count]
    }

    /// Waits until all have come here; at once where one has ended before that.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        state.awaited = state.awaited.saturating_sub(1);
        self.common.changed.notify_all();
        while state.awaited > 0 && !state.over {
            state = self.common.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// This one can't go on: what the others would still measure is no part of anything.
    pub(crate) fn end_all(&self) {
        self.state().over = true;
        self.common.changed.notify_all();
    }

    /// Whether one of them has ended before its time.
    pub(crate) fn is_over(&self) -> bool {
        self.state().over
    }

    /// Ends all when this is dropped before it is done: whoever may fail holds it.
    pub(crate) fn or_end_all(&self) -> EndsAll {
        EndsAll { together: Some(self.clone()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whoever panicked with it left whole values.
        self.common.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends all when dropped, unless it was done.
#[derive(Debug)]
pub(crate) struct EndsAll {
    together: Option<Together>,
}

impl EndsAll {
    /// This one has come to its end.
    pub(crate) fn done(mut self) {
        self.together = None;
    }
}

impl Drop for EndsAll {
    fn drop(&mut self) {
        self.together.iter().for_each(Together::end_all);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn nobody_begins_before_the_last_one_has_come() {
        let come = AtomicUsize::new(0);
        let seen: Vec<usize> = thread::scope(|scope| {
            let begin = |together: Together| {
                let come = &come;
                scope.spawn(move || {
                    come.fetch_add(1, Ordering::SeqCst);
                    together.begin();
                    come.load(Ordering::SeqCst)
                })
            };
            let threads: Vec<_> = Together::all(5).into_iter().map(begin).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
        });
        assert_eq!(seen, [5; 5]);
    }

    #[test]
    fn whoever_waits_goes_on_when_another_can_never_come() {
        let [one, two] = <[Together; 2]>::try_from(Together::all(2)).expect("two of two");
        let waiting = thread::spawn(move || {
            one.begin();
            one.is_over()
        });
        drop(two.or_end_all());
        assert!(waiting.join().expect("it ends"), "and knows why");
    }
}

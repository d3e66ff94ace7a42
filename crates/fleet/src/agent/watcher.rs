//! An agent's watcher of one run: reads the tiers of its machine once a second, at the run's own seconds, on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use observe::observer::Observer;
use observe::{Answer, Job, TierJob};

use crate::bus::{Kind, Teller, now_ns};
use crate::observed::Observed;
use crate::watched::WatchedTier;

/// Rates over less say more about the moment than about a second: the last reading follows the one before it at once.
const MIN_STEP: Duration = Duration::from_millis(250);

/// Tiers whose processes were found on this machine.
#[derive(Debug)]
pub(super) struct Watched(Vec<TierJob>);

impl Watched {
    /// Looks for the tiers' processes.
    pub(super) fn find(tiers: &[WatchedTier]) -> Result<Watched, String> {
        if tiers.is_empty() {
            return Err("it is to watch, and its controller doesn't say what".to_string());
        }
        // All that is wrong at once: each is a machine away from who reads it.
        let (found, wrong): (Vec<_>, Vec<_>) =
            tiers.iter().map(WatchedTier::job).partition(std::result::Result::is_ok);
        match wrong.is_empty() {
            true => Ok(Watched(found.into_iter().flatten().collect())),
            false => Err(wrong.into_iter().filter_map(Result::err).collect::<Vec<_>>().join("; ")),
        }
    }
}

/// What is said to its thread.
enum Word {
    /// The first second begins then.
    Begin(Instant),
    /// Say the last.
    Stop,
}

/// It watches, or is about to.
pub(super) struct Watcher {
    words: Sender<Word>,
    thread: Option<JoinHandle<Result<(), String>>>,
    ended: Option<Result<(), String>>,
}

impl Watcher {
    /// Opens what it will read; the first second begins when [`Self::begin_at`] says so.
    pub(super) fn arm(Watched(tiers): Watched, teller: Arc<Teller>) -> Result<Watcher, String> {
        let (words, hears) = channel();
        let job = Job { tiers, generator: std::process::id(), tiers_only: true, ..Job::default() };
        let thread = thread::Builder::new()
            .name("agent-watch".to_string())
            .spawn(move || watch(&job, &hears, &teller))
            .map_err(|error| format!("failed to start a thread: {error}"))?;
        Ok(Watcher { words, thread: Some(thread), ended: None })
    }

    /// The first second begins then, by this machine's CLOCK_MONOTONIC.
    pub(super) fn begin_at(&self, at_ns: i64) {
        let ahead_ns = u64::try_from(at_ns.saturating_sub(now_ns())).unwrap_or(0);
        self.say(Word::Begin(Instant::now() + Duration::from_nanos(ahead_ns)));
    }

    pub(super) fn stop(&self) {
        self.say(Word::Stop);
    }

    fn say(&self, word: Word) {
        // A thread that has ended needs no word.
        _ = self.words.send(word);
    }

    /// Whether it has.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// How it ended, once it has.
    pub(super) fn ended(&mut self) -> Option<Result<(), String>> {
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            let fault = |_| Err("the observer has a fault of its own".to_string());
            self.ended = Some(thread.join().unwrap_or_else(fault));
        }
        self.ended.clone()
    }

    /// Ends it, and waits for that.
    pub(super) fn close(mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // What it says of its end nobody wants any more.
            _ = thread.join();
        }
    }
}

/// Until it is to stop: a reading when the run begins, and one at the end of each of its seconds.
fn watch(job: &Job, words: &Receiver<Word>, teller: &Teller) -> Result<(), String> {
    let (mut observer, first) = Observer::begin(job);
    let Ok(Word::Begin(begins)) = words.recv() else { return Ok(()) };
    let tell = |second, is_last, answer| {
        let message = Observed::of(second, is_last, answer).encode()?;
        teller.tell(Kind::Observe, &message).map_err(|error| error.to_string())
    };
    let mut beside = Some(first);
    let mut second = 0;
    let mut read = begins;
    loop {
        let due = begins + Duration::from_secs(u64::from(second));
        let word = words.recv_timeout(due.saturating_duration_since(Instant::now()));
        let is_last = !matches!(word, Err(RecvTimeoutError::Timeout));
        let now = Instant::now();
        let is_too_soon = is_last && (now < begins || now < read + MIN_STEP);
        let mut answer = match is_too_soon {
            true => Answer::default(),
            // Counts have the time at which they are read.
            false => observer.sample(now.saturating_duration_since(begins).as_secs_f64()),
        };
        read = now;
        if let Some(Answer { sources, unseen, .. }) = beside.take() {
            answer.sources.splice(0..0, sources);
            answer.unseen.splice(0..0, unseen);
        }
        tell(second, is_last, answer)?;
        if is_last {
            return Ok(());
        }
        // A machine that stood still has no reading of the seconds in between.
        let over = now.saturating_duration_since(begins).as_secs();
        second = u32::try_from(over).unwrap_or(u32::MAX).max(second).saturating_add(1);
    }
}

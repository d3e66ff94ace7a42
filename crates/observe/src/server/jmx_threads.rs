//! What the threads of a JVM that have a request are at: the JMX proxy's answer to `dumpAllThreads`.
//!
//! A line of the answer is a thread, some kilobytes long, because it describes its types again and again. The JVM stops
//! all of its threads for a moment to make it, so that a dump that took long is followed by a longer pause.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::catalogue::service::RequestThreads;
use model::record::threads::{ThreadPlace, ThreadState, ThreadsSeen};

use super::exchange::{Asker, wrong};
use super::figures::Figures;
use super::{http, jmx};

/// What the answer begins with.
const RETURNED: &str = "OK - Operation dumpAllThreads returned:";
/// Packages that come with a JVM: what a program does in them it does for one of its own methods.
const PLATFORM: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];
/// After a dump no other is asked for until the number of times what it took.
const PAUSE_FACTOR: u32 = 50;
/// Places that are told apart between two answers; there are never more in so few looks.
const MAX_PLACES: usize = 1_000;

/// The places at which threads were seen, shared between the thread that asks and the watch.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<BTreeMap<ThreadPlace, u64>>);

impl Places {
    fn add(&self, place: ThreadPlace) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() < MAX_PLACES || places.contains_key(&place) {
            *places.entry(place).or_default() += 1;
        }
    }

    /// What is new since the last call, of the tier of that name.
    pub(super) fn take(&self, tier: &str) -> Vec<ThreadsSeen> {
        let places = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let seen = |(place, threads)| ThreadsSeen { tier: tier.to_string(), place, threads };
        places.into_iter().map(seen).collect()
    }
}

/// Reads dumps of one JVM.
#[derive(Debug)]
pub(super) struct Threads {
    requests: RequestThreads,
    places: Arc<Places>,
    /// Before that no other dump is asked for.
    not_before: Option<Instant>,
}

impl Threads {
    pub(super) fn new(requests: RequestThreads, places: &Arc<Places>) -> Threads {
        Threads { requests, places: Arc::clone(places), not_before: None }
    }

    /// How many threads with a request are in each state; no figure while the last dump was dear and is not long ago.
    pub(super) fn read(&mut self, asker: &mut Asker, path: &str, deadline: Instant) -> io::Result<Figures> {
        let began = Instant::now();
        if self.not_before.is_some_and(|then| began < then) {
            return Ok(Figures::new());
        }
        let answer = http::get(asker, path, deadline);
        let ended = Instant::now();
        self.not_before = Some(ended + pause_after(ended - began));
        let answer = answer?;
        let text = String::from_utf8_lossy(&answer);
        let dump = threads(&text).ok_or(wrong("the answer is no dump of threads"))?;
        Ok(self.figures(&dump))
    }

    /// Counts the threads, and adds what they are at to the places.
    fn figures(&self, dump: &[Thread<'_>]) -> Figures {
        let mut figures: Figures = STATES.map(|state| (word(state).to_string(), 0.0)).into_iter().collect();
        for thread in dump.iter().filter(|thread| thread.has_request(&self.requests)) {
            *figures.entry(word(thread.state).to_string()).or_default() += 1.0;
            self.places.add(thread.location(dump));
        }
        figures
    }
}

fn pause_after(took: Duration) -> Duration {
    took * PAUSE_FACTOR
}

const STATES: [ThreadState; 4] =
    [ThreadState::Runnable, ThreadState::Blocked, ThreadState::Waiting, ThreadState::TimedWaiting];

fn word(state: ThreadState) -> &'static str {
    match state {
        ThreadState::Runnable => "runnable",
        ThreadState::Blocked => "blocked",
        ThreadState::Waiting => "waiting",
        ThreadState::TimedWaiting => "timed_waiting",
    }
}

/// A thread of a dump.
#[derive(Debug)]
struct Thread<'a> {
    name: &'a str,
    state: ThreadState,
    /// `java.lang.Object@1f2e3d`
    lock: Option<&'a str>,
    /// The name of the thread that holds it.
    holder: Option<&'a str>,
    /// Methods with their class, the innermost first.
    calls: Vec<String>,
}

/// The threads of an answer; nothing where it is another text. A thread that can't be understood is left out: the names of
/// threads are the application's.
fn threads(text: &str) -> Option<Vec<Thread<'_>>> {
    let (first, rest) = text.split_once('\n')?;
    (first.trim_end() == RETURNED).then(|| rest.lines().filter_map(Thread::of).collect())
}

impl<'a> Thread<'a> {
    fn of(line: &'a str) -> Option<Thread<'a>> {
        let all: BTreeMap<&str, &str> = jmx::pairs(jmx::items(line.trim_start())?).collect();
        let present = |name: &str| all.get(name).copied().filter(|value| *value != "null");
        let state = match present("threadState")? {
            "RUNNABLE" => ThreadState::Runnable,
            "BLOCKED" => ThreadState::Blocked,
            "WAITING" => ThreadState::Waiting,
            "TIMED_WAITING" => ThreadState::TimedWaiting,
            _ => return None,
        };
        let stack = present("stackTrace")?.strip_prefix('[')?.strip_suffix(']')?;
        Some(Thread {
            name: present("threadName")?,
            state,
            lock: present("lockName").filter(|_| state != ThreadState::Runnable),
            holder: present("lockOwnerName").filter(|_| state != ThreadState::Runnable),
            calls: jmx::parts(stack).filter_map(call).collect(),
        })
    }

    fn has_request(&self, requests: &RequestThreads) -> bool {
        let idle = |call: &String| requests.idle.iter().any(|beginning| call.starts_with(beginning));
        requests.named.iter().any(|beginning| self.name.starts_with(beginning))
            && !self.calls.is_empty()
            && !self.calls.iter().any(idle)
    }

    fn location(&self, dump: &[Thread<'_>]) -> ThreadPlace {
        let holder = self.holder.and_then(|name| dump.iter().find(|thread| thread.name == name));
        ThreadPlace {
            state: self.state,
            call: self.call().unwrap_or_default(),
            lock: self.lock.map(|lock| lock.split('@').next().unwrap_or(lock).to_string()),
            holder: holder.and_then(Thread::call),
        }
    }

    /// The innermost method of the program's own; the outermost that is known where all are the platform's.
    fn call(&self) -> Option<String> {
        let own = |call: &&String| !PLATFORM.iter().any(|package| call.starts_with(package));
        self.calls.iter().find(own).or(self.calls.last()).cloned()
    }
}

/// A frame of a stack as `CLASS.METHOD`. What a JVM makes up for a hidden class, behind a `/`, differs from start to start.
fn call(frame: &str) -> Option<String> {
    let all: BTreeMap<&str, &str> = jmx::pairs(jmx::items(frame)?).collect();
    let class = all.get("className")?;
    let class = class.split('/').next().unwrap_or(class);
    Some(format!("{class}.{}", all.get("methodName")?))
}

#[cfg(test)]
mod tests;

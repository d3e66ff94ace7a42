//! Each server's own numbers: its status is read in threads of its own, and taken when a sample is asked for.
//!
//! The principal type is [`Servers`]. A reading has a deadline below its interval: one that is not answered by then is
//! told as `status.unanswered`, and its figures are absent until the next one that is. Nothing else is asked meanwhile: a
//! late answer counts for the reading that finds it, because a server reckons its figures when it answers. A rate is over
//! the time between two readings; a count that fell (the server began anew) gives none.
//!
//! Of a tier with several instances each is asked; the tier's figure is their sum, of shares (`ratio`) their mean, or what the
//! counter says. One that has ended has none, and those of the others are the tier's.
//!
//! What is read costs the servers something: a status over HTTP is a request on a connection that is closed again, so
//! that no worker is kept; the database is asked on one connection that is kept, since opening one costs more.

mod counters;
mod digest;
mod exchange;
mod fastcgi;
mod figures;
mod http;
mod jmx;
mod jmx_threads;
mod plain;
mod prometheus;
mod reader;
mod row_locks;
mod sql;
mod statements;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::catalogue::server_job::{CounterJob, ServerJob, StatusJob};
use model::record::Series;
use model::record::statements::{StatementFacts, StatementSeen};
use model::record::threads::ThreadsSeen;
use model::{Signal, signals};

use self::counters::Counters;
use self::figures::Figures;
use self::jmx_threads::Places;
use self::reader::Reader;
use self::statements::Statements;
use crate::points::Points;

signals! {
    UNANSWERED = Signal::of_tier("status.unanswered", "ratio", "1 where its status page did not answer in time, else 0");
}

/// Of its interval, what a reading may take.
const DEADLINE_RATIO: f64 = 0.8;
/// Readings that nobody asked for are forgotten, the oldest first.
const MAX_READINGS: usize = 32;

/// What the first instance of a status says now, of `names` and maybe of others; `timeout` is for the whole answer.
///
/// # Errors
/// No answer in time, or one that can't be understood.
pub fn figures(job: &StatusJob, names: &[String], timeout: Duration) -> io::Result<BTreeMap<String, f64>> {
    let Some(asked) = job.asked.first() else { return Ok(BTreeMap::new()) };
    let (statements, places) = (Arc::default(), Arc::default());
    Reader::new(job, asked, names.iter().map(String::as_str), &statements, &places)
        .read(Instant::now() + timeout)
}

/// The statuses of all tiers, each read by a thread of its own.
#[derive(Debug)]
pub struct Servers {
    tiers: Vec<Tier>,
    stop: Arc<Stop>,
}

#[derive(Debug)]
struct Tier {
    name: String,
    statuses: Vec<Status>,
}

#[derive(Debug)]
struct Status {
    shelf: Arc<Shelf>,
    every: Duration,
    counters: Counters,
    statements: Arc<Statements>,
    places: Arc<Places>,
    last_ended: Instant,
}

/// A finished reading.
#[derive(Debug)]
struct Reading {
    /// When half of the time that it took was over.
    at: Instant,
    /// Of each instance; nothing of one that has ended. Nothing at all where one was not answered in time, or not with what can be
    /// understood: a sum that lacks a part would be another figure.
    figures: Option<Vec<Option<Figures>>>,
}

/// Where a thread leaves its readings.
#[derive(Debug, Default)]
struct Shelf(Mutex<VecDeque<Reading>>);

/// Wakes the threads at the end.
#[derive(Debug, Default)]
struct Stop {
    over: Mutex<bool>,
    rung: Condvar,
}

impl Servers {
    /// Begins to read. Where a thread can't be started the status counts as unanswered.
    pub fn start(jobs: &[ServerJob]) -> Servers {
        let stop = Arc::new(Stop::default());
        let count = jobs.iter().map(|job| job.statuses.len()).sum::<usize>().max(1);
        let mut number = 0;
        let tiers = jobs.iter().map(|job| Tier {
            name: job.tier.clone(),
            statuses: job
                .statuses
                .iter()
                .map(|status| {
                    let every = Duration::from_secs_f64(status.every_s.clamp(0.1, 3600.0));
                    // One after the other, so that the servers are not all asked at the same moment.
                    let first = every.min(Duration::from_secs(1)).mul_f64(number as f64 / count as f64);
                    number += 1;
                    let counters: Vec<CounterJob> = job
                        .counters
                        .iter()
                        .filter(|counter| counter.status == status.name)
                        .cloned()
                        .collect();
                    let (statements, places) = (Arc::default(), Arc::default());
                    let names = || counters.iter().flat_map(|counter| counter.of.iter().map(String::as_str));
                    let reader = |asked| Reader::new(status, asked, names(), &statements, &places);
                    let readers = status.asked.iter().map(reader).collect();
                    let shelf = Arc::new(Shelf::default());
                    keep_reading(readers, Arc::clone(&shelf), Arc::clone(&stop), first, every);
                    let (counters, last_ended) = (Counters::new(counters), Instant::now());
                    Status { shelf, every, counters, statements, places, last_ended }
                })
                .collect(),
        });
        let tiers = tiers.collect();
        Servers { tiers, stop }
    }

    /// What was read since the last call, a series each. `at_s` is the second of the run now; each point has the
    /// second in which its reading was made. Never waits for a server.
    pub fn sample(&mut self, at_s: f64) -> Vec<Series> {
        let now = Instant::now();
        let mut points = Points::at(at_s);
        for tier in &mut self.tiers {
            let mut unanswered = None;
            for status in &mut tier.statuses {
                let readings = status.shelf.take();
                if let Some(last) = readings.back() {
                    status.last_ended = last.at;
                }
                let overdue = now.duration_since(status.last_ended) > 2 * status.every;
                let failed = overdue || readings.iter().any(|reading| reading.figures.is_none());
                if failed || !readings.is_empty() {
                    unanswered = Some(unanswered.unwrap_or(false) || failed);
                }
                for reading in readings {
                    let Some(figures) = &reading.figures else { continue };
                    let read_s = at_s - now.saturating_duration_since(reading.at).as_secs_f64();
                    status.counters.take(reading.at, read_s, figures);
                }
                points.found.extend(status.counters.take_series(&tier.name));
            }
            if let Some(unanswered) = unanswered {
                points.add(&UNANSWERED, Some(&tier.name), f64::from(u8::from(unanswered)));
            }
        }
        points.found
    }

    /// The statements that clients of databases were seen in since the last call, and what came to be known of some.
    pub fn statements(&self) -> (Vec<StatementSeen>, Vec<StatementFacts>) {
        let of_tier = |tier: &Tier| {
            tier.statuses.iter().map(|status| status.statements.take(&tier.name)).collect::<Vec<_>>()
        };
        let (seen, facts): (Vec<_>, Vec<_>) = self.tiers.iter().flat_map(of_tier).unzip();
        (seen.concat(), facts.concat())
    }

    /// What threads with a request were at since the last call.
    pub fn threads(&self) -> Vec<ThreadsSeen> {
        let of_tier = |tier: &Tier| {
            tier.statuses.iter().flat_map(|status| status.places.take(&tier.name)).collect::<Vec<_>>()
        };
        self.tiers.iter().flat_map(of_tier).collect()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // Not joined: a thread that waits for a server ends when that answers or its deadline is over.
        *self.stop.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.rung.notify_all();
    }
}

impl Shelf {
    fn put(&self, reading: Reading) {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if readings.len() == MAX_READINGS {
            readings.pop_front();
        }
        readings.push_back(reading);
    }

    fn take(&self) -> VecDeque<Reading> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Stop {
    /// Whether it is over; waits for that until `then` at most.
    fn over_by(&self, then: Instant) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let left = then.saturating_duration_since(Instant::now());
        let (over, _) =
            self.rung.wait_timeout_while(over, left, |over| !*over).unwrap_or_else(PoisonError::into_inner);
        *over
    }
}

fn keep_reading(
    mut readers: Vec<Reader>,
    shelf: Arc<Shelf>,
    stop: Arc<Stop>,
    first: Duration,
    every: Duration,
) {
    let mut next = Instant::now() + first;
    let read = move || {
        while !stop.over_by(next) {
            let begun = Instant::now();
            let figures = read_all(&mut readers, begun, every.mul_f64(DEADLINE_RATIO));
            let took = begun.elapsed();
            shelf.put(Reading { at: begun + took / 2, figures });
            // What was missed is not caught up with.
            next += every;
            while next < Instant::now() {
                next += every;
            }
        }
    };
    // Without a thread nothing is ever read, which the sample tells as unanswered.
    _ = std::thread::Builder::new().name("status".to_string()).stack_size(512 * 1024).spawn(read);
}

/// Asks the instances one after the other: one that does not answer has no more than its share of the time.
fn read_all(readers: &mut [Reader], begun: Instant, timeout: Duration) -> Option<Vec<Option<Figures>>> {
    let count = readers.len() as f64;
    let mut all = Vec::new();
    for (number, reader) in readers.iter_mut().enumerate() {
        let deadline = begun + timeout.mul_f64((number + 1) as f64 / count);
        all.push(match reader.read(deadline) {
            Ok(figures) => Some(Some(figures)),
            // Nobody listens there any more: what the others say is what there is.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Some(None),
            Err(_) => None,
        });
    }
    let all: Vec<Option<Figures>> = all.into_iter().collect::<Option<_>>()?;
    all.iter().any(Option::is_some).then_some(all)
}

#[cfg(test)]
mod tests;

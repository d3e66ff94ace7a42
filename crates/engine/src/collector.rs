//! Merges the threads' seconds into the run's.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::Sender;

use model::Interval;
use model::record::Evidence;
use model::record::interval::{OperationName, Rows};

use crate::recorder::SecondReport;
use crate::worker::Report;

/// A merged second.
#[derive(Debug)]
pub struct Second<'a> {
    /// What was recorded.
    pub interval: &'a Interval,
    /// Names of the rows, complete up to this second.
    pub names: &'a [OperationName],
    /// Samples of errors in this second.
    pub evidence: &'a [Evidence],
}

/// Sums over the whole run, all phases: what a consistency check needs.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Names of the rows.
    pub names: Vec<OperationName>,
    /// Completed, by row.
    pub completed: Vec<u64>,
    /// Failed, by row.
    pub failed: Vec<u64>,
    /// Operations whose outcome at the server is unknown, by row: timed out, cut off, failed after a request.
    pub unanswered: Vec<u64>,
    /// Answers by status, whether they fitted or not.
    pub statuses: BTreeMap<u16, u64>,
    /// The session's own counters.
    pub counters: BTreeMap<String, u64>,
    /// What users were told last of each thing that the session noted with `told`; nothing for what is gone.
    pub told: BTreeMap<String, Option<String>>,
    /// The things of which nobody knows: the last word on them was that they are about to change.
    pub unknown: BTreeSet<String>,
    /// Connections opened.
    pub connects: u64,
    /// From the run's start to the last thread's end; seconds.
    pub elapsed_s: f64,
    /// Samples of errors.
    pub evidence: Vec<Evidence>,
}

impl Totals {
    /// Counts that number of rows, those that are new from 0.
    pub fn make_room(&mut self, rows: usize) {
        let counts = [&mut self.completed, &mut self.failed, &mut self.unanswered];
        counts.into_iter().for_each(|counts| counts.resize(rows, 0));
    }
}

struct Thread {
    waiting: VecDeque<Box<SecondReport>>,
    /// From the thread's row numbers to the run's.
    rows: Vec<usize>,
    finished: bool,
    spare: Sender<Interval>,
}

pub(crate) struct Collector {
    threads: Vec<Thread>,
    rows: Rows,
    totals: Totals,
    merged: Interval,
    evidence: Vec<Evidence>,
    next: u32,
}

impl Collector {
    pub(crate) fn new(workers: usize, spares: Vec<Sender<Interval>>) -> Collector {
        debug_assert_eq!(workers, spares.len());
        let thread = |spare| Thread { waiting: VecDeque::new(), rows: Vec::new(), finished: false, spare };
        Collector {
            threads: spares.into_iter().map(thread).collect(),
            rows: Rows::default(),
            totals: Totals::default(),
            merged: Interval::empty(0),
            evidence: Vec::new(),
            next: 0,
        }
    }

    pub(crate) fn take(&mut self, report: Report) {
        match report {
            Report::Second(worker, second) => self.threads[worker].waiting.push_back(second),
            Report::Finished(worker) => self.threads[worker].finished = true,
            Report::Ended(at_ns) => {
                self.totals.elapsed_s = self.totals.elapsed_s.max(at_ns as f64 / 1e9);
            }
            // A user lives on one thread alone: no two of them tell of the same thing.
            Report::Promises(promises, unknown) => {
                self.totals.told.extend(promises);
                self.totals.unknown.extend(unknown);
            }
            Report::Traces(_) => {}
        }
    }

    /// The next second, once every thread has told it or has finished.
    pub(crate) fn next_second(&mut self) -> Option<Second<'_>> {
        let complete = self.threads.iter().all(|thread| !thread.waiting.is_empty() || thread.finished);
        let any = self.threads.iter().any(|thread| !thread.waiting.is_empty());
        if !(complete && any) {
            return None;
        }
        self.merged.second = self.next;
        self.next += 1;
        for worker in 0..self.threads.len() {
            if let Some(report) = self.threads[worker].waiting.pop_front() {
                self.merge(worker, *report);
            }
        }
        Some(Second { interval: &self.merged, names: self.rows.names(), evidence: &self.evidence })
    }

    /// The audience has seen the second: makes room for the next one.
    pub(crate) fn release(&mut self) {
        self.evidence.clear();
        self.merged.clear();
    }

    pub(crate) fn into_totals(self) -> Totals {
        Totals { names: self.rows.names().to_vec(), ..self.totals }
    }

    fn merge(&mut self, worker: usize, report: SecondReport) {
        let SecondReport { mut interval, new_names, evidence, unanswered, statuses } = report;
        for name in new_names {
            let row = self.row(name);
            self.threads[worker].rows.push(row);
        }
        let rows = &self.threads[worker].rows;
        for (row, part) in rows.iter().zip(&interval.operations) {
            self.totals.completed[*row] += part.completed;
            self.totals.failed[*row] += part.failed();
        }
        for (local, count) in unanswered.iter().enumerate() {
            self.totals.unanswered[rows[local]] += count;
        }
        for (status, count) in statuses {
            *self.totals.statuses.entry(status).or_default() += count;
        }
        self.merged.merge_part(&mut interval, rows);
        self.totals.connects += interval.connects;
        add_counters(&mut self.totals.counters, &interval.counters);
        self.totals.evidence.extend_from_slice(&evidence);
        self.evidence.extend(evidence);
        interval.clear();
        // A thread that has finished needs no interval back.
        let _ = self.threads[worker].spare.send(interval);
    }

    fn row(&mut self, name: OperationName) -> usize {
        let row = self.rows.row(name);
        self.totals.make_room(self.rows.names().len());
        row
    }
}

fn add_counters(sums: &mut BTreeMap<String, u64>, counters: &BTreeMap<String, u64>) {
    for (name, count) in counters {
        *sums.entry(name.clone()).or_default() += count;
    }
}

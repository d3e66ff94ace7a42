//! What a worker hands over while it runs: seconds, steps of users, promises.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, SyncSender};

use model::Interval;

use crate::recorder::{Recorder, SecondReport};
use crate::trace::Trace;
use crate::usage::ThreadUsage;

/// What a worker tells.
#[derive(Debug)]
pub(crate) enum Report {
    Second(usize, Box<SecondReport>),
    Traces(Vec<Trace>),
    /// What its users were promised last of each thing, nothing for what is gone; and the things of which nobody knows.
    Promises(BTreeMap<String, Option<String>>, BTreeSet<String>),
    /// All its users have gone; nothing more comes.
    Finished(usize),
    /// When it stopped; nanoseconds since the run's start.
    Ended(u64),
}

/// Where a worker's reports go, and where emptied intervals come back.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// The worker's number among those of this generator, 0-based.
    pub(crate) worker: usize,
    pub(crate) reports: SyncSender<Report>,
    pub(crate) spare: Receiver<Interval>,
}

/// Hands over what the recorder has. The collector outlives its workers; were it gone, nobody would be there to be told.
pub(super) struct Reports {
    outbox: Outbox,
    usage: ThreadUsage,
}

impl Reports {
    /// Of the calling thread, from now on.
    pub(super) fn new(outbox: Outbox) -> Reports {
        Reports { outbox, usage: ThreadUsage::of_this_thread() }
    }

    /// Hands over every second that ended by `now_ns`.
    pub(super) fn end_seconds(&mut self, now_ns: u64, recorder: &mut Recorder) {
        while recorder.boundary_ns() <= now_ns {
            while let Ok(interval) = self.outbox.spare.try_recv() {
                recorder.recycle(interval);
            }
            let mut report = recorder.end_second();
            let (cpu_s, wait_s) = self.usage.since_last();
            report.interval.generator_cpu_s = cpu_s;
            report.interval.busiest_thread_cpu_s = cpu_s;
            report.interval.generator_wait_s = wait_s;
            self.send(Report::Second(self.outbox.worker, Box::new(report)));
        }
    }

    /// Hands over what users did since the last time, where somebody listens.
    pub(super) fn send_traces(&self, recorder: &mut Recorder) {
        if let Some(traces) = recorder.take_traces() {
            self.send(Report::Traces(traces));
        }
    }

    /// Hands over all that is left, the second under way included; the worker stopped at `ended_ns`.
    pub(super) fn finish(
        mut self,
        ended_ns: u64,
        recorder: &mut Recorder,
        (promises, unknown): (BTreeMap<String, Option<String>>, BTreeSet<String>),
    ) {
        self.send_traces(recorder);
        self.end_seconds(recorder.boundary_ns(), recorder);
        self.send(Report::Promises(promises, unknown));
        self.send(Report::Ended(ended_ns));
    }

    fn send(&self, report: Report) {
        let _ = self.outbox.reports.send(report);
    }
}

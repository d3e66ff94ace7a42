//! How far a load has come.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{Kind, Problem, Result};

/// What a load is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Making the tables.
    Tables,
    /// Making and streaming the rows.
    Rows,
    /// Indexes, constraints and derived rows.
    Finish,
    /// Counting.
    Verify,
}

impl Phase {
    /// For a progress line.
    pub fn title(self) -> &'static str {
        match self {
            Phase::Tables => "making tables",
            Phase::Rows => "loading rows",
            Phase::Finish => "building indexes",
            Phase::Verify => "counting rows",
        }
    }
}

/// How far a load has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// In this phase: rows sent, or statements done.
    pub done: u64,
    /// In this phase: rows or statements in all. Rows whose number is drawn are counted by their mean.
    pub total: u64,
    /// Bytes sent so far.
    pub bytes: u64,
    /// The statements under way, outside of the rows' phase.
    pub doing: String,
}

/// How often progress is told and a cancellation is looked for.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Tells progress and sees cancellations.
pub(crate) struct Meter<'a> {
    tell: &'a mut dyn FnMut(Progress),
    cancelled: &'a AtomicBool,
    now: Progress,
    rows_expected: u64,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        tell: &'a mut dyn FnMut(Progress),
        cancelled: &'a AtomicBool,
        rows_expected: u64,
    ) -> Meter<'a> {
        let now = Progress { phase: Phase::Tables, done: 0, total: 0, bytes: 0, doing: String::new() };
        Meter { tell, cancelled, now, rows_expected }
    }

    /// The next phase begins.
    pub(crate) fn enter(&mut self, phase: Phase) -> Result<()> {
        let total = if phase == Phase::Rows { self.rows_expected } else { 0 };
        self.now = Progress { phase, done: 0, total, bytes: self.now.bytes, doing: String::new() };
        self.tell()
    }

    /// Rows and bytes sent so far.
    pub(crate) fn rows(&mut self, done: u64, bytes: u64) -> Result<()> {
        self.now.done = done.min(self.now.total);
        self.now.bytes = bytes;
        self.tell()
    }

    /// Statements done and under way.
    pub(crate) fn statements(&mut self, done: u64, total: u64, doing: String) -> Result<()> {
        (self.now.done, self.now.total, self.now.doing) = (done, total, doing);
        self.tell()
    }

    fn tell(&mut self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Problem::new(Kind::Interrupted, "loading the data set was interrupted").into());
        }
        (self.tell)(self.now.clone());
        Ok(())
    }
}

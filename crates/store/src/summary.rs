//! A run in a line.

use std::path::Path;

use model::record::{MetricResult, Outcome};
use model::{OperationKind, RunRecord};
use serde::{Deserialize, Serialize};

use crate::{disk, run};

/// A run in a line, for lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run's id.
    pub id: String,
    /// RFC 3339, UTC; empty when the record can't be read.
    pub started: String,
    /// `dvdstore@1`.
    pub kit: String,
    /// The stack.
    pub stack: String,
    /// The data set's size as asked for.
    pub size: String,
    /// Emulated users.
    pub users: u32,
    /// How many guests it had, each with a run of its own below it; 0 for one stack on the bare machine.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub guests: usize,
    /// Length of the steady state, in seconds.
    pub steady_s: f64,
    /// How it ended; absent when the record can't be read.
    pub outcome: Option<Outcome>,
    /// A living process is still measuring it.
    pub under_way: bool,
    /// The instrument's own checks all hold.
    pub valid: bool,
    /// The QoS targets are all met; absent when the run is not valid.
    pub pass: Option<bool>,
    /// Both in a sentence; what is wrong with the record when it can't be read.
    pub sentence: String,
    /// Operations completed per second over the steady state.
    pub operations_per_s: Option<f64>,
    /// The largest p95 of an operation's response time, in seconds.
    pub worst_p95_s: Option<f64>,
    /// The first of the kit's own figures.
    pub metric: Option<MetricSummary>,
    /// Bytes of everything kept.
    pub bytes: u64,
}

/// A figure of the kit's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// For people.
    pub title: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

impl RunSummary {
    /// The summary of `record`, kept in `directory`.
    pub(crate) fn of(record: &RunRecord, directory: &Path) -> RunSummary {
        let operations = || record.operations.iter().filter(|result| result.kind == OperationKind::Operation);
        let metric = |first: &MetricResult| MetricSummary {
            title: first.title.clone(),
            value: first.value,
            unit: first.unit.clone(),
        };
        RunSummary {
            id: record.id.clone(),
            started: record.started.clone(),
            kit: record.setup.kit.clone(),
            stack: record.setup.stack.clone(),
            size: record.setup.size.clone(),
            users: record.setup.users,
            guests: record.guests.len(),
            steady_s: record.setup.steady_s,
            outcome: Some(record.outcome),
            under_way: run::under_way(directory),
            valid: record.verdict.valid,
            pass: record.verdict.pass,
            sentence: record.verdict.sentence.clone(),
            operations_per_s: (operations().count() > 0)
                .then(|| operations().map(|result| result.per_s).sum()),
            worst_p95_s: operations().filter_map(|result| result.response.p95_s).reduce(f64::max),
            metric: record.metrics.first().map(metric),
            bytes: disk::size_bytes(directory),
        }
    }

    /// The summary of a directory whose record can't be read, and why.
    pub(crate) fn unreadable(id: &str, directory: &Path, why: String) -> RunSummary {
        RunSummary {
            id: id.to_string(),
            started: String::new(),
            kit: String::new(),
            stack: String::new(),
            size: String::new(),
            users: 0,
            guests: 0,
            steady_s: 0.0,
            outcome: None,
            under_way: run::under_way(directory),
            valid: false,
            pass: None,
            sentence: why,
            operations_per_s: None,
            worst_p95_s: None,
            metric: None,
            bytes: disk::size_bytes(directory),
        }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

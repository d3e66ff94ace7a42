//! What a second of a run was, in figures for whoever follows it.

use analysis::signals::names::CPU;
use engine::Second;
use model::progress::{OperationProgress, SecondProgress};
use model::record::Series;
use model::{Interval, OperationInterval, OperationKind};

/// All of it; what else is known of the run then is left to the caller.
pub(super) fn second_progress(second: &Second<'_>, samples: &[Series]) -> SecondProgress {
    let interval = second.interval;
    let mut all = OperationInterval::empty();
    let mut operations = Vec::new();
    for (name, row) in second.names.iter().zip(&interval.operations) {
        if name.kind == OperationKind::Operation && row.completed + row.failed() > 0 {
            all.merge(row);
            operations.push(operation_progress(&name.name, row));
        }
    }
    let cpu = samples.iter().filter(|one| one.name == CPU);
    SecondProgress {
        second: interval.second,
        busy_users: interval.busy_user_s,
        thinking_users: interval.thinking_user_s,
        all: operation_progress("", &all),
        operations,
        cpu_cores: cpu.filter_map(|one| Some((one.tier.clone()?, one.points.last()?.1))).collect(),
        ..SecondProgress::default()
    }
}

fn operation_progress(name: &str, row: &OperationInterval) -> OperationProgress {
    let at = |percent| analysis::percentile_s(&row.response, percent);
    OperationProgress {
        name: name.to_string(),
        completed: row.completed,
        failed: row.failed(),
        p50_s: at(50.0),
        p95_s: at(95.0),
        p99_s: at(99.0),
    }
}

/// Operations completed, their p95 in seconds, and errors, in one second.
pub(super) fn now(second: &Second<'_>) -> (u64, Option<f64>, u64) {
    let rows = second.names.iter().zip(&second.interval.operations);
    let mut all = Interval::empty(0);
    all.operations.push(OperationInterval::empty());
    rows.filter(|(name, _)| name.kind == OperationKind::Operation)
        .for_each(|(_, row)| all.operations[0].merge(row));
    let sum = &all.operations[0];
    (sum.completed, analysis::percentile_s(&sum.response, 95.0), sum.failed())
}

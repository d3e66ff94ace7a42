//! Sessions, operations and requests over the steady state.

use std::collections::BTreeMap;

use model::record::interval::OperationName;
use model::record::{OperationResult, TimeSummary};
use model::{ErrorKind, OperationInterval, OperationKind};

use crate::steady::Steady;
use crate::times::summary;

/// A row for each of `names`, in their order; also for those that never occurred.
pub fn operations(steady: &Steady, names: &[OperationName]) -> Vec<OperationResult> {
    let mut rows = operation_counts(steady, names);
    for (row, seen) in rows.iter_mut().zip(&steady.whole().operations) {
        row.response = summary(&seen.response);
        row.service = summary(&seen.service);
    }
    rows
}

/// The same without its times, which are most of the work.
pub fn operation_counts(steady: &Steady, names: &[OperationName]) -> Vec<OperationResult> {
    let nothing = OperationInterval::empty();
    let row = |(index, name): (usize, &OperationName)| {
        let seen = steady.whole().operations.get(index).unwrap_or(&nothing);
        let max_of_last_100_s = match name.kind {
            OperationKind::Session => max_of_last(steady, index),
            _ => None,
        };
        OperationResult {
            kind: name.kind,
            name: name.name.clone(),
            completed: seen.completed,
            per_s: steady.per_second(seen.completed as f64),
            errors: errors_by_kind(seen),
            response: TimeSummary::default(),
            service: TimeSummary::default(),
            max_of_last_100_s,
            bytes: seen.bytes,
        }
    };
    names.iter().enumerate().map(row).collect()
}

fn errors_by_kind(seen: &OperationInterval) -> BTreeMap<String, u64> {
    let counts = ErrorKind::ALL.iter().zip(seen.errors).filter(|(_, count)| *count > 0);
    counts.map(|(kind, count)| (kind.word().to_string(), count)).collect()
}

/// The longest of the sessions of that name among the last 100 of the steady state.
fn max_of_last(steady: &Steady, index: usize) -> Option<f64> {
    let last = steady.whole().last_sessions.iter().filter(|session| session.operation == index);
    last.map(|session| session.took_ns).max().map(|longest| longest as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Interval;
    use model::record::interval::{SessionEnd, record_ns};

    fn name(kind: OperationKind, name: &str) -> OperationName {
        OperationName { kind, name: name.to_string() }
    }

    fn second(number: u32, completed: u64, each_ms: u64) -> Interval {
        let mut seen = OperationInterval::empty();
        seen.completed = completed;
        (0..completed).for_each(|_| record_ns(&mut seen.response, each_ms * 1_000_000));
        seen.errors[1] = 1;
        Interval { operations: vec![seen], ..Interval::empty(number) }
    }

    #[test]
    fn rates_and_errors_are_those_of_the_steady_state() {
        let run = [second(0, 90, 9), second(1, 30, 2), second(2, 60, 2), second(3, 90, 9)];
        let rows = operations(&Steady::of(&run, 1.0, 3.0), &[name(OperationKind::Operation, "Browse")]);
        assert_eq!((rows[0].completed, rows[0].per_s), (90, 45.0));
        assert_eq!(rows[0].errors, BTreeMap::from([("timeout".to_string(), 2)]));
        assert_eq!(rows[0].max_of_last_100_s, None, "only sessions have it");
    }

    #[test]
    fn the_last_hundred_sessions_are_those_before_the_end_of_the_steady_state() {
        let ended = |second: u32, count: u64, took_ns: u64| {
            let one = |index| SessionEnd {
                operation: 0,
                ended_ns: u64::from(second) * 1_000_000_000 + index,
                took_ns,
            };
            Interval { last_sessions: (0..count).map(one).collect(), ..Interval::empty(second) }
        };
        let run =
            [ended(0, 80, 9_000_000), ended(1, 60, 3_000_000), ended(2, 60, 1_000_000), ended(3, 5, 99)];
        let names = [name(OperationKind::Session, "order_cycle"), name(OperationKind::Session, "other")];
        let rows = operations(&Steady::of(&run, 0.0, 3.0), &names);
        assert_eq!(rows[0].max_of_last_100_s, Some(0.003), "seconds 1 and 2 hold the last 100");
        assert_eq!(rows[1].max_of_last_100_s, None, "none of them was of that name");
    }

    #[test]
    fn a_name_that_never_occurred_has_a_row_without_figures() {
        let run = [second(0, 1, 1)];
        let names = [name(OperationKind::Session, "a"), name(OperationKind::Operation, "b")];
        let rows = operations(&Steady::of(&run, 0.0, 1.0), &names);
        assert_eq!((rows[1].completed, rows[1].response.mean_s), (0, None));
    }
}

//! Where the time of requests went.

use model::OperationKind;
use model::record::interval::Times;
use model::record::{OperationResult, PhaseResult, PhaseResults, UntimedResult};

use crate::steady::Steady;
use crate::times::summary;

/// The parts of requests over the steady state, those that occurred.
pub fn phases(steady: &Steady) -> PhaseResults {
    let phases = &steady.whole().phases;
    PhaseResults {
        connect: phase(&phases.connect),
        tls: phase(&phases.tls),
        first_byte: phase(&phases.first_byte),
        transfer: phase(&phases.transfer),
    }
}

fn phase(times: &Times) -> Option<PhaseResult> {
    let figures = summary(times);
    (!times.is_empty()).then_some(PhaseResult {
        count: times.len(),
        mean_s: figures.mean_s,
        p50_s: figures.p50_s,
        p95_s: figures.p95_s,
        p99_s: figures.p99_s,
        max_s: figures.max_s,
    })
}

/// What the script abandoned over the steady state, beside the rows of what it did not; absent where there was nothing.
pub fn untimed(steady: &Steady, operations: &[OperationResult]) -> Option<UntimedResult> {
    let times = &steady.whole().untimed;
    let (count, figures) = (times.len(), summary(times));
    let rows = operations.iter().filter(|row| row.kind == OperationKind::Operation);
    let timed: u64 = rows.map(|row| row.completed).sum();
    (count > 0).then(|| UntimedResult {
        count,
        share_ratio: count as f64 / (count + timed) as f64,
        mean_s: figures.mean_s,
        p50_s: figures.p50_s,
        p95_s: figures.p95_s,
        p99_s: figures.p99_s,
        max_s: figures.max_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Interval;
    use model::record::interval::record_ns;

    #[test]
    fn what_was_abandoned_has_its_number_its_share_and_the_percentiles_that_it_supports() {
        let second = |number: u32| {
            let mut interval = Interval::empty(number);
            (1..=60).for_each(|ms| record_ns(&mut interval.untimed, ms * 1_000_000));
            interval
                .operations
                .push(model::OperationInterval { completed: 180, ..model::OperationInterval::empty() });
            interval
        };
        let run: Vec<Interval> = (0..4).map(second).collect();
        let names = [model::record::interval::OperationName {
            kind: OperationKind::Operation,
            name: "Browse".to_string(),
        }];
        let of = |from_s, to_s| {
            let steady = Steady::of(&run, from_s, to_s);
            untimed(&steady, &crate::operations(&steady, &names))
        };
        let two = of(1.0, 3.0).expect("it occurred");
        assert_eq!((two.count, two.share_ratio), (120, 0.25));
        assert!(two.p99_s.is_some_and(|p99| (p99 - 0.060).abs() < 1e-4), "{two:?}");
        let one = of(1.0, 2.0).expect("it occurred");
        assert_eq!((one.count, one.p99_s), (60, None), "60 samples support no p99");
        assert_eq!(of(4.0, 9.0), None);
    }

    #[test]
    fn phases_are_those_of_the_steady_state_and_only_what_occurred() {
        let second = |number: u32| {
            let mut interval = Interval::empty(number);
            if number == 0 {
                record_ns(&mut interval.phases.connect, 90_000);
            }
            (1..=60).for_each(|ms| record_ns(&mut interval.phases.first_byte, ms * 1_000_000));
            interval
        };
        let run: Vec<Interval> = (0..4).map(second).collect();
        let found = phases(&Steady::of(&run, 1.0, 3.0));
        let names: Vec<&str> = found.occurred().map(|(name, _)| name).collect();
        assert_eq!(names, ["first byte"], "the connection was opened before the steady state");
        let first_byte = found.first_byte.expect("it occurred");
        assert_eq!(first_byte.count, 120);
        let near = |found: Option<f64>, expected: f64| {
            found.is_some_and(|found| (found - expected).abs() <= 1.1e-3 * expected)
        };
        assert!(near(first_byte.mean_s, 0.0305) && near(first_byte.p50_s, 0.030), "{first_byte:?}");
        assert!(near(first_byte.p95_s, 0.057) && near(first_byte.max_s, 0.060), "{first_byte:?}");
        assert!(near(first_byte.p99_s, 0.060), "100 samples support p99: {first_byte:?}");
    }
}

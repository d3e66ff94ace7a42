//! Properties that hold for any recording.

use analysis::{Steady, operations, targets};
use model::record::interval::{OperationName, record_ns};
use model::{Interval, OperationInterval, OperationKind, QosTarget};
use proptest::prelude::*;

fn name() -> [OperationName; 1] {
    [OperationName { kind: OperationKind::Operation, name: "Browse".to_string() }]
}

fn second(number: u32, times_us: &[u64], scale: u64) -> Interval {
    let mut seen = OperationInterval::empty();
    seen.completed = times_us.len() as u64;
    seen.errors[0] = times_us.len() as u64 / 3;
    times_us.iter().for_each(|us| record_ns(&mut seen.response, us * scale * 1000));
    Interval { operations: vec![seen], busy_user_s: 0.5, ..Interval::empty(number) }
}

fn recording() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop::collection::vec(prop::collection::vec(1u64..5_000_000, 0..60), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_the_seconds_changes_nothing(recording in recording(), seed in any::<u64>()) {
        let seconds: Vec<Interval> =
            recording.iter().enumerate().map(|(index, times)| second(index as u32, times, 1)).collect();
        let mut shuffled = seconds.clone();
        let length = shuffled.len();
        (0..length).for_each(|index| shuffled.swap(index, (seed as usize).wrapping_mul(index + 1) % length));
        let row = |seconds: &[Interval]| {
            let steady = Steady::of(seconds, 0.0, 100.0);
            format!("{:?}", operations(&steady, &name()))
        };
        prop_assert_eq!(row(&seconds), row(&shuffled));
    }

    #[test]
    fn two_windows_together_hold_what_the_whole_holds(recording in recording(), cut in 0u32..12) {
        let seconds: Vec<Interval> =
            recording.iter().enumerate().map(|(index, times)| second(index as u32, times, 1)).collect();
        let completed = |from: u32, to: u32| {
            let steady = Steady::of(&seconds, f64::from(from), f64::from(to));
            operations(&steady, &name())[0].completed
        };
        prop_assert_eq!(completed(0, cut) + completed(cut, 12), completed(0, 12));
    }

    #[test]
    fn times_ten_times_as_long_have_figures_ten_times_as_large(recording in recording()) {
        let figures = |scale: u64| {
            let seconds: Vec<Interval> =
                recording.iter().enumerate().map(|(index, times)| second(index as u32, times, scale)).collect();
            let row = operations(&Steady::of(&seconds, 0.0, 100.0), &name()).remove(0);
            let found = row.response;
            [found.mean_s, found.sd_s, found.p50_s, found.p90_s, found.p95_s, found.p99_s, found.max_s]
        };
        let tens = figures(10);
        // A histogram's bins are shares of a time: a deviation that is small beside the times themselves is only as exact as they are.
        let of_times = 0.001 * tens[6].unwrap_or_default();
        for (one, ten) in figures(1).into_iter().zip(tens) {
            prop_assert_eq!(one.is_some(), ten.is_some());
            if let (Some(one), Some(ten)) = (one, ten) {
                let room = 0.003 * ten + of_times + 3e-6;
                prop_assert!((ten - 10.0 * one).abs() <= room, "{} and {}", one, ten);
            }
        }
    }

    #[test]
    fn a_met_target_stays_met_when_its_limit_is_raised(recording in recording(), percent in 1.0f64..99.9) {
        let seconds: Vec<Interval> =
            recording.iter().enumerate().map(|(index, times)| second(index as u32, times, 1)).collect();
        let steady = Steady::of(&seconds, 0.0, 100.0);
        let judged: Vec<bool> = [0.5, 1.0, 2.0, 4.0, 6.0]
            .iter()
            .map(|limit| {
                let target: QosTarget = format!("p{percent} < {limit}s").parse().expect("a target");
                targets(&[target], &steady, &name())[0].pass
            })
            .collect();
        prop_assert!(judged.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", judged);
    }
}

use proptest::prelude::*;

use super::*;

const MS: i64 = 1_000_000;

/// An exchange of clocks that are `offset_ns` apart, with these ways there and back.
fn exchange(at_ns: i64, offset_ns: i64, there_ns: i64, back_ns: i64) -> Exchange {
    let received_ns = at_ns + there_ns + offset_ns;
    let answered_ns = received_ns + 10_000;
    Exchange { asked_ns: at_ns, received_ns, answered_ns, back_ns: answered_ns - offset_ns + back_ns }
}

#[test]
fn one_exchange_bounds_the_offset_by_half_its_round_trip() {
    let found = offset(&[exchange(0, 7 * MS, 3 * MS, MS)], 0).expect("bounds");
    assert!((found.middle_ns() - 8 * MS).abs() <= 1, "{found:?}: off by half of what the ways differ");
    assert_eq!(found.bound_ns(), 2 * MS + MAX_DRIFT_PPM);
}

#[test]
fn a_way_that_is_slow_in_one_direction_widens_the_bound_and_the_truth_stays_within() {
    let day_ns = 86_400_000 * MS + 7 * MS;
    let slow: Vec<Exchange> = (0..32).map(|n| exchange(n * MS, day_ns, 100 * MS, MS)).collect();
    let found = offset(&slow, 32 * MS).expect("bounds");
    assert!(found.low_ns <= day_ns && day_ns <= found.high_ns, "{found:?}");
    assert!(found.bound_ns() > 50 * MS, "it is no better than the slow way lets it be: {found:?}");
}

#[test]
fn a_clock_has_moved_by_the_gap_between_its_bounds_at_least_and_by_their_ends_at_most() {
    let offset = |low_ns, high_ns| Offset { low_ns, high_ns, agreeing: 1 };
    for (then, now, least_ns, largest_ns) in [
        (offset(0, 10), offset(10, 12), 0, 12),
        (offset(0, 10), offset(15, 20), 5, 20),
        (offset(0, 10), offset(-9, -7), 7, 19),
        (offset(0, 10), offset(2, 4), 0, 8),
        (offset(i64::MIN, 0), offset(0, i64::MAX), 0, i64::MAX as u64),
    ] {
        let drift = Drift::between(&then, &now);
        assert_eq!((drift.least_ns(), drift.largest_ns()), (least_ns, largest_ns), "{drift:?}");
    }
}

#[test]
fn exchanges_that_contradict_the_others_are_left_out() {
    let mut all: Vec<Exchange> = (0..9).map(|n| exchange(n * MS, 5 * MS, MS, MS)).collect();
    all.extend((9..13).map(|n| exchange(n * MS, 900 * MS, MS, MS)));
    let found = offset(&all, 13 * MS).expect("a majority");
    assert_eq!(found.agreeing, 9);
    assert!(found.low_ns <= 5 * MS && 5 * MS <= found.high_ns, "{found:?}");
    // A clock that was set in between: nobody has the majority.
    let half: Vec<Exchange> =
        (0..8).map(|n| exchange(n * MS, if n < 4 { 0 } else { 900 * MS }, MS, MS)).collect();
    assert_eq!(offset(&half, 8 * MS), None);
    assert_eq!(offset(&[], 0), None);
}

#[test]
fn an_exchange_that_can_t_have_happened_is_not_believed() {
    let backwards = Exchange { asked_ns: 5, received_ns: 9, answered_ns: 8, back_ns: 6 };
    let absurd =
        Exchange { asked_ns: i64::MIN, received_ns: i64::MAX, answered_ns: i64::MAX, back_ns: i64::MAX };
    assert_eq!(offset(&[backwards], 10), None);
    assert_eq!(offset(&[absurd], i64::MAX), None);
}

proptest! {
    #[test]
    fn the_truth_is_within_the_bound_whatever_the_ways_and_the_drift(
        offset_ns in -1_000_000_000_000_000i64..1_000_000_000_000_000,
        drift_ppm in -400i64..400,
        ways in prop::collection::vec((1_000i64..200_000_000, 1_000i64..200_000_000), 1..40),
    ) {
        // A second between exchanges; the agent's clock runs too fast or too slow by so much.
        let true_ns = |at_ns: i64| offset_ns + at_ns / 1_000_000 * drift_ppm;
        let mut all = Vec::new();
        for (n, (there_ns, back_ns)) in ways.iter().enumerate() {
            let at_ns = n as i64 * 1_000_000_000;
            let received_ns = at_ns + there_ns + true_ns(at_ns + there_ns);
            let back_at_ns = at_ns + there_ns + back_ns;
            all.push(Exchange { asked_ns: at_ns, received_ns, answered_ns: received_ns, back_ns: back_at_ns });
        }
        let now_ns = ways.len() as i64 * 1_000_000_000;
        let found = offset(&all, now_ns).expect("none of them is wrong");
        prop_assert_eq!(found.agreeing, all.len());
        prop_assert!(found.low_ns <= true_ns(now_ns) && true_ns(now_ns) <= found.high_ns, "{:?}", found);
    }
}

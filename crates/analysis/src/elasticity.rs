//! What taking a part of a resource away does to the throughput: the change of its logarithm divided by that of the
//! resource's. About 1 for what holds the stack, about 0 for what doesn't.

use model::record::diagnosis::{Change, Handicap};

use crate::paired::{self, Looks};

/// Probability with which an interval holds.
const CONFIDENCE_RATIO: f64 = 0.95;
/// Between what holds a stack and what doesn't.
const HALF: f64 = 0.5;

/// What a pair counts at most: one in which nothing completed any more says all that a pair can say, and must not make the
/// others small beside it.
const MAX_WEIGHT: f64 = 2.0;

/// What pairs of windows showed of a handicap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Elasticity {
    /// The estimate; absent without a pair.
    pub value: Option<f64>,
    /// Its 95 % interval; absent for few pairs.
    pub interval: Option<(f64, f64)>,
    /// Pairs that said anything: something completed without the handicap.
    pub pairs: u32,
    /// Those in which nothing completed with it.
    pub stopped: u32,
}

/// The elasticity seen in `pairs` of operations completed in windows of equal length (without, with the change), when
/// there was `ratio` times as much of the resource: below 1 for a handicap.
pub fn elasticity(pairs: &[(u64, u64)], ratio: f64) -> Elasticity {
    let usable: Vec<(u64, u64)> = pairs.iter().copied().filter(|(without, _)| *without > 0).collect();
    let stopped = usable.iter().filter(|(_, with)| *with == 0).count() as u32;
    let counts = Elasticity { pairs: usable.len() as u32, stopped, ..Elasticity::default() };
    let change = ratio.ln();
    if usable.is_empty() || !change.is_finite() || change == 0.0 {
        return counts;
    }
    // Of nothing the logarithm is minus infinity.
    let least = -MAX_WEIGHT * change.abs();
    let log = |(without, with): &(u64, u64)| (*with as f64 / *without as f64).ln().max(least);
    let logs: Vec<f64> = usable.iter().map(log).collect();
    let looks = Looks { confidence_ratio: CONFIDENCE_RATIO, max_values: counts.pairs };
    let interval = paired::interval(&logs, looks).map(|(one, other)| {
        // The logarithm of a handicap is negative: the ends change places.
        let (one, other) = (one / change, other / change);
        (one.min(other), one.max(other))
    });
    Elasticity { value: Some(paired::centre(&logs) / change), interval, ..counts }
}

/// What follows from handicaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// The suspect holds the stack.
    Proved,
    /// An innocent tier costs as much: the windows don't tell tiers apart.
    NotToldApart,
    /// It has a part in it.
    PartlyProved,
    /// It doesn't hold the stack.
    Refuted,
    /// The interval is too wide for any of these.
    Open,
}

/// What follows from the handicaps, the suspect's first. Absent where that one has no interval.
pub fn conclusion(handicaps: &[Handicap]) -> Option<Conclusion> {
    let (suspect, innocent) = handicaps.split_first()?;
    let (value, (low, high)) = suspect.elasticity.zip(suspect.interval)?;
    let others = innocent.iter().filter(|other| !other.suspect);
    let apart = others.filter_map(|other| other.interval).all(|(_, other_high)| other_high < value);
    // A wait that is half of the time of an operation moves it by half.
    let as_expected =
        suspect.expected.is_some_and(|expected| low > 0.0 && low <= expected && expected <= high);
    Some(match apart {
        true if low > HALF || as_expected => Conclusion::Proved,
        false if low > HALF => Conclusion::NotToldApart,
        _ if low > 0.0 => Conclusion::PartlyProved,
        // Behind a full disk or a full service a longer wait hides in the queue: that it moves nothing says nothing.
        _ if high < HALF && suspect.change != Change::Lengthened => Conclusion::Refuted,
        _ => Conclusion::Open,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handicap(tier: &str, seen: Elasticity) -> Handicap {
        let what = "15 % of its CPU time".to_string();
        let Elasticity { value, interval, pairs, stopped } = seen;
        Handicap {
            tier: tier.into(),
            what,
            change: Change::Taken,
            expected: None,
            suspect: tier == "web",
            elasticity: value,
            interval,
            pairs,
            stopped,
        }
    }

    #[test]
    fn throughput_that_falls_with_the_resource_has_an_elasticity_of_one() {
        let pairs: Vec<(u64, u64)> = (0..10).map(|n| (10_000 + 100 * n, 8_500 + 85 * n)).collect();
        let of_web = elasticity(&pairs, 0.85);
        assert!((of_web.value.expect("a value") - 1.0).abs() < 1e-9);
        assert_eq!((of_web.pairs, of_web.stopped), (10, 0));
        let (low, high) = of_web.interval.expect("ten pairs are enough");
        assert!(low <= 1.0 && 1.0 <= high && low > 0.5, "{low} {high}");
        let calm: Vec<(u64, u64)> = (0..10).map(|n| (100, 99 + n % 3)).collect();
        let of_calm = elasticity(&calm, 0.85);
        assert!(of_calm.value.expect("a value").abs() < 0.1, "{of_calm:?}");
        let both = [handicap("web", of_web), handicap("db", of_calm)];
        assert_eq!(conclusion(&both), Some(Conclusion::Proved));
        assert_eq!(conclusion(&both[1..]), Some(Conclusion::Refuted));
        let longer = Handicap { change: Change::Lengthened, ..handicap("web", of_calm) };
        assert_eq!(conclusion(&[longer]), Some(Conclusion::Open), "it may hide in a queue");
        let alike = [handicap("web", of_web), handicap("db", of_web)];
        assert_eq!(conclusion(&alike), Some(Conclusion::NotToldApart));
        assert_eq!(conclusion(&[]), None);
    }

    #[test]
    fn a_handicap_that_stops_the_stack_is_the_strongest_proof() {
        // Four of eight windows stopped, and in the others the throughput fell with the resource: issue 16, item 6.
        let orders: [fn(u64) -> bool; 4] = [|n| n % 2 == 0, |n| n % 2 == 1, |n| n < 4, |n| n >= 4];
        for stops in orders {
            let pairs: Vec<(u64, u64)> =
                (0..8).map(|n| (8_000 + n, if stops(n) { 0 } else { 6_800 + n })).collect();
            let seen = elasticity(&pairs, 0.85);
            assert_eq!((seen.pairs, seen.stopped), (8, 4), "none is dropped");
            assert_eq!(conclusion(&[handicap("web", seen)]), Some(Conclusion::Proved), "{seen:?}");
        }
        let all = elasticity(&[(800, 0); 7], 0.85);
        assert_eq!((all.pairs, all.stopped), (7, 7));
        assert_eq!(conclusion(&[handicap("web", all)]), Some(Conclusion::Proved), "{all:?}");
    }

    #[test]
    fn more_of_what_holds_the_stack_raises_the_throughput_and_changes_no_conclusion() {
        let pairs: Vec<(u64, u64)> = (0..10).map(|n| (10_000 + 10 * n, 12_000 + 12 * n)).collect();
        let more = elasticity(&pairs, 1.2);
        assert!((more.value.expect("a value") - 1.0).abs() < 1e-9, "{more:?}");
        let (low, high) = more.interval.expect("ten pairs are enough");
        assert!(low <= 1.0 && 1.0 <= high, "{low} {high}");
        let less = handicap("web", elasticity(&[(10_000, 8_500); 10], 0.85));
        let more = Handicap { change: Change::Added, ..handicap("web", more) };
        assert_eq!(conclusion(&[less, more]), Some(Conclusion::Proved), "it is no other tier's");
    }

    #[test]
    fn a_wait_that_moves_the_throughput_as_the_ledger_says_is_proved_and_one_that_moves_it_less_in_part() {
        let sleep = |expected| Handicap {
            change: Change::Lengthened,
            expected: Some(expected),
            ..handicap("web", elasticity(&[(1_000, 950), (1_000, 940), (1_000, 960)].repeat(4), 0.85))
        };
        assert_eq!(conclusion(&[sleep(0.31)]), Some(Conclusion::Proved), "{:?}", sleep(0.31));
        assert_eq!(conclusion(&[sleep(0.8)]), Some(Conclusion::PartlyProved));
    }

    #[test]
    fn windows_without_any_throughput_before_the_handicap_say_nothing() {
        assert_eq!(elasticity(&[(0, 5), (0, 0)], 0.85), Elasticity::default());
        let nothing = elasticity(&[(5, 4)], 1.0);
        assert_eq!((nothing.value, nothing.pairs), (None, 1), "nothing was taken");
        assert_eq!(conclusion(&[handicap("web", elasticity(&[(5, 4)], 0.8))]), None, "too few pairs");
    }
}

//! What taking a part of a resource away does to the throughput: the change of its logarithm divided by that of the
//! resource's. About 1 for what holds the stack, about 0 for what doesn't.

use model::diagnosis::{Handicap, LeftOut};

use crate::paired;

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

/// The elasticity seen in `pairs` of operations completed in windows of equal length (without, with the handicap), when
/// `left_ratio` of the resource was left.
pub fn elasticity(pairs: &[(u64, u64)], left_ratio: f64) -> Elasticity {
    let usable: Vec<(u64, u64)> = pairs.iter().copied().filter(|(without, _)| *without > 0).collect();
    let stopped = usable.iter().filter(|(_, with)| *with == 0).count() as u32;
    let counts = Elasticity { pairs: usable.len() as u32, stopped, ..Elasticity::default() };
    let taken = left_ratio.ln();
    if usable.is_empty() || !taken.is_finite() || taken >= 0.0 {
        return counts;
    }
    // Of nothing the logarithm is minus infinity.
    let log = |(without, with): &(u64, u64)| (*with as f64 / *without as f64).ln().max(MAX_WEIGHT * taken);
    let logs: Vec<f64> = usable.iter().map(log).collect();
    // The taken logarithm is negative: the ends change places.
    let interval = paired::interval(&logs, CONFIDENCE_RATIO).map(|(low, high)| (high / taken, low / taken));
    Elasticity { value: Some(paired::centre(&logs) / taken), interval, ..counts }
}

/// What follows from the handicaps, the suspect's first.
pub fn sentence(handicaps: &[Handicap]) -> String {
    let Some((suspect, innocent)) = handicaps.split_first() else { return "Nothing was taken.".to_string() };
    let Some(value) = suspect.elasticity else {
        return format!("Nothing can be said: no pair of windows with {} taken is whole.", suspect.what);
    };
    let Some((low, high)) = suspect.interval else {
        let seen = format!("So far {} taken from tier {} gave", suspect.what, suspect.tier);
        return format!("{seen} an elasticity of {value:.2}; too few pairs of windows for an interval.");
    };
    let figures = format!("{value:.2} ({low:.2} to {high:.2})");
    // An innocent tier that costs as much tells that the windows don't tell tiers apart.
    let apart = innocent.iter().filter_map(|other| other.interval).all(|(_, other_high)| other_high < value);
    let word = if low > HALF && apart {
        "Proved"
    } else if low > HALF {
        "Not told apart"
    } else if low > 0.0 {
        "Partly proved"
    } else if high < HALF {
        "Refuted"
    } else {
        "Open"
    };
    let mut text = format!(
        "{word}: {} taken from tier {}, elasticity of throughput {figures}",
        suspect.what, suspect.tier
    );
    text += &stopped(suspect);
    for other in innocent {
        let Some(value) = other.elasticity else { continue };
        let interval =
            other.interval.map(|(low, high)| format!(" ({low:.2} to {high:.2})")).unwrap_or_default();
        text += &format!("; {} taken from tier {}: {value:.2}{interval}", other.what, other.tier);
        text += &stopped(other);
    }
    text + "."
}

/// That windows don't count, and the number of all.
pub fn left_out(left_out: &LeftOut, all: usize) -> String {
    let LeftOut { windows, sentence, .. } = left_out;
    format!("{windows} of {all} windows don't count, nor do the others of their blocks: {sentence}.")
}

/// ` (in 3 of 8 pairs nothing completed any more)`.
fn stopped(handicap: &Handicap) -> String {
    match handicap.stopped {
        0 => String::new(),
        count => format!(" (in {count} of {} pairs nothing completed any more)", handicap.pairs),
    }
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
        let said = sentence(&[handicap("web", of_web), handicap("db", of_calm)]);
        assert!(said.starts_with("Proved: 15 % of its CPU time taken from tier web"), "{said}");
        assert!(said.contains("15 % of its CPU time taken from tier db"), "{said}");
        assert!(sentence(&[handicap("web", of_calm)]).starts_with("Refuted"));
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
            let said = sentence(&[handicap("web", seen)]);
            assert!(said.starts_with("Proved"), "{said}");
            assert!(said.contains("(in 4 of 8 pairs nothing completed any more)"), "{said}");
        }
        let all = elasticity(&[(800, 0); 7], 0.85);
        assert_eq!((all.pairs, all.stopped), (7, 7));
        assert!(sentence(&[handicap("web", all)]).starts_with("Proved"), "{all:?}");
    }

    #[test]
    fn windows_without_any_throughput_before_the_handicap_say_nothing() {
        assert_eq!(elasticity(&[(0, 5), (0, 0)], 0.85), Elasticity::default());
        let nothing = elasticity(&[(5, 4)], 1.0);
        assert_eq!((nothing.value, nothing.pairs), (None, 1), "nothing was taken");
        let said = sentence(&[handicap("web", elasticity(&[(5, 4)], 0.8))]);
        assert!(said.contains("too few pairs"), "{said}");
    }
}

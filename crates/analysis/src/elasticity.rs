//! What taking a part of a resource away does to the throughput: the change of its logarithm divided by that of the
//! resource's. About 1 for what holds the stack, about 0 for what doesn't.

use model::diagnosis::Handicap;

use crate::paired;

/// Probability with which an interval holds.
const CONFIDENCE_RATIO: f64 = 0.95;
/// Between what holds a stack and what doesn't.
const HALF: f64 = 0.5;

/// The elasticity seen in `pairs` of throughputs (without, with the handicap), when `left_ratio` of the resource was left:
/// the estimate, its 95 % interval (absent for few pairs), and how many pairs said anything.
pub fn elasticity(pairs: &[(f64, f64)], left_ratio: f64) -> (Option<f64>, Option<(f64, f64)>, u32) {
    let usable = |(without, with): &&(f64, f64)| *without > 0.0 && *with > 0.0;
    let logs: Vec<f64> = pairs.iter().filter(usable).map(|(without, with)| (with / without).ln()).collect();
    let taken = left_ratio.ln();
    if logs.is_empty() || !taken.is_finite() || taken >= 0.0 {
        return (None, None, logs.len() as u32);
    }
    // The taken logarithm is negative: the ends change places.
    let interval = paired::interval(&logs, CONFIDENCE_RATIO).map(|(low, high)| (high / taken, low / taken));
    (Some(paired::centre(&logs) / taken), interval, logs.len() as u32)
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
    for other in innocent {
        let Some(value) = other.elasticity else { continue };
        let interval =
            other.interval.map(|(low, high)| format!(" ({low:.2} to {high:.2})")).unwrap_or_default();
        text += &format!("; {} taken from tier {}: {value:.2}{interval}", other.what, other.tier);
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handicap(
        tier: &str,
        (elasticity, interval, pairs): (Option<f64>, Option<(f64, f64)>, u32),
    ) -> Handicap {
        let what = "15 % of its CPU time".to_string();
        Handicap { tier: tier.into(), what, suspect: tier == "web", elasticity, interval, pairs }
    }

    #[test]
    fn throughput_that_falls_with_the_resource_has_an_elasticity_of_one() {
        let pairs: Vec<(f64, f64)> =
            (0..10).map(|n| (100.0 + f64::from(n), 0.85 * (100.0 + f64::from(n)))).collect();
        let (value, interval, count) = elasticity(&pairs, 0.85);
        assert!((value.expect("a value") - 1.0).abs() < 1e-9);
        assert_eq!(count, 10);
        let (low, high) = interval.expect("ten pairs are enough");
        assert!(low <= 1.0 && 1.0 <= high && low > 0.5, "{low} {high}");
        let calm: Vec<(f64, f64)> = (0..10).map(|n| (100.0, 100.0 + f64::from(n % 3) - 1.0)).collect();
        let of_calm = elasticity(&calm, 0.85);
        assert!(of_calm.0.expect("a value").abs() < 0.1, "{of_calm:?}");
        let said = sentence(&[handicap("web", elasticity(&pairs, 0.85)), handicap("db", of_calm)]);
        assert!(said.starts_with("Proved: 15 % of its CPU time taken from tier web"), "{said}");
        assert!(said.contains("15 % of its CPU time taken from tier db"), "{said}");
        assert!(sentence(&[handicap("web", of_calm)]).starts_with("Refuted"));
    }

    #[test]
    fn windows_without_any_throughput_say_nothing() {
        assert_eq!(elasticity(&[(0.0, 5.0), (5.0, 0.0)], 0.85), (None, None, 0));
        assert_eq!(elasticity(&[(5.0, 4.0)], 1.0), (None, None, 1), "nothing was taken");
        let said = sentence(&[handicap("web", elasticity(&[(5.0, 4.0)], 0.8))]);
        assert!(said.contains("too few pairs"), "{said}");
    }
}

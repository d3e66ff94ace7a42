//! Whether what a run showed is enough for a population: "X target number users -> D txns/day -> N txns/sec. Server S
//! tested at M txns/sec, so is N greater than M?" (Jared Rhine, cosmo-dev list, 11 October 2006). X users with D
//! transactions a day each need N = X·D·F/86 400 a second at a peak that is F times the day's mean.
//!
//! M is a run's throughput with its interval, and N is as exact as whoever said it knows: so the answer is sure where N
//! lies outside of the interval, and open within.

use model::record::study::Figure;

use crate::unpaired;

/// Probability with which the interval holds what the run showed.
pub const CONFIDENCE_RATIO: f64 = 0.95;
const DAY_S: f64 = 86_400.0;

/// Who is to be served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Population {
    /// Users.
    pub users: f64,
    /// Transactions that each makes in a day.
    pub per_user_per_day: f64,
    /// How many times the day's mean the busiest time has.
    pub peak_factor: f64,
}

impl Population {
    /// Transactions of all in a day.
    pub fn per_day(&self) -> f64 {
        self.users * self.per_user_per_day
    }

    /// Transactions of all in a second of the busiest time.
    pub fn peak_per_s(&self) -> f64 {
        self.per_day() * self.peak_factor / DAY_S
    }
}

/// What follows for the population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// The peak lies below the interval of what the run showed.
    Carries,
    /// The peak lies above it: of this run. Its stack may do more under more load.
    TooMany,
    /// It lies within, or there is no interval.
    Open,
    /// The peak lies below, but the run missed its targets: so much was done, and not well enough.
    TargetsMissed,
}

/// A population's peak beside what a run showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// Transactions per second at the peak.
    pub needed_per_s: f64,
    /// Transactions per second that the run showed.
    pub shown_per_s: f64,
    /// Its interval; absent in runs too short to have one.
    pub interval_per_s: Option<(f64, f64)>,
    /// What is left of the shown at the peak, as a share of it; negative where the peak needs more.
    pub margin_ratio: f64,
    /// The margin's interval.
    pub margin_interval: Option<(f64, f64)>,
    /// The number of such users who would need just what the run showed.
    pub users: f64,
    /// The interval of that number.
    pub users_interval: Option<(f64, f64)>,
    /// What follows.
    pub conclusion: Conclusion,
}

/// Puts the population's peak beside the throughput `shown`; `pass` is whether the run met its targets, where it had
/// any. `None` unless both are positive numbers.
pub fn capacity(population: &Population, shown: &Figure, pass: Option<bool>) -> Option<Capacity> {
    let needed = population.peak_per_s();
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if !usable(needed) || !usable(shown.value) {
        return None;
    }
    let interval = unpaired::interval(shown, CONFIDENCE_RATIO);
    let margin = |shown: f64| 1.0 - needed / shown;
    let users = |shown: f64| population.users * shown / needed;
    let both = |of: &dyn Fn(f64) -> f64| interval.map(|(low, high)| (of(low), of(high)));
    Some(Capacity {
        needed_per_s: needed,
        shown_per_s: shown.value,
        interval_per_s: interval,
        margin_ratio: margin(shown.value),
        margin_interval: both(&margin),
        users: users(shown.value),
        users_interval: both(&users),
        conclusion: conclude(needed, interval, pass),
    })
}

fn conclude(needed: f64, interval: Option<(f64, f64)>, pass: Option<bool>) -> Conclusion {
    match interval {
        Some((low, _)) if needed < low && pass == Some(false) => Conclusion::TargetsMissed,
        Some((low, _)) if needed < low => Conclusion::Carries,
        Some((_, high)) if needed > high => Conclusion::TooMany,
        _ => Conclusion::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOWN: Population = Population { users: 10_000.0, per_user_per_day: 24.0, peak_factor: 5.0 };

    fn shown(value: f64, log_se: Option<f64>) -> Figure {
        Figure { name: "throughput".to_string(), operation: None, value, log_se, degrees: Some(9.0) }
    }

    #[test]
    fn a_population_s_peak_is_its_day_spread_evenly_times_the_factor() {
        assert_eq!(TOWN.per_day(), 240_000.0);
        assert!((TOWN.peak_per_s() - 13.888_888_888).abs() < 1e-6, "{}", TOWN.peak_per_s());
    }

    #[test]
    fn the_answer_is_sure_outside_of_the_interval_and_open_within() {
        let peak = TOWN.peak_per_s();
        let table = [
            (peak * 2.0, Some(0.01), None, Conclusion::Carries),
            (peak * 2.0, Some(0.01), Some(true), Conclusion::Carries),
            (peak * 2.0, Some(0.01), Some(false), Conclusion::TargetsMissed),
            (peak / 2.0, Some(0.01), Some(true), Conclusion::TooMany),
            (peak / 2.0, Some(0.01), Some(false), Conclusion::TooMany),
            (peak * 1.01, Some(0.01), Some(true), Conclusion::Open),
            (peak * 0.99, Some(0.01), Some(true), Conclusion::Open),
            (peak * 9.0, None, Some(true), Conclusion::Open),
        ];
        for (value, log_se, pass, expected) in table {
            let found = capacity(&TOWN, &shown(value, log_se), pass).expect("both are positive");
            assert_eq!(found.conclusion, expected, "{value} {log_se:?} {pass:?}: {found:?}");
        }
    }

    #[test]
    fn margin_and_users_follow_from_what_was_shown_and_so_do_their_intervals() {
        let peak = TOWN.peak_per_s();
        let found = capacity(&TOWN, &shown(2.0 * peak, Some(0.02)), Some(true)).expect("both are positive");
        assert!((found.margin_ratio - 0.5).abs() < 1e-12, "{found:?}");
        assert!((found.users - 20_000.0).abs() < 1e-6, "{found:?}");
        // 2.262 is Student's t for nine degrees of freedom.
        let far = (2.262_157_163f64 * 0.02).exp();
        let (low, high) = found.interval_per_s.expect("there is an error of estimate");
        assert!(
            (high / found.shown_per_s - far).abs() < 1e-9 && (found.shown_per_s / low - far).abs() < 1e-9
        );
        let (least, most) = found.margin_interval.expect("as the interval");
        assert!((least - (1.0 - far / 2.0)).abs() < 1e-9 && (most - (1.0 - 0.5 / far)).abs() < 1e-9);
        let (fewest, largest) = found.users_interval.expect("as the interval");
        assert!((fewest * far - 20_000.0).abs() < 1e-3 && (largest / far - 20_000.0).abs() < 1e-3);
    }

    #[test]
    fn what_is_no_positive_number_has_no_answer() {
        let nobody = Population { users: 0.0, ..TOWN };
        assert_eq!(capacity(&nobody, &shown(30.0, Some(0.01)), None), None);
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(capacity(&TOWN, &shown(value, Some(0.01)), None), None, "{value}");
        }
    }
}

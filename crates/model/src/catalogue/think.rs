//! Distributions of think and cycle times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A distribution of times in seconds, as `[users] think` or `cycle` declares it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "lowercase", deny_unknown_fields)]
pub enum Distribution {
    /// Always `value`.
    Fixed {
        /// Seconds.
        value: f64,
    },
    /// Uniform between `min` and `max`.
    Uniform {
        /// Seconds.
        min: f64,
        /// Seconds.
        max: f64,
    },
    /// Exponential with `mean` before the cut; a draw above `max` becomes `max`, one below `min` becomes `min`
    /// (TPC-W 1.8 clause 5.3.2.1: the negative exponential distribution is truncated that way).
    Exponential {
        /// Seconds.
        mean: f64,
        /// Seconds.
        #[serde(default)]
        min: f64,
        /// Seconds.
        max: f64,
    },
    /// Exponential that begins at `min`: a draw is `min + (mean - min)·(-ln u)`, so that `mean` is the mean before the
    /// cut; one above `max` becomes `max`.
    #[serde(rename = "shifted_exponential")]
    ShiftedExponential {
        /// Seconds.
        mean: f64,
        /// Seconds.
        min: f64,
        /// Seconds.
        max: f64,
    },
}

impl Distribution {
    /// A draw, from `u` uniform in [0, 1); seconds.
    pub fn sample(&self, u: f64) -> f64 {
        match *self {
            Distribution::Fixed { value } => value,
            Distribution::Uniform { min, max } => min + (max - min) * u,
            Distribution::Exponential { mean, min, max } => (-mean * (1.0 - u).ln()).clamp(min, max),
            Distribution::ShiftedExponential { mean, min, max } => {
                (min - (mean - min) * (1.0 - u).ln()).min(max)
            }
        }
    }

    /// The mean of what [`Self::sample`] gives; seconds.
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Fixed { value } => value,
            Distribution::Uniform { min, max } => (min + max) / 2.0,
            Distribution::Exponential { mean, min, max } => {
                min + mean * ((-min / mean).exp() - (-max / mean).exp())
            }
            Distribution::ShiftedExponential { mean, min, max } => {
                min + (mean - min) * (1.0 - (-(max - min) / (mean - min)).exp())
            }
        }
    }

    /// The standard deviation of what [`Self::sample`] gives, by the midpoints of 10,000 equal parts of the unit
    /// interval, and the largest distance from the mean that a draw can have; seconds.
    pub fn spread(&self) -> (f64, f64) {
        const PARTS: u32 = 10_000;
        let mean = self.mean();
        let square = |part: u32| (self.sample((f64::from(part) + 0.5) / f64::from(PARTS)) - mean).powi(2);
        let variance = (0..PARTS).map(square).sum::<f64>() / f64::from(PARTS);
        let (least, most) = match *self {
            Distribution::Fixed { value } => (value, value),
            Distribution::Uniform { min, max }
            | Distribution::Exponential { min, max, .. }
            | Distribution::ShiftedExponential { min, max, .. } => (min, max),
        };
        (variance.sqrt(), (most - mean).max(mean - least))
    }

    /// The same distribution with every time multiplied by `factor`.
    pub fn scaled(self, factor: f64) -> Distribution {
        match self {
            Distribution::Fixed { value } => Distribution::Fixed { value: value * factor },
            Distribution::Uniform { min, max } => {
                Distribution::Uniform { min: min * factor, max: max * factor }
            }
            Distribution::Exponential { mean, min, max } => {
                Distribution::Exponential { mean: mean * factor, min: min * factor, max: max * factor }
            }
            Distribution::ShiftedExponential { mean, min, max } => {
                Distribution::ShiftedExponential { mean: mean * factor, min: min * factor, max: max * factor }
            }
        }
    }

    /// What is wrong with it, if anything: a negative time, an empty range.
    pub fn fault(&self) -> Option<String> {
        let (min, max, mean) = match *self {
            Distribution::Fixed { value } => (value, value, value),
            Distribution::Uniform { min, max } => (min, max, max),
            Distribution::Exponential { mean, min, max }
            | Distribution::ShiftedExponential { mean, min, max } => (min, max, mean),
        };
        let finite = [min, max, mean].iter().all(|time| time.is_finite() && *time >= 0.0 && *time < 1e6);
        if !finite {
            return Some("a time must lie between 0 and 1e6 seconds".to_string());
        }
        if min > max {
            return Some(format!("min {min} is greater than max {max}"));
        }
        if mean == 0.0 && matches!(self, Distribution::Exponential { .. }) {
            return Some("the mean of an exponential distribution must be greater than 0".to_string());
        }
        if matches!(self, Distribution::ShiftedExponential { .. }) && mean <= min {
            return Some(format!(
                "the mean {mean} of a shifted exponential distribution lies above its min {min}"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_mean_is_the_mean_of_the_draws() {
        let distributions = [
            Distribution::Fixed { value: 0.3 },
            Distribution::Uniform { min: 0.0, max: 0.5 },
            Distribution::Exponential { mean: 7.0, min: 0.0, max: 70.0 },
            Distribution::Exponential { mean: 5.0, min: 1.0, max: 25.0 },
            Distribution::ShiftedExponential { mean: 5.0, min: 3.0, max: 25.0 },
            Distribution::ShiftedExponential { mean: 5.0, min: 0.0, max: 25.0 },
        ];
        for distribution in distributions {
            let n = 1_000_000;
            let sum: f64 = (0..n).map(|i| distribution.sample((i as f64 + 0.5) / n as f64)).sum();
            let (mean, stated) = (sum / n as f64, distribution.mean());
            assert!((mean - stated).abs() < 1e-3 * stated, "{distribution:?}: {mean} against {stated}");
        }
    }

    #[test]
    fn a_shifted_exponential_begins_at_its_minimum_and_is_cut_at_its_maximum() {
        let shifted = Distribution::ShiftedExponential { mean: 5.0, min: 3.0, max: 25.0 };
        assert_eq!(shifted.sample(0.0), 3.0);
        let below_mean = shifted.sample(1.0 - (-1.0_f64).exp());
        assert!((below_mean - 5.0).abs() < 1e-12, "one of e draws is above the mean: {below_mean}");
        assert_eq!(shifted.sample(1.0 - 1e-9), 25.0);
        // 3 + 2·(1 - e⁻¹¹)
        assert!((shifted.mean() - 4.999_966_596).abs() < 1e-9, "{}", shifted.mean());
        let plain = Distribution::Exponential { mean: 5.0, min: 0.0, max: 25.0 };
        let from_0 = Distribution::ShiftedExponential { mean: 5.0, min: 0.0, max: 25.0 };
        assert_eq!(plain.mean(), from_0.mean(), "without a minimum they are the same");
        assert!((plain.mean() - 4.966_310).abs() < 1e-6, "5·(1 - e⁻⁵)");
    }

    #[test]
    fn the_spread_is_that_of_the_closed_forms() {
        let (sd, furthest) = Distribution::Uniform { min: 1.0, max: 4.0 }.spread();
        assert!((sd - 3.0 / 12f64.sqrt()).abs() < 1e-6 && furthest == 1.5, "{sd} {furthest}");
        assert_eq!(Distribution::Fixed { value: 2.0 }.spread(), (0.0, 0.0));
        let (sd, furthest) = Distribution::ShiftedExponential { mean: 5.0, min: 3.0, max: 100.0 }.spread();
        assert!((sd - 2.0).abs() < 0.005 && (furthest - 95.0).abs() < 1e-9, "{sd} {furthest}");
    }

    #[test]
    fn scaling_a_distribution_scales_its_draws() {
        let distributions = [
            Distribution::Fixed { value: 0.3 },
            Distribution::Uniform { min: 0.1, max: 0.5 },
            Distribution::Exponential { mean: 7.0, min: 1.0, max: 70.0 },
            Distribution::ShiftedExponential { mean: 7.0, min: 1.0, max: 70.0 },
        ];
        for distribution in distributions {
            for u in [0.0, 0.3, 0.99] {
                let (scaled, expected) = (distribution.scaled(2.5).sample(u), 2.5 * distribution.sample(u));
                assert!(
                    (scaled - expected).abs() < 1e-9,
                    "{distribution:?} at {u}: {scaled} against {expected}"
                );
            }
        }
    }

    #[test]
    fn impossible_distributions_are_named() {
        assert!(Distribution::Uniform { min: 2.0, max: 1.0 }.fault().is_some());
        assert!(Distribution::Fixed { value: -1.0 }.fault().is_some());
        assert!(Distribution::Exponential { mean: 0.0, min: 0.0, max: 1.0 }.fault().is_some());
        assert!(Distribution::ShiftedExponential { mean: 3.0, min: 3.0, max: 9.0 }.fault().is_some());
        assert!(Distribution::ShiftedExponential { mean: 4.0, min: 3.0, max: 9.0 }.fault().is_none());
        assert!(Distribution::Uniform { min: 0.0, max: 0.5 }.fault().is_none());
    }
}

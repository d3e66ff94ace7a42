//! Intervals by resampling: bias-corrected and accelerated (BCa: Efron 1987; Efron and Tibshirani, *An Introduction to
//! the Bootstrap*, chapter 14), and made as much longer as Student's t is than the normal interval, because resamples of
//! n values scatter too little by √((n − 1)/n) and know nothing of the uncertainty of their scatter (Hesterberg 2015).

use crate::distribution::{normal_below, normal_quantile, student_quantile};
use model::random::Random;

/// Fewer values than this give no interval: resamples of them are too much alike.
pub const MIN_VALUES: usize = 5;

/// The interval that holds `statistic` of what `values` were drawn from with probability `confidence_ratio`, if one
/// looks once. `values` are independent of each other; the statistic sees resamples of their number. `None` for fewer
/// than [`MIN_VALUES`] values.
pub fn bca(
    values: &[f64],
    statistic: impl Fn(&mut [f64]) -> f64,
    confidence_ratio: f64,
    resamples: usize,
    seed: u64,
) -> Option<(f64, f64)> {
    if values.len() < MIN_VALUES || resamples == 0 {
        return None;
    }
    let seen = statistic(&mut values.to_vec());
    let mut random = Random::new(seed);
    let mut draws: Vec<f64> = (0..resamples)
        .map(|_| {
            let mut drawn: Vec<f64> = values.iter().map(|_| values[random.below(values.len())]).collect();
            statistic(&mut drawn)
        })
        .filter(|drawn| drawn.is_finite())
        .collect();
    if draws.is_empty() || !seen.is_finite() {
        return None;
    }
    draws.sort_by(f64::total_cmp);
    let bias = bias(&draws, seen);
    let acceleration = acceleration(values, &statistic);
    let n = values.len() as f64;
    let reach = (n / (n - 1.0)).sqrt() * student_quantile(0.5 + confidence_ratio / 2.0, n - 1.0);
    let at = |normal: f64| {
        let z = bias + normal;
        let room = 1.0 - acceleration * z;
        // So skewed that the correction has no end on this side: the extreme is all that can be said.
        let extreme = if z > 0.0 { 1.0 } else { 0.0 };
        quantile(&draws, if room > 0.0 { normal_below(bias + z / room) } else { extreme })
    };
    Some((at(-reach), at(reach)))
}

/// How far the resamples' median is from what was seen, in standard normal units; equal values count by half.
fn bias(draws: &[f64], seen: f64) -> f64 {
    let below = draws.partition_point(|drawn| *drawn < seen);
    let equal = draws.partition_point(|drawn| *drawn <= seen) - below;
    let share = (below as f64 + 0.5 * equal as f64) / draws.len() as f64;
    let edge = 0.5 / draws.len() as f64;
    normal_quantile(share.clamp(edge, 1.0 - edge))
}

/// A sixth of the skewness of the values' influence, by leaving out one at a time.
fn acceleration(values: &[f64], statistic: &impl Fn(&mut [f64]) -> f64) -> f64 {
    let without = |index: usize| {
        let mut rest = values.to_vec();
        rest.swap_remove(index);
        statistic(&mut rest)
    };
    let left: Vec<f64> = (0..values.len()).map(without).collect();
    let mean = left.iter().sum::<f64>() / left.len() as f64;
    let squares: f64 = left.iter().map(|value| (mean - value).powi(2)).sum();
    let cubes: f64 = left.iter().map(|value| (mean - value).powi(3)).sum();
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

/// Quantile of sorted values, linear between neighbours (Hyndman and Fan 1996, type 7).
pub(crate) fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let at = probability.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(values: &mut [f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn the_interval_of_a_mean_of_normal_values_is_that_of_theory() {
        let mut random = Random::new(3);
        let values: Vec<f64> = (0..400).map(|_| random.normal()).collect();
        let (low, high) = bca(&values, mean, 0.95, 4000, 1).expect("400 values");
        let centre = mean(&mut values.clone());
        assert!(
            (low - (centre - 0.098)).abs() < 0.012 && (high - (centre + 0.098)).abs() < 0.012,
            "{low} {high}"
        );
    }

    #[test]
    fn a_skewed_statistic_has_a_skewed_interval() {
        let mut random = Random::new(4);
        let values: Vec<f64> = (0..40).map(|_| random.exponential(1.0)).collect();
        let (low, high) = bca(&values, mean, 0.95, 4000, 1).expect("40 values");
        let centre = mean(&mut values.clone());
        assert!(high - centre > 1.15 * (centre - low), "{low} {centre} {high}");
    }

    #[test]
    fn few_or_equal_values_are_no_trouble() {
        assert_eq!(bca(&[1.0; 4], mean, 0.95, 100, 1), None);
        assert_eq!(bca(&[2.0; 9], mean, 0.95, 100, 1), Some((2.0, 2.0)));
        assert_eq!(bca(&[f64::NAN; 9], mean, 0.95, 100, 1), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        assert_eq!(bca(&values, mean, 0.9, 500, 7), bca(&values, mean, 0.9, 500, 7));
    }
}

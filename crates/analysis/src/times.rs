//! A histogram of times as the figures that its number of samples supports.

use model::record::TimeSummary;
use model::record::interval::Times;

/// Points of the percentile curve for each factor of ten in "one of how many is slower": 61 points at 10,000 samples.
const CURVE_POINTS_PER_DECADE: usize = 15;

/// The curve never goes beyond the 99.9999th percentile.
const CURVE_DECADES: usize = 6;

/// The percentile in seconds, or `None` when the samples don't support it: at least one is expected to lie beyond it, on
/// the side that has fewer, that is 20 samples for p95 and for p5, 100 for p99, 1,000 for p99.9. With fewer, the
/// "percentile" is the maximum (or the minimum) in disguise.
pub fn percentile_s(times: &Times, percent: f64) -> Option<f64> {
    supported(times.len(), percent).then(|| value_s(times, percent))
}

/// That many samples support the percentile: see [`percentile_s`].
pub(crate) fn supported(samples: u64, percent: f64) -> bool {
    let below = percent / 100.0;
    samples as f64 * below.min(1.0 - below) > 1.0 - 1e-9
}

/// Everything that [`TimeSummary`] holds, each figure only when the samples support it: a mean, minimum and maximum
/// need one sample, a standard deviation two, percentiles as in [`percentile_s`].
pub fn summary(times: &Times) -> TimeSummary {
    if times.is_empty() {
        return TimeSummary::default();
    }
    TimeSummary {
        mean_s: mean_s(times),
        sd_s: sd_s(times),
        p50_s: percentile_s(times, 50.0),
        p90_s: percentile_s(times, 90.0),
        p95_s: percentile_s(times, 95.0),
        p99_s: percentile_s(times, 99.0),
        p999_s: percentile_s(times, 99.9),
        max_s: Some(times.max() as f64 / 1e6),
        curve: curve(times),
    }
}

/// The mean in seconds; absent without samples.
pub(crate) fn mean_s(times: &Times) -> Option<f64> {
    (!times.is_empty()).then(|| times.mean() / 1e6)
}

/// The percentile in seconds whatever the number of samples: the upper end of the histogram's bucket, so never less
/// than what was recorded and at most 0.1 % more.
pub(crate) fn value_s(times: &Times, percent: f64) -> f64 {
    // 99.9 / 100 · 1000 is a hair over 999 in binary: without the correction p99.9 of 1,000 would be the maximum.
    let quantile = percent / 100.0 * (1.0 - 1e-12);
    times.value_at_quantile(quantile) as f64 / 1e6
}

/// The standard deviation in seconds, with Bessel's correction. What is known of each time is the middle of its bucket:
/// off by 0.05 % at most, and by half a microsecond before that. So much of the root mean square of all times is the most
/// that their standard deviation is off by (it is a norm of their distances, for which the triangle inequality holds).
pub(crate) fn sd_s(times: &Times) -> Option<f64> {
    let n = times.len() as f64;
    (n >= 2.0).then(|| times.stdev() * (n / (n - 1.0)).sqrt() / 1e6)
}

/// (percentile, seconds) at percentiles evenly spaced in log(1/(1 − p)), from the minimum to where one sample is
/// left beyond.
fn curve(times: &Times) -> Vec<(f64, f64)> {
    let n = times.len() as f64;
    (0..=CURVE_POINTS_PER_DECADE * CURVE_DECADES)
        .map(|step| 10f64.powf(-(step as f64) / CURVE_POINTS_PER_DECADE as f64))
        .take_while(|beyond| beyond * n > 1.0 - 1e-9)
        .map(|beyond| {
            let percent = 100.0 * (1.0 - beyond);
            ((percent * 1e6).round() / 1e6, value_s(times, percent))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::random::Random;
    use model::record::interval::{new_times, record_ns};

    fn milliseconds(n: u64) -> Times {
        let mut times = new_times();
        (1..=n).for_each(|ms| record_ns(&mut times, ms * 1_000_000));
        times
    }

    fn close(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() <= 1.1e-3 * expected)
    }

    #[test]
    fn the_figures_of_a_known_distribution_are_exact_to_the_histograms_resolution() {
        let found = summary(&milliseconds(1000));
        assert!(close(found.mean_s, 0.5005), "{found:?}");
        assert!(close(found.sd_s, 0.288_82), "sqrt((1000^2 - 1)/12 · 1000/999) ms: {found:?}");
        assert!(close(found.p50_s, 0.5) && close(found.p90_s, 0.9), "{found:?}");
        assert!(close(found.p95_s, 0.95) && close(found.p99_s, 0.99), "{found:?}");
        assert!(close(found.p999_s, 0.999) && close(found.max_s, 1.0), "{found:?}");
    }

    #[test]
    fn a_standard_deviation_is_off_by_no_more_than_its_error() {
        let mut random = Random::new(7);
        for round in 0..300_u32 {
            let (n, middle_s) = (2 + round % 40, 1e-5 * 1e6f64.powf(random.unit()));
            let relative = 0.3 * random.unit().powi(3);
            let mut draw = || (middle_s * (1.0 + relative * random.normal()).abs() * 1e9).round() as u64;
            let nanos: Vec<u64> = (0..n).map(|_| draw()).collect();
            let mut times = new_times();
            nanos.iter().for_each(|nanos| record_ns(&mut times, *nanos));
            let exact_s: Vec<f64> = nanos.iter().map(|nanos| *nanos as f64 / 1e9).collect();
            let count = f64::from(n);
            let mean_s = exact_s.iter().sum::<f64>() / count;
            let squares = |from: f64| exact_s.iter().map(|s| (s - from).powi(2)).sum::<f64>();
            let expected_s = (squares(mean_s) / (count - 1.0)).sqrt();
            let error_s = (5e-4 * (squares(0.0) / count).sqrt() + 1e-6) * (count / (count - 1.0)).sqrt();
            let found_s = sd_s(&times).expect("two or more samples");
            assert!(
                (found_s - expected_s).abs() <= error_s,
                "{found_s} of {expected_s} ± {error_s}: {exact_s:?}"
            );
        }
    }

    #[test]
    fn a_percentile_that_the_samples_do_not_support_is_absent() {
        let table: [(u64, [bool; 5], &str); 7] = [
            (0, [false; 5], "nothing was recorded"),
            (1, [false; 5], "one sample is no distribution"),
            (2, [true, false, false, false, false], "one sample lies beyond the median"),
            (19, [true, true, false, false, false], "not one whole sample lies beyond p95"),
            (20, [true, true, true, false, false], "p95 needs 20"),
            (100, [true, true, true, true, false], "p99 needs 100"),
            (1000, [true; 5], "p99.9 needs 1000"),
        ];
        for (n, expected, why) in table {
            let found = summary(&milliseconds(n));
            let given = [found.p50_s, found.p90_s, found.p95_s, found.p99_s, found.p999_s];
            assert_eq!(given.map(|value| value.is_some()), expected, "{n} samples: {why}");
        }
    }

    #[test]
    fn a_low_percentile_needs_as_many_samples_as_the_high_one_opposite() {
        for (percent, needed) in [(5.0, 20), (10.0, 10), (1.0, 100)] {
            assert!(percentile_s(&milliseconds(needed - 1), percent).is_none(), "p{percent}");
            assert!(close(percentile_s(&milliseconds(needed), percent), 0.001), "p{percent}");
        }
    }

    #[test]
    fn the_curve_rises_and_ends_where_one_sample_is_left() {
        let found = summary(&milliseconds(10_000)).curve;
        assert_eq!(found.len(), 61);
        assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{found:?}");
        assert!((found[0].0, found[60].0) == (0.0, 99.99), "{:?} to {:?}", found[0], found[60]);
        assert!(close(Some(found[60].1), 9.999), "{:?}", found[60]);
        assert_eq!(summary(&milliseconds(1)).curve.len(), 1);
    }
}

//! Distributions of response times: of a window, and of several windows together.
//!
//! A window keeps its percentiles on a grid, and several together are the mixture of their distributions, each with the
//! weight of its samples: never a mean of percentiles. Between two points of the grid, which are one percent of the samples
//! apart, a distribution is taken as even in the logarithm of time; so a mixture is off by less than that one percent.

use model::record::interval::Times;
use model::record::study::ResponseTimes;

use crate::times::{supported, value_s};

/// Halvings after which a time is known to far less than a microsecond: the longest time is an hour.
const HALVINGS: usize = 60;

/// How the times of a window are distributed; nothing without any.
pub fn response_times(times: &Times) -> Option<ResponseTimes> {
    let times_s = || ResponseTimes::percents().map(|percent| value_s(times, percent)).collect();
    (!times.is_empty()).then(|| ResponseTimes { samples: times.len(), times_s: times_s() })
}

/// The distribution of all samples of several windows; nothing without a sample.
pub fn mixture<'a>(parts: impl IntoIterator<Item = &'a ResponseTimes>) -> Option<ResponseTimes> {
    let parts: Vec<&ResponseTimes> = parts.into_iter().filter(|part| is_sound(part)).collect();
    if let [only] = parts.as_slice() {
        return Some((*only).clone());
    }
    let times = || parts.iter().flat_map(|part| &part.times_s).copied();
    let (low_s, high_s) = times().reduce(f64::min).zip(times().reduce(f64::max))?;
    let percents: Vec<f64> = ResponseTimes::percents().collect();
    let samples = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.samples));
    let below = |time_s: f64| {
        let of_part = |part: &&ResponseTimes| part.samples as f64 * percent_below(part, &percents, time_s);
        parts.iter().map(of_part).sum::<f64>() / samples as f64
    };
    let time_s = |percent: &f64| {
        let (mut low, mut high) = ((low_s / 2.0).ln(), high_s.ln());
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            // A hair, so that rounding takes no point of a grid beyond its own time.
            match below(middle.exp()) < percent * (1.0 - 1e-9) {
                true => low = middle,
                false => high = middle,
            }
        }
        (high.exp() * 1e6).round() / 1e6
    };
    Some(ResponseTimes { samples, times_s: percents.iter().map(time_s).collect() })
}

/// (percentile, seconds) at the points of the grid that the samples support, ascending: as for a run's own percentiles, at
/// least one sample is expected to lie beyond, on the side that has fewer.
pub fn curve(all: &ResponseTimes) -> Vec<(f64, f64)> {
    let points = ResponseTimes::percents().zip(all.times_s.iter().copied());
    points.filter(|(percent, _)| supported(all.samples, *percent)).collect()
}

/// The percentile, one of the grid's, in seconds; nothing where the samples don't support it.
pub fn percentile_s(all: &ResponseTimes, percent: f64) -> Option<f64> {
    curve(all).into_iter().find(|(of, _)| *of == percent).map(|(_, time_s)| time_s)
}

/// It has samples, and on each point of the grid a time that has a logarithm and is none before the last one.
fn is_sound(part: &ResponseTimes) -> bool {
    let whole = part.times_s.len() == ResponseTimes::percents().count();
    let rising = part.times_s.windows(2).all(|pair| pair[0] <= pair[1]);
    part.samples > 0 && whole && rising && part.times_s.iter().all(|time| *time > 0.0 && time.is_finite())
}

/// How many percent of the samples took at most that time.
fn percent_below(part: &ResponseTimes, percents: &[f64], time_s: f64) -> f64 {
    let after = part.times_s.partition_point(|time| *time <= time_s);
    let (Some(before), true) = (after.checked_sub(1), after < percents.len()) else {
        return if after == 0 { 0.0 } else { 100.0 };
    };
    let (low_s, high_s) = (part.times_s[before], part.times_s[after]);
    let way = (time_s / low_s).ln() / (high_s / low_s).ln();
    percents[before] + way * (percents[after] - percents[before])
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::random::Random;
    use model::record::interval::{add_times, new_times, record_ns};

    /// As many log-normal times around that middle.
    fn times(count: u32, middle_s: f64, deviation: f64, seed: u64) -> Times {
        let (mut times, mut random) = (new_times(), Random::new(seed));
        (0..count).for_each(|_| {
            let time_s = middle_s * (deviation * random.normal()).exp();
            record_ns(&mut times, (time_s * 1e9) as u64);
        });
        times
    }

    fn window(times: &Times) -> ResponseTimes {
        response_times(times).expect("it has samples")
    }

    /// By how many percent of the samples the mixture is off at worst, against the merged histograms.
    fn error_percent(parts: &[Times]) -> f64 {
        let mut merged = new_times();
        parts.iter().for_each(|part| add_times(&mut merged, part));
        let mixed = mixture(parts.iter().map(window).collect::<Vec<_>>().iter()).expect("it has samples");
        assert_eq!(mixed.samples, merged.len());
        let error = |(percent, time_s): (f64, f64)| {
            // Buckets are 0.1 % wide: any time within one is right.
            let share =
                |s: f64| 100.0 * merged.count_between(0, (s * 1e6) as u64) as f64 / merged.len() as f64;
            let (low, high) = (share(time_s * 0.998), share(time_s * 1.002));
            (low - percent).max(percent - high).max(0.0)
        };
        ResponseTimes::percents().zip(mixed.times_s).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn a_window_is_kept_as_its_percentiles_from_the_smallest_to_the_largest() {
        let mut times = new_times();
        (1..=1000).for_each(|ms| record_ns(&mut times, ms * 1_000_000));
        let seen = window(&times);
        assert_eq!((seen.samples, seen.times_s.len()), (1000, 103));
        for (percent, expected_s) in [(0.1, 0.001), (50.0, 0.5), (99.0, 0.99), (99.9, 0.999)] {
            let time_s = percentile_s(&seen, percent).expect("1,000 samples support it");
            assert!((time_s / expected_s - 1.0).abs() < 1.1e-3, "p{percent}: {time_s} s");
        }
        assert_eq!(response_times(&new_times()), None);
    }

    #[test]
    fn a_mixture_is_that_of_the_merged_histograms_to_less_than_one_percent_of_the_samples() {
        let table = [
            ("repeats that are alike", vec![times(20_000, 0.01, 0.8, 1), times(20_000, 0.01, 0.8, 2)]),
            ("one is slower", vec![times(20_000, 0.01, 0.8, 1), times(5_000, 0.04, 0.5, 2)]),
            ("far apart", vec![times(9_000, 0.0004, 0.3, 1), times(3_000, 0.4, 0.3, 2)]),
            ("few", vec![times(150, 0.01, 0.8, 1), times(80, 0.02, 0.8, 2), times(120, 0.01, 0.4, 3)]),
        ];
        for (what, parts) in table {
            let error = error_percent(&parts);
            assert!(error < 1.0, "{what}: off by {error} % of the samples");
        }
    }

    #[test]
    fn equal_windows_together_are_the_same_distribution() {
        let one = window(&times(3_000, 0.002, 1.0, 4));
        assert_eq!(mixture([&one]).expect("samples"), one);
        let both = mixture([&one, &one]).expect("samples");
        assert_eq!((both.samples, &both.times_s), (6_000, &one.times_s));
        let mut constant = new_times();
        (0..50).for_each(|_| record_ns(&mut constant, 3_000_000));
        let constant = window(&constant);
        assert_eq!(mixture([&constant, &constant]).expect("samples").times_s, constant.times_s);
    }

    #[test]
    fn what_is_no_distribution_is_left_out() {
        let good = window(&times(1_000, 0.002, 1.0, 4));
        let wrong = [
            ResponseTimes::default(),
            ResponseTimes { samples: 0, ..good.clone() },
            ResponseTimes { times_s: vec![0.1], ..good.clone() },
            ResponseTimes { times_s: good.times_s.iter().rev().copied().collect(), ..good.clone() },
            ResponseTimes { times_s: vec![0.0; 103], ..good.clone() },
            ResponseTimes { times_s: vec![f64::NAN; 103], ..good.clone() },
        ];
        assert_eq!(mixture(wrong.iter().chain([&good])), Some(good));
        assert_eq!(mixture(&wrong), None);
    }

    #[test]
    fn a_curve_ends_where_the_samples_do() {
        let ends = |samples: u32| {
            let curve = curve(&window(&times(samples, 0.002, 1.0, 4)));
            curve.first().zip(curve.last()).map(|(first, last)| (first.0, last.0))
        };
        assert_eq!(ends(5_000), Some((0.1, 99.9)));
        assert_eq!(ends(100), Some((1.0, 99.0)));
        assert_eq!(ends(1), None);
    }
}

//! How well a percentile of response times is known, when responses that follow each other resemble each other.
//!
//! The share of samples beyond the window's percentile is a mean, and means over consecutive batches say how well it is
//! known (batch means). The percentiles that lie that much above and below bound the percentile (Woodruff 1952). So no
//! density has to be guessed, the interval is as skewed as the times are, and unlike percentiles of batches a share has
//! no bias in small ones.

use model::record::interval::Times;

use crate::batch::{self, sum_se};
use crate::distribution::{normal_quantile, student_quantile};
use crate::times::value_s;

/// A percentile with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// The percentile of all batches together, in seconds.
    pub value_s: f64,
    /// Lower end of the interval.
    pub low_s: f64,
    /// Upper end; the largest time seen where the samples reach no further.
    pub high_s: f64,
    /// Independent samples that would say as much.
    pub effective_samples: f64,
}

/// The percentile of what `parts` hold, consecutive batches of equal length, with the interval that holds the true one
/// with probability `confidence_ratio`. `None` for fewer than four batches or without samples.
pub fn percentile(parts: &[&Times], percent: f64, confidence_ratio: f64) -> Option<Percentile> {
    let mut whole = model::record::interval::new_times();
    parts.iter().for_each(|part| model::record::interval::add_times(&mut whole, part));
    let beyond = beyond(&whole, parts, percent)?;
    let probability = 0.5 + confidence_ratio / 2.0;
    let from_batches = student_quantile(probability, (parts.len() - 1) as f64) * beyond.batches_se;
    let far = from_batches.max(normal_quantile(probability) * beyond.independent_se);
    let at = |percent: f64| value_s(&whole, percent.clamp(0.0, 100.0));
    let share = percent / 100.0;
    Some(Percentile {
        value_s: at(percent),
        low_s: at(percent - 100.0 * far),
        high_s: at(percent + 100.0 * far),
        effective_samples: share * (1.0 - share) / beyond.se().powi(2),
    })
}

/// Standard error of the logarithm of a percentile of `whole`, which `parts` make up: half the distance between the
/// percentiles a standard error of the share above and below. `None` as for [`percentile`].
pub(crate) fn log_se(whole: &Times, parts: &[&Times], percent: f64) -> Option<f64> {
    let share_se = 100.0 * beyond(whole, parts, percent)?.se();
    let at = |percent: f64| value_s(whole, percent.clamp(0.0, 100.0)).ln();
    Some((at(percent + share_se) - at(percent - share_se)) / 2.0)
}

/// Standard errors of the share of samples beyond a percentile.
struct Beyond {
    /// From the batches' scatter.
    batches_se: f64,
    /// If samples were independent.
    independent_se: f64,
}

impl Beyond {
    /// Samples that resemble each other say less than independent ones and never more: batches that say otherwise do so
    /// by chance.
    fn se(&self) -> f64 {
        self.batches_se.max(self.independent_se)
    }
}

fn beyond(whole: &Times, parts: &[&Times], percent: f64) -> Option<Beyond> {
    if whole.is_empty() || parts.len() < batch::MIN_BATCHES {
        return None;
    }
    let limit = whole.value_at_quantile(percent / 100.0 * (1.0 - 1e-12));
    let further = |times: &Times| (times.len() - times.count_between(0, limit)) as f64;
    let counts: Vec<(f64, f64)> = parts.iter().map(|part| (further(part), part.len() as f64)).collect();
    let (far, all) = counts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    if all == 0.0 {
        return None;
    }
    let residuals: Vec<f64> = counts.iter().map(|(far_part, part)| far_part - part * far / all).collect();
    Some(Beyond {
        batches_se: sum_se(&residuals)? / all,
        independent_se: (percent / 100.0 * (1.0 - percent / 100.0) / all).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::interval::{new_times, record_ns};

    fn batches(count: usize, of: impl Fn(usize) -> Vec<u64>) -> Vec<Times> {
        let batch = |index| {
            let mut times = new_times();
            of(index).iter().for_each(|ms| record_ns(&mut times, ms * 1_000_000));
            times
        };
        (0..count).map(batch).collect()
    }

    fn percentile_of(parts: &[Times], percent: f64) -> Option<Percentile> {
        percentile(&parts.iter().collect::<Vec<&Times>>(), percent, 0.95)
    }

    #[test]
    fn batches_that_are_all_alike_are_worth_their_samples() {
        let alike = percentile_of(&batches(10, |_| (1..=100).collect()), 95.0).expect("ten batches");
        assert!(
            (alike.value_s - 0.095).abs() < 1e-4 && (alike.effective_samples - 1000.0).abs() < 1.0,
            "{alike:?}"
        );
        assert!(alike.low_s < 0.0945 && alike.high_s > 0.0955, "{alike:?}");
    }

    #[test]
    fn batches_that_differ_are_worth_fewer_samples_and_lengthen_the_interval() {
        let alike = percentile_of(&batches(10, |_| (1..=100).collect()), 50.0).expect("ten batches");
        let differing = |index: usize| (1..=100).map(|ms| ms + 100 * (index as u64 * 7 % 10)).collect();
        let apart = percentile_of(&batches(10, differing), 50.0).expect("ten batches");
        assert!(apart.effective_samples < 20.0, "{apart:?}");
        let length = |found: &Percentile| (found.high_s - found.low_s) / found.value_s;
        assert!(length(&apart) > 5.0 * length(&alike), "{apart:?}");
    }

    #[test]
    fn too_little_gives_no_interval() {
        assert_eq!(percentile_of(&batches(3, |_| vec![1, 2, 3]), 50.0), None);
        assert_eq!(percentile_of(&batches(10, |_| vec![]), 50.0), None);
        assert!(percentile_of(&batches(10, |_| vec![5]), 99.9).is_some_and(|found| found.high_s < 0.0051));
    }
}

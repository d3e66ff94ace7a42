//! Figures of a window and the standard errors of their logarithms, from its batches.

use model::OperationKind;
use model::catalogue::kit::Metric;
use model::record::MetricResult;
use model::record::diagnosis::SignalSummary;
use model::record::interval::Times;
use model::record::study::Figure;

use crate::batch::{self, sum_se};
use crate::quantile;
use crate::times::{mean_s, percentile_s, sd_s};
use crate::trial::{Rows, Window};

/// Percentiles that every study keeps.
const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// Times are recorded to 0.1 %: uniform within that, a figure can't be known better.
const RESOLUTION_LOG_SE: f64 = 0.001 / 3.464;

/// Throughput, mean, standard deviation and percentiles of all operations together and of each that occurred; a percentile
/// that its samples don't support is left out, and so is the standard deviation of times that are all alike.
pub(super) fn figures(all: &Rows, window: &Window<'_>, also: &[f64]) -> Vec<Figure> {
    let others = also.iter().filter(|percent| !PERCENTILES.contains(percent));
    let percentiles: Vec<f64> = PERCENTILES.iter().chain(others).copied().collect();
    let mut found = of_one(None, all, &percentiles);
    for (index, name) in window.names.iter().enumerate() {
        if name.kind == OperationKind::Operation {
            let seen = window.of_row(index);
            if seen.whole.completed > 0 {
                found.extend(of_one(Some(&name.name), &seen, &percentiles));
            }
        }
    }
    found
}

fn of_one(operation: Option<&str>, seen: &Rows, percentiles: &[f64]) -> Vec<Figure> {
    let figure = |name: &str, value: f64, log_se: Option<f64>| Figure {
        name: name.to_string(),
        operation: operation.map(str::to_string),
        value,
        log_se,
        degrees: log_se.map(|_| degrees(seen.parts.len())),
    };
    let mut found = vec![figure("throughput", throughput(seen), throughput_log_se(seen))];
    found.extend(mean_s(&seen.whole.response).map(|value| figure("mean", value, mean_log_se(seen))));
    let sd = sd_s(&seen.whole.response).filter(|value| *value > 0.0);
    found.extend(sd.map(|value| figure("sd", value, sd_log_se(seen))));
    for percent in percentiles {
        let value = percentile_s(&seen.whole.response, *percent);
        let name = format!("p{percent}");
        found.extend(value.map(|value| figure(&name, value, percentile_log_se(seen, *percent))));
    }
    found
}

/// Degrees of freedom that the scatter of a number of batches gives.
fn degrees(batches: usize) -> f64 {
    batches.saturating_sub(1) as f64
}

/// The kit's own figures that have a value; the error is from how far the batches' own values differ.
pub(super) fn metrics(wanted: &[Metric], window: &Window<'_>) -> Vec<Figure> {
    let parts = window.batches.parts().iter();
    let parts: Vec<_> = parts.map(|part| crate::metrics(wanted, part, window.names)).collect();
    let figure = |result: MetricResult| {
        let of_part = |part: &Vec<MetricResult>| {
            let value = part.iter().find(|one| one.name == result.name)?.value;
            (value > 0.0).then(|| value.ln())
        };
        let logs: Option<Vec<f64>> = parts.iter().map(of_part).collect();
        let log_se = logs.filter(|logs| logs.len() >= batch::MIN_BATCHES).and_then(|logs| mean_se(&logs));
        let degrees = log_se.map(|_| degrees(parts.len()));
        Figure { name: result.name, operation: None, value: result.value, log_se, degrees }
    };
    crate::metrics(wanted, &window.whole, window.names).into_iter().map(figure).collect()
}

/// Of the signals that a window had those that are `wanted`, each as `TIER.NAME`: their means. How far one can be trusted is
/// not known of a window by itself.
pub fn tier_signals(wanted: &[String], had: &[SignalSummary]) -> Vec<Figure> {
    let figure = |name: &String| {
        let is_it = |one: &&SignalSummary| {
            one.tier.as_deref().is_some_and(|tier| *name == format!("{tier}.{}", one.name))
        };
        let value = had.iter().find(is_it)?.mean;
        Some(Figure { name: name.clone(), operation: None, value, log_se: None, degrees: None })
    };
    wanted.iter().filter_map(figure).collect()
}

/// Standard error of the mean of `values`, which are consecutive.
pub(super) fn mean_se(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let residuals: Vec<f64> = values.iter().map(|value| value - mean).collect();
    sum_se(&residuals).map(|se| se / values.len() as f64)
}

/// Completions per second.
pub(super) fn throughput(seen: &Rows) -> f64 {
    if seen.whole_s > 0.0 { seen.whole.completed as f64 / seen.whole_s } else { 0.0 }
}

/// Standard error of ln(throughput).
pub(super) fn throughput_log_se(seen: &Rows) -> Option<f64> {
    let counts: Vec<f64> = seen.parts.iter().map(|part| part.completed as f64).collect();
    let sum: f64 = counts.iter().sum();
    let mean = sum / counts.len() as f64;
    let residuals: Vec<f64> = counts.iter().map(|count| count - mean).collect();
    (sum > 0.0).then(|| sum_se(&residuals)).flatten().map(|se| se / sum)
}

/// Standard error of the logarithm of the mean response time: a ratio of two sums, time and completions, so each
/// batch's residual is its time minus what its completions would take at the window's mean (Cochran, *Sampling
/// Techniques*, chapter 6).
pub(super) fn mean_log_se(seen: &Rows) -> Option<f64> {
    let sums: Vec<(f64, f64)> = seen.parts.iter().map(|part| of_times(&part.response)).collect();
    let time: f64 = sums.iter().map(|(time, _)| time).sum();
    let count: f64 = sums.iter().map(|(_, count)| count).sum();
    if time <= 0.0 {
        return None;
    }
    let residuals: Vec<f64> = sums.iter().map(|(part, n)| part - n * time / count).collect();
    sum_se(&residuals).map(|se| (se / time).hypot(RESOLUTION_LOG_SE))
}

/// Standard error of the logarithm of the standard deviation, which is half that of the variance: each batch's residual is
/// what its times' squared distances from the window's mean are above their part of the variance, over twice the variance
/// (the influence function of the variance). Of heavy tails a window says too little for it.
fn sd_log_se(seen: &Rows) -> Option<f64> {
    let parts: Vec<(f64, f64, f64)> = seen.parts.iter().map(|part| of_distances(&part.response)).collect();
    let count: f64 = parts.iter().map(|(n, ..)| n).sum();
    let mean = parts.iter().map(|(n, mean, _)| n * mean).sum::<f64>() / count;
    let squares = |(n, part, variance): &(f64, f64, f64)| n * (variance + (part - mean).powi(2));
    let variance = parts.iter().map(squares).sum::<f64>() / count;
    if count <= 0.0 || variance <= 0.0 {
        return None;
    }
    let residual = |part: &(f64, f64, f64)| (squares(part) - part.0 * variance) / (2.0 * variance);
    let residuals: Vec<f64> = parts.iter().map(residual).collect();
    // Buckets are narrow beside the times, and may not be beside what these differ by.
    let resolution = RESOLUTION_LOG_SE * (1.0 + mean * mean / variance).sqrt();
    sum_se(&residuals).map(|se| (se / count).hypot(resolution))
}

/// How many times there are, their mean and their variance; in the histogram's own unit.
fn of_distances(times: &Times) -> (f64, f64, f64) {
    (times.len() as f64, times.mean(), times.stdev().powi(2))
}

/// Summed times in seconds and their number.
fn of_times(times: &Times) -> (f64, f64) {
    (mean_s(times).unwrap_or(0.0) * times.len() as f64, times.len() as f64)
}

/// Standard error of the logarithm of a percentile.
pub(super) fn percentile_log_se(seen: &Rows, percent: f64) -> Option<f64> {
    let parts: Vec<&Times> = seen.parts.iter().map(|part| &part.response).collect();
    let se = quantile::log_se(&seen.whole.response, &parts, percent)?;
    Some(se.hypot(RESOLUTION_LOG_SE))
}

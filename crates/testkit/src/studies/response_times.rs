//! How the response times of a simulated trial are distributed: through the percentiles that it has.

use model::record::study::{Measured, ResponseTimes};

/// Operations of a trial.
const SAMPLES: u64 = 9_000;

/// Through the trial's own percentiles; absent of one that has none.
pub(super) fn of(measured: &Measured) -> Option<ResponseTimes> {
    let percentile = |name: &str| measured.figure(name, None).map(|figure| figure.value);
    let (p50_s, p95_s, p99_s) = (percentile("p50")?, percentile("p95")?, percentile("p99")?);
    let knots = [(0.1, 0.3 * p50_s), (50.0, p50_s), (95.0, p95_s), (99.0, p99_s), (99.9, 1.5 * p99_s)];
    let times_s = ResponseTimes::percents().map(|percent| between(&knots, percent)).collect();
    Some(ResponseTimes { samples: SAMPLES, times_s })
}

/// Even in the logarithms of the time and of the odds, to the microsecond.
fn between(knots: &[(f64, f64)], percent: f64) -> f64 {
    let odds = |percent: f64| (percent / (100.0 - percent)).ln();
    let after = knots.iter().position(|knot| percent <= knot.0).unwrap_or(knots.len() - 1).max(1);
    let ((low, low_s), (high, high_s)) = (knots[after - 1], knots[after]);
    let way = (odds(percent) - odds(low)) / (odds(high) - odds(low));
    let time_s = (low_s.ln() + way * (high_s / low_s).ln()).exp();
    (time_s * 1e6).round() / 1e6
}

//! Shares of the time between two readings.

/// The share of the time between two moments, each with a count of seconds, that those seconds are.
pub(super) fn share((then_s, before_s): (f64, f64), (now_s, after_s): (f64, f64)) -> f64 {
    ((after_s - before_s) / (now_s - then_s)).clamp(0.0, 1.0)
}

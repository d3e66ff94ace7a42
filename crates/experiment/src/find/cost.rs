//! What trials cost, in seconds.

use model::record::study::{Purpose, Trial};

/// Setting up, ramping up and warming up, before anything is known of the stack.
const SUPPOSED_OVERHEAD_S: f64 = 15.0;

/// Seconds that a trial takes beside its window: the mean of the last five.
pub(super) fn overhead_s(trials: &[Trial]) -> f64 {
    let counted = trials.iter().rev().filter(|trial| trial.purpose != Purpose::WarmUp).take(5);
    let known: Vec<f64> = counted.map(|trial| (trial.took_s - trial.window_s).max(0.0)).collect();
    if known.is_empty() {
        return SUPPOSED_OVERHEAD_S;
    }
    known.iter().sum::<f64>() / known.len() as f64
}

/// Seconds that a trial with such a window will take.
pub(super) fn trial_s(trials: &[Trial], window_s: f64) -> f64 {
    overhead_s(trials) + window_s
}

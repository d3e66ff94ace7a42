//! How long a sweep takes, before it and on the way.

use experiment::sweep;
use model::record::study::{Measurement, Sweep, Trial};

use crate::verbs::finish::BESIDE_S;

/// `measurement 5 of 21, about 6 min left`.
pub(super) fn line(sweep: &Sweep, loads: &[f64], trials: &[Trial]) -> String {
    let (left, all) = sweep::remaining(sweep, loads, trials);
    let done = all - left;
    let spent_s: f64 = trials.iter().map(|trial| trial.took_s).sum();
    let each_s = if done > 0 { spent_s / done as f64 } else { usual_s(sweep) };
    wording::progress::sweep(done + 1, all, each_s * left as f64)
}

/// Seconds that a cell takes once, before anything is known.
pub(super) fn usual_s(sweep: &Sweep) -> f64 {
    match &sweep.measurement {
        Measurement::Window { window_s } => window_s + BESIDE_S,
        Measurement::LoadLine(goal) => goal.budget_s,
    }
}

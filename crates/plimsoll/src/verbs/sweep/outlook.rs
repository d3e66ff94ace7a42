//! How long a sweep takes, before anything is known.

use model::record::study::{Measurement, Sweep};

use crate::verbs::finish::BESIDE_S;

/// Seconds that a cell takes once, before anything is known.
pub(super) fn usual_s(sweep: &Sweep) -> f64 {
    match &sweep.measurement {
        Measurement::Window { window_s } => window_s + BESIDE_S,
        Measurement::LoadLine(goal) => goal.budget_s,
    }
}

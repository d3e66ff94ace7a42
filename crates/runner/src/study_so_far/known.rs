//! What is known after some trials of a study, whatever its kind.

use model::progress::study::Known;
use model::record::study::Trial;

/// What a study knows after some of its trials.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySoFar {
    /// The line below the progress on a terminal.
    pub below: String,
    /// What is known, in a sentence.
    pub text: String,
    /// Seconds still to come.
    pub left_s: f64,
    /// What is known, in figures.
    pub known: Known,
}

/// Operations per second and the 95th percentile in seconds of a trial's window; absent where nothing was measured.
pub(super) fn figures(trial: &Trial) -> [Option<f64>; 2] {
    let value = |name: &str| Some(trial.measured.as_ref()?.figure(name, None)?.value);
    ["throughput", "p95"].map(value)
}

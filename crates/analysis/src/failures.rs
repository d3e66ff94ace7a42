//! Who failed more: that decides before any figure of what completed, because who fails at once completes the rest sooner.

use model::catalogue::qos::Measure;
use model::record::TargetOutcome;
use model::record::study::{Failed, Failing, Measured};

/// One fails clearly more when its share is higher by more than this.
const CLEARLY: f64 = 0.01;

/// Shares of what went wrong in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Failures {
    /// Failed operations of all.
    pub operations: f64,
    /// Users who were left waiting, where a target says for how long is too long.
    pub waiting: f64,
}

impl Failures {
    /// The share of users who waited for too long, by the targets that say for how long that is.
    pub fn waiting(targets: &[TargetOutcome]) -> f64 {
        let waiting = targets.iter().filter(|outcome| matches!(outcome.target.measure, Measure::Waiting(_)));
        waiting.filter_map(|outcome| outcome.observed).fold(0.0, f64::max)
    }

    /// Of one window's figures, whose targets say who waited for too long.
    pub fn of(seen: &Measured) -> Failures {
        Failures { operations: seen.failed_ratio, waiting: Failures::waiting(&seen.targets) }
    }
}

/// Who failed clearly more, and how much: operations first, then users left waiting.
pub fn failed_more(a: Failures, b: Failures) -> Option<Failed> {
    let operations = (Failing::Operations, a.operations, b.operations);
    let waiting = (Failing::Waiting, a.waiting, b.waiting);
    [operations, waiting].into_iter().find_map(|(what, a_ratio, b_ratio)| {
        let arm = usize::from(b_ratio > a_ratio);
        ((b_ratio - a_ratio).abs() > CLEARLY).then_some(Failed { arm, what, a_ratio, b_ratio })
    })
}

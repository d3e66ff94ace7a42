//! How a run ended, in a word.

use model::record::Outcome;

use crate::summary::RunSummary;

/// Every verdict of a run in a list.
pub(crate) const VERDICTS: [&str; 10] = [
    "passed",
    "failed",
    "valid",
    "not valid",
    "no result",
    "aborted",
    "interrupted",
    "under way",
    "unfinished",
    "unreadable",
];

/// The verdict of a run in a list, one of [`VERDICTS`].
pub fn verdict_of(run: &RunSummary) -> &'static str {
    match (run.outcome, run.valid, run.pass) {
        (None, ..) => "unreadable",
        (Some(Outcome::Unfinished), ..) if run.under_way => "under way",
        (Some(Outcome::Unfinished), ..) => "unfinished",
        (Some(Outcome::Interrupted), ..) => "interrupted",
        (Some(Outcome::Aborted), ..) => "aborted",
        (Some(Outcome::Completed), ..) if run.by_hand => "no result",
        (Some(Outcome::Completed), false, _) => "not valid",
        (Some(Outcome::Completed), true, Some(true)) => "passed",
        (Some(Outcome::Completed), true, Some(false)) => "failed",
        (Some(Outcome::Completed), true, None) => "valid",
    }
}

//! Why there is no load line.

use analysis::{Stability, sentence};
use model::QosTarget;
use model::study::{FindAnswer, FindGoal, NoAnswer, Trial, WhyNot};

use super::case::Case;

fn refusal(case: &Case<'_>, why: WhyNot, load: Option<f64>, evidence: String) -> NoAnswer {
    NoAnswer {
        why,
        load,
        evidence,
        highest_passed: case.seen.highest_passed(),
        lowest_failed: case.seen.lowest_failed(),
    }
}

pub(super) fn fails_at_least(case: &Case<'_>, last: &Trial) -> NoAnswer {
    refusal(case, WhyNot::FailsAtLeast, Some(last.load), sentence::find::missed(last))
}

pub(super) fn never_passes(case: &Case<'_>, near: &Trial, wanting: &QosTarget) -> NoAnswer {
    let evidence = sentence::find::wanting(near, wanting);
    refusal(case, WhyNot::NeverPasses, Some(near.load), evidence)
}

pub(super) fn never_fails(case: &Case<'_>) -> NoAnswer {
    let highest = case.trials.iter().rev().find(|trial| case.seen.passes(trial) == Some(true));
    let evidence = highest.map(sentence::find::nearest).unwrap_or_default();
    refusal(case, WhyNot::NeverFails, Some(case.goal.most), evidence)
}

pub(super) fn ceiling(case: &Case<'_>, trial: &Trial, why: WhyNot) -> NoAnswer {
    refusal(case, why, Some(trial.load), sentence::find::faults(trial))
}

pub(super) fn blind(case: &Case<'_>, last: &Trial, why: WhyNot) -> NoAnswer {
    refusal(case, why, Some(last.load), sentence::find::faults(last))
}

pub(super) fn unstable(case: &Case<'_>, seen: &Stability) -> NoAnswer {
    let evidence = sentence::find::two_modes(case.goal.by, seen.trials, seen.modes);
    refusal(case, WhyNot::Unstable, Some((seen.modes.0 * seen.modes.1).sqrt()), evidence)
}

pub(super) fn drifts(case: &Case<'_>, seen: &Stability) -> NoAnswer {
    let evidence = sentence::find::moved(case.goal.by, seen.trials, seen.moved);
    refusal(case, WhyNot::Drifts, Some(seen.moved.1), evidence)
}

pub(super) fn out_of_time(case: &Case<'_>) -> NoAnswer {
    let evidence = sentence::find::spent(case.spent_s, case.trials.len());
    refusal(case, WhyNot::OutOfTime, None, evidence)
}

/// As many trials as were allowed, or trials of which none said anything, did not tell the line.
pub(super) fn not_known(case: &Case<'_>) -> NoAnswer {
    let evidence = sentence::find::spent(case.spent_s, case.trials.len());
    refusal(case, WhyNot::NotKnown, None, evidence)
}

/// What is known when the user ends a find.
pub fn interrupted(goal: &FindGoal, trials: &[Trial], spent_s: f64) -> FindAnswer {
    let case = Case::of(goal, trials, spent_s);
    let evidence = sentence::find::spent(spent_s, trials.len());
    FindAnswer::NoAnswer(refusal(&case, WhyNot::Interrupted, None, evidence))
}

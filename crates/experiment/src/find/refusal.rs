//! Why there is no load line.

use analysis::Stability;
use model::QosTarget;
use model::record::study::{FindAnswer, FindGoal, NoAnswer, NoAnswerFacts, Trial, WhyNot};

use super::case::Case;

/// Its sentence is made where the study is kept.
fn refusal(case: &Case<'_>, why: WhyNot, load: Option<f64>, facts: Option<NoAnswerFacts>) -> NoAnswer {
    NoAnswer {
        why,
        load,
        conditions: case.conditions.clone(),
        evidence: String::new(),
        facts,
        highest_passed: case.judged.highest_passed(),
        lowest_failed: case.judged.lowest_failed(),
    }
}

pub(super) fn fails_at_least(case: &Case<'_>, last: &Trial) -> NoAnswer {
    let facts = NoAnswerFacts::Missed { trial: last.number };
    refusal(case, WhyNot::FailsAtLeast, Some(last.load), Some(facts))
}

pub(super) fn never_passes(case: &Case<'_>, near: &Trial, wanting: &QosTarget) -> NoAnswer {
    let facts = NoAnswerFacts::Wanting { trial: near.number, target: wanting.clone() };
    refusal(case, WhyNot::NeverPasses, Some(near.load), Some(facts))
}

pub(super) fn never_fails(case: &Case<'_>) -> NoAnswer {
    let highest = case.trials.iter().rev().find(|trial| case.judged.passes(trial) == Some(true));
    let facts = highest.map(|trial| NoAnswerFacts::Nearest { trial: trial.number });
    refusal(case, WhyNot::NeverFails, Some(case.most()), facts)
}

/// A trial says nothing of the stack: the generator or the machine was the limit, or the instrument broke.
pub(super) fn unusable(case: &Case<'_>, trial: &Trial, why: WhyNot) -> NoAnswer {
    refusal(case, why, Some(trial.load), Some(NoAnswerFacts::Faults { trial: trial.number }))
}

pub(super) fn unstable(case: &Case<'_>, stability: &Stability) -> NoAnswer {
    let (low, high) = stability.modes;
    let facts = NoAnswerFacts::TwoModes { trials: stability.trials, low, high };
    refusal(case, WhyNot::Unstable, Some((low * high).sqrt()), Some(facts))
}

pub(super) fn drifts(case: &Case<'_>, stability: &Stability) -> NoAnswer {
    let (first, last) = stability.moved;
    let facts = NoAnswerFacts::Moved { trials: stability.trials, first, last };
    refusal(case, WhyNot::Drifts, Some(last), Some(facts))
}

pub(super) fn out_of_time(case: &Case<'_>) -> NoAnswer {
    refusal(case, WhyNot::OutOfTime, None, Some(spent(case)))
}

/// The maximum number of trials was made, or trials of which none said anything, without the line being known.
pub(super) fn not_known(case: &Case<'_>) -> NoAnswer {
    refusal(case, WhyNot::NotKnown, None, Some(spent(case)))
}

/// What is known when the user ends a find.
pub fn interrupted(goal: &FindGoal, trials: &[Trial], spent_s: f64) -> FindAnswer {
    let case = Case::of(goal, trials, spent_s);
    FindAnswer::NoAnswer(refusal(&case, WhyNot::Interrupted, None, Some(spent(&case))))
}

fn spent(case: &Case<'_>) -> NoAnswerFacts {
    NoAnswerFacts::Spent { spent_s: case.spent_s, trials: case.trials.len() }
}

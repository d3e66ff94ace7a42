//! What a find changes so that there is a line to be found: data for more users where the stack carries all that the data
//! are for, and a smaller share of a CPU for the web tier where the generator or the machine ends before the stack does.
//!
//! What was measured under other conditions says nothing of the line: a search begins anew whenever they change, with
//! what it has learnt of where to begin.

use model::record::study::{By, Conditions, FindGoal, NoAnswer, Purpose, Trial, WhyNot};
use model::record::{Check, CheckClass};

use super::case::Case;
use super::{cost, cpu};
use crate::Order;

/// Data are for this number of times the users that the CPU would be enough for.
const ROOM: f64 = 1.2;

/// Trials that a line takes at least: the way up, and the search. With less time than that, what was found so far is more
/// than what could be begun.
const MIN_TRIALS: f64 = 8.0;

/// The conditions of the last trial; those of the arm before the first.
pub(super) fn current(trials: &[Trial]) -> Conditions {
    trials.last().map_or_else(Conditions::default, |last| last.conditions.clone())
}

/// Number of trials made before the conditions became what they are.
pub(super) fn trials_before(trials: &[Trial]) -> usize {
    let current = current(trials);
    trials.iter().rposition(|trial| trial.conditions != current).map_or(0, |last| last + 1)
}

/// The highest load that may be tried under `conditions`.
pub(super) fn most(goal: &FindGoal, conditions: &Conditions) -> f64 {
    let users = goal.sizes.get(size(goal, conditions)).map(|size| size.users);
    users.filter(|_| goal.by == By::Users).map_or(goal.most, |users| users.min(goal.most))
}

fn size(goal: &FindGoal, conditions: &Conditions) -> usize {
    let of = |size: &String| goal.sizes.iter().position(|one| one.size == *size);
    conditions.size.as_ref().and_then(of).unwrap_or(0)
}

/// The first trial under other conditions, where these may give the answer that `refused` is not.
///
/// A limit of the generator or the machine was seen again at each attempt, or is certain: the doing of others is neither.
pub(super) fn change(case: &Case<'_>, refused: &NoAnswer) -> Option<Order> {
    let conditions = match refused.why {
        WhyNot::NeverFails => more_users(case)?,
        WhyNot::GeneratorLimit | WhyNot::MachineLimit => less_for_the_web_tier(case)?,
        _ => return None,
    };
    if !has_time_for_a_line(case) {
        return None;
    }
    // Filled with what is known to be carried.
    let load = refused.highest_passed.filter(|_| refused.why == WhyNot::NeverFails);
    let order = case.order(Purpose::WarmUp, load.unwrap_or(case.goal.start), 2.0 * case.goal.ramp_window_s);
    Some(Order { conditions, ..order })
}

fn more_users(case: &Case<'_>) -> Option<Conditions> {
    let larger = case.goal.sizes.get(size(case.goal, &case.conditions) + 1..)?;
    let enough = case.last_measured().and_then(|trial| cpu::enough_for(case, trial)).unwrap_or(0.0);
    let next = larger.iter().find(|size| size.users >= ROOM * enough).or(larger.last())?;
    let more = most(case.goal, &case.conditions) < case.goal.most && case.goal.by == By::Users;
    more.then(|| Conditions { size: Some(next.size.clone()), ..case.conditions.clone() })
}

fn less_for_the_web_tier(case: &Case<'_>) -> Option<Conditions> {
    let now = case.conditions.web_cores.unwrap_or(f64::INFINITY);
    let next = case.goal.web_cores.iter().copied().find(|cores| *cores < now)?;
    Some(Conditions { web_cores: Some(next), ..case.conditions.clone() })
}

fn has_time_for_a_line(case: &Case<'_>) -> bool {
    let min_s = MIN_TRIALS * cost::trial_s(case.trials, case.goal.window_s);
    case.spent_s + min_s <= case.goal.budget_s
}

/// Whether there may be data for more users.
pub(super) fn can_have_more_users(case: &Case<'_>) -> bool {
    more_users(case).is_some() && has_time_for_a_line(case)
}

/// The generator or the machine was full in this trial, so that no second one is needed to say so, and less for the web tier
/// may still be tried.
pub(super) fn wants_less_for_the_web_tier(case: &Case<'_>, trial: &Trial) -> bool {
    is_full(trial) && less_for_the_web_tier(case).is_some() && has_time_for_a_line(case)
}

/// Being late can be the doing of others for once; having no CPU, no port and no descriptor left is not.
fn is_full(trial: &Trial) -> bool {
    let full = |check: &Check| *check == Check::GeneratorCpu || check.class() == Some(CheckClass::Machine);
    trial.faults.iter().any(|fault| full(&fault.check))
}

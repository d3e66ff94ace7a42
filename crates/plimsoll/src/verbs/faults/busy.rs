//! Controls whose users are as many as keep the stack's CPUs as busy as asked for: by the utilisation law, from a shorter
//! run with few users, and from the run itself where that was busier or less busy.

use analysis::signals::names::STACK_BUSY;
use model::{FaultFile, Recipe, Result, RunRecord};

use crate::context::Context;
use runner::progress::Progress;

/// Above this the CPUs are no longer as busy in proportion: who waits asks for less.
const MAX_PILOT_RATIO: f64 = 0.6;
/// A larger step than this from what was measured is made in two.
const MAX_FACTOR: f64 = 4.0;
const MAX_PILOTS: usize = 4;
/// A run whose CPUs were busier or less busy by more than this than asked for is made again with other users.
const TOLERANCE: f64 = 0.05;
/// Above this CPUs are full, and don't tell how many users too many there are.
const FULL_RATIO: f64 = 0.97;
/// What is left of the users then.
const FEWER: f64 = 0.85;
const MAX_CORRECTIONS: usize = 3;

/// Runs `fault` by `run`; where it says how busy the CPUs are to be, with the number of users that shorter runs before gave.
pub(super) fn with_users(
    fault: &FaultFile,
    context: &mut Context,
    run: impl Fn(&FaultFile, &mut Context) -> Result<RunRecord>,
) -> Result<RunRecord> {
    let (Some(wanted_ratio), Some(first)) = (fault.busy_ratio, fault.recipe.users) else {
        return run(fault, context);
    };
    let mut users = first;
    let say = |context: &mut Context, users: u32, busy_ratio: f64, next: u32| {
        let percent = |ratio: f64| ratio * 100.0;
        let (name, busy, wanted) = (&fault.name, percent(busy_ratio), percent(wanted_ratio));
        context.console.done(&format!(
            "{name}: {users} users kept the stack's CPUs {busy:.0} % busy; {wanted:.0} % are wanted: {next} users"
        ));
    };
    for _ in 0..MAX_PILOTS {
        let busy_ratio = busy_ratio(&run(&shorter(fault, users), context)?);
        let next = next(users, busy_ratio, wanted_ratio);
        say(context, users, busy_ratio, next.users());
        users = next.users();
        if matches!(next, Next::Judge(_)) {
            break;
        }
    }
    let judged = |users| with(fault, Recipe { users: Some(users), ..fault.recipe.clone() });
    let mut record = run(&judged(users), context)?;
    for _ in 0..MAX_CORRECTIONS {
        let busy_ratio = busy_ratio(&record);
        let Some(next) = corrected(users, busy_ratio, wanted_ratio) else { break };
        say(context, users, busy_ratio, next);
        users = next;
        record = run(&judged(users), context)?;
    }
    Ok(record)
}

fn with(fault: &FaultFile, recipe: Recipe) -> FaultFile {
    FaultFile { recipe, ..fault.clone() }
}

fn shorter(fault: &FaultFile, users: u32) -> FaultFile {
    let text = |text: &str| Some(text.to_string());
    let phases =
        Recipe { ramp_up: text("4s"), steady: text("10s"), ramp_down: text("1s"), ..fault.recipe.clone() };
    with(fault, Recipe { users: Some(users), ..phases })
}

fn busy_ratio(record: &RunRecord) -> f64 {
    let of_stack = record.signals.iter().find(|one| one.tier.is_none() && one.name == STACK_BUSY);
    of_stack.map_or(0.0, |one| one.mean)
}

/// What follows a shorter run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Another shorter one, with this number of users.
    Pilot(u32),
    /// The run that is judged.
    Judge(u32),
}

impl Next {
    fn users(self) -> u32 {
        match self {
            Next::Pilot(users) | Next::Judge(users) => users,
        }
    }
}

/// Busy CPUs are in proportion to the throughput, and this to the users as long as nobody waits for long.
fn next(users: u32, busy_ratio: f64, wanted_ratio: f64) -> Next {
    let scaled = |factor: f64| (f64::from(users) * factor).round().max(1.0) as u32;
    let factor = wanted_ratio / busy_ratio.max(1e-6);
    if busy_ratio > MAX_PILOT_RATIO && users > 1 && busy_ratio > wanted_ratio / 2.0 {
        return Next::Pilot(scaled(0.4));
    }
    if factor > MAX_FACTOR { Next::Pilot(scaled(MAX_FACTOR)) } else { Next::Judge(scaled(factor)) }
}

/// With how many users a run is made again; absent where it was as busy as wanted, or no other number is nearer.
fn corrected(users: u32, busy_ratio: f64, wanted_ratio: f64) -> Option<u32> {
    let factor = if busy_ratio > FULL_RATIO { FEWER } else { wanted_ratio / busy_ratio.max(0.01) };
    let next = (f64::from(users) * factor).round().max(1.0) as u32;
    ((busy_ratio - wanted_ratio).abs() > TOLERANCE && next != users).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_in_proportion_to_how_busy_cpus_are_to_be() {
        assert_eq!(next(10, 0.2, 0.6), Next::Judge(30));
        assert_eq!(next(20, 0.4, 0.3), Next::Judge(15));
        assert_eq!(next(1, 0.5, 0.05), Next::Judge(1), "nobody at all is no load");
    }

    #[test]
    fn far_away_or_on_full_cpus_a_shorter_run_is_made_once_more() {
        assert_eq!(next(10, 0.05, 0.9), Next::Pilot(40));
        assert_eq!(next(10, 0.0, 0.9), Next::Pilot(40), "nothing was seen of it");
        assert_eq!(next(60, 0.95, 0.9), Next::Pilot(24), "full CPUs don't tell what fills them");
    }

    #[test]
    fn a_run_that_was_busier_or_less_busy_than_asked_for_is_made_again() {
        assert_eq!(corrected(100, 0.93, 0.9), None);
        assert_eq!(corrected(100, 0.6, 0.9), Some(150));
        assert_eq!(corrected(100, 0.75, 0.6), Some(80));
        assert_eq!(
            corrected(1200, 0.998, 0.9),
            Some(1020),
            "full CPUs don't tell how many users too many there are"
        );
        assert_eq!(corrected(1, 0.5, 0.3), None, "nobody at all is no load");
    }
}

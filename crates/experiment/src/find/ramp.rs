//! The ramp: short trials, upwards by factors, until one load passed and a higher one failed.

use analysis::{UnusableReason, Usability};
use model::record::TargetOutcome;
use model::record::study::{By, NoAnswer, Purpose, Trial, WhyNot};

use super::case::Case;
use super::{conditions, cost, cpu, refusal, search};

/// Far below all limits: the load is doubled.
const FAR: f64 = -0.7;

/// So far below that the load is quadrupled: where times grow with it, the limit is twenty times as high.
const VERY_FAR: f64 = -3.0;

/// Near a limit the load is raised by this.
const NEARLY: f64 = 1.5;

/// The share of the load that the CPU is enough for that is tried next: queues grow before it is full.
const CPU_SHARE: f64 = 0.7;

/// The load is never raised by more than this at once: what holds the stack may be something else.
const MAX_FACTOR: f64 = 8.0;

/// The same where the CPUs are full already, and the share of the limit that times may reach by what is known then.
const MAX_FACTOR_WHERE_FULL: f64 = 4.0;
const LESS_THAN_LIMIT: f64 = 0.5;

/// More data are made without trying all that there are for where the next load is more than this number of times that.
const WORTH_MORE_DATA: f64 = 1.5;

/// Far above a limit: the load is quartered instead of halved.
const FAR_ABOVE: f64 = 2.0;

/// How often a load is tried at which the instrument did not hold; and where a longer window may tell more.
const ATTEMPTS: usize = 2;
const ATTEMPTS_WHERE_LONGER: usize = 3;

/// How often when other processes disturbed it: they may end.
const ATTEMPTS_DISTURBED: usize = 5;

/// How near below the instrument's own limit it must have passed before that limit is the answer.
const NEAR_CEILING: f64 = 1.3;

/// What the ramp wants.
pub(super) enum Ramp {
    /// Another trial.
    Try { load: f64, window_s: f64 },
    /// There is no load line to be found.
    Refuse(NoAnswer),
    /// The line lies between two loads that were tried.
    Done,
}

pub(super) fn next(case: &Case<'_>) -> Ramp {
    if let Some(last) = case.trials.last().filter(|last| case.judged.is_doubtful(last))
        && attempts(case, last.load) < ATTEMPTS
    {
        return Ramp::Try { load: last.load, window_s: case.goal.ramp_window_s.max(case.least_s()) };
    }
    let (passed, failed) = (case.judged.highest_passed(), case.judged.lowest_failed());
    if passed.is_some() && failed.is_some() {
        return Ramp::Done;
    }
    let window_s = case.goal.ramp_window_s.max(case.least_s());
    if case.spent_s + cost::trial_s(case.trials, window_s) > case.goal.budget_s {
        return Ramp::Refuse(refusal::out_of_time(case));
    }
    let attempt = |load: f64| Ramp::Try { load: case.round(load), window_s: case.goal.ramp_window_s };
    let Some(last) = case.of_purpose(Purpose::Ramp).next_back() else {
        return upwards(case, first_load(case));
    };
    if let Some(step) = unusable(case, last, passed) {
        return step;
    }
    let worst = case.judged.worst(last).map(|(margin, _)| margin);
    match (passed, failed) {
        (_, Some(failed)) => {
            if failed <= case.goal.least && attempts(case, failed) >= ATTEMPTS {
                return Ramp::Refuse(refusal::fails_at_least(case, last));
            }
            attempt(failed / if worst.is_some_and(|margin| margin > FAR_ABOVE) { 4.0 } else { 2.0 })
        }
        (Some(passed), None) if passed >= case.most() => Ramp::Refuse(refusal::never_fails(case)),
        (Some(passed), None) => {
            let factor = match worst {
                Some(margin) if margin >= FAR => NEARLY,
                _ => far_factor(case, last, worst),
            };
            // Users are whole; a rate may be any.
            let next = if case.goal.by == By::Users { passed + 1.0 } else { passed };
            let wanted = (passed * factor).max(next);
            match ceiling(case) {
                Some((ceiling, _)) if wanted >= ceiling => below(case, passed, ceiling),
                _ => upwards(case, wanted),
            }
        }
        (None, None) => attempt(case.start()),
    }
}

/// The first load: where the warm-up was far from all limits as much higher as the CPU lets expect.
fn first_load(case: &Case<'_>) -> f64 {
    let start = case.start();
    let Some(warm_up) = case.of_purpose(Purpose::WarmUp).next_back() else { return start };
    let missed = warm_up.measured.iter().flat_map(|seen| &seen.targets).any(TargetOutcome::is_missed);
    let worst = worst_as_seen(warm_up);
    if missed || warm_up.as_seen().is_none() && !warm_up.valid() || worst.is_some_and(|worst| worst >= FAR) {
        return start;
    }
    match cpu::enough_for(case, warm_up) {
        Some(enough) => (CPU_SHARE * enough).clamp(start, MAX_FACTOR * warm_up.load.max(start)),
        None => start,
    }
}

/// The largest margin, whatever the number of samples.
fn worst_as_seen(trial: &Trial) -> Option<f64> {
    let targets = trial.measured.iter().flat_map(|seen| &seen.targets).filter(|seen| !seen.is_of_nothing());
    targets.filter_map(|seen| seen.margin.log).max_by(f64::total_cmp)
}

/// How much higher the next load is where all limits are far: by what the CPU lets expect, or by how far they are.
fn far_factor(case: &Case<'_>, last: &Trial, worst: Option<f64>) -> f64 {
    match cpu::enough_for(case, last) {
        Some(enough) if cpu::FULL_RATIO * enough <= last.load => {
            let allowed =
                worst.and_then(|margin| cpu::factor_where_full(case, last, LESS_THAN_LIMIT, margin));
            allowed.map_or(NEARLY, |factor| factor.clamp(NEARLY, MAX_FACTOR_WHERE_FULL))
        }
        Some(enough) => (CPU_SHARE * enough / last.load).clamp(NEARLY, MAX_FACTOR),
        None if worst.is_some_and(|margin| margin < VERY_FAR) => 4.0,
        None => 2.0,
    }
}

/// The next load; where it is much more than the data are for and there may be data for more, these come first. Else all
/// that the data are for is tried before: larger data cost minutes, and may not be needed.
fn upwards(case: &Case<'_>, wanted: f64) -> Ramp {
    if wanted > WORTH_MORE_DATA * case.most() && conditions::can_have_more_users(case) {
        return Ramp::Refuse(refusal::never_fails(case));
    }
    Ramp::Try { load: case.round(wanted), window_s: case.goal.ramp_window_s }
}

/// What to do when the last trial says nothing of the stack.
fn unusable(case: &Case<'_>, last: &Trial, passed: Option<f64>) -> Option<Ramp> {
    let Usability::Unusable(reason) = case.judged.usability(last) else { return None };
    if reason == UnusableReason::Overruled {
        return None;
    }
    // How near its own limit the instrument can be driven is of no interest then.
    if conditions::wants_less_for_the_web_tier(case, last) {
        return Some(Ramp::Refuse(refusal::unusable(case, last, limit(reason))));
    }
    let most = match reason {
        UnusableReason::Disturbed => ATTEMPTS_DISTURBED,
        UnusableReason::Instrument | UnusableReason::Samples | UnusableReason::Short => ATTEMPTS_WHERE_LONGER,
        _ => ATTEMPTS,
    };
    let made = attempts(case, last.load);
    if made < most {
        // What didn't settle, had too few samples or was too short gets more time.
        let least_s = if made < ATTEMPTS { 0.0 } else { case.goal.confirm_s };
        let window_s = search::window_s(case).max(least_s);
        if made < ATTEMPTS || case.spent_s + cost::trial_s(case.trials, window_s) <= case.goal.budget_s {
            return Some(Ramp::Try { load: last.load, window_s });
        }
    }
    Some(match reason {
        UnusableReason::Generator | UnusableReason::Machine => match passed {
            // It could be driven after all.
            Some(passed) if passed >= last.load => return None,
            Some(passed) => below(case, passed, last.load),
            None if last.load > case.goal.least => {
                Ramp::Try { load: case.round(last.load / 2.0), window_s: case.goal.ramp_window_s }
            }
            None => Ramp::Refuse(refusal::unusable(case, last, limit(reason))),
        },
        UnusableReason::Unsettled => Ramp::Refuse(refusal::unusable(case, last, WhyNot::Unsettled)),
        UnusableReason::WarmUp
        | UnusableReason::Instrument
        | UnusableReason::Disturbed
        | UnusableReason::Overruled
        | UnusableReason::Samples
        | UnusableReason::Short => Ramp::Refuse(refusal::unusable(case, last, WhyNot::NotValid)),
    })
}

/// Between a load that passed and one that the generator or the machine can't drive.
fn below(case: &Case<'_>, passed: f64, ceiling: f64) -> Ramp {
    let between = case.round((passed * ceiling).sqrt());
    if ceiling / passed > NEAR_CEILING && between > passed && between < ceiling {
        return Ramp::Try { load: between, window_s: case.goal.ramp_window_s };
    }
    let (_, trial) = self::ceiling(case).expect("a ceiling was seen");
    let reason = match case.judged.usability(trial) {
        Usability::Unusable(reason) => reason,
        _ => UnusableReason::Generator,
    };
    Ramp::Refuse(refusal::unusable(case, trial, limit(reason)))
}

/// The lowest load at which the generator or the machine was the limit as often as was tried.
fn ceiling<'a>(case: &Case<'a>) -> Option<(f64, &'a Trial)> {
    let limit_of_instrument = |trial: &Trial| {
        matches!(
            case.judged.usability(trial),
            Usability::Unusable(UnusableReason::Generator | UnusableReason::Machine)
        )
    };
    let limited = |trial: &&Trial| {
        let driven = |other: &Trial| other.load >= trial.load && case.judged.passes(other).is_some();
        limit_of_instrument(trial)
            && !case.trials.iter().any(driven)
            && attempts(case, trial.load) >= ATTEMPTS
    };
    let lowest = case.trials.iter().filter(limited).min_by(|one, other| one.load.total_cmp(&other.load));
    lowest.map(|trial| (trial.load, trial))
}

fn limit(reason: UnusableReason) -> WhyNot {
    if reason == UnusableReason::Machine { WhyNot::MachineLimit } else { WhyNot::GeneratorLimit }
}

/// One whose window was too short to say anything is none.
fn attempts(case: &Case<'_>, load: f64) -> usize {
    case.of_purpose(Purpose::Ramp).filter(|trial| trial.load == load && !case.was_short(trial)).count()
}

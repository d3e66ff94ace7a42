//! Two confirming trials: a load just below the line that passes, and one just above that fails.

use analysis::{Line, Usability};
use model::record::study::{By, Confirmation, FindAnswer, LoadLine, Purpose, Trial, Unjudged};

use super::case::Case;
use super::{cost, refusal, search};
use crate::Order;

/// An honest stack confirms each side with this probability.
const SURE: f64 = 0.95;

/// The maximum number of confirming trials.
const MAX_TRIALS: usize = 4;

/// The furthest from the line that still confirms something.
const FURTHEST: f64 = 0.3;

/// Trials within this of the line, in ln(load), judge a target there.
const NEAR: f64 = 0.35;

/// A confirming trial that asks for more samples gets at most this number of times its usual window.
const LONGEST: f64 = 3.0;

/// The confirming trial that is wanted next; none when both sides are confirmed, or can't be.
pub(super) fn next(case: &Case<'_>, line: &Line) -> Option<Order> {
    if case.of_purpose(Purpose::Confirm).count() >= MAX_TRIALS {
        return None;
    }
    if let Some(again) = ask_again(case, line) {
        return Some(again);
    }
    let sides = [passed(case, line).is_none(), failed(case, line).is_none()];
    let window_s = window_s(case, sides.into_iter().filter(|open| *open).count())?;
    let below = || passed(case, line).is_none().then(|| load(case, line, window_s, -1.0)).flatten();
    let above = || failed(case, line).is_none().then(|| load(case, line, window_s, 1.0)).flatten();
    below().or_else(above).map(|load| case.order(Purpose::Confirm, load, window_s))
}

/// A load at which one confirming trial denied the estimate, once more: a stray trial is outvoted, and what fails twice is
/// no stray.
fn ask_again(case: &Case<'_>, line: &Line) -> Option<Order> {
    let denial = denial(case, line)?;
    let asked = case.of_purpose(Purpose::Confirm).filter(|trial| trial.load == denial.load).count();
    let window_s = window_s(case, 1).filter(|_| asked < 2)?;
    Some(case.order(Purpose::Confirm, denial.load, window_s))
}

/// As long as wanted, or what the time left allows: the share of each side that is `open`, unless that is less than was
/// asked for. Absent when it is too little to confirm anything.
fn window_s(case: &Case<'_>, open: usize) -> Option<f64> {
    let (left_s, overhead_s) = (case.goal.budget_s - case.spent_s, cost::overhead_s(case.trials));
    let share_s = left_s / open.max(1) as f64 - overhead_s;
    let most_s = if share_s >= case.goal.confirm_s { share_s } else { left_s - overhead_s };
    (most_s >= case.goal.window_s).then(|| most_s.min(wanted_s(case)))
}

/// As asked for, longer where there were too few samples, or windows near the line were too short.
pub(super) fn wanted_s(case: &Case<'_>) -> f64 {
    case.sampled_s(case.goal.confirm_s, |_| true).min(LONGEST * case.goal.confirm_s).max(case.least_s())
}

/// The load of a confirming trial on that side, within the loads that may be tried; absent when these end before the
/// line.
fn load(case: &Case<'_>, line: &Line, window_s: f64, side: f64) -> Option<f64> {
    let load = case.round(distance(case, line, window_s, side));
    let right = if side < 0.0 { load <= answered(case, line) } else { load > answered(case, line) };
    right.then_some(load)
}

/// The load line as it is answered: the highest whole number of users that still passes, within the loads that may be
/// tried.
fn answered(case: &Case<'_>, line: &Line) -> f64 {
    whole(case, shown(case, line))
}

/// The line as the confirming trials leave it: where one denies it and none speaks against that one, the median of the
/// cloud's lines on the right side of it.
fn shown(case: &Case<'_>, line: &Line) -> f64 {
    if denial(case, line).is_none() {
        return line.load;
    }
    let (passed, failed) = sides(case);
    let step = if case.goal.by == By::Users { 1.0 } else { 0.0 };
    let known = line.median_within(passed, failed).unwrap_or(line.load);
    known.min(failed - step).max(passed)
}

/// The confirming trial that denies the estimate, and that no other one denies: it failed below it, or passed above.
fn denial<'a>(case: &Case<'a>, line: &Line) -> Option<&'a Trial> {
    let (passed, failed) = sides(case);
    let denied = passed < failed && !(passed..failed).contains(&floored(case, line.load));
    let wrong = move |trial: &&Trial| match passes(case, trial) {
        Some(pass) => pass == (trial.load > line.load),
        None => false,
    };
    case.of_purpose(Purpose::Confirm).rfind(wrong).filter(|_| denied)
}

/// The highest load that passed a confirming trial, and the lowest that failed one.
fn sides(case: &Case<'_>) -> (f64, f64) {
    let loads = |pass: bool| {
        let own = case.of_purpose(Purpose::Confirm).filter(move |trial| passes(case, trial) == Some(pass));
        own.map(|trial| trial.load)
    };
    (loads(true).fold(0.0, f64::max), loads(false).fold(f64::INFINITY, f64::min))
}

fn whole(case: &Case<'_>, load: f64) -> f64 {
    floored(case, load).clamp(case.goal.least, case.most())
}

fn floored(case: &Case<'_>, load: f64) -> f64 {
    if case.goal.by == By::Users { load.floor() } else { load }
}

/// The load on that side of the line where a trial goes the right way with probability [`SURE`].
fn distance(case: &Case<'_>, line: &Line, window_s: f64, side: f64) -> f64 {
    let margin_se = margin_se(case, line) / window_s.max(1.0).sqrt();
    let right = |load: f64| {
        let pass = line.pass_probability(load, margin_se);
        if side < 0.0 { pass } else { 1.0 - pass }
    };
    let steps = (1..=60).map(|step| line.load * (side * f64::from(step) * 0.005).exp());
    let found = steps.into_iter().find(|load| right(*load) >= SURE);
    let load = found.unwrap_or(line.load * (side * FURTHEST).exp());
    match case.goal.by {
        By::Users if side < 0.0 => load.floor(),
        By::Users => load.ceil(),
        By::Rate => load,
    }
}

/// Standard error of the margin in a window of one second: the median of what windows near the line had.
fn margin_se(case: &Case<'_>, line: &Line) -> f64 {
    let of = |trial: &Trial| {
        let clause = trial.measured.as_ref()?.targets.get(line.held_by_number?)?;
        Some(clause.margin.log_se? * trial.window_s.sqrt())
    };
    let mut known: Vec<f64> = case.of_purpose(Purpose::Search).filter_map(of).collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len() / 2).copied().unwrap_or(1.9)
}

fn confirmation(trial: &Trial) -> Confirmation {
    Confirmation { trial: trial.number, load: trial.load, for_s: trial.window_s }
}

/// The nearest confirming trial below the line that passed, with samples enough to say so.
fn passed(case: &Case<'_>, line: &Line) -> Option<Confirmation> {
    let right = |trial: &&Trial| trial.load <= answered(case, line) && passes(case, trial) == Some(true);
    let all = case.of_purpose(Purpose::Confirm).filter(right);
    all.max_by(|one, other| one.load.total_cmp(&other.load)).map(confirmation)
}

/// The nearest confirming trial above the line that failed.
fn failed(case: &Case<'_>, line: &Line) -> Option<Confirmation> {
    let right = |trial: &&Trial| trial.load > answered(case, line) && passes(case, trial) == Some(false);
    let all = case.of_purpose(Purpose::Confirm).filter(right);
    all.min_by(|one, other| one.load.total_cmp(&other.load)).map(confirmation)
}

/// The confirming trials that failed at the line or below it, or passed above it.
fn contradicted(case: &Case<'_>, line: &Line) -> Vec<Confirmation> {
    let wrong = |trial: &&Trial| match passes(case, trial) {
        Some(pass) => pass == (trial.load > answered(case, line)),
        None => false,
    };
    case.of_purpose(Purpose::Confirm).filter(wrong).map(confirmation).collect()
}

/// Whether a confirming trial passed; absent when it doesn't say. That a target was not missed by too few samples shows
/// nothing, unless all trials like it put that target far below its limit.
fn passes(case: &Case<'_>, trial: &Trial) -> Option<bool> {
    let few = || trial.measured.iter().flat_map(|seen| &seen.targets).filter(|seen| !seen.is_sampled());
    let far = || few().all(|few| !search::may_limit(case, &few.target));
    case.judged.passes(trial).filter(|pass| !pass || case.judged.usability(trial) == Usability::Full || far())
}

/// The targets of which no trial near the line had samples enough.
fn unjudged(case: &Case<'_>, line: &Line) -> Vec<Unjudged> {
    let near =
        |trial: &&Trial| trial.purpose != Purpose::WarmUp && (trial.load / line.load).ln().abs() < NEAR;
    let mut found: Vec<Unjudged> = Vec::new();
    for seen in case
        .trials
        .iter()
        .filter(near)
        .filter_map(|trial| trial.measured.as_ref())
        .flat_map(|seen| &seen.targets)
    {
        let target = seen.target.to_string();
        match found.iter_mut().find(|one| one.target == target) {
            Some(one) => one.samples = one.samples.max(seen.samples),
            None => {
                found.push(Unjudged { target, samples: seen.samples, samples_needed: seen.samples_needed })
            }
        }
    }
    found.retain(|one| one.samples < one.samples_needed);
    found
}

/// The line with what confirms it and what denies it.
pub(super) fn answer(case: &Case<'_>, line: &Line) -> FindAnswer {
    let judged =
        |trial: &&Trial| matches!(case.judged.usability(trial), Usability::Full | Usability::PassFail);
    let near = case.trials.iter().filter(judged);
    let near = near.min_by(|one, other| {
        let far = |trial: &Trial| (trial.load / line.load).ln().abs();
        far(one).total_cmp(&far(other))
    });
    if let Some((near, wanting)) = near.and_then(|near| Some((near, case.judged.wanting(near)?))) {
        return FindAnswer::NoAnswer(refusal::never_passes(case, near, wanting));
    }
    // A confirming trial that went the wrong way is a fact that the interval must not deny.
    let wrong =
        |pass: bool| case.of_purpose(Purpose::Confirm).filter(move |trial| passes(case, trial) == Some(pass));
    let low = whole(case, wrong(false).map(|trial| trial.load).fold(line.low, f64::min));
    let above = wrong(true).map(|trial| trial.load).fold(line.high, f64::max);
    let high = whole(case, above);
    let load = answered(case, line);
    // So it is where the line went beyond the interval for what confirming trials showed.
    let (low, high) = (low.min(load), high.max(load));
    // A line above the loads that may be tried is not known the better for its interval being cut off there.
    let length = floored(case, above).max(high) - low;
    let single = case.goal.by == By::Users && length <= 1.0;
    FindAnswer::LoadLine(LoadLine {
        load,
        low,
        high,
        conditions: case.conditions.clone(),
        wide: length / (2.0 * load) > case.goal.half_width_ratio * 1.02 && !single,
        held_by: line.held_by.clone(),
        held_by_ratio: line.held_by_ratio,
        slope: line.slope,
        passed: passed(case, line),
        failed: failed(case, line),
        contradicted: contradicted(case, line),
        unjudged: unjudged(case, line),
        confirming: case.of_purpose(Purpose::Confirm).count() as u32,
        throughput_per_s: case.judged.throughput_per_s(line.load),
        by_average: case.judged.by_average(line.load).map(|load| floored(case, load)),
    })
}

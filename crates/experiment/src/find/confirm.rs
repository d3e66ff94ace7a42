//! Two confirming trials: a load just below the line that passes, and one just above that fails.

use analysis::{Line, Usability};
use model::record::study::{By, Confirmation, FindAnswer, LoadLine, Purpose, Trial};

use super::case::Case;
use super::{cost, refusal};
use crate::Order;

/// An honest stack confirms each side with this probability.
const SURE: f64 = 0.95;

/// The maximum number of confirming trials.
const MAX_TRIALS: usize = 4;

/// The furthest from the line that still confirms something.
const FURTHEST: f64 = 0.3;

/// A confirming trial that asks for more samples gets at most this number of times its usual window.
const LONGEST: f64 = 3.0;

/// The confirming trial that is wanted next; none when both sides are confirmed, or can't be.
pub(super) fn next(case: &Case<'_>, line: &Line) -> Option<Order> {
    if case.of_purpose(Purpose::Confirm).count() >= MAX_TRIALS {
        return None;
    }
    let sides = [passed(case, line).is_none(), failed(case, line).is_none()];
    let window_s = window_s(case, sides.into_iter().filter(|open| *open).count())?;
    let below = || passed(case, line).is_none().then(|| load(case, line, window_s, -1.0)).flatten();
    let above = || failed(case, line).is_none().then(|| load(case, line, window_s, 1.0)).flatten();
    below().or_else(above).map(|load| case.order(Purpose::Confirm, load, window_s))
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
    whole(case, line.load)
}

fn whole(case: &Case<'_>, load: f64) -> f64 {
    floored(case, load).clamp(case.goal.least, case.goal.most)
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
pub(super) fn contradicted(case: &Case<'_>, line: &Line) -> Vec<Confirmation> {
    let wrong = |trial: &&Trial| match passes(case, trial) {
        Some(pass) => pass == (trial.load > answered(case, line)),
        None => false,
    };
    case.of_purpose(Purpose::Confirm).filter(wrong).map(confirmation).collect()
}

/// Whether a confirming trial passed; absent when it doesn't say. That no target was missed by too few samples shows
/// nothing.
fn passes(case: &Case<'_>, trial: &Trial) -> Option<bool> {
    case.judged.passes(trial).filter(|pass| !pass || case.judged.usability(trial) == Usability::Full)
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
    // A line above the loads that may be tried is not known the better for its interval being cut off there.
    let length = floored(case, above).max(high) - low;
    let single = case.goal.by == By::Users && length <= 1.0;
    FindAnswer::LoadLine(LoadLine {
        load,
        low,
        high,
        wide: length / (2.0 * load) > case.goal.half_width_ratio * 1.02 && !single,
        held_by: line.held_by.clone(),
        held_by_ratio: line.held_by_ratio,
        slope: line.slope,
        passed: passed(case, line),
        failed: failed(case, line),
        contradicted: contradicted(case, line),
        confirming: case.of_purpose(Purpose::Confirm).count() as u32,
        throughput_per_s: case.judged.throughput_per_s(line.load),
        by_average: case.judged.by_average(line.load).map(|load| floored(case, load)),
    })
}

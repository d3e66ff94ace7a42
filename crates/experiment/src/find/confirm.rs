//! Two confirming trials: a load just below the line that passes, and one just above that fails.

use analysis::{Line, Sight};
use model::study::{By, Confirmation, FindAnswer, LoadLine, Purpose, Trial};

use super::{Case, cost, refusal};
use crate::Step;

/// An honest stack confirms each side with this probability.
const SURE: f64 = 0.95;

/// Confirming trials at most.
const MOST: usize = 4;

/// The furthest from the line that still confirms something.
const FURTHEST: f64 = 0.3;

pub(super) fn next(case: &Case<'_>, line: &Line) -> Step<FindAnswer> {
    let made = case.of_purpose(Purpose::Confirm).count();
    let window_s = window_s(case);
    if let (Some(window_s), true) = (window_s, made < MOST) {
        if passed(case, line).is_none() {
            let load = distance(case, line, window_s, -1.0);
            return Step::Measure(case.order(Purpose::Confirm, load, window_s));
        }
        if failed(case, line).is_none() {
            let load = distance(case, line, window_s, 1.0);
            return Step::Measure(case.order(Purpose::Confirm, load, window_s));
        }
    }
    Step::Answer(answer(case, line))
}

/// As asked for, or what the time left allows; absent when that is too little to confirm anything.
fn window_s(case: &Case<'_>) -> Option<f64> {
    let left_s = case.goal.budget_s - case.spent_s - cost::overhead_s(case.trials);
    (left_s >= case.goal.window_s).then(|| left_s.min(case.goal.confirm_s))
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
        let clause = trial.measured.as_ref()?.clauses.get(line.held_by_number?)?;
        Some(clause.margin_se? * trial.window_s.sqrt())
    };
    let mut known: Vec<f64> = case.of_purpose(Purpose::Search).filter_map(of).collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len() / 2).copied().unwrap_or(1.9)
}

fn confirmation(trial: &Trial) -> Confirmation {
    Confirmation { trial: trial.number, load: trial.load, for_s: trial.window_s }
}

/// The nearest confirming trial below the line that passed.
fn passed(case: &Case<'_>, line: &Line) -> Option<Confirmation> {
    let right = |trial: &&Trial| trial.load <= line.load && case.seen.passes(trial) == Some(true);
    let all = case.of_purpose(Purpose::Confirm).filter(right);
    all.max_by(|one, other| one.load.total_cmp(&other.load)).map(confirmation)
}

/// The nearest confirming trial above the line that failed.
fn failed(case: &Case<'_>, line: &Line) -> Option<Confirmation> {
    let right = |trial: &&Trial| trial.load >= line.load && case.seen.passes(trial) == Some(false);
    let all = case.of_purpose(Purpose::Confirm).filter(right);
    all.min_by(|one, other| one.load.total_cmp(&other.load)).map(confirmation)
}

/// A confirming trial failed below the line or passed above it.
pub(super) fn contradicted(case: &Case<'_>, line: &Line) -> bool {
    case.of_purpose(Purpose::Confirm).any(|trial| match case.seen.passes(trial) {
        Some(true) => trial.load > line.load,
        Some(false) => trial.load < line.load,
        None => false,
    })
}

fn answer(case: &Case<'_>, line: &Line) -> FindAnswer {
    let near = case.trials.iter().filter(|trial| case.seen.sight(trial) == Sight::Clear);
    let near = near.min_by(|one, other| {
        let far = |trial: &Trial| (trial.load / line.load).ln().abs();
        far(one).total_cmp(&far(other))
    });
    if let Some((near, wanting)) = near.and_then(|near| Some((near, case.seen.wanting(near)?))) {
        return FindAnswer::NoAnswer(refusal::never_passes(case, near, wanting));
    }
    // A confirming trial that went the wrong way is a fact that the interval must not deny.
    let wrong = |pass: bool| {
        case.of_purpose(Purpose::Confirm).filter(move |trial| case.seen.passes(trial) == Some(pass))
    };
    let low = wrong(false).map(|trial| trial.load).fold(line.low, f64::min);
    let high = wrong(true).map(|trial| trial.load).fold(line.high, f64::max);
    // The highest whole number of users that still passes.
    let whole = |load: f64| if case.goal.by == By::Users { load.floor().max(case.goal.least) } else { load };
    let half_ratio = (whole(high) - whole(low)) / (2.0 * whole(line.load));
    let single = case.goal.by == By::Users && whole(high) - whole(low) <= 1.0;
    FindAnswer::LoadLine(LoadLine {
        load: whole(line.load),
        low: whole(low),
        high: whole(high),
        wide: half_ratio > case.goal.half_width_ratio * 1.02 && !single,
        held_by: line.held_by.clone().unwrap_or_default(),
        held_by_ratio: line.held_by_ratio,
        slope: line.slope,
        passed: passed(case, line),
        failed: failed(case, line),
        throughput_per_s: case.seen.throughput_per_s(line.load),
        by_average: case.seen.by_average(line.load).map(whole),
    })
}

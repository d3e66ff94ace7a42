//! The search: trials around the estimate until its interval is short enough.

use analysis::{Blindness, Line, Sight};
use model::study::{FindAnswer, Purpose, Trial, WhyNot};

use super::{Case, confirm, cost, refusal};
use crate::Step;

/// Search trials before an interval is believed: fewer can't show two modes or a drift.
const LEAST: usize = 5;

/// Loads around the estimate, as shares of it, low first: a wide enough base for the slope, both sides of the line.
const OFFSETS: [f64; 3] = [-0.06, 0.05, 0.0];

/// Trials in a row that say nothing before the search gives up.
const BLIND: usize = 3;

/// An interval longer than this is no answer.
const USELESS: f64 = 0.5;

pub(super) fn next(case: &Case<'_>) -> Step<FindAnswer> {
    if let Some(no_answer) = blind(case) {
        return Step::Answer(FindAnswer::NoAnswer(no_answer));
    }
    let Some(line) = case.line() else {
        return Step::Answer(FindAnswer::NoAnswer(refusal::out_of_time(case)));
    };
    if wants_more(case, &line) {
        let load = place(case, &line);
        return Step::Measure(case.order(Purpose::Search, load, window_s(case)));
    }
    if line.half_width_ratio() > USELESS {
        return Step::Answer(FindAnswer::NoAnswer(refusal::out_of_time(case)));
    }
    confirm::next(case, &line)
}

/// The line is not known well enough, and there is time for another trial before the confirming ones.
fn wants_more(case: &Case<'_>, line: &Line) -> bool {
    let made = case.of_purpose(Purpose::Search).count();
    if made >= case.goal.most_trials as usize || case.of_purpose(Purpose::Confirm).next().is_some() {
        return false;
    }
    let clear =
        case.of_purpose(Purpose::Search).filter(|trial| case.seen.sight(trial) == Sight::Clear).count();
    let reserve_s = 2.0 * cost::trial_s(case.trials, case.goal.confirm_s);
    let time = case.spent_s + cost::trial_s(case.trials, window_s(case)) + reserve_s <= case.goal.budget_s;
    let known = clear >= LEAST && line.half_width_ratio() <= case.goal.half_width_ratio;
    time && !known
}

/// Where the next trial tells most: around the estimate, nearer when it is known better; in the middle of a bracket
/// that is still wide.
fn place(case: &Case<'_>, line: &Line) -> f64 {
    let made = case.of_purpose(Purpose::Search).count();
    let half = line.half_width_ratio();
    if half > 0.25 {
        return line.load;
    }
    let offset = OFFSETS[made % OFFSETS.len()];
    line.load * (1.0 + offset.clamp(-half, half))
}

/// Longer where targets had too few samples.
fn window_s(case: &Case<'_>) -> f64 {
    let short = |trial: &Trial| {
        let clauses = trial.measured.iter().flat_map(|seen| &seen.clauses);
        clauses
            .filter(|clause| clause.samples > 0 && clause.samples < clause.samples_needed)
            .map(|clause| trial.window_s * 1.3 * clause.samples_needed as f64 / clause.samples as f64)
            .fold(0.0, f64::max)
    };
    let last = case.trials.iter().rev().find(|trial| trial.purpose != Purpose::WarmUp);
    let wanted = last.map_or(0.0, short);
    wanted.clamp(case.goal.window_s, case.goal.confirm_s.max(case.goal.window_s))
}

/// The last trials all said nothing.
fn blind(case: &Case<'_>) -> Option<model::study::NoAnswer> {
    let last = case.trials.iter().rev().take_while(|trial| matches!(case.seen.sight(trial), Sight::Blind(_)));
    let last: Vec<&Trial> = last.take(BLIND).collect();
    let newest = last.first().filter(|_| last.len() == BLIND)?;
    let why = match case.seen.sight(newest) {
        Sight::Blind(Blindness::Generator) => WhyNot::GeneratorLimit,
        Sight::Blind(Blindness::Machine) => WhyNot::MachineLimit,
        Sight::Blind(Blindness::Unsettled) => WhyNot::Unsettled,
        _ => WhyNot::NotValid,
    };
    Some(refusal::blind(case, newest, why))
}

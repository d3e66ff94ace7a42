//! The search: trials around the estimate until its interval is short enough.

use analysis::{Line, Stability, UnusableReason, Usability};
use model::QosTarget;
use model::catalogue::qos::Measure;
use model::record::TargetOutcome;
use model::record::study::{FindAnswer, LoadLine, NoAnswer, Purpose, Trial, WhyNot};

use super::case::Case;
use super::{conditions, confirm, cost, refusal};
use crate::Step;

/// Search trials this near the line, in ln(load), say whether it holds.
const NEAR: f64 = 0.1;

/// The minimum number of them before an interval is believed: fewer can't show two modes or a drift. Seven for a half-width of 5 %,
/// four for 10 %.
fn min_near(half_width_ratio: f64) -> usize {
    (0.35 / half_width_ratio).ceil().clamp(4.0, 8.0) as usize
}

/// Slopes from which on a line may be two that happened to part the trials so far, and the trials more that this takes.
const STEEP: f64 = 15.0;
const TRIALS_WHERE_STEEP: usize = 3;

/// Loads around the estimate, as shares of it, low first: a wide enough base for the slope, both sides of the line.
const OFFSETS: [f64; 3] = [-0.06, 0.05, 0.0];

/// Trials in a row that say nothing before the search gives up.
const MAX_UNUSABLE: usize = 3;

/// Targets whose margin, in ln(observed/limit), is below this can wait for the confirming trials to be judged, once so
/// many samples were seen: with exponential times and a percentile of 90 % at its limit, eight are all so far below it in
/// one window of a hundred.
const FAR: f64 = -1.0;
const KNOWN: u64 = 8;

/// Trials at loads of this share of the last one's, and above, say what it would have.
const LIKE: f64 = 0.9;

/// An interval longer than this is no answer.
const USELESS: f64 = 0.5;

/// Trials more than the most, when something looks strange.
const EXTRA: usize = 4;

/// Probability above which a stack is named unstable or drifting, and trials that it takes.
const NAMED: f64 = 0.85;
const NAMED_TRIALS: usize = 8;

/// Probability of two modes from which on no drift is named yet: by chance the first trials may have followed one mode and the
/// later ones the other, and more trials tell.
const NOT_YET_DENIED: f64 = 0.02;

/// Probability above which it is looked at longer, and the one at which it is named when no time is left for that.
const STRANGE: f64 = 0.06;
const NAMED_AT_LAST: f64 = 0.5;

pub(super) fn next(case: &Case<'_>) -> Step<FindAnswer> {
    let line = case.line();
    if let Some(no_answer) = unusable(case) {
        let confirming = case.of_purpose(Purpose::Confirm).next().is_some();
        let known = line.filter(|line| confirming && line.half_width_ratio() <= USELESS);
        // A line that only its confirming trials could not be driven for is a line still.
        let answer = known.map_or(FindAnswer::NoAnswer(no_answer), |line| at_last(case, &line));
        return Step::Answer(answer);
    }
    let Some(line) = line else {
        return Step::Answer(FindAnswer::NoAnswer(left_open(case)));
    };
    if cut_off_by_the_data(case, &line) {
        return Step::Answer(FindAnswer::NoAnswer(refusal::never_fails(case)));
    }
    let stability = case.judged.stability(&line);
    if let Some(no_answer) = stability.and_then(|seen| strange(case, &seen, NAMED)) {
        return Step::Answer(FindAnswer::NoAnswer(no_answer));
    }
    if wants_more(case, &line, stability) {
        let load = next_load(case, &line);
        return Step::Measure(case.order(Purpose::Search, load, window_s(case)));
    }
    if line.half_width_ratio() > USELESS {
        return Step::Answer(FindAnswer::NoAnswer(left_open(case)));
    }
    match confirm::next(case, &line) {
        Some(order) => Step::Measure(order),
        None => Step::Answer(at_last(case, &line)),
    }
}

/// The line is so near to all that the data are for that no trial could be above it, and there may be data for more.
fn cut_off_by_the_data(case: &Case<'_>, line: &Line) -> bool {
    let confirms = case.of_purpose(Purpose::Confirm).count();
    confirms == 0 && line.load * (1.0 + NEAR) > case.most() && conditions::can_have_more_users(case)
}

/// The line that would be the answer if no trial followed; absent as long as trials don't tell it.
pub(super) fn line_so_far(case: &Case<'_>) -> Option<LoadLine> {
    let line = case.line().filter(|line| line.half_width_ratio() <= USELESS)?;
    match at_last(case, &line) {
        FindAnswer::LoadLine(line) => Some(line),
        FindAnswer::NoAnswer(_) => None,
    }
}

/// The answer when no more trials are made: the line, unless it looks too strange to be one.
fn at_last(case: &Case<'_>, line: &Line) -> FindAnswer {
    let seen = case.judged.stability(line);
    match seen.and_then(|seen| strange(case, &seen, NAMED_AT_LAST)) {
        Some(no_answer) => FindAnswer::NoAnswer(no_answer),
        None => confirm::answer(case, line),
    }
}

/// The trials don't tell the line, and no more are made: the time is up, or they were as many as were allowed.
fn left_open(case: &Case<'_>) -> NoAnswer {
    if case.spent_s + cost::trial_s(case.trials, window_s(case)) > case.goal.budget_s {
        return refusal::out_of_time(case);
    }
    refusal::not_known(case)
}

/// Why there is no answer, when two modes or a drift are that probable.
fn strange(case: &Case<'_>, seen: &Stability, probability: f64) -> Option<NoAnswer> {
    // While both are still likely, another trial tells which.
    let by_name =
        seen.two_modes >= probability || seen.drifts >= probability && seen.two_modes < NOT_YET_DENIED;
    let clear = by_name || (probability == NAMED_AT_LAST && seen.two_modes + seen.drifts >= probability);
    if seen.trials < NAMED_TRIALS || !clear {
        return None;
    }
    Some(if seen.two_modes > seen.drifts {
        refusal::unstable(case, seen)
    } else {
        refusal::drifts(case, seen)
    })
}

/// The line is not known well enough, and there is time for another trial before the confirming ones.
fn wants_more(case: &Case<'_>, line: &Line, stability: Option<Stability>) -> bool {
    let made = case.of_purpose(Purpose::Search).count();
    let confirms = case.of_purpose(Purpose::Confirm).count();
    let looks_strange = stability.is_some_and(|seen| seen.two_modes + seen.drifts > STRANGE);
    let most = case.goal.most_trials as usize + if looks_strange { EXTRA } else { 0 };
    let trial_s = cost::trial_s(case.trials, window_s(case));
    let time = case.spent_s + trial_s + reserve_s(case, line, confirms) <= case.goal.budget_s;
    if made >= most || !time {
        return false;
    }
    if confirms > 0 {
        return looks_strange;
    }
    let near = |trial: &&Trial| (trial.load / line.load).ln().abs() < NEAR;
    let clear =
        |trial: &&Trial| matches!(case.judged.usability(trial), Usability::Full | Usability::PassFail);
    let told = case.of_purpose(Purpose::Search).filter(near).filter(clear).count();
    let steep = if line.slope > STEEP { TRIALS_WHERE_STEEP } else { 0 };
    let enough =
        told >= min_near(case.goal.half_width_ratio) + steep || made >= case.goal.most_trials as usize;
    let known = enough && line.half_width_ratio() <= case.goal.half_width_ratio;
    !known || looks_strange
}

/// The time that is kept for the confirming trials after those that were made: none while the line is no answer yet,
/// because then there is nothing to confirm.
fn reserve_s(case: &Case<'_>, line: &Line, confirms: usize) -> f64 {
    if line.half_width_ratio() > USELESS {
        return 0.0;
    }
    let confirming_s = cost::trial_s(case.trials, confirm::wanted_s(case));
    (2usize.saturating_sub(confirms) as f64 * confirming_s).min(case.goal.budget_s / 2.0)
}

/// Where the next trial tells most: around the estimate, nearer when it is known better; in the middle of a bracket
/// that is still wide.
fn next_load(case: &Case<'_>, line: &Line) -> f64 {
    let made = case.of_purpose(Purpose::Search).count();
    let half = line.half_width_ratio();
    if half > 0.15 {
        return line.load;
    }
    let offset = OFFSETS[made % OFFSETS.len()];
    if half <= case.goal.half_width_ratio {
        // Known well enough: what is left to see is whether it holds. Two modes can look like a cliff from close by.
        return line.load * (1.0 + offset);
    }
    line.load * (1.0 + offset.clamp(-half, half))
}

/// Longer where targets that may be the line's had too few samples, or windows near the line were too short.
pub(super) fn window_s(case: &Case<'_>) -> f64 {
    let wanted_s = case.sampled_s(case.goal.window_s, |clause| may_limit(case, &clause.target));
    wanted_s.min(case.goal.confirm_s.max(case.goal.window_s)).max(case.least_s())
}

/// Whether a target is near its limit, or too little is known of it: by all that was seen of it at loads not much below
/// the last one.
pub(super) fn may_limit(case: &Case<'_>, target: &QosTarget) -> bool {
    let counts = |trial: &&Trial| trial.purpose != Purpose::WarmUp;
    let least = case.trials.iter().rev().find(counts).map_or(0.0, |last| LIKE * last.load);
    let alike = case.trials.iter().filter(counts).filter(|trial| trial.load >= least);
    let measured = alike.filter_map(|trial| trial.measured.as_ref());
    let seen: Vec<&TargetOutcome> =
        measured.flat_map(|seen| &seen.targets).filter(|seen| seen.target == *target).collect();
    let samples = seen.iter().map(|seen| seen.samples).sum();
    let worst = || seen.iter().filter_map(|seen| seen.margin.log).fold(f64::NEG_INFINITY, f64::max);
    samples < KNOWN || never_failed(&seen, samples).unwrap_or_else(worst) > FAR
}

/// The margin of a share of errors of which there was none in all of these trials: they tell together how rare errors are,
/// and each alone only how many operations it had. Counted as in one trial, (0 + 0.5)/(all + 1).
fn never_failed(seen: &[&TargetOutcome], samples: u64) -> Option<f64> {
    let target = &seen.first()?.target;
    let none = target.measure == Measure::Errors && seen.iter().all(|seen| seen.is_of_nothing());
    none.then(|| (0.5 / (samples as f64 + 1.0) / target.limit).ln())
}

/// The last trials all said nothing.
fn unusable(case: &Case<'_>) -> Option<NoAnswer> {
    let of = |trial: &Trial| case.judged.usability(trial);
    let overruled = Usability::Unusable(UnusableReason::Overruled);
    let last = case
        .trials
        .iter()
        .rev()
        .filter(|trial| of(trial) != overruled)
        .take_while(|trial| matches!(of(trial), Usability::Unusable(_)));
    let last: Vec<&Trial> = last.take(MAX_UNUSABLE).collect();
    let newest = last.first().filter(|_| last.len() == MAX_UNUSABLE)?;
    let why = match of(newest) {
        Usability::Unusable(UnusableReason::Generator) => WhyNot::GeneratorLimit,
        Usability::Unusable(UnusableReason::Machine) => WhyNot::MachineLimit,
        Usability::Unusable(UnusableReason::Unsettled) => WhyNot::Unsettled,
        _ => WhyNot::NotValid,
    };
    Some(refusal::unusable(case, newest, why))
}

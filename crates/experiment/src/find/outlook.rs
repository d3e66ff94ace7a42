//! What a live view shows of a find that is under way.

use model::record::study::{FindAnswer, FindGoal, FindOutlook, LoadLine, Purpose, Trial};

use super::case::Case;
use super::{cost, next, search};
use crate::Step;

/// Ramp trials that a stack takes whose line lies somewhere in the usual.
const USUAL_RAMP: usize = 6;

/// Search trials that a stack takes whose noise is as usual.
const USUAL_SEARCH: usize = 8;

/// Looks ahead; costs as much as [`next`].
pub fn outlook(goal: &FindGoal, trials: &[Trial], spent_s: f64) -> FindOutlook {
    let case = Case::of(goal, trials, spent_s);
    let made = |purpose: Purpose| case.of_purpose(purpose).count();
    let line = case.line().filter(|_| made(Purpose::Search) > 0);
    let (next, so_far) = match next(goal, trials, spent_s) {
        Step::Answer(FindAnswer::LoadLine(line)) => (None, Some(line)),
        Step::Answer(FindAnswer::NoAnswer(_)) => (None, None),
        Step::Measure(order) => (Some(order.purpose), line_so_far(&case, order.purpose)),
    };
    // The interval shrinks with the root of the number of trials.
    let by_width = line.as_ref().map_or(USUAL_SEARCH, |line| {
        let ratio = line.half_width_ratio() / goal.half_width_ratio;
        (made(Purpose::Search) as f64 * ratio * ratio).ceil().min(f64::from(goal.most_trials)) as usize
    });
    let search = by_width.max(5).saturating_sub(made(Purpose::Search)).max(1);
    let ramp = USUAL_RAMP.saturating_sub(made(Purpose::Ramp)).max(1);
    let confirm = 2usize.saturating_sub(made(Purpose::Confirm)).max(1);
    let (ramp, search, confirm) = match next {
        Some(Purpose::WarmUp | Purpose::Ramp) => (ramp, search, confirm),
        Some(Purpose::Search) => (0, search, confirm),
        Some(Purpose::Confirm | Purpose::Measure) => (0, 0, confirm),
        None => (0, 0, 0),
    };
    let cost_s = |count: usize, window_s: f64| count as f64 * cost::trial_s(trials, window_s);
    let left_s =
        cost_s(ramp, goal.ramp_window_s) + cost_s(search, goal.window_s) + cost_s(confirm, goal.confirm_s);
    FindOutlook {
        bracket: (case.judged.highest_passed(), case.judged.lowest_failed()),
        estimate: line.map(|line| (line.low, line.load, line.high)),
        line: so_far,
        trials_left: ramp + search + confirm,
        left_s: left_s.min((goal.budget_s - spent_s).max(0.0)),
        next,
    }
}

/// The line that would be the answer if the trial for `next` were not made. As long as the ramp goes on nothing is known above what passed.
fn line_so_far(case: &Case<'_>, next: Purpose) -> Option<LoadLine> {
    let ramp_is_done = matches!(next, Purpose::Search | Purpose::Confirm);
    ramp_is_done.then(|| search::line_so_far(case)).flatten()
}

//! What a live view shows of a find that is under way.

use model::study::{FindGoal, Purpose, Trial};

use super::case::Case;
use super::{cost, next};
use crate::Step;

/// How far a find has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The highest load that passed and the lowest that failed.
    pub bracket: (Option<f64>, Option<f64>),
    /// The estimate in its interval: low, load, high.
    pub estimate: Option<(f64, f64, f64)>,
    /// Trials still to come, by what is known now.
    pub trials_left: usize,
    /// Seconds still to come, at most what is left of the time.
    pub left_s: f64,
    /// What is done next.
    pub stage: Stage,
}

/// What a find is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Filling caches.
    WarmUp,
    /// Looking for the region.
    Ramp,
    /// Narrowing the line.
    Search,
    /// Showing that it passes below and fails above.
    Confirm,
    /// Done.
    Answered,
}

/// Ramp trials that a stack takes whose line lies somewhere in the usual.
const USUAL_RAMP: usize = 6;

/// Search trials that a stack takes whose noise is as usual.
const USUAL_SEARCH: usize = 8;

/// Looks ahead; costs as much as [`next`].
pub fn outlook(goal: &FindGoal, trials: &[Trial], spent_s: f64) -> Outlook {
    let case = Case::of(goal, trials, spent_s);
    let made = |purpose: Purpose| case.of_purpose(purpose).count();
    let line = case.line().filter(|_| made(Purpose::Search) > 0);
    let stage = match next(goal, trials, spent_s) {
        Step::Answer(_) => Stage::Answered,
        Step::Measure(order) => match order.purpose {
            Purpose::WarmUp => Stage::WarmUp,
            Purpose::Ramp => Stage::Ramp,
            Purpose::Search => Stage::Search,
            Purpose::Confirm | Purpose::Measure => Stage::Confirm,
        },
    };
    // The interval shrinks with the root of the number of trials.
    let by_width = line.as_ref().map_or(USUAL_SEARCH, |line| {
        let ratio = line.half_width_ratio() / goal.half_width_ratio;
        (made(Purpose::Search) as f64 * ratio * ratio).ceil().min(f64::from(goal.most_trials)) as usize
    });
    let search = by_width.max(5).saturating_sub(made(Purpose::Search)).max(1);
    let ramp = USUAL_RAMP.saturating_sub(made(Purpose::Ramp)).max(1);
    let confirm = 2usize.saturating_sub(made(Purpose::Confirm)).max(1);
    let (ramp, search, confirm) = match stage {
        Stage::WarmUp | Stage::Ramp => (ramp, search, confirm),
        Stage::Search => (0, search, confirm),
        Stage::Confirm => (0, 0, confirm),
        Stage::Answered => (0, 0, 0),
    };
    let cost_s = |count: usize, window_s: f64| count as f64 * cost::trial_s(trials, window_s);
    let left_s =
        cost_s(ramp, goal.ramp_window_s) + cost_s(search, goal.window_s) + cost_s(confirm, goal.confirm_s);
    Outlook {
        bracket: (case.seen.highest_passed(), case.seen.lowest_failed()),
        estimate: line.map(|line| (line.low, line.load, line.high)),
        trials_left: ramp + search + confirm,
        left_s: left_s.min((goal.budget_s - spent_s).max(0.0)),
        stage,
    }
}

//! The policy of a find: which load is tried next, and when the load line is known.
//!
//! A warm-up fills caches; a ramp of short trials finds the region; search trials around the estimate narrow it until
//! its interval is short enough, the most trials are made, or only the time for two confirming trials is left (none is
//! kept while the line is no answer yet); these show a load just below that passes and one just above that fails.
//! [`next`] is pure: what was decided before is read off the trials' purposes. The method is in
//! `docs/method/load-line.md`.

mod case;
mod conditions;
mod confirm;
mod cost;
mod cpu;
mod outlook;
mod ramp;
mod refusal;
mod search;

use model::record::study::{FindAnswer, FindGoal, Purpose, Trial};

use crate::Step;
use case::Case;
pub use outlook::outlook;
pub use refusal::interrupted;

/// The trial that is wanted next, or the answer. `spent_s` are the study's seconds so far, over all sittings.
pub fn next(goal: &FindGoal, trials: &[Trial], spent_s: f64) -> Step<FindAnswer> {
    let case = Case::of(goal, trials, spent_s);
    if trials.is_empty() {
        return Step::Measure(case.order(Purpose::WarmUp, goal.start, 2.0 * goal.ramp_window_s));
    }
    let step = match ramp::next(&case) {
        ramp::Ramp::Try { load, window_s } => Step::Measure(case.order(Purpose::Ramp, load, window_s)),
        ramp::Ramp::Refuse(no_answer) => Step::Answer(FindAnswer::NoAnswer(no_answer)),
        ramp::Ramp::Done => search::next(&case),
    };
    match step {
        Step::Answer(FindAnswer::NoAnswer(refused)) => match conditions::change(&case, &refused) {
            Some(order) => Step::Measure(order),
            None => Step::Answer(FindAnswer::NoAnswer(refused)),
        },
        step => step,
    }
}

//! What rooms ask of a question without knowing which kind of study it is of.

use super::find::{By, FindGoal, LoadLine};
use super::sweep::Factor;
use super::trial::Purpose;

/// A kind of study: what differs between them where trials are measured and judged. Each kind has a file in this folder.
pub trait Kind {
    /// The verb that asks it.
    fn verb(&self) -> &'static str;

    /// For people; absent where kit and stack say it.
    fn title(&self) -> Option<&str> {
        None
    }

    /// How load lines are looked for; absent where none is.
    fn goal(&self) -> Option<&FindGoal> {
        None
    }

    /// What the loads of all trials are counted in; absent where each arm's recipe says it.
    fn by(&self) -> Option<By> {
        None
    }

    /// The load line that answers the question.
    fn load_line(&self) -> Option<&LoadLine> {
        None
    }

    /// What is varied from arm to arm.
    fn factors(&self) -> &[Factor] {
        &[]
    }

    /// The load of a trial for `purpose` is the question's own, whether the stack carries it or not.
    fn gives_load(&self, _purpose: Purpose) -> bool {
        false
    }

    /// Each trial keeps how its response times are distributed.
    fn keeps_response_times(&self) -> bool {
        false
    }

    /// Percentiles that are wanted beside those that every trial keeps, ascending.
    fn percentiles(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Signals of tiers that are wanted beside the figures that every trial keeps, each once: `web.calls.blocks`.
    fn signals(&self) -> Vec<String> {
        Vec::new()
    }
}

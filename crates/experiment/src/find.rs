//! The policy of a find: which load is tried next, and when the load line is known.
//!
//! A warm-up fills caches; a ramp of short trials finds the region; search trials around the estimate narrow it until
//! its interval is short enough, the most trials are made, or only the time for two confirming trials is left (none is
//! kept while the line is no answer yet); these show a load just below that passes and one just above that fails.
//! [`next`] is pure: what was decided before is read off the trials' purposes. The method is in
//! `docs/method/load-line.md`.

mod confirm;
mod cost;
mod outlook;
mod ramp;
mod refusal;
mod search;

use analysis::{JudgedTrials, LONG_ENOUGH_S, Line, UnusableReason, Usability};
use model::record::TargetOutcome;
use model::study::{By, FindAnswer, FindGoal, Purpose, Trial};

use crate::{Order, Step};
pub use outlook::outlook;
pub use refusal::interrupted;

/// The trial that is wanted next, or the answer. `spent_s` are the study's seconds so far, over all sittings.
pub fn next(goal: &FindGoal, trials: &[Trial], spent_s: f64) -> Step<FindAnswer> {
    let case = Case::of(goal, trials, spent_s);
    if trials.is_empty() {
        return Step::Measure(case.order(Purpose::WarmUp, goal.start, 2.0 * goal.ramp_window_s));
    }
    match ramp::next(&case) {
        ramp::Ramp::Try { load, window_s } => Step::Measure(case.order(Purpose::Ramp, load, window_s)),
        ramp::Ramp::Refuse(no_answer) => Step::Answer(FindAnswer::NoAnswer(no_answer)),
        ramp::Ramp::Done => search::next(&case),
    }
}

/// What is known, and what was asked.
struct Case<'a> {
    goal: &'a FindGoal,
    trials: &'a [Trial],
    spent_s: f64,
    judged: JudgedTrials<'a>,
}

impl<'a> Case<'a> {
    fn of(goal: &'a FindGoal, trials: &'a [Trial], spent_s: f64) -> Case<'a> {
        Case { goal, trials, spent_s, judged: JudgedTrials::of(trials) }
    }

    fn line(&self) -> Option<Line> {
        Line::of(&self.judged, self.goal.confidence_ratio, self.goal.seed)
    }

    fn of_purpose(&self, purpose: Purpose) -> impl DoubleEndedIterator<Item = &'a Trial> {
        self.trials.iter().filter(move |trial| trial.purpose == purpose)
    }

    /// The last trial whose figures were meant to count.
    fn last(&self) -> Option<&'a Trial> {
        self.trials.iter().rev().find(|trial| trial.purpose != Purpose::WarmUp)
    }

    /// A trial's window was too short to tell users who wait from those whose operations only take long.
    fn was_short(&self, trial: &Trial) -> bool {
        self.judged.usability(trial) == Usability::Unusable(UnusableReason::Short)
    }

    /// The least window of the next trial: long enough where the last one's was not. The loads of the search are all
    /// near the line: where a window was too short at one of them, it would be at the next.
    fn least_s(&self) -> f64 {
        let near = |trial: &Trial| matches!(trial.purpose, Purpose::Search | Purpose::Confirm);
        let short = self.last().is_some_and(|last| self.was_short(last))
            || self.trials.iter().any(|trial| near(trial) && self.was_short(trial));
        if short { LONG_ENOUGH_S } else { 0.0 }
    }

    /// The window at least as long as `least_s` in which the last trial would have had samples enough of the targets
    /// that `matter`.
    fn sampled_s(&self, least_s: f64, matters: impl Fn(&TargetOutcome) -> bool) -> f64 {
        let last = self.last();
        let clauses = last.and_then(|trial| trial.measured.as_ref()).map(|seen| &seen.targets);
        let window_s = last.map_or(0.0, |trial| trial.window_s);
        let wanted_s = |clause: &TargetOutcome| {
            // With a reserve where it is reckoned from too few.
            let reserve = if clause.is_sampled() { 1.0 } else { 1.3 };
            window_s * reserve * clause.samples_needed as f64 / clause.samples as f64
        };
        let known = clauses.into_iter().flatten().filter(|clause| clause.samples > 0 && matters(clause));
        known.map(wanted_s).fold(least_s, f64::max)
    }

    /// Users are whole, and loads stay within what was asked for.
    fn round(&self, load: f64) -> f64 {
        let load = if self.goal.by == By::Users { load.round() } else { four_digits(load) };
        load.clamp(self.goal.least, self.goal.most)
    }

    fn order(&self, purpose: Purpose, load: f64, window_s: f64) -> Order {
        let number = self.trials.len() as u64 + 1;
        Order {
            arm: 0,
            block: 0,
            purpose,
            load: self.round(load),
            window_s,
            // The ramp goes on with the stack that the warm-up filled.
            fresh: purpose != Purpose::Ramp,
            seed: mixed(self.goal.seed, number),
        }
    }
}

/// Rates are tried with four significant digits: nobody can read more.
fn four_digits(load: f64) -> f64 {
    let unit = 10f64.powf(load.max(f64::MIN_POSITIVE).log10().floor() - 3.0);
    (load / unit).round() * unit
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): neighbours get unrelated seeds.
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

//! The trials of a find so far, and what they are asked.

use analysis::{JudgedTrials, LONG_ENOUGH_S, Line, UnusableReason, Usability};
use model::random::Random;
use model::record::TargetOutcome;
use model::record::study::{By, Conditions, FindGoal, Purpose, Trial};

use super::conditions;
use crate::Order;

/// How far above what passed with data for fewer users the ramp goes on with data for more.
const ABOVE_SMALLER_DATA: f64 = 1.5;

/// Trials at loads of at least this share of the last one's have samples nearly as often.
const ALIKE: f64 = 0.5;

/// Samples of a target, and the seconds of the windows that they came in.
struct Sampled {
    samples: f64,
    in_s: f64,
}

/// What is known, and what was asked.
pub(super) struct Case<'a> {
    pub(super) goal: &'a FindGoal,
    /// What was chosen for the stack of the last trial.
    pub(super) conditions: Conditions,
    /// The trials under these conditions, and those before.
    pub(super) trials: &'a [Trial],
    pub(super) before: &'a [Trial],
    pub(super) spent_s: f64,
    pub(super) judged: JudgedTrials<'a>,
}

impl<'a> Case<'a> {
    pub(super) fn of(goal: &'a FindGoal, trials: &'a [Trial], spent_s: f64) -> Case<'a> {
        let conditions = conditions::current(trials);
        let (before, trials) = trials.split_at(conditions::trials_before(trials));
        Case { goal, conditions, trials, before, spent_s, judged: JudgedTrials::of(trials) }
    }

    pub(super) fn line(&self) -> Option<Line> {
        Line::of(&self.judged, self.goal.confidence_ratio, self.goal.seed)
    }

    pub(super) fn of_purpose(&self, purpose: Purpose) -> impl DoubleEndedIterator<Item = &'a Trial> {
        self.trials.iter().filter(move |trial| trial.purpose == purpose)
    }

    /// The last trial whose figures were meant to count.
    pub(super) fn last(&self) -> Option<&'a Trial> {
        self.trials.iter().rev().find(|trial| trial.purpose != Purpose::WarmUp)
    }

    /// The last trial that was measured, the warm-up as well.
    pub(super) fn last_measured(&self) -> Option<&'a Trial> {
        self.trials.iter().rfind(|trial| trial.measured.is_some())
    }

    /// A trial's window was too short to tell users who wait from those whose operations only take long.
    pub(super) fn was_short(&self, trial: &Trial) -> bool {
        self.judged.usability(trial) == Usability::Unusable(UnusableReason::Short)
    }

    /// The least window of the next trial: long enough where the last one's was not. The loads of the search are all
    /// near the line: where a window was too short at one of them, it would be at the next.
    pub(super) fn least_s(&self) -> f64 {
        let near = |trial: &Trial| matches!(trial.purpose, Purpose::Search | Purpose::Confirm);
        let short = self.last().is_some_and(|last| self.was_short(last))
            || self.trials.iter().any(|trial| near(trial) && self.was_short(trial));
        if short { LONG_ENOUGH_S } else { 0.0 }
    }

    /// The window at least as long as `least_s` in which the last trial would have had samples enough of the targets
    /// that `matter`.
    pub(super) fn sampled_s(&self, least_s: f64, matters: impl Fn(&TargetOutcome) -> bool) -> f64 {
        let Some(last) = self.last() else { return least_s };
        let wanted_s = |clause: &TargetOutcome| {
            let own = Sampled { samples: clause.samples as f64, in_s: last.window_s };
            let alike = Some(self.sampled_alike(last, clause))
                .filter(|alike| !self.is_clear(last) && alike.samples > 0.0);
            let Sampled { samples, in_s } = alike.unwrap_or(own);
            let needed = clause.samples_needed as f64;
            // With a reserve where it is reckoned from too few.
            in_s * needed / samples * if samples >= needed { 1.0 } else { 1.3 }
        };
        let clauses = last.measured.iter().flat_map(|seen| &seen.targets);
        let known = clauses.filter(|clause| clause.samples > 0 && matters(clause));
        known.map(wanted_s).fold(least_s, f64::max)
    }

    /// Samples of a target in the clear trials at loads not far below that of `last`, which is none: a stack that is behind does fewer
    /// of everything.
    fn sampled_alike(&self, last: &Trial, clause: &TargetOutcome) -> Sampled {
        let counts = |trial: &&Trial| self.is_clear(trial) && trial.load >= ALIKE * last.load;
        let of = |trial: &Trial| {
            let seen = trial.measured.as_ref()?.targets.iter().find(|seen| seen.target == clause.target)?;
            Some(Sampled { samples: seen.samples as f64, in_s: trial.window_s })
        };
        let none = Sampled { samples: 0.0, in_s: 0.0 };
        self.trials
            .iter()
            .filter(counts)
            .filter_map(of)
            .fold(none, |sum, one| Sampled { samples: sum.samples + one.samples, in_s: sum.in_s + one.in_s })
    }

    /// The instrument held, and the stack was not overloaded.
    fn is_clear(&self, trial: &Trial) -> bool {
        matches!(self.judged.usability(trial), Usability::Full | Usability::PassFail)
    }

    /// Users are whole, and loads stay within what was asked for.
    pub(super) fn round(&self, load: f64) -> f64 {
        let load = if self.goal.by == By::Users { load.round() } else { four_digits(load) };
        load.clamp(self.goal.least, self.most())
    }

    /// The load above which there are no trials under these conditions.
    pub(super) fn most(&self) -> f64 {
        conditions::most(self.goal, &self.conditions)
    }

    /// The first load that is tried: above all that passed with data for fewer users, or at the line where it is known
    /// from them already.
    pub(super) fn start(&self) -> f64 {
        let fewer = |trial: &&Trial| trial.conditions.web_cores == self.conditions.web_cores;
        let before: Vec<Trial> = self.before.iter().filter(fewer).cloned().collect();
        let judged = JudgedTrials::of(&before);
        let line = Line::of(&judged, self.goal.confidence_ratio, self.goal.seed);
        let above = judged.highest_passed().map(|passed| passed * ABOVE_SMALLER_DATA);
        let begun = above.map(|above| line.map_or(above, |line| line.load.min(above)));
        begun.map_or(self.goal.start, |begun| begun.max(self.goal.start))
    }

    pub(super) fn order(&self, purpose: Purpose, load: f64, window_s: f64) -> Order {
        Order {
            arm: 0,
            block: 0,
            purpose,
            load: self.round(load),
            conditions: self.conditions.clone(),
            window_s,
            // The ramp goes on with the stack that the warm-up filled.
            fresh: purpose != Purpose::Ramp,
            seed: Random::nth(self.goal.seed, (self.before.len() + self.trials.len()) as u64),
            in_turn_with: None,
        }
    }
}

/// Rates are tried with four significant digits: nobody can read more.
fn four_digits(load: f64) -> f64 {
    let unit = 10f64.powf(load.max(f64::MIN_POSITIVE).log10().floor() - 3.0);
    (load / unit).round() * unit
}

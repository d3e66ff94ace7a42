//! Many finds on simulated stacks whose load line is known, and what they came to.

use std::collections::BTreeMap;
use std::fmt;

use analysis::{JudgedTrials, Line};
use experiment::{Bench, find, pursue};
use model::record::study::{FindAnswer, FindGoal, Purpose, Trial};

use crate::stack::Random;

/// The ramp starts here, and lines lie between this and sixteen times as much.
pub const START: f64 = 40.0;

/// What is looked for where nothing is said, from [`START`].
pub fn goal() -> FindGoal {
    FindGoal { start: START, ..FindGoal::default() }
}

/// A load line that a find may have to look for.
pub fn some_line(random: &mut Random) -> f64 {
    START * (16f64.ln() * random.unit()).exp()
}

/// A find to its end.
pub fn pursued(goal: &FindGoal, bench: &mut dyn Bench) -> (FindAnswer, Vec<Trial>) {
    let mut trials: Vec<Trial> = Vec::new();
    let spent_s = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
    let answer = pursue(|trials| find::next(goal, trials, spent_s(trials)), bench, &mut trials);
    (answer.expect("a simulated stack never refuses"), trials)
}

/// The root of the mean of squares.
pub fn root_mean_square(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}

/// What many finds on stacks of one kind came to.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// How many.
    pub finds: usize,
    /// ln(estimate/truth) after ten trials: ramp, search and confirming, all but the warm-up, whose figures don't count.
    pub after_ten: Vec<f64>,
    /// ln(answer/truth).
    pub at_end: Vec<f64>,
    /// Seconds of the find that took longest.
    pub longest_s: f64,
    /// Why there was no answer, and how often.
    pub why: BTreeMap<String, usize>,
    covered: usize,
    half_widths: f64,
    confirmed: usize,
    wide: usize,
    trials: usize,
    spent_s: f64,
}

impl Tally {
    /// Counts a find on a stack whose line is `line`.
    pub fn add(&mut self, line: f64, answer: &FindAnswer, trials: &[Trial]) {
        let spent_s = trials.iter().map(|trial| trial.took_s).sum::<f64>();
        self.finds += 1;
        self.trials += trials.len();
        self.spent_s += spent_s;
        self.longest_s = self.longest_s.max(spent_s);
        assert_eq!(trials[0].purpose, Purpose::WarmUp);
        let ten = Line::of(&JudgedTrials::of(&trials[..trials.len().min(11)]), 0.9, 1);
        self.after_ten.extend(ten.map(|found| (found.load / line).ln()));
        match answer {
            FindAnswer::LoadLine(found) => {
                // The answer is the highest whole number of users below the line.
                self.at_end.push(((found.load + 0.5) / line).ln());
                self.covered += usize::from((found.low..=found.high).contains(&line.floor()));
                self.half_widths += (found.high - found.low) / 2.0 / found.load;
                self.confirmed += usize::from(found.passed.is_some() && found.failed.is_some());
                self.wide += usize::from(found.wide);
            }
            FindAnswer::NoAnswer(no) => *self.why.entry(format!("{:?}", no.why)).or_default() += 1,
        }
    }

    /// Of the intervals, those that hold the truth.
    pub fn covered_ratio(&self) -> f64 {
        self.covered as f64 / self.answered()
    }

    /// Of the finds, those that gave a line.
    pub fn answered_ratio(&self) -> f64 {
        self.at_end.len() as f64 / self.finds as f64
    }

    /// Of the finds, those without a line for that reason.
    pub fn named_ratio(&self, why: &str) -> f64 {
        self.why.get(why).copied().unwrap_or_default() as f64 / self.finds as f64
    }

    fn answered(&self) -> f64 {
        self.at_end.len().max(1) as f64
    }
}

/// The heading of the rows that a [`Tally`] prints.
pub const HEADING: &str = "\
after ten | answer | held | half-width | answered | confirmed both sides | wider than asked | trials | time | longest | no line because";

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (answered, finds) = (self.answered(), self.finds.max(1) as f64);
        let why: Vec<String> = self.why.iter().map(|(why, times)| format!("{why} {times}")).collect();
        write!(
            f,
            "{:.1} % | {:.1} % | {:.0} % | {:.1} % | {:.0} % | {:.0} % | {:.0} % | {:.1} | {:.0} s | {:.0} s | {}",
            100.0 * root_mean_square(&self.after_ten),
            100.0 * root_mean_square(&self.at_end),
            100.0 * self.covered_ratio(),
            100.0 * self.half_widths / answered,
            100.0 * self.answered_ratio(),
            100.0 * self.confirmed as f64 / answered,
            100.0 * self.wide as f64 / answered,
            self.trials as f64 / finds,
            self.spent_s / finds,
            self.longest_s,
            why.join(", ")
        )
    }
}

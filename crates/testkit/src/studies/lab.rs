//! Where simulated trials take place.

use experiment::{Bench, Order};
use model::record::study::{Fault, Trial};
use model::{Check, Problem, Result};

use super::stack::Stack;

/// A bench with a stack for each order.
pub(super) struct Lab<S, C> {
    /// The stack on which a trial is carried out that comes after a number of others.
    pub(super) stack: S,
    /// What else happens in a trial.
    pub(super) change: C,
    /// The user ends the study before another one.
    pub(super) max_trials: usize,
}

impl<S: FnMut(&Order, usize) -> Stack, C: FnMut(&mut Trial)> Lab<S, C> {
    /// A lab on whose trials nothing else has an influence, and whose studies come to their end.
    pub(super) fn new(stack: S, change: C) -> Lab<S, C> {
        Lab { stack, change, max_trials: usize::MAX }
    }
}

impl<S: FnMut(&Order, usize) -> Stack, C: FnMut(&mut Trial)> Bench for Lab<S, C> {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        if trials.len() >= self.max_trials {
            return Err(Problem::environment("the user ended it").into());
        }
        let mut trial = (self.stack)(order, trials.len()).trial(order, trials);
        (self.change)(&mut trial);
        Ok(trial)
    }
}

/// Marks a trial as one in which a check did not hold.
pub(super) fn spoil(trial: &mut Trial, check: Check, sentence: &str) {
    trial.faults.push(Fault { check, sentence: sentence.into() });
}

/// Seconds that the trials took.
pub(super) fn spent_s(trials: &[Trial]) -> f64 {
    trials.iter().map(|trial| trial.took_s).sum()
}

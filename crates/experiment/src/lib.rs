//! Studies (layer 2): what is measured next, and when enough is known.
//!
//! The principal type is [`Step`]: a policy looks at the trials so far and either orders another one or says the
//! answer. Policies are pure: the same trials give the same step, always, so a study that was killed goes on from what
//! was kept of it. What a trial does to the world goes through one trait, [`Bench`]; on a simulated stack a whole find
//! takes milliseconds.
//!
//! Not here: mathematics (`analysis`), servers, clocks, files, anything printed.

pub mod compare;
pub mod find;
pub mod interventions;
pub mod line_proof;
mod seeds;
pub mod sweep;

use model::Result;
use model::record::study::{Conditions, Purpose, Trial};

/// A trial that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Which of the study's arms.
    pub arm: usize,
    /// The block or repeat that it belongs to.
    pub block: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// Users, or arrivals per second.
    pub load: f64,
    /// What is chosen for its stack.
    pub conditions: Conditions,
    /// Steady seconds wanted.
    pub window_s: f64,
    /// The stack and its data set are to be set up anew first; otherwise they go on as the last trial left them.
    pub fresh: bool,
    /// Seed of the users' random streams.
    pub seed: u64,
    /// The trial that takes turns with it, on a stack of its own beside this one's.
    pub in_turn_with: Option<Box<Order>>,
}

/// What a policy says after looking at the trials so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<A> {
    /// Another trial, please.
    Measure(Order),
    /// Enough is known.
    Answer(A),
}

/// Where trials take place: the real stack, or a simulated one.
pub trait Bench {
    /// Carries one trial out; it is kept when this returns. `trials` are those before it.
    ///
    /// # Errors
    /// What makes going on senseless: a stack that can't be started, a full disk, the user's wish to stop.
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial>;

    /// Carries two trials out that take turns on stacks of their own; both are kept when this returns, in this order. On
    /// a bench where nothing happens meanwhile that is as if one followed the other.
    ///
    /// # Errors
    /// As for [`Bench::trial`].
    fn both(&mut self, [first, second]: [&Order; 2], trials: &[Trial]) -> Result<[Trial; 2]> {
        let first = self.trial(first, trials)?;
        let before = [trials, std::slice::from_ref(&first)].concat();
        let second = self.trial(second, &before)?;
        Ok([first, second])
    }
}

/// Measures until `next` has an answer; `trials` are what a study already knows and grow by what it learns.
pub fn pursue<A>(
    next: impl Fn(&[Trial]) -> Step<A>,
    bench: &mut dyn Bench,
    trials: &mut Vec<Trial>,
) -> Result<A> {
    loop {
        match next(trials) {
            Step::Answer(answer) => return Ok(answer),
            Step::Measure(order) => match &order.in_turn_with {
                None => trials.push(bench.trial(&order, trials)?),
                Some(other) => trials.extend(bench.both([&order, other], trials)?),
            },
        }
    }
}

//! A bench of a formula, for the tests of policies with several arms: each arm's mean response time is known, with
//! noise, a drift of the machine and trials that are not valid.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{Bench, Order};
use model::record::study::{Fault, Figure, Measured, TierCpu, Trial};
use model::{Problem, Result};
use testkit::stack::Random;

/// Several arms of known speed.
#[derive(Debug, Clone)]
pub(crate) struct MadeUp {
    /// Mean response time of each arm, in seconds.
    pub(crate) mean_s: Vec<f64>,
    /// Standard deviation of the logarithm of a trial's mean.
    pub(crate) noise: f64,
    /// CPU time of an operation of each arm as a share of its mean; no tier is watched where it is not said.
    pub(crate) cpu_ratio: Vec<f64>,
    /// All times rise by this share with each trial.
    pub(crate) drift: f64,
    /// Trials, by number, whose instrument fails.
    pub(crate) invalid: BTreeSet<u32>,
    /// The share of each arm's operations that fails; nothing does where it is not said.
    pub(crate) failed_ratio: Vec<f64>,
    /// Every trial of this arm whose block has an even number breaks.
    pub(crate) breaks: Option<usize>,
    /// Trials, by number, that find no steady state.
    pub(crate) unsettled: BTreeSet<u32>,
    /// Trials, by number, of whose answers this share was under way when a turn ended.
    pub(crate) interrupted: BTreeMap<u32, f64>,
    /// The user stops it before this trial.
    pub(crate) stop_at: Option<u32>,
    /// What was ordered.
    pub(crate) orders: Vec<Order>,
    pub(crate) random: Random,
}

impl MadeUp {
    pub(crate) fn new(mean_s: &[f64], noise: f64, seed: u64) -> MadeUp {
        MadeUp {
            mean_s: mean_s.to_vec(),
            noise,
            cpu_ratio: Vec::new(),
            drift: 0.0,
            invalid: BTreeSet::new(),
            failed_ratio: Vec::new(),
            breaks: None,
            unsettled: BTreeSet::new(),
            interrupted: BTreeMap::new(),
            stop_at: None,
            orders: Vec::new(),
            random: Random::new(seed),
        }
    }
}

impl MadeUp {
    /// The web tier, and the generator beside the stack.
    fn tiers(&self, order: &Order, per_s: f64, mean_s: f64) -> Vec<TierCpu> {
        let Some(ratio) = self.cpu_ratio.get(order.arm) else { return Vec::new() };
        let tier = |name: &str, cpu_cores| TierCpu { tier: name.to_string(), cpu_cores };
        vec![tier("web", per_s * mean_s * ratio), tier("generator", f64::from(order.block) + 1.0)]
    }
}

impl Bench for MadeUp {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        let number = trials.len() as u32 + 1;
        if self.stop_at == Some(number) {
            return Err(Problem::new(model::Kind::Interrupted, "the user stopped it").into());
        }
        self.orders.push(order.clone());
        let log = self.noise * self.random.normal() + self.drift * f64::from(number);
        let mean_s = self.mean_s[order.arm] * log.exp();
        let per_s = order.load / (1.0 + mean_s);
        let figure = |name: &str, value: f64| Figure {
            name: name.to_string(),
            operation: None,
            value,
            log_se: Some(self.noise),
            degrees: None,
        };
        let fault = Fault { check: model::Check::SendLag, sentence: "the generator was late".to_string() };
        let breaks = self.breaks == Some(order.arm) && order.block.is_multiple_of(2);
        Ok(Trial {
            number,
            arm: order.arm,
            block: order.block,
            purpose: order.purpose,
            load: order.load,
            run: format!("run-{number}"),
            began_s: f64::from(number) * 30.0,
            took_s: 30.0,
            fresh: order.fresh,
            warm_up_s: (!self.unsettled.contains(&number)).then_some(3.0),
            window_s: order.window_s,
            interrupted_ratio: self.interrupted.get(&number).copied(),
            measured: Some(Measured {
                figures: vec![
                    figure("throughput", per_s),
                    figure("mean", mean_s),
                    figure("p95", 3.0 * mean_s),
                ],
                tiers: self.tiers(order, per_s, mean_s),
                failed_ratio: self.failed_ratio.get(order.arm).copied().unwrap_or(0.0),
                ..Measured::default()
            }),
            faults: if breaks || self.invalid.contains(&number) { vec![fault] } else { Vec::new() },
            overloaded: Vec::new(),
            conditions: Default::default(),
        })
    }
}

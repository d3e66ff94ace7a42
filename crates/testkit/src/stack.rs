//! Simulated stacks: benches whose load line is known, on which a whole find takes milliseconds.
//!
//! [`Stack`] is a formula with noise: its margin is a curve over the load ([`Shape`]), and noise, strays, warming, modes
//! and drift are laid over it. [`queue::Queue`] is a real queue, event by event.

pub mod queue;
mod random;

use experiment::{Bench, Order};
use model::record::study::{Figure, Measured, Purpose, Trial};
use model::record::{Margin, TargetOutcome};
use model::{QosTarget, Result};

pub use random::Random;

/// Seconds of a trial before its window.
pub const OVERHEAD_S: f64 = 14.0;

/// Batches of a window.
const BATCHES: usize = 10;

/// Correlation of neighbouring batches.
const CORRELATION: f64 = 0.3;

/// How the margin of the target that binds rises with the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// With this slope in ln(load) near the line, and a third of it where the margin is below −1.5.
    Slope(f64),
    /// Saturated: R = N/X − Z above the knee, where the slope is little more than 1; flat below it.
    Saturated,
    /// It jumps from one margin to another one, which are on both sides of 0.
    Jump {
        /// Below the line.
        from: f64,
        /// Above it.
        to: f64,
        /// Between these lies so much in ln(load).
        within: f64,
    },
    /// A share that is 0 below the line (of errors, of users who wait) and rises fast above it.
    Share,
}

impl Shape {
    /// −2 below the line, +3 above it, with 1 % of load between.
    pub const CLIFF: Shape = Shape::Jump { from: -2.0, to: 3.0, within: 0.01 };
}

/// A stack that changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Habit {
    /// It doesn't.
    Steady,
    /// Its margins are higher at first.
    Warms {
        /// By so much.
        by: f64,
        /// The time constant with which they come down.
        time_s: f64,
    },
    /// Each trial is of one kind or the other, by chance.
    TwoModes {
        /// By so much their load lines differ in ln(load).
        apart: f64,
        /// The share of the trials that follow the lower one.
        lower_ratio: f64,
    },
    /// Its load line falls.
    Drifts {
        /// By this share of itself a minute.
        per_minute: f64,
    },
}

/// A target of other operations than the one that binds, with noise of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherTarget {
    /// So much above the load line it is missed, in ln(load).
    pub above: f64,
    /// How its margin rises with ln(load).
    pub slope: f64,
}

/// A formula with noise.
#[derive(Debug, Clone)]
pub struct Stack {
    /// The load line.
    pub line: f64,
    /// How the margin rises.
    pub shape: Shape,
    /// How it changes.
    pub habit: Habit,
    /// Standard deviation of the margin in a window of 30 s.
    pub noise_30_s: f64,
    /// Standard deviation from trial to trial.
    pub spread: f64,
    /// Share of trials whose margin is 1 higher.
    pub stray_ratio: f64,
    /// Degrees of freedom of the Student's t that noise has in place of the normal distribution: more than 2.
    pub tails: Option<f64>,
    /// Targets beside the one that binds.
    pub others: Vec<OtherTarget>,
    random: Random,
    clock_s: f64,
}

impl Stack {
    /// A stack with the noise of the project's reference figures: 0.35 in 30 s, 0.08 from trial to trial, 6 % strays.
    pub fn new(line: f64, shape: Shape, seed: u64) -> Stack {
        let quiet = matches!(shape, Shape::Saturated | Shape::Jump { .. } | Shape::Share);
        Stack {
            line,
            shape,
            habit: Habit::Steady,
            noise_30_s: if quiet { 0.05 } else { 0.35 },
            spread: if quiet { 0.02 } else { 0.08 },
            stray_ratio: 0.06,
            tails: None,
            others: Vec::new(),
            random: Random::new(seed),
            clock_s: 0.0,
        }
    }

    /// The same, and it changes.
    pub fn that(self, habit: Habit) -> Stack {
        Stack { habit, ..self }
    }

    /// Seconds that all trials took so far.
    pub fn spent_s(&self) -> f64 {
        self.clock_s
    }

    /// The margin without noise at a load whose ratio to the load line has the logarithm `x`.
    fn margin(&self, x: f64) -> f64 {
        match self.shape {
            Shape::Slope(slope) => {
                let m = slope * x;
                if m < -1.5 { -1.5 + (m + 1.5) / 3.0 } else { m }
            }
            // With Z = X/10 and a limit of N*/X - Z; the knee is at 40 % of the line.
            Shape::Saturated => (((x.exp() - 0.1) / 0.9).max(0.02)).ln().max(-2.5),
            Shape::Jump { from, to, within } => {
                from + ((to - from) * x / within - from).clamp(0.0, to - from) + x.min(0.0)
            }
            Shape::Share => {
                // 2000 operations, a limit of 1 %.
                let share: f64 = (0.01 + 0.6 * x).max(0.0);
                ((share * 2000.0 + 0.5) / 2001.0 / 0.01).ln()
            }
        }
    }

    /// What habit adds to x = ln(load/line), and what to the margin.
    fn changes(&mut self, middle_s: f64) -> (f64, f64) {
        match self.habit {
            Habit::Steady => (0.0, 0.0),
            Habit::Warms { by, time_s } => (0.0, by * (-middle_s / time_s).exp()),
            Habit::TwoModes { apart, lower_ratio } => {
                (if self.random.unit() < lower_ratio { apart / 2.0 } else { -apart / 2.0 }, 0.0)
            }
            Habit::Drifts { per_minute } => (per_minute * middle_s / 60.0, 0.0),
        }
    }

    /// Ten correlated batches whose mean has the noise of the window.
    fn batches(&mut self, centre: f64, window_s: f64) -> Vec<f64> {
        let mean_sd = self.noise_30_s * (30.0 / window_s).sqrt();
        // The variance of the mean of n of an AR(1) series is about (1 + r)/(1 − r)/n of that of one.
        let batch_sd = mean_sd * (BATCHES as f64 * (1.0 - CORRELATION) / (1.0 + CORRELATION)).sqrt();
        let mut state = self.noise();
        let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
        (0..BATCHES)
            .map(|_| {
                state = CORRELATION * state + fresh * self.noise();
                centre + batch_sd * state
            })
            .collect()
    }

    /// Of variance 1.
    fn noise(&mut self) -> f64 {
        match self.tails {
            Some(degrees) => self.random.student(degrees) * ((degrees - 2.0) / degrees).sqrt(),
            None => self.random.normal(),
        }
    }

    fn measured(&mut self, order: &Order, middle_s: f64) -> Measured {
        let (shift, rise) = self.changes(middle_s);
        let x = (order.load / self.line).ln() + shift;
        let stray = if self.random.unit() < self.stray_ratio { 1.0 } else { 0.0 };
        let common = rise + stray + self.spread * self.noise();
        let centre = self.margin(x) + common;
        let batches = self.batches(centre, order.window_s);
        let read = |text: &str| text.parse::<QosTarget>().expect("a target");
        let p95 = outcome(read("Browse p95 < 300 ms"), &batches);
        // The same operations' tail: a lower margin, half of its noise its own.
        let own = self.batches(0.0, order.window_s);
        let tail: Vec<f64> = batches
            .iter()
            .zip(own)
            .map(|(one, own)| centre - 0.6 + 0.7 * (one - centre) + 0.7 * own)
            .collect();
        let p99 = outcome(read("p99 < 1s"), &tail);
        let errors = outcome(read("errors < 1%"), &[-3.7; BATCHES]);
        let mut targets = vec![p95, p99, errors];
        for (number, other) in self.others.clone().into_iter().enumerate() {
            let batches = self.batches(other.slope * (x - other.above) + common, order.window_s);
            targets.push(outcome(read(&format!("Other{number} p95 < 300 ms")), &batches));
        }
        let throughput = order.load.min(self.line) * 2.0;
        let figure = |name: &str, value: f64| Figure {
            name: name.to_string(),
            operation: None,
            value,
            log_se: Some(0.01),
            degrees: None,
        };
        Measured {
            targets,
            metrics: Vec::new(),
            signals: Vec::new(),
            figures: vec![figure("throughput", throughput)],
            tiers: Vec::new(),
            failed_ratio: 0.0,
            foreign_cores: None,
            only_under_way: false,
            guest_spread_ratio: None,
            response: None,
        }
    }
}

/// A target with the margin of its batches' mean.
pub fn outcome(target: QosTarget, batches: &[f64]) -> TargetOutcome {
    let n = batches.len() as f64;
    let margin = batches.iter().sum::<f64>() / n;
    let variance = batches.iter().map(|batch| (batch - margin).powi(2)).sum::<f64>() / (n - 1.0);
    let lagged =
        batches.windows(2).map(|pair| (pair[0] - margin) * (pair[1] - margin)).sum::<f64>() / (n - 1.0);
    let correlation = if variance > 0.0 { (lagged / variance + 1.0 / n).clamp(0.0, 0.8) } else { 0.0 };
    let margin_se = (variance / n * (1.0 + correlation) / (1.0 - correlation)).sqrt();
    let observed = target.limit * margin.exp();
    TargetOutcome {
        pass: margin < 0.0,
        samples_needed: 500,
        average_s: target.measure.is_time().then(|| target.limit * (margin - 1.1).exp()),
        margin: Margin { log: Some(margin), log_se: Some(margin_se), batches: batches.to_vec() },
        ..TargetOutcome::of(target, Some(observed), 5000)
    }
}

/// A trial as a real bench keeps it.
pub fn trial(order: &Order, number: usize, began_s: f64, measured: Measured) -> Trial {
    Trial {
        number: number as u32,
        arm: order.arm,
        block: order.block,
        purpose: order.purpose,
        load: order.load,
        run: format!("trials/{number:03}"),
        began_s,
        took_s: OVERHEAD_S + order.window_s,
        fresh: order.fresh || order.purpose == Purpose::WarmUp,
        warm_up_s: Some(6.0),
        window_s: order.window_s,
        interrupted_ratio: None,
        measured: Some(measured),
        faults: Vec::new(),
        overloaded: Vec::new(),
        conditions: order.conditions.clone(),
    }
}

impl Bench for Stack {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        let began_s = self.clock_s;
        let middle_s = began_s + OVERHEAD_S + order.window_s / 2.0;
        let measured = self.measured(order, middle_s);
        self.clock_s += OVERHEAD_S + order.window_s;
        Ok(trial(order, trials.len() + 1, began_s, measured))
    }
}

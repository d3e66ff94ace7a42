//! A simulated stack whose response times rise steeply at its line, with every figure that a real trial gives.

use experiment::Order;
use model::QosTarget;
use model::record::study::{Figure, Measured, Purpose, TierCpu, Trial};
use model::record::{Margin, TargetOutcome};

/// Mean think time of its users, in seconds.
const THINK_S: f64 = 1.0;

/// A simulated stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stack {
    /// The load at which `Browse p95` reaches its limit.
    pub(super) line: f64,
    /// How steeply its logarithm rises with that of the load, there.
    pub(super) slope: f64,
    /// Standard deviation, about, of the logarithm of a trial's times.
    pub(super) noise: f64,
    /// The load is arrivals per second and not users.
    pub(super) by_rate: bool,
    /// All times are multiplied by this.
    pub(super) slower: f64,
    /// A target that asks for at least this many operations per second.
    pub(super) min_per_s: Option<f64>,
}

impl Default for Stack {
    /// 412 users.
    fn default() -> Stack {
        Stack { line: 412.0, slope: 9.0, noise: 0.06, by_rate: false, slower: 1.0, min_per_s: None }
    }
}

impl Stack {
    /// Carries out `order` after `trials`.
    pub(super) fn trial(self, order: &Order, trials: &[Trial]) -> Trial {
        let number = trials.len() as u32 + 1;
        let warm_up_s = 4.0 + (3.0 * (1.0 + wobble(number, 9))).round();
        Trial {
            number,
            arm: order.arm,
            block: order.block,
            purpose: order.purpose,
            load: order.load,
            run: format!("20261121-101500-dvdstore-t{number:03}"),
            began_s: trials.last().map_or(11.4, |last| last.began_s + last.took_s),
            took_s: order.window_s + warm_up_s + 3.2,
            fresh: order.fresh || order.purpose == Purpose::WarmUp,
            warm_up_s: Some(warm_up_s),
            window_s: order.window_s,
            interrupted_ratio: None,
            measured: Some(self.measured(number, order)),
            faults: Vec::new(),
            overloaded: Vec::new(),
            conditions: order.conditions.clone(),
        }
    }

    fn measured(self, number: u32, order: &Order) -> Measured {
        let share = (order.load / self.line).powf(self.slope);
        // Users who wait don't ask: above the line times grow only as far as there are users.
        let grown = if share <= 1.0 { share } else { 1.0 + 7.0 * (1.0 - (-(share - 1.0) / 7.0).exp()) };
        let noise = |which: u32, size: f64| (size * wobble(number, which)).exp();
        let browse_p95_s = 0.3 * (0.94 * grown + 0.06) * noise(1, self.noise) * self.slower;
        let p95_s = 0.62 * browse_p95_s * noise(2, self.noise / 4.0);
        let (p50_s, p99_s, mean_s) = (0.21 * p95_s, 1.72 * p95_s * noise(3, self.noise / 2.0), 0.34 * p95_s);
        let per_s = if self.by_rate { order.load * 6.1 } else { order.load / (THINK_S + mean_s) };
        let failed_ratio = if share > 3.0 { 0.0021 * share.min(20.0) / 3.0 } else { 0.0 };
        let samples = (per_s * order.window_s) as u64;
        let se = 0.35 / (samples as f64 / 100.0).max(1.0).sqrt();
        let figure = |name: &str, operation: Option<&str>, value: f64, se: f64| Figure {
            name: name.into(),
            operation: operation.map(str::to_string),
            value,
            log_se: (samples > 500).then_some(se),
            degrees: None,
        };
        let busy = (per_s / (self.line * 0.96 * if self.by_rate { 6.1 } else { 1.0 })).min(1.02);
        let mut targets = vec![
            outcome("Browse p95 < 300 ms", browse_p95_s, Some(0.36), samples / 2, (number, se)),
            outcome("p99 < 1.00 s", p99_s, Some(mean_s / p99_s), samples, (number, se)),
            outcome("errors < 0.1%", failed_ratio, None, samples, (number, 0.0)),
        ];
        targets.extend(self.min_per_s.map(|min| {
            let target: QosTarget = format!("throughput > {min}/s").parse().expect("a target");
            TargetOutcome::of(target, Some(per_s), samples)
        }));
        Measured {
            targets,
            figures: vec![
                figure("throughput", None, per_s * noise(4, 0.004), 0.006),
                figure("mean", None, mean_s, se * 0.6),
                figure("sd", None, 1.3 * mean_s, se * 1.1),
                figure("p50", None, p50_s, se * 0.5),
                figure("p95", None, p95_s, se),
                figure("p99", None, p99_s, se * 1.6),
                figure("throughput", Some("Browse"), per_s * 0.52, 0.008),
                figure("mean", Some("Browse"), browse_p95_s * 0.36, se * 0.7),
                figure("sd", Some("Browse"), browse_p95_s * 0.45, se * 1.3),
                figure("p50", Some("Browse"), browse_p95_s * 0.23, se * 0.6),
                figure("p95", Some("Browse"), browse_p95_s, se * 1.2),
                figure("p99", Some("Browse"), browse_p95_s * 1.66, se * 1.9),
            ],
            tiers: [("web", 0.71 * busy), ("db", 0.27 * busy), ("generator", 0.004 + 0.061 * busy)]
                .map(|(tier, cpu_cores)| TierCpu { tier: tier.into(), cpu_cores })
                .to_vec(),
            metrics: Vec::new(),
            signals: Vec::new(),
            failed_ratio,
            foreign_cores: None,
            only_under_way: false,
            guest_spread_ratio: None,
            response: None,
        }
    }
}

fn outcome(
    text: &str,
    observed: f64,
    mean_share: Option<f64>,
    samples: u64,
    (number, se): (u32, f64),
) -> TargetOutcome {
    let target: QosTarget = text.parse().expect("a target");
    let share = if mean_share.is_some() { observed / target.limit } else { (observed + 5e-5) / target.limit };
    let log = share.ln();
    let margin = Margin {
        log: Some(log),
        log_se: (se > 0.0).then_some(se),
        batches: (0..10).map(|batch| log + 3.0 * se * wobble(number, 20 + batch)).collect(),
    };
    TargetOutcome {
        samples_needed: if mean_share.is_some() { 100 } else { 1000 },
        average_s: mean_share.map(|mean| observed * mean),
        margin,
        ..TargetOutcome::of(target, Some(observed), samples)
    }
}

/// A number between -1 and 1 that depends on `a` and `b` alone.
pub(super) fn wobble(a: u32, b: u32) -> f64 {
    let mixed = (u64::from(a) << 32 | u64::from(b)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
}

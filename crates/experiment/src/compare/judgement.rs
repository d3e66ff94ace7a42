//! What the blocks of a comparison say: the effect on each figure, which of them answers, and whether the gate holds.

use std::collections::BTreeSet;

use analysis::paired::{self, Looks, Terms};
use model::record::study::{Better, By, CPU, Compare, Conclusion, Effect, Failed, Lopsided, Measured};

use super::{Block, LOAD_LINE, Side, fairness};

/// Figures of operations in the order in which they are shown.
const FIGURES: [&str; 5] = ["throughput", "mean", "p50", "p95", "p99"];

/// What the blocks say.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The effect on each figure; the first is the one that was asked about.
    pub effects: Vec<Effect>,
    /// What follows from the first, unless one arm failed more or spoiled its blocks.
    pub conclusion: Conclusion,
    /// The gate held; absent without one, and as long as that is open.
    pub gate_held: Option<bool>,
    /// Blocks behind it.
    pub valid: u32,
    /// Blocks that were not valid.
    pub spoiled: u32,
    /// Another block would have ended after the time that there is.
    pub time_over: bool,
    /// One arm failed clearly more often.
    pub failed: Option<Failed>,
    /// One arm spoiled far more blocks.
    pub lopsided: Option<Lopsided>,
}

/// The question is answered: with a gate, whether it holds; else which is better.
pub(super) fn enough(compare: &Compare, blocks: &[Block<'_>]) -> bool {
    let primary = effect(compare, &pairs(blocks), (compare.by.clone(), None));
    match compare.gate_ratio {
        Some(gate) => held(&primary, gate).is_some(),
        None => !matches!(primary.conclusion, Conclusion::Open { .. }),
    }
}

fn pairs<'b, 'a>(blocks: &'b [Block<'a>]) -> Vec<&'b [Side<'a>; 2]> {
    blocks.iter().filter_map(|block| block.pair.as_ref().ok()).collect()
}

/// Judges the blocks that are over.
pub fn judge(compare: &Compare, blocks: &[Block<'_>]) -> Judgement {
    let pairs = pairs(blocks);
    let mut effects: Vec<Effect> =
        names(compare, &pairs).into_iter().map(|name| effect(compare, &pairs, name)).collect();
    let first = effects.iter().position(|effect| effect.operation.is_none() && effect.figure == compare.by);
    if let Some(first) = first {
        effects[..=first].rotate_right(1);
    }
    let primary = effects.first().filter(|_| first.is_some());
    let conclusion =
        primary.map_or(Conclusion::Open { more_blocks: None }, |effect| effect.conclusion.clone());
    let gate_held = compare.gate_ratio.zip(primary).and_then(|(gate, effect)| held(effect, gate));
    let valid = pairs.len() as u32;
    let (failed, lopsided) = (fairness::failed(&pairs), fairness::lopsided(blocks));
    let (conclusion, gate_held) = match lopsided {
        Some(_) => (Conclusion::Open { more_blocks: None }, gate_held.filter(|held| !held)),
        None => by_failures(conclusion, gate_held, failed.as_ref(), compare.gate_ratio),
    };
    Judgement {
        effects,
        conclusion,
        gate_held,
        valid,
        spoiled: blocks.len() as u32 - valid,
        time_over: false,
        failed,
        lopsided,
    }
}

/// Failures decide before figures of what completed: who fails more is the worse one. Where that is A, B's figures may
/// still be better or the same, but nothing is said to be better than B for them.
pub fn by_failures(
    conclusion: Conclusion,
    gate_held: Option<bool>,
    failed: Option<&Failed>,
    gate_ratio: Option<f64>,
) -> (Conclusion, Option<bool>) {
    match failed {
        Some(failed) if failed.arm == 1 => (Conclusion::Slower, gate_ratio.map(|_| false)),
        Some(_) if conclusion == Conclusion::Slower => (Conclusion::Open { more_blocks: None }, gate_held),
        _ => (conclusion, gate_held),
    }
}

/// Each figure that every pair has: those of all operations first, then those of each. With pairs always the one asked
/// about.
fn names(compare: &Compare, pairs: &[&[Side<'_>; 2]]) -> Vec<(String, Option<String>)> {
    let mut operations: BTreeSet<Option<String>> = BTreeSet::from([None]);
    if let Some([Side::Trial(trial), _]) = pairs.first() {
        let figures = trial.measured.iter().flat_map(|seen| &seen.figures);
        operations.extend(figures.map(|figure| figure.operation.clone()));
    }
    let mut names: Vec<(String, Option<String>)> = Vec::new();
    for operation in operations {
        names.extend(FIGURES.iter().map(|figure| ((*figure).to_string(), operation.clone())));
        // CPU time is not kept by operation.
        names.extend(operation.is_none().then(|| (CPU.to_string(), None)));
    }
    let whole = |name: &(String, Option<String>)| {
        !pairs.is_empty()
            && pairs.iter().all(|pair| value(&pair[0], name).is_some() && value(&pair[1], name).is_some())
    };
    names.retain(whole);
    let asked = (compare.by.clone(), None);
    if !pairs.is_empty() && !names.contains(&asked) {
        names.insert(0, asked);
    }
    names
}

/// Those of the figure that was asked about.
pub(super) fn values(compare: &Compare, blocks: &[Block<'_>]) -> Vec<(f64, f64)> {
    values_of(&pairs(blocks), &(compare.by.clone(), None))
}

fn values_of(pairs: &[&[Side<'_>; 2]], name: &(String, Option<String>)) -> Vec<(f64, f64)> {
    pairs.iter().filter_map(|pair| Some((value(&pair[0], name)?, value(&pair[1], name)?))).collect()
}

fn effect(compare: &Compare, pairs: &[&[Side<'_>; 2]], name: (String, Option<String>)) -> Effect {
    let values = values_of(pairs, &name);
    let better = better(&name.0);
    let looks = Looks { confidence_ratio: compare.confidence_ratio, max_values: compare.most_blocks };
    let terms = Terms { better, band_ratio: compare.band_ratio, looks, seed: compare.seed };
    let found = paired::effect_of(&values, &terms, resolution(compare, &name.0, &values));
    let (figure, operation) = name;
    let number = |value: f64| if value.is_finite() { value } else { 0.0 };
    Effect {
        figure,
        operation,
        better,
        a: number(found.a),
        b: number(found.b),
        ratio: if found.ratio.is_finite() { found.ratio } else { 1.0 },
        low: found.interval.map(|(low, _)| low),
        high: found.interval.map(|(_, high)| high),
        bootstrap: found.bootstrap,
        blocks: found.blocks,
        conclusion: found.conclusion,
    }
}

/// To which share of itself a figure is known at best: load lines are whole numbers of users.
fn resolution(compare: &Compare, figure: &str, values: &[(f64, f64)]) -> f64 {
    let by_users = compare.goal.as_ref().is_some_and(|goal| goal.by == By::Users);
    let least = values.iter().map(|(a, b)| a.min(*b)).fold(f64::INFINITY, f64::min);
    let users = if figure == LOAD_LINE && by_users { 1.0 / least.max(1.0) } else { 0.0 };
    users.max(paired::RESOLUTION)
}

fn value(side: &Side<'_>, (figure, operation): &(String, Option<String>)) -> Option<f64> {
    match side {
        Side::Line(load) => (figure == LOAD_LINE && operation.is_none()).then_some(*load),
        Side::Trial(trial) => {
            let seen: &Measured = trial.measured.as_ref()?;
            seen.value(figure, operation.as_deref()).filter(|value| *value > 0.0)
        }
    }
}

/// Which way a figure is better.
pub(super) fn better(figure: &str) -> Better {
    if figure == "throughput" || figure == LOAD_LINE { Better::Higher } else { Better::Lower }
}

/// Whether B is certainly no worse than the gate allows (`Some(true)`), certainly worse (`Some(false)`), or neither.
/// Times may be up to 1 + `gate` times as long, throughput up to as many times less.
pub fn held(effect: &Effect, gate: f64) -> Option<bool> {
    let (low, high) = effect.low.zip(effect.high)?;
    let (least, most) = match effect.better {
        Better::Lower => (low, high),
        Better::Higher => (1.0 / high, 1.0 / low),
    };
    let allowed = 1.0 + gate;
    if most <= allowed {
        Some(true)
    } else if least > allowed {
        Some(false)
    } else {
        None
    }
}

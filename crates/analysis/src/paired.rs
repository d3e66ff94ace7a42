//! Which of two is better, from pairs measured close to each other: an estimate that outliers don't move, an interval
//! that holds at every look, and what follows from it.
//!
//! The formulas, what was chosen and what simulations showed: `docs/method/comparing.md`.

mod walk;

use model::record::study::{Better, Conclusion};

use crate::bootstrap;
use crate::distribution::student_quantile;

/// Resamples of the plain bootstrap interval.
const RESAMPLES: usize = 1000;

/// No ratio of times or throughputs is known better than this, however equal the values look: clocks, counts and what
/// is kept of a distribution end there.
pub const RESOLUTION: f64 = 0.001;

/// How many blocks are thought of at most when it is reckoned how many more would do.
const MAX_BLOCKS: u32 = 5_000;

/// How much longer an interval is that may be looked at after each block than one at the end of them: by simulation.
const LONGER: f64 = 1.15;

/// How values are looked at: after each of them, up to a number that is known before the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looks {
    /// Probability with which the intervals of all looks hold.
    pub confidence_ratio: f64,
    /// Values that there will be at most: more of them say nothing more.
    pub max_values: u32,
}

/// How a comparison is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Which way is better.
    pub better: Better,
    /// Differences smaller than this don't matter: 0.01 is 1 %.
    pub band_ratio: f64,
    /// How often the pairs are looked at, and with which probability every interval holds.
    pub looks: Looks,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// The effect of B against A on one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedEffect {
    /// The median with A.
    pub a: f64,
    /// The median with B.
    pub b: f64,
    /// B/A: e to the median of the averages of all two blocks' log ratios (Hodges and Lehmann 1963).
    pub ratio: f64,
    /// The interval for `ratio` that holds at the chosen confidence at every look; absent as long as there are too few
    /// blocks ([`min_blocks`]).
    pub interval: Option<(f64, f64)>,
    /// The bootstrap's interval (BCa) at the same confidence for who looks only once; absent below five blocks.
    pub bootstrap: Option<(f64, f64)>,
    /// Pairs of which both values are positive numbers: the others say nothing.
    pub blocks: u32,
    /// Standard deviation of the log ratios as their median distance from the estimate gives it; absent below three.
    pub noise: Option<f64>,
    /// What follows.
    pub conclusion: Conclusion,
}

/// The effect seen in `pairs` of (A, B), in the order in which they were measured.
pub fn effect(pairs: &[(f64, f64)], terms: &Terms) -> PairedEffect {
    effect_of(pairs, terms, RESOLUTION)
}

/// The same for figures that are known to a share `resolution` of themselves at best: the interval is never shorter
/// than that to either side.
pub fn effect_of(pairs: &[(f64, f64)], terms: &Terms, resolution: f64) -> PairedEffect {
    let usable = |(a, b): &&(f64, f64)| a.is_finite() && b.is_finite() && *a > 0.0 && *b > 0.0;
    let pairs: Vec<(f64, f64)> = pairs.iter().filter(usable).copied().collect();
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
    let estimate = centre(&logs);
    let least = resolution.ln_1p();
    let interval = interval(&logs, terms.looks)
        .map(|(low, high)| (low.min(estimate - least), high.max(estimate + least)));
    let resampled =
        bootstrap::bca(&logs, |drawn| centre(drawn), terms.looks.confidence_ratio, RESAMPLES, terms.seed);
    let noise = noise(&logs, estimate);
    PairedEffect {
        a: median(pairs.iter().map(|(a, _)| *a)),
        b: median(pairs.iter().map(|(_, b)| *b)),
        ratio: estimate.exp(),
        interval: interval.map(exp),
        bootstrap: resampled.map(exp),
        blocks: logs.len() as u32,
        noise,
        conclusion: conclude(&logs, estimate, interval, terms),
    }
}

fn exp(ends: (f64, f64)) -> (f64, f64) {
    (ends.0.exp(), ends.1.exp())
}

/// The interval for the centre of `logs` that holds at every look: values are independent and symmetric around it, of
/// whatever distribution. `None` as long as there are too few.
pub fn interval(logs: &[f64], looks: Looks) -> Option<(f64, f64)> {
    walk::interval(logs, centre(logs), looks)
}

/// After how many blocks there is an interval, however clear they are; `None` where there will be fewer.
pub fn min_blocks(looks: Looks) -> Option<u32> {
    walk::least(looks)
}

/// The lowest number of blocks that are worth planning: fewer never give an interval.
pub fn min_planned(confidence_ratio: f64) -> u32 {
    let enough = |max_values: &u32| min_blocks(Looks { confidence_ratio, max_values: *max_values }).is_some();
    (1..MAX_BLOCKS).find(enough).unwrap_or(MAX_BLOCKS)
}

/// What an interval says: no difference that matters when it lies in the band; a difference when zero lies outside of
/// it; nothing yet otherwise.
fn conclude(logs: &[f64], estimate: f64, interval: Option<(f64, f64)>, terms: &Terms) -> Conclusion {
    let band = terms.band_ratio.ln_1p();
    match interval {
        Some((low, high)) if low > -band && high < band => Conclusion::Same,
        Some((low, high)) if low > 0.0 || high < 0.0 => {
            let more = low > 0.0;
            if more == (terms.better == Better::Higher) { Conclusion::Faster } else { Conclusion::Slower }
        }
        _ => Conclusion::Open { more_blocks: more_blocks(logs, estimate, terms) },
    }
}

/// How many more blocks would give an answer if the estimate stayed where it is and the noise as it was: those after
/// which the last look's interval leaves zero out, or lies in the band, whichever is sooner. More than were planned would
/// have to be planned anew.
fn more_blocks(logs: &[f64], estimate: f64, terms: &Terms) -> Option<u32> {
    let have = logs.len() as u32;
    let noise = noise(logs, estimate)?;
    let room = estimate.abs().max(terms.band_ratio.ln_1p() - estimate.abs());
    let answers = |blocks: &u32| width(*blocks, terms.looks.confidence_ratio) * noise < room;
    (min_planned(terms.looks.confidence_ratio).max(have + 1)..=MAX_BLOCKS)
        .find(answers)
        .map(|blocks| blocks - have)
}

/// Half the last look's interval in standard deviations of normal values, when `blocks` of them were planned: Student's,
/// longer by what the looks before it and the bounded scores cost.
fn width(blocks: u32, confidence_ratio: f64) -> f64 {
    let n = f64::from(blocks);
    LONGER * student_quantile(0.5 + confidence_ratio / 2.0, n - 1.0) / n.sqrt()
}

/// The Hodges-Lehmann estimate: the median of the averages of all two values, each with itself too. NaN without any.
pub fn centre(values: &[f64]) -> f64 {
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, one) in values.iter().enumerate() {
        averages.extend(values[index..].iter().map(|other| (one + other) / 2.0));
    }
    median_of(&mut averages)
}

/// The values' median distance from `estimate`, scaled to be the standard deviation of normal ones.
fn noise(values: &[f64], estimate: f64) -> Option<f64> {
    (values.len() >= 3).then(|| 1.4826 * median(values.iter().map(|value| (value - estimate).abs())))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    median_of(&mut values.collect::<Vec<f64>>())
}

/// NaN without values.
fn median_of(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if even { (lower + *upper) / 2.0 } else { *upper }
}

#[cfg(test)]
mod tests;

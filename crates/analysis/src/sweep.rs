//! What a sweep found: how many cells have a result, where the figure is highest and lowest, whether that may be chance,
//! and whether every trial missed its targets.

use std::collections::BTreeSet;

use model::QosTarget;
use model::record::TargetOutcome;
use model::record::study::{FindAnswer, Measured, Measurement, Sweep, Trial};

use crate::distribution::student_quantile;

/// Probability with which one of two cells is called higher although all cells are alike.
const MISSES: f64 = 0.05;

/// What a sweep found.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepFindings {
    /// Cells that have a result.
    pub measured: usize,
    /// Where the figure, operations per second or the load line, is highest and lowest; absent without two cells.
    pub range: Option<Range>,
    /// How far repeats of a cell differ; absent when no cell has two.
    pub repeats: Option<Spread>,
    /// The targets that all valid trials missed, none where each missed another; absent where one met all of its targets.
    pub never_met: Option<Vec<QosTarget>>,
    /// Cells of which a trial was not valid.
    pub invalid_cells: usize,
}

/// From where to where the figure goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The cell with the highest geometric mean of its repeats.
    pub highest: CellMean,
    /// The one with the lowest.
    pub lowest: CellMean,
    /// What that difference means.
    pub difference: Difference,
}

/// A cell and the geometric mean of its repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellMean {
    /// The cell's number, which is its arm's.
    pub cell: usize,
    /// Operations per second, or the load line.
    pub mean: f64,
}

/// What the difference between two cells means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// No cell has two repeats, so nobody knows.
    Unknown,
    /// Cells that are alike may differ by as much.
    Chance,
    /// It is more than chance would make.
    Real,
}

/// How far repeats of a cell differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation of the repeats' natural logarithms within cells, pooled: a share of the figure.
    pub deviation_ratio: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
}

impl SweepFindings {
    /// Of the trials, and where load lines are looked for of the cells' answers.
    pub fn of(sweep: &Sweep, trials: &[Trial]) -> SweepFindings {
        let values: Vec<Vec<f64>> = (0..sweep.cells.len()).map(|arm| values(sweep, trials, arm)).collect();
        let invalid: BTreeSet<usize> =
            trials.iter().filter(|trial| !trial.valid()).map(|trial| trial.arm).collect();
        SweepFindings {
            measured: values.iter().filter(|values| !values.is_empty()).count(),
            range: range(&values),
            repeats: spread(&values),
            never_met: never_met(sweep, trials),
            // A search for a load line has trials that are not valid, and measures again.
            invalid_cells: if looks_for_lines(sweep) { 0 } else { invalid.len() },
        }
    }
}

fn looks_for_lines(sweep: &Sweep) -> bool {
    matches!(sweep.measurement, Measurement::LoadLine(_))
}

/// The targets that all trials missed where none met all of its targets; absent where one did, and where load lines are
/// looked for, which are where targets begin to be missed.
pub fn never_met(sweep: &Sweep, trials: &[Trial]) -> Option<Vec<QosTarget>> {
    if looks_for_lines(sweep) {
        return None;
    }
    let counted: Vec<&Measured> =
        trials.iter().filter(|trial| trial.valid()).filter_map(|trial| trial.measured.as_ref()).collect();
    let missed = |seen: &Measured, wanted: &QosTarget| {
        seen.targets.iter().any(|outcome| outcome.target == *wanted && outcome.is_missed())
    };
    let first = counted.first()?;
    if counted.iter().any(|seen| !seen.targets.iter().any(TargetOutcome::is_missed)) {
        return None;
    }
    let wanted = first.targets.iter().map(|outcome| &outcome.target);
    Some(wanted.filter(|wanted| counted.iter().all(|seen| missed(seen, wanted))).cloned().collect())
}

fn range(values: &[Vec<f64>]) -> Option<Range> {
    let (highest, lowest) = ends(values)?;
    let difference = match by_chance(values, highest.cell, lowest.cell) {
        None => Difference::Unknown,
        Some(chance) if (highest.mean / lowest.mean).ln() <= chance => Difference::Chance,
        Some(_) => Difference::Real,
    };
    Some(Range { highest, lowest, difference })
}

/// The cells whose mean is highest and lowest; absent without two.
fn ends(values: &[Vec<f64>]) -> Option<(CellMean, CellMean)> {
    let measured = values.iter().enumerate().filter(|(_, values)| !values.is_empty());
    let means: Vec<CellMean> = measured.map(|(cell, values)| CellMean { cell, mean: mean(values) }).collect();
    let highest = means.iter().max_by(|a, b| a.mean.total_cmp(&b.mean))?;
    let lowest = means.iter().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
    (highest.cell != lowest.cell).then_some((*highest, *lowest))
}

/// How far apart, in logarithms, the means of two cells may be if all cells are alike: Student's t with the variance that
/// repeats of all cells have together, for all pairs of cells at once (Bonferroni), since these two were picked for lying
/// furthest apart. Absent when no cell has two repeats.
fn by_chance(values: &[Vec<f64>], one: usize, other: usize) -> Option<f64> {
    let spread = spread(values)?;
    let cells = values.iter().filter(|values| !values.is_empty()).count() as f64;
    let pairs = cells * (cells - 1.0) / 2.0;
    let share = |arm: usize| 1.0 / values[arm].len() as f64;
    let standard_error = spread.deviation_ratio * (share(one) + share(other)).sqrt();
    Some(student_quantile(1.0 - MISSES / pairs / 2.0, spread.degrees) * standard_error)
}

/// What the valid repeats of a cell say.
fn values(sweep: &Sweep, trials: &[Trial], arm: usize) -> Vec<f64> {
    if looks_for_lines(sweep) {
        let line = |answer: &FindAnswer| match answer {
            FindAnswer::LoadLine(line) => Some(line.load),
            FindAnswer::NoAnswer(_) => None,
        };
        return sweep.cells[arm].answers.iter().filter_map(line).collect();
    }
    let of_arm = trials.iter().filter(|trial| trial.arm == arm && trial.valid());
    let seen = of_arm.filter_map(|trial| Some(trial.measured.as_ref()?.figure("throughput", None)?.value));
    seen.filter(|value| *value > 0.0).collect()
}

/// The geometric mean: figures differ by factors.
fn mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

fn spread(cells: &[Vec<f64>]) -> Option<Spread> {
    let (mut squares, mut freedom) = (0.0, 0);
    for values in cells.iter().filter(|values| values.len() > 1) {
        let centre = mean(values).ln();
        squares += values.iter().map(|value| (value.ln() - centre).powi(2)).sum::<f64>();
        freedom += values.len() - 1;
    }
    let degrees = freedom as f64;
    (freedom > 0).then(|| Spread { deviation_ratio: (squares / degrees).sqrt(), degrees })
}

#[cfg(test)]
mod tests;

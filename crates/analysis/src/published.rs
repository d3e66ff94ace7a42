//! Published figures beside measured ones: values with their intervals, ratios, and whether the order agrees.
//!
//! All of it is in logarithms: figures differ by factors. Each repeat is a block, so what two cells share in a block
//! (the time of day, the users' draws) cancels in their ratio. How far repeats differ is pooled over the cells that a table
//! or a claim names, and each pair has an interval from its own repeats alone besides: the wider of the two counts,
//! because cells may differ in noise. `docs/method/published.md` has the formulas.

use std::collections::BTreeMap;

use model::record::study::{
    Agreement, Claim, ClaimOrder, Estimate, FindAnswer, Published, PublishedFigure, PublishedPair,
    PublishedRow, Sweep, Trial,
};

use crate::distribution::student_quantile;

/// Probability with which an interval misses.
const MISSES: f64 = 0.05;
/// Rounds after which the means of cells and blocks no longer change where blocks are incomplete.
const ROUNDS: usize = 60;

/// Fills in what `trials` say beside each published table of `sweep`.
pub fn beside(sweep: &mut Sweep, trials: &[Trial]) {
    let mut tables = std::mem::take(&mut sweep.published);
    for table in &mut tables {
        let seen = Seen::of(sweep, trials, &table.figure);
        fill(table, &seen);
    }
    sweep.published = tables;
}

/// A figure of each cell of `sweep`, with its interval by how far repeats of all cells differ; absent of a cell without one.
pub fn of_cells(sweep: &Sweep, trials: &[Trial], figure: &PublishedFigure) -> Vec<Option<Estimate>> {
    let seen = Seen::of(sweep, trials, figure);
    (0..sweep.cells.len()).map(|cell| seen.value(cell, figure.times)).collect()
}

fn fill(table: &mut Published, all: &Seen) {
    let named: Vec<usize> = table.rows.iter().filter_map(|row| row.cell).collect();
    let seen = &all.among(&named);
    for row in &mut table.rows {
        row.ours = row.cell.and_then(|cell| seen.value(cell, table.figure.times));
    }
    let relative = table.relative;
    let is_base = |row: &PublishedRow| !relative || (row.value == 1.0 && row.bound.is_none());
    table.base = table.rows.iter().position(|row| row.ours.is_some() && is_base(row));
    let base = table.base.and_then(|base| table.rows.get(base)).cloned();
    for (at, row) in table.rows.iter_mut().enumerate() {
        row.ratio = match &base {
            // As it was published, whatever was measured.
            _ if relative => Some(row.value),
            base => base.as_ref().map(|base| row.value / base.value),
        };
        row.ours_ratio = match base.as_ref().and_then(|base| base.cell).zip(row.cell) {
            _ if table.base == Some(at) => {
                row.ours.map(|ours| Estimate { value: 1.0, low: None, high: None, ..ours })
            }
            Some((base, cell)) => seen.ratio(base, cell, MISSES),
            None => None,
        };
    }
    table.pairs = pairs(table, seen);
    for claim in &mut table.claims {
        claim.pairs = claim_pairs(claim, &all.among(&claim.cells));
    }
}

/// Each pair of a claim's cells that were measured.
fn claim_pairs(claim: &Claim, seen: &Seen) -> Vec<PublishedPair> {
    let measured: Vec<usize> =
        claim.cells.iter().copied().filter(|cell| seen.value(*cell, 1.0).is_some()).collect();
    let all = two_of(&measured);
    let misses = MISSES / all.len().max(1) as f64;
    let pair = |(first, second): &(usize, usize)| {
        let ours = seen.ratio(*first, *second, misses)?;
        let says = claimed(claim.order, &ours);
        Some(PublishedPair { first: *first, second: *second, published: None, ours, says })
    };
    all.iter().filter_map(pair).collect()
}

/// Each pair of rows of which both sides have a figure and the published ones differ.
fn pairs(table: &Published, seen: &Seen) -> Vec<PublishedPair> {
    let rows: Vec<usize> = (0..table.rows.len()).filter(|row| table.rows[*row].ours.is_some()).collect();
    let published = |(first, second): (usize, usize)| table.rows[second].value / table.rows[first].value;
    let ordered: Vec<(usize, usize)> = two_of(&rows)
        .into_iter()
        .filter(|pair| published(*pair) != 1.0 && !same_cell(table, *pair) && have_order(table, *pair))
        .collect();
    let ordered = once_each(table, ordered);
    let misses = MISSES / ordered.len().max(1) as f64;
    let pair = |(first, second): &(usize, usize)| {
        let ours = seen.ratio(table.rows[*first].cell?, table.rows[*second].cell?, misses)?;
        let published = published((*first, *second));
        let order = if published > 1.0 { ClaimOrder::Rises } else { ClaimOrder::Falls };
        let says = claimed(order, &ours);
        Some(PublishedPair { first: *first, second: *second, published: Some(published), ours, says })
    };
    ordered.iter().filter_map(pair).collect()
}

/// Two ends of ranges say nothing of each other; each says on which side of the base it is.
fn have_order(table: &Published, (first, second): (usize, usize)) -> bool {
    let bounds = [first, second].map(|row| table.rows[row].bound.is_some());
    let base = [first, second].iter().any(|row| Some(*row) == table.base);
    bounds == [false, false] || base
}

/// Both ends of a range are of one cell: against another one that is one comparison, where both say the same of it.
fn once_each(table: &Published, pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let of = |(first, second): &(usize, usize)| {
        let (one, other) = (&table.rows[*first], &table.rows[*second]);
        (one.cell, other.cell, other.value > one.value)
    };
    let is_first = |at: usize| pairs[..at].iter().all(|earlier| of(earlier) != of(&pairs[at]));
    (0..pairs.len()).filter(|at| is_first(*at)).map(|at| pairs[at]).collect()
}

fn same_cell(table: &Published, (first, second): (usize, usize)) -> bool {
    table.rows[first].cell == table.rows[second].cell
}

fn two_of(list: &[usize]) -> Vec<(usize, usize)> {
    let later = |(at, first): (usize, &usize)| {
        let first = *first;
        list[at + 1..].iter().map(move |second| (first, *second))
    };
    list.iter().enumerate().flat_map(later).collect()
}

/// What a measured ratio says of an order. That two cells are the same can be contradicted and not shown.
fn claimed(order: ClaimOrder, ours: &Estimate) -> Agreement {
    let above = ours.low.is_some_and(|low| low > 1.0);
    let below = ours.high.is_some_and(|high| high < 1.0);
    match (order, above, below) {
        (ClaimOrder::Rises, true, _) | (ClaimOrder::Falls, _, true) => Agreement::Agrees,
        (_, false, false) => Agreement::Open,
        _ => Agreement::Contradicts,
    }
}

/// The logarithm of a figure in one repeat, and its error within the window.
#[derive(Debug, Clone, Copy)]
struct Log {
    value: f64,
    se: f64,
}

/// A figure in every cell and block.
struct Seen {
    /// By cell: the block's number and what was seen.
    cells: Vec<BTreeMap<u32, Log>>,
    /// Variance of repeats of one cell, with its degrees of freedom.
    within_cells: Option<(f64, f64)>,
    /// The same after what each block has in common was taken away.
    within_blocks: Option<(f64, f64)>,
}

impl Seen {
    fn of(sweep: &Sweep, trials: &[Trial], figure: &PublishedFigure) -> Seen {
        let mut cells = vec![BTreeMap::new(); sweep.cells.len()];
        for (cell, seen) in sweep.cells.iter().zip(&mut cells) {
            for (block, answer) in cell.answers.iter().enumerate().filter(|_| figure.name == "load_line") {
                if let FindAnswer::LoadLine(line) = answer {
                    add(seen, block as u32, line.load, None);
                }
            }
        }
        for trial in trials.iter().filter(|trial| trial.valid()) {
            let found = trial.measured.as_ref().and_then(|measured| figure.of(measured));
            if let Some((found, seen)) = found.zip(cells.get_mut(trial.arm)) {
                add(seen, trial.block, found.value, found.log_se);
            }
        }
        Seen::from(cells)
    }

    fn from(cells: Vec<BTreeMap<u32, Log>>) -> Seen {
        Seen { within_cells: variance(&cells, false), within_blocks: variance(&cells, true), cells }
    }

    /// The same with `named` cells alone: what other cells' repeats do is no matter to these.
    fn among(&self, named: &[usize]) -> Seen {
        let kept = |(cell, seen): (usize, &BTreeMap<u32, Log>)| {
            if named.contains(&cell) { seen.clone() } else { BTreeMap::new() }
        };
        Seen::from(self.cells.iter().enumerate().map(kept).collect())
    }

    /// The geometric mean of a cell's repeats; nothing without any.
    fn value(&self, cell: usize, times: f64) -> Option<Estimate> {
        let logs: Vec<Log> = self.cells.get(cell)?.values().copied().collect();
        if logs.is_empty() {
            return None;
        }
        let values: Vec<f64> = logs.iter().map(|log| log.value).collect();
        let windows = logs.iter().map(|log| log.se * log.se).sum::<f64>();
        let half = half_width(&values, self.within_cells, windows, MISSES);
        Some(estimate(mean(&values) + times.ln(), half, logs.len()))
    }

    /// The second cell's figure as a ratio to the first's, over the blocks that have both.
    fn ratio(&self, first: usize, second: usize, misses: f64) -> Option<Estimate> {
        let (first, second) = (self.cells.get(first)?, self.cells.get(second)?);
        let both: Vec<(Log, Log)> =
            first.iter().filter_map(|(block, log)| Some((*log, *second.get(block)?))).collect();
        if both.is_empty() {
            return None;
        }
        let ratios: Vec<f64> = both.iter().map(|(a, b)| b.value - a.value).collect();
        let windows = both.iter().map(|(a, b)| a.se * a.se + b.se * b.se).sum::<f64>();
        let pooled = self.within_blocks.map(|(variance, degrees)| (2.0 * variance, degrees));
        let half = half_width(&ratios, pooled, windows, misses);
        Some(estimate(mean(&ratios), half, ratios.len()))
    }
}

fn add(seen: &mut BTreeMap<u32, Log>, block: u32, value: f64, log_se: Option<f64>) {
    if value > 0.0 && value.is_finite() {
        seen.insert(block, Log { value: value.ln(), se: log_se.unwrap_or(0.0) });
    }
}

/// Half the interval of the mean of `values`: the wider one of two. The first is from the `pooled` variance of one (with
/// its degrees of freedom) or their `windows`' summed variances, whichever is larger. It holds where all cells are
/// equally noisy. The second is from how far the values differ themselves, with the degrees of freedom that they have.
/// It holds whatever other cells do, and being the wider one where there are few values it misses more seldom than
/// `misses`. Absent when nothing is pooled; a single value has the first alone.
fn half_width(values: &[f64], pooled: Option<(f64, f64)>, windows: f64, misses: f64) -> Option<f64> {
    let (pooled, degrees) = pooled?;
    let count = values.len() as f64;
    let quantile = |degrees: f64| student_quantile(1.0 - misses / 2.0, degrees);
    let alike = (pooled / count).max(windows / (count * count)).sqrt() * quantile(degrees);
    if values.len() < 2 {
        return Some(alike);
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let own = (squares / (count - 1.0) / count).sqrt() * quantile(count - 1.0);
    Some(alike.max(own))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn estimate(mean: f64, half: Option<f64>, repeats: usize) -> Estimate {
    Estimate {
        value: mean.exp(),
        low: half.map(|half| (mean - half).exp()),
        high: half.map(|half| (mean + half).exp()),
        repeats: repeats as u32,
    }
}

/// Variance of what is left of each repeat when its cell's mean (and its block's) is taken away; absent when nothing can
/// be left.
fn variance(cells: &[BTreeMap<u32, Log>], of_blocks: bool) -> Option<(f64, f64)> {
    let mut left: Vec<(usize, u32, f64)> = Vec::new();
    for (cell, seen) in cells.iter().enumerate() {
        left.extend(seen.iter().map(|(block, log)| (cell, *block, log.value)));
    }
    let count = |key: &dyn Fn(&(usize, u32, f64)) -> u64| {
        left.iter().map(key).collect::<std::collections::BTreeSet<u64>>().len()
    };
    let by_cell = |one: &(usize, u32, f64)| one.0 as u64;
    let by_block = |one: &(usize, u32, f64)| u64::from(one.1);
    let taken = count(&by_cell) + if of_blocks { count(&by_block).saturating_sub(1) } else { 0 };
    let degrees = left.len().checked_sub(taken).filter(|degrees| *degrees > 0)? as f64;
    // Incomplete blocks need rounds: taking cells' means away changes those of blocks.
    for _ in 0..ROUNDS {
        take_means(&mut left, &by_cell);
        if of_blocks {
            take_means(&mut left, &by_block);
        }
    }
    Some((left.iter().map(|(_, _, rest)| rest * rest).sum::<f64>() / degrees, degrees))
}

fn take_means(left: &mut [(usize, u32, f64)], key: &dyn Fn(&(usize, u32, f64)) -> u64) {
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for one in left.iter() {
        let sum = sums.entry(key(one)).or_default();
        *sum = (sum.0 + one.2, sum.1 + 1.0);
    }
    for one in left.iter_mut() {
        let (sum, count) = sums[&key(one)];
        one.2 -= sum / count;
    }
}

#[cfg(test)]
mod tests;

//! Cells in groups that are drawn together: those that differ only in their stack, or else in one other factor.

use analysis::mixture::mixture;
use model::record::study::{Factor, Published, PublishedRow, ResponseTimes, Sweep, Trial};

use super::MAX_LINES;
use crate::study::sweep::along;
use crate::study::sweep::cells::CellResult;

/// The factor by whose levels cells are compared where it is varied.
const STACK: &str = "stack";

/// Cells that are drawn together.
pub(super) struct Panel {
    /// The levels that they have in common; empty where all cells are together.
    pub(super) title: String,
    pub(super) lines: Vec<CellTimes>,
}

/// How the response times of a cell are distributed.
pub(super) struct CellTimes {
    /// Which of the study's arms.
    pub(super) arm: usize,
    /// The number of the level of each factor.
    pub(super) levels: Vec<usize>,
    /// What tells it from the other cells of its panel.
    pub(super) name: String,
    /// The number of its look; the same in every panel where there are enough of them.
    pub(super) look: usize,
    /// Of all operations of its valid repeats.
    pub(super) times: ResponseTimes,
    /// Percentiles that were published of it.
    pub(super) published: Vec<PublishedPercentile>,
}

/// A point of a published distribution.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PublishedPercentile {
    /// As it was published.
    pub(super) label: String,
    pub(super) percent: f64,
    pub(super) time_s: f64,
}

/// The groups, in the order of their first cells; without the cells of which there are no response times.
pub(super) fn of(sweep: &Sweep, cells: &[CellResult]) -> Vec<Panel> {
    let Some(at) = compared(sweep) else { return Vec::new() };
    // Where its level alone says which cell it is, the other factors go with it.
    let others = |cell: &CellResult| match along::telling(sweep) {
        Some(telling) if telling == at => String::new(),
        _ => common(sweep, cell.levels, at),
    };
    let mut panels: Vec<Panel> = Vec::new();
    for cell in cells {
        let Some(times) = times(cell) else { continue };
        let title = others(cell);
        let place = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
            panels.push(Panel { title, lines: Vec::new() });
            panels.len() - 1
        });
        panels[place].lines.push(line(sweep, at, cell, times));
    }
    if sweep.factors[at].levels.len() > MAX_LINES {
        panels.iter_mut().for_each(count_looks);
    }
    panels
}

/// There are more levels than looks, so each panel has its own.
fn count_looks(panel: &mut Panel) {
    panel.lines.iter_mut().enumerate().for_each(|(at, line)| line.look = at);
}

/// The factor in which the cells of a panel differ: the stack, or one whose level alone says which cell it is, or the fastest.
fn compared(sweep: &Sweep) -> Option<usize> {
    let stack = sweep.factors.iter().position(|factor| factor.name == STACK);
    stack.or_else(|| along::telling(sweep)).or_else(|| sweep.factors.len().checked_sub(1))
}

/// `Data set 3.3gb, Users 256`: the levels of those other factors that are varied.
fn common(sweep: &Sweep, levels: &[usize], at: usize) -> String {
    let pairs = sweep.factors.iter().zip(levels).enumerate();
    let others = pairs.filter(|(of, (factor, _))| *of != at && factor.levels.len() > 1);
    let named = others
        .filter_map(|(_, (factor, level))| Some(format!("{} {}", factor.title, factor.levels.get(*level)?)));
    named.collect::<Vec<_>>().join(", ")
}

/// The response times of the cell's valid repeats together.
fn times(cell: &CellResult) -> Option<ResponseTimes> {
    let kept = |trial: &&'_ Trial| trial.measured.as_ref().and_then(|seen| seen.response.clone());
    let kept: Vec<ResponseTimes> = cell.trials.iter().filter_map(kept).collect();
    mixture(&kept)
}

fn line(sweep: &Sweep, at: usize, cell: &CellResult, times: ResponseTimes) -> CellTimes {
    let look = cell.levels.get(at).copied().unwrap_or_default();
    let tables = sweep.published.iter().flat_map(|table| published(table, cell.arm));
    CellTimes {
        arm: cell.arm,
        levels: cell.levels.to_vec(),
        name: name(&sweep.factors[at], look),
        look,
        times,
        published: tables.collect(),
    }
}

/// `nginx`, `Users 50`: a number says nothing without what it counts.
fn name(factor: &Factor, level: usize) -> String {
    let level = factor.levels.get(level).map_or("", String::as_str);
    match level.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("{} {level}", factor.title),
        false => level.to_string(),
    }
}

/// The percentiles that a table has of a cell; ends of ranges are no points.
fn published(table: &Published, arm: usize) -> impl Iterator<Item = PublishedPercentile> {
    let percent = table.figure.percent_of_all().filter(|_| !table.relative);
    let of_cell = move |row: &&PublishedRow| row.cell == Some(arm) && row.bound.is_none() && row.value > 0.0;
    let point = move |row: &PublishedRow| {
        let time_s = row.value / table.figure.times;
        Some(PublishedPercentile { label: row.label.clone(), percent: percent?, time_s })
    };
    table.rows.iter().filter(of_cell).filter_map(point)
}

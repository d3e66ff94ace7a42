//! How far the guests of a cell were apart: whether each of several stacks on one machine gets its share.

use model::record::study::Trial;

use super::cells::CellResult;
use crate::figures;
use crate::study::page::{Cell, Column, Content, Part};

/// A cell has several guests of which something is known.
pub(super) fn are_there(cells: &[CellResult]) -> bool {
    cells.iter().any(|cell| apart_ratio(cell).is_some())
}

/// What the column says, where there is one.
pub(super) fn lead(cells: &[CellResult]) -> Option<Part> {
    let lead = "Guests apart: how much more a user of the fastest guest got done than one of the slowest, as a share of the \
                guests' mean; the median of the repeats.";
    are_there(cells).then(|| Content::Lead(lead.into()).both())
}

/// The column of [`cell`].
pub(super) fn column() -> Column {
    Column::numbers("Guests apart", "apart")
}

/// How far the cell's guests were apart; a dash where it has one stack.
pub(super) fn cell(cell: &CellResult) -> Cell {
    figures::percent(apart_ratio(cell)).into()
}

/// The median over the trials that count.
fn apart_ratio(cell: &CellResult) -> Option<f64> {
    let of_trial = |trial: &&Trial| trial.measured.as_ref()?.guest_spread_ratio;
    analysis::median(cell.trials.iter().filter_map(of_trial).collect())
}

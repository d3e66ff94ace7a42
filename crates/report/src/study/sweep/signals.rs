//! Signals of tiers that a sweep keeps of each trial: a table of its cells, and columns of the CSV.

use model::StudyRecord;
use model::record::study::{Sweep, TierSignal};

use super::cells::CellResult;
use crate::figures;
use crate::study::page::{Cell, Column, Content, Part, Row, Table};
use crate::study::view::CsvColumn;
use crate::study::words;

/// Columns that a terminal has room for beside the cells' names.
const MAX_ON_TERMINAL: usize = 3;

/// The table with what it says; nothing where no signal was asked for.
pub(super) fn parts(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<Part> {
    if sweep.signals.is_empty() {
        return Vec::new();
    }
    let lead = "Signals of tiers over the window, the mean of the repeats; a dash where none of them had it, and the runs say why.";
    let table = |signals: &[TierSignal]| Content::Table(table(record, signals, cells));
    let of_terminal = sweep.signals.chunks(MAX_ON_TERMINAL).map(|signals| table(signals).terminal());
    [Content::Lead(lead.into()).both()]
        .into_iter()
        .chain(of_terminal)
        .chain([table(&sweep.signals).page()])
        .collect()
}

fn table(record: &StudyRecord, signals: &[TierSignal], cells: &[CellResult]) -> Table {
    let column = |signal: &TierSignal| Column::numbers(&signal.name, &signal.name);
    let row = |cell: &CellResult| {
        let label = record.arms.get(cell.arm).map(|arm| arm.label.clone()).unwrap_or_default();
        let values = signals.iter().map(|signal| value(signal, cell));
        Row { cells: [label].into_iter().chain(values).map(Cell::from).collect(), muted: false }
    };
    let columns = [Column::words("Cell", "")].into_iter().chain(signals.iter().map(column));
    Table { columns: columns.collect(), rows: cells.iter().map(row).collect(), ..Table::default() }
}

fn value(signal: &TierSignal, cell: &CellResult) -> String {
    let mean = cell.signal(&signal.name);
    mean.map_or_else(|| figures::NOTHING.to_string(), |mean| figures::in_series_unit(mean, &signal.unit))
}

/// A column for each signal, in its own unit.
pub(super) fn csv(record: &StudyRecord, sweep: &Sweep) -> Vec<CsvColumn> {
    let column = |signal: &TierSignal| {
        CsvColumn::of(record, &signal.name, |trial| {
            let figure = trial.measured.as_ref().and_then(|measured| measured.signal(&signal.name));
            words::digits(figure.map(|figure| figure.value))
        })
    };
    sweep.signals.iter().map(column).collect()
}

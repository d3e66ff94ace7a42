//! The table of a sweep's cells.

use model::StudyRecord;
use model::record::study::{Factor, FindAnswer, Kind, Sweep};

use super::cells::CellResult;
use super::{guests, verdicts};
use crate::figures;
use crate::study::page::{Cell, Column, Judged, On, Row, Table};
use crate::study::words;
use crate::terminal::Align;

/// A row for each cell: its levels, its figures or its load line, whether it met its targets, how many trials count.
pub(super) fn table(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Table {
    let lines = sweep.goal().is_some();
    let (guests, judged) =
        (guests::are_there(cells), cells.iter().any(|cell| verdicts::of(sweep, cell).is_some()));
    let row = |cell: &CellResult| {
        let level =
            |(level, factor): (&usize, &Factor)| factor.levels.get(*level).cloned().unwrap_or_default();
        let mut row: Vec<Cell> = cell.levels.iter().zip(&sweep.factors).map(level).map(Cell::from).collect();
        if lines {
            row.extend(load_lines(record, cell));
        } else {
            row.extend(figures_of(cell));
        }
        row.extend(guests.then(|| guests::cell(cell)));
        if judged {
            let unknown = || [Cell::from(figures::NOTHING), Cell::from(figures::NOTHING)];
            row.extend(verdicts::of(sweep, cell).map_or_else(unknown, verdicts::Verdict::cells));
        }
        row.extend(valid(cell));
        Row { cells: row, muted: false }
    };
    // Maps say nothing of guests.
    let long_form = !guests;
    let rows = cells.iter().map(row).collect();
    Table { columns: columns(sweep, guests, judged), rows, folded: None, long_form }
}

fn columns(sweep: &Sweep, guests: bool, judged: bool) -> Vec<Column> {
    let title = |(index, factor): (usize, &Factor)| Column {
        align: if index == 0 { Align::Left } else { Align::Right },
        ..Column::words(&factor.title, &factor.title)
    };
    let mut columns: Vec<Column> = sweep.factors.iter().enumerate().map(title).collect();
    if sweep.goal().is_some() {
        columns.push(Column::numbers("Load line", "load line"));
        columns.push(Column::numbers("Interval", "interval"));
        columns.push(Column::words("Repeats", "").on(On::Page));
    } else {
        columns.push(Column::numbers("op/s", "op/s"));
        columns.push(Column::numbers("Mean", "").on(On::Page));
        // A terminal has no room for all of them beside one more column.
        columns.push(Column::numbers("p50", "p50").on(if guests { On::Page } else { On::Both }));
        columns.extend(["p95", "p99"].map(|name| Column::numbers(name, name)));
        columns.push(Column::numbers("Failed", "failed"));
    }
    columns.extend(guests.then(guests::column));
    if judged {
        columns.extend(["Targets", "By averages"].map(|title| Column::numbers(title, "").on(On::Page)));
    }
    columns.push(Column::numbers("Valid", "").on(On::Page));
    columns.push(Column::numbers("", "valid").on(On::Terminal));
    columns
}

/// Throughput, times and failures of windows.
fn figures_of(cell: &CellResult) -> impl Iterator<Item = Cell> {
    let times = ["mean", "p50", "p95", "p99"].map(|name| Cell::from(figures::time(cell.value(name))));
    let throughput = Cell::from(figures::number(cell.value("throughput")));
    let failed = Cell::from(figures::percent(cell.failed_ratio()));
    [throughput].into_iter().chain(times).chain([failed])
}

/// The cell's load line, its interval, and each repeat's.
fn load_lines(record: &StudyRecord, cell: &CellResult) -> [Cell; 3] {
    let number = |load: f64| words::load_number(record, cell.arm, load);
    let value = cell.value("load_line").map(|load| {
        let unit = words::load_unit(record, cell.arm);
        format!("{} {unit}", number(load))
    });
    let interval = cell.interval().map(|(low, high)| format!("{} to {}", number(low), number(high)));
    let mut answers = cell.answers.iter().map(|answer| match answer {
        FindAnswer::LoadLine(line) => number(line.load),
        FindAnswer::NoAnswer(none) => format!("none: {}", none.evidence),
    });
    let shown = |text: Option<String>| Cell::from(text.unwrap_or_else(|| figures::NOTHING.to_string()));
    let first = shown(answers.next());
    [shown(value), shown(interval), Cell { notes: answers.collect(), ..first }]
}

/// How many of the cell's trials count, of all.
pub(super) fn valid_of_all(cell: &CellResult) -> Cell {
    let [_, of_all] = valid(cell);
    of_all
}

/// How many of the cell's trials count: for the page, and for a terminal.
fn valid(cell: &CellResult) -> [Cell; 2] {
    let (valid, all) = (cell.trials.len(), cell.trials.len() + cell.invalid);
    let overloaded = if cell.overloaded() { ", overloaded" } else { "" };
    let judged = if cell.invalid > 0 { Judged::Missed } else { Judged::Plain };
    let of_all = format!("{valid} of {all}{overloaded}");
    let short = if cell.invalid > 0 { of_all.clone() } else { format!("{valid}{overloaded}") };
    [Cell::judged(short, judged), Cell::judged(of_all, judged)]
}

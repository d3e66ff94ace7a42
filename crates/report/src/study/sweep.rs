//! What a sweep shows: what was varied, its figures as charts or maps, its cells, and what was published beside them.

mod beside;
mod cells;
mod charts;
mod published;
mod scale_out;

use model::StudyRecord;
use model::record::study::{Factor, FindAnswer, Kind, LoadLine, Measurement, Sweep, Trial};

use super::page::{Body, Cell, Column, Content, Figure, Judged, Link, On, Part, Row, Section, Table};
use super::view::{Answer, CsvColumn, CsvColumns, View};
use super::{trials, words};
use crate::terminal::Align;
use crate::{Tone, figures};
use cells::CellResult;

impl View for Sweep {
    /// A sweep asks how much, not whether; but where no trial met its targets none of the cells is one to choose.
    fn answer(&self, record: &StudyRecord) -> Answer {
        let never_met = analysis::sweep::never_met(self, &record.trials).is_some();
        Answer::new(if never_met { Tone::Bad } else { Tone::Good }, "Swept")
    }

    fn has_answer(&self) -> bool {
        false
    }

    fn body(&self, record: &StudyRecord, link: Link<'_>) -> Body {
        let cells = cells::of(record, self);
        Body {
            figures: top(record, self, &cells),
            sections: vec![
                Section::new("factors", "What was varied", factors(self, &cells)),
                Section::new("charts", "Results", charts::parts(record, self, &cells)),
                Section::new("scale-out", "What each instance gives", scale_out::parts(record, self, &cells)),
                Section::new(
                    "cells",
                    "Cells",
                    vec![
                        Content::Table(table(record, self, &cells)).both(),
                        Content::Table(trials::table(record, "Repeat", link)).page(),
                    ],
                ),
                Section::new("published", "Beside what was published", published::parts(record, self)),
            ],
        }
    }

    fn csv(&self, record: &StudyRecord) -> CsvColumns {
        let level = |factor: &Factor| {
            let level = |trial: &Trial| record.arms.get(trial.arm)?.levels.get(&factor.name).cloned();
            CsvColumn::of(record, &factor.name, |trial| level(trial).unwrap_or_default())
        };
        let line = |name: &str, value: fn(&LoadLine) -> f64| {
            CsvColumn::of(record, name, |trial| words::digits(load_line(self, trial).map(value)))
        };
        let lines = self.goal().map(|_| {
            [
                line("load_line", |line| line.load),
                line("load_line_low", |line| line.low),
                line("load_line_high", |line| line.high),
            ]
        });
        CsvColumns {
            before: self.factors.iter().map(level).collect(),
            after: lines.into_iter().flatten().chain(published::csv(record, self)).collect(),
        }
    }
}

/// The load line of the trial's cell and repeat.
fn load_line<'a>(sweep: &'a Sweep, trial: &Trial) -> Option<&'a LoadLine> {
    match sweep.cells.get(trial.arm)?.answers.get(trial.block as usize)? {
        FindAnswer::LoadLine(line) => Some(line),
        FindAnswer::NoAnswer(_) => None,
    }
}

/// The best cell by each figure.
fn top(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<Figure> {
    let best = |figure: &&str| {
        let known = cells.iter().filter_map(|cell| Some((cell, cell.value(figure)?)));
        let highest = matches!(*figure, "throughput" | "load_line");
        let (cell, value) = known.reduce(|best, one| if (one.1 > best.1) == highest { one } else { best })?;
        let label = record.arms.get(cell.arm).map_or("", |arm| arm.label.as_str());
        let word = if highest { "Highest" } else { "Lowest" };
        let value = words::figure_value(figure, Some(value), words::load_unit(record, cell.arm));
        Some(Figure::new(format!("{word} {}: {label}", words::figure(figure, None)), value))
    };
    cells::figures(sweep).iter().filter_map(best).collect()
}

/// What was varied and measured, how often, in which form.
fn factors(sweep: &Sweep, cells: &[CellResult]) -> Vec<Part> {
    let measured = match &sweep.measurement {
        Measurement::Window { window_s } => format!("windows of {}", figures::duration(Some(*window_s))),
        Measurement::LoadLine(_) => "load lines".to_string(),
    };
    let times = if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) };
    let empty = cells.iter().filter(|cell| cell.trials.is_empty()).count();
    let empty = if empty == 0 { String::new() } else { format!(", {empty} of them without a valid trial") };
    let pair = |name: &str, value: String| (name.to_string(), value);
    let varied =
        |factor: &Factor| pair(&factor.title, format!("{} ({})", factor.levels.join(", "), factor.name));
    let mut pairs: Vec<(String, String)> = sweep.factors.iter().map(varied).collect();
    pairs.push(pair("Measured", format!("{measured} in {} cells{empty}, each {times}", cells.len())));
    pairs.extend(sweep.form.map(|form| pair("Form", wording::plan::form(form).to_string())));
    pairs.push(pair("Source", sweep.source.clone()));
    vec![Content::Pairs(pairs).both()]
}

/// A row for each cell: its levels, its figures or its load line, how many trials count.
fn table(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Table {
    let lines = sweep.goal().is_some();
    let title = |(index, factor): (usize, &Factor)| Column {
        align: if index == 0 { Align::Left } else { Align::Right },
        ..Column::words(&factor.title, &factor.title)
    };
    let mut columns: Vec<Column> = sweep.factors.iter().enumerate().map(title).collect();
    if lines {
        columns.push(Column::numbers("Load line", "load line"));
        columns.push(Column::numbers("Interval", "interval"));
        columns.push(Column::words("Repeats", "").on(On::Page));
    } else {
        columns.push(Column::numbers("op/s", "op/s"));
        columns.push(Column::numbers("Mean", "").on(On::Page));
        columns.extend(["p50", "p95", "p99"].map(|name| Column::numbers(name, name)));
        columns.push(Column::numbers("Failed", "failed"));
    }
    columns.push(Column::numbers("Valid", "").on(On::Page));
    columns.push(Column::numbers("", "valid").on(On::Terminal));
    let row = |cell: &CellResult| {
        let level =
            |(level, factor): (&usize, &Factor)| factor.levels.get(*level).cloned().unwrap_or_default();
        let mut row: Vec<Cell> = cell.levels.iter().zip(&sweep.factors).map(level).map(Cell::from).collect();
        if lines {
            row.extend(load_lines(record, cell));
        } else {
            let time = |name: &str| Cell::from(figures::time(cell.value(name)));
            row.push(figures::number(cell.value("throughput")).into());
            row.extend(["mean", "p50", "p95", "p99"].map(time));
            row.push(figures::percent(cell.failed_ratio()).into());
        }
        row.extend(valid(cell));
        Row { cells: row, muted: false }
    };
    Table { columns, rows: cells.iter().map(row).collect(), folded: None, long_form: true }
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

/// How many of the cell's trials count: for the page, and for a terminal.
fn valid(cell: &CellResult) -> [Cell; 2] {
    let (valid, all) = (cell.trials.len(), cell.trials.len() + cell.invalid);
    let overloaded = if cell.overloaded() { ", overloaded" } else { "" };
    let judged = if cell.invalid > 0 { Judged::Missed } else { Judged::Plain };
    let of_all = format!("{valid} of {all}{overloaded}");
    let short = if cell.invalid > 0 { of_all.clone() } else { format!("{valid}{overloaded}") };
    [Cell::judged(short, judged), Cell::judged(of_all, judged)]
}

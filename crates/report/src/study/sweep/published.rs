//! Published figures beside ours, as tables, charts and columns of the CSV.

use model::StudyRecord;
use model::record::study::{Published, PublishedRow, Sweep};

use super::beside;
use crate::figures;
use crate::scale::Scale;
use crate::study::chart::{Axis, Chart, Format, Legend, Mark, Shape, Style};
use crate::study::page::{Cell, Column, Content, Fact, On, Part, Row, Table};
use crate::study::view::CsvColumn;
use crate::study::words;

/// How far the two marks of a row stand from its number, in rows.
const APART: f64 = 0.14;

/// A table, what it says of the order and of claims, and a chart for each that was published; then what differs.
/// Nothing where nothing was published.
pub(super) fn parts(record: &StudyRecord, sweep: &Sweep) -> Vec<Part> {
    let mut parts: Vec<Part> = sweep.published.iter().flat_map(|table| one(record, sweep, table)).collect();
    if !sweep.published.is_empty() || !sweep.differs.is_empty() {
        parts.push(Content::Heading("What differs".into()).both());
        parts.push(Content::facts(beside::differs(record, sweep)).both());
    }
    parts
}

fn one(record: &StudyRecord, sweep: &Sweep, table: &Published) -> Vec<Part> {
    let (title, unit) = (&table.title, &table.unit);
    let mut parts = vec![
        Content::Heading(format!("Beside what was published: {title}, {unit}")).terminal(),
        Content::Heading(format!("{title}, {unit}")).page(),
        Content::Lead(table.source.clone()).terminal(),
        Content::Lead(lead(table)).page(),
    ];
    if !table.rows.is_empty() {
        parts.push(Content::Table(rows(table)).both());
        parts.push(Content::Lead(beside::base(table)).terminal());
    }
    let facts = facts(record, sweep, table);
    parts.extend((!facts.is_empty()).then(|| Content::Facts(facts).both()));
    parts.extend(chart(table).map(|chart| Content::Chart(Box::new(chart)).page()));
    parts
}

/// Where the table is from, what is ours in it, and of what the ratios are.
pub(super) fn lead(table: &Published) -> String {
    let mut lead = format!("{}.", table.source);
    if table.of.is_empty() {
        lead += &format!(" {}", beside::base(table));
    } else if !table.rows.is_empty() {
        lead += &format!(
            " Ours is {}, the geometric mean of the repeats with its 95 % interval. {} Absolute numbers are of their \
             time; ratios may be compared.",
            table.of,
            beside::base(table)
        );
    }
    lead
}

/// What is said of the table's order, of cells without a figure, and of each claim.
pub(super) fn facts(record: &StudyRecord, sweep: &Sweep, table: &Published) -> Vec<Fact> {
    let claims = beside::claims(record, sweep, table).into_iter();
    let without = beside::without(record, table).into_iter();
    let order = beside::order(table).into_iter().chain(without).map(Fact::from);
    order.chain(claims.map(|(quote, text)| Fact { quote: Some(quote), text })).collect()
}

fn rows(table: &Published) -> Table {
    let columns = vec![
        Column::words("Cell", ""),
        Column::numbers("Row", "").on(On::Page),
        Column::numbers("Published", "print"),
        Column::numbers("Ours", "ours"),
        Column::numbers("Interval", "95 %"),
        Column::numbers("Published, ratio", "ratio"),
        Column::numbers("Ours, ratio", "ours"),
        Column::numbers("Interval", "95 %"),
    ];
    let row = |(at, row): (usize, beside::Row)| {
        let cells = [
            row.label,
            (at + 1).to_string(),
            row.published,
            row.ours,
            row.interval,
            row.ratio,
            row.ours_ratio,
            row.ratio_interval,
        ];
        Row { cells: cells.map(Cell::from).into(), muted: false }
    };
    let rows = beside::rows(table).into_iter().enumerate().map(row).collect();
    Table { columns, rows, ..Table::default() }
}

/// Both sides' ratios to the base row: shapes compare where absolute numbers do not.
fn chart(table: &Published) -> Option<Chart> {
    let base = table.base.and_then(|base| table.rows.get(base))?;
    let mut marks = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        let x = (at + 1) as f64;
        marks.extend(row.ratio.map(|ratio| mark((x - APART, ratio), Shape::Diamond, "published", row)));
        marks.extend(row.ours_ratio.map(|ours| Mark {
            interval: ours.low.zip(ours.high),
            ink: "ink-1".into(),
            ..mark((x + APART, ours.value), Shape::Circle, "ours", row)
        }));
    }
    let scale = Scale::log(marks.iter().flat_map(Mark::ends), 0.08)?;
    let legend = |ink: &str, name: &str| Legend::new(ink, name);
    Some(Chart {
        marks,
        legend: vec![legend("muted", "published"), legend("ink-1", "ours, with its 95 % interval")],
        height: 260.0,
        ..Chart::new(
            format!("{}, as a ratio", table.title),
            format!("{}: published and measured, as ratios to {}", table.title, base.label),
            Axis::numbered(table.rows.len(), "row of the table"),
            Axis::round(scale, Format::Number, format!("ratio to {}", base.label)),
        )
    })
}

fn mark((x, y): (f64, f64), shape: Shape, who: &str, row: &PublishedRow) -> Mark {
    let title = format!("{}, {who}: {}", row.label, figures::number(Some(y)));
    Mark { x, y, shape, style: Style::Solid, ink: "muted".into(), title, interval: None }
}

/// Two columns for each published table: our figure in the table's unit, and the published one of that cell.
pub(super) fn csv(record: &StudyRecord, sweep: &Sweep) -> Vec<CsvColumn> {
    let mut columns: Vec<CsvColumn> = Vec::new();
    for table in sweep.published.iter().filter(|table| !table.of.is_empty()) {
        let name = table.of.replace(' ', "_");
        let same = |column: &&CsvColumn| column.name == name || column.name.starts_with(&format!("{name}#"));
        let taken = columns.iter().filter(same).count();
        let name = if taken == 0 { name } else { format!("{name}#{}", taken + 1) };
        columns.push(CsvColumn::of(record, &name, |trial| {
            let measured = trial.measured.as_ref();
            let ours = measured.and_then(|seen| Some(table.figure.of(seen)?.value * table.figure.times));
            words::digits(ours)
        }));
        columns.push(CsvColumn::of(record, format!("published_{name}"), |trial| {
            // A ratio is no value in our unit.
            let mut rows = table.rows.iter().filter(|_| !table.relative);
            let row = rows.find(|row| row.cell == Some(trial.arm));
            words::digits(row.map(|row| row.value))
        }));
    }
    columns
}

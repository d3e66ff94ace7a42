//! A sweep as text.

use model::StudyRecord;
use model::study::{Factor, Measurement, Sweep};

use super::published;
use crate::figures;
use crate::study::sweep::cells::{self, CellSeen};
use crate::study::words;
use crate::terminal::paint::Paint;
use crate::terminal::plain;
use crate::terminal::table::{Align, Table, wrap};

/// What only a sweep shows.
pub(super) fn sections(record: &StudyRecord, sweep: &Sweep, width: usize, paint: Paint) -> Vec<String> {
    let cells = cells::of(record, sweep);
    let mut sections = vec![facts(sweep, &cells, width)];
    match sweep.factors.as_slice() {
        [rows, columns] if fits(columns, width) => {
            let matrix = |figure: &&str| matrix(record, &cells, (rows, columns), figure, width);
            sections.extend(cells::figures(sweep).iter().map(matrix));
        }
        _ => sections.push(table(record, sweep, &cells, width, paint)),
    }
    sections.extend(published::sections(record, sweep, width));
    sections
}

fn fits(columns: &Factor, width: usize) -> bool {
    columns.levels.iter().map(|level| level.chars().count().max(9) + 2).sum::<usize>() + 20 <= width
}

fn facts(sweep: &Sweep, cells: &[CellSeen], width: usize) -> String {
    let what = match &sweep.measurement {
        Measurement::Window { window_s } => format!("windows of {}", figures::duration(Some(*window_s))),
        Measurement::LoadLine(_) => "load lines".to_string(),
    };
    let factors =
        sweep.factors.iter().map(|factor| format!("{} ({})", factor.title, factor.levels.join(", ")));
    let missing = cells.iter().filter(|cell| cell.trials.is_empty()).count();
    let missing =
        if missing == 0 { String::new() } else { format!(", {missing} of them without a valid trial") };
    let times = if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) };
    let mut lines = vec![
        format!("varied: {}", factors.collect::<Vec<_>>().join("; ")),
        format!("measured: {what} in {} cells{missing}, each {times}", cells.len()),
        format!("source: {}", sweep.source),
    ];
    lines.extend(sweep.form.map(|form| format!("form: {}", words::form(form))));
    lines.iter().map(|line| wrap(&format!("  {}", plain(line)), width, "    ") + "\n").collect()
}

/// One figure of two factors: rows and columns are their levels.
fn matrix(
    record: &StudyRecord,
    cells: &[CellSeen],
    (rows, columns): (&Factor, &Factor),
    figure: &str,
    width: usize,
) -> String {
    let titles: Vec<String> = columns.levels.iter().map(|level| plain(level)).collect();
    let corner = plain(&rows.title);
    let heading = std::iter::once((corner.as_str(), Align::Left))
        .chain(titles.iter().map(|title| (title.as_str(), Align::Right)));
    let mut table = Table::new(&heading.collect::<Vec<_>>());
    for (row, level) in rows.levels.iter().enumerate() {
        let value = |column: usize| {
            let cell = cells.iter().find(|cell| cell.levels == [row, column]);
            let value = cell.and_then(|cell| cell.value(figure));
            words::figure_value(figure, value, "").trim_end().to_string()
        };
        let values = (0..columns.levels.len()).map(value);
        table.row(std::iter::once(format!("  {}", plain(level))).chain(values).collect());
    }
    let unit =
        if figure == "load_line" { format!(", {}", words::load_unit(record, 0)) } else { String::new() };
    let name = words::figure(figure, None);
    format!("{}{unit}, by {} (columns)\n{}", capital(&name), plain(&columns.title), table.lines(width))
}

/// With a capital letter, unless it is a percentile's name.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some('p'), Some('0'..='9')) | (None, _) => text.to_string(),
        (Some(first), _) => first.to_uppercase().chain(letters).collect(),
    }
}

/// A row for each cell.
fn table(record: &StudyRecord, sweep: &Sweep, cells: &[CellSeen], width: usize, paint: Paint) -> String {
    let lines = matches!(sweep.measurement, Measurement::LoadLine(_));
    let titles: Vec<String> = sweep.factors.iter().map(|factor| plain(&factor.title)).collect();
    let mut heading: Vec<(&str, Align)> = Vec::new();
    for (index, title) in titles.iter().enumerate() {
        heading.push((title.as_str(), if index == 0 { Align::Left } else { Align::Right }));
    }
    let figures_shown: &[(&str, &str)] = if lines {
        &[("load line", "load_line")]
    } else {
        &[("op/s", "throughput"), ("p50", "p50"), ("p95", "p95"), ("p99", "p99")]
    };
    heading.extend(figures_shown.iter().map(|(title, _)| (*title, Align::Right)));
    heading.push(if lines { ("interval", Align::Right) } else { ("failed", Align::Right) });
    heading.push(("valid", Align::Right));
    let last = heading.len() - 1;
    let mut table = Table::new(&heading);
    for cell in cells {
        let mut row: Vec<String> = cell
            .levels
            .iter()
            .zip(&sweep.factors)
            .map(|(level, factor)| plain(factor.levels.get(*level).map_or("", String::as_str)))
            .collect();
        if let Some(first) = row.first_mut() {
            first.insert_str(0, "  ");
        }
        let unit = words::load_unit(record, cell.arm);
        for (_, name) in figures_shown {
            let value = cell.value(name);
            row.push(if *name == "throughput" {
                figures::number(value)
            } else {
                words::figure_value(name, value, unit)
            });
        }
        row.push(if lines { interval(cell) } else { figures::percent(cell.failed_ratio()) });
        let overloaded = if cell.overloaded() { ", overloaded" } else { "" };
        row.push(format!("{} of {}{overloaded}", cell.trials.len(), cell.trials.len() + cell.invalid));
        let bad = cell.invalid > 0;
        table.row_painted(
            row,
            move |column, text| if column == last && bad { paint.bad(text) } else { text.to_string() },
        );
    }
    table.lines(width)
}

fn interval(cell: &CellSeen) -> String {
    cell.interval().map_or_else(
        || figures::NOTHING.to_string(),
        |(low, high)| format!("{} to {}", figures::number(Some(low)), figures::number(Some(high))),
    )
}

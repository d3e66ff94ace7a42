//! How response times are distributed: a picture for each group of cells, with published percentiles, and a table.

mod chart;
mod panels;
#[cfg(test)]
mod tests;

use model::record::study::{Factor, Sweep};

use super::cells::CellResult;
use crate::figures;
use crate::study::chart::{Shape, Style};
use crate::study::page::{Cell, Column, Content, Key, On, Part, Row, Table};
use crate::terminal::Align;
use panels::{CellTimes, Panel};

/// Cells of a picture, at most: as many lines as can be told apart.
const MAX_LINES: usize = 12;

/// Pictures, at most.
const MAX_PANELS: usize = 12;

/// Percentiles that the table has, and that are marked on each line.
const PERCENTS: [f64; 7] = [5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0];

/// Those of them that a narrow table leaves out.
const QUARTILES: [f64; 2] = [25.0, 75.0];

/// The pictures and the table; nothing of a sweep for load lines, and of one whose trials kept no such times.
pub(super) fn parts(sweep: &Sweep, cells: &[CellResult]) -> Vec<Part> {
    let panels = panels::of(sweep, cells);
    if panels.is_empty() {
        return Vec::new();
    }
    let (drawn, crowded): (Vec<&Panel>, Vec<&Panel>) =
        panels.iter().partition(|panel| panel.lines.len() <= MAX_LINES);
    let charts = || drawn.iter().take(MAX_PANELS).filter_map(|panel| chart::chart(sweep, panel));
    let published = drawn.iter().flat_map(|panel| &panel.lines).any(|line| !line.published.is_empty());
    let not_drawn = |panel: &&Panel| wording::sweep::too_many_lines(&panel.title, panel.lines.len());
    let beyond = wording::sweep::pictures_left_out(drawn.len().saturating_sub(MAX_PANELS));
    let left_out: Vec<String> = crowded.iter().map(not_drawn).chain(beyond).collect();
    let mut parts = vec![
        Content::Heading("How response times are distributed".to_string()).terminal(),
        Content::Lead(wording::sweep::RESPONSE_TIMES.to_string()).both(),
    ];
    if charts().next().is_some() {
        parts.push(Content::Key(keys(published)).page());
    }
    parts.extend(charts().map(|chart| Content::Chart(Box::new(chart)).page()));
    parts.extend((!left_out.is_empty()).then(|| Content::facts(left_out).page()));
    parts.push(Content::Table(table(sweep, &panels)).both());
    parts
}

/// What marks on the lines mean.
fn keys(published: bool) -> Vec<Key> {
    let percents = PERCENTS.map(|percent| percent.to_string()).join(", ");
    let key = |shape, style, name| Key { mark: Some((shape, style)), ink: "muted", name };
    let ours = key(Shape::Dot, Style::Solid, format!("ours: {percents} %"));
    let theirs = published.then(|| key(Shape::Diamond, Style::Few, "published".to_string()));
    [ours].into_iter().chain(theirs).collect()
}

/// A row for each cell.
fn table(sweep: &Sweep, panels: &[Panel]) -> Table {
    let varied: Vec<(usize, &Factor)> =
        sweep.factors.iter().enumerate().filter(|(_, factor)| factor.levels.len() > 1).collect();
    let level = |line: &CellTimes, (at, factor): &(usize, &Factor)| {
        let level = line.levels.get(*at).and_then(|level| factor.levels.get(*level));
        Cell::from(level.cloned().unwrap_or_default())
    };
    let row = |line: &CellTimes| {
        let levels = varied.iter().map(|factor| level(line, factor));
        let percentile = |percent| figures::time(analysis::mixture::percentile_s(&line.times, percent));
        let times = PERCENTS.map(|percent| Cell::from(percentile(percent)));
        let samples = Cell::from(figures::count(line.times.samples));
        Row { cells: levels.chain(times).chain([samples]).collect(), muted: false }
    };
    let mut lines: Vec<&CellTimes> = panels.iter().flat_map(|panel| &panel.lines).collect();
    lines.sort_by_key(|line| line.arm);
    let title = |(at, (_, factor)): (usize, &(usize, &Factor))| Column {
        align: if at == 0 { Align::Left } else { Align::Right },
        ..Column::words(&factor.title, &factor.title)
    };
    let mut columns: Vec<Column> = varied.iter().enumerate().map(title).collect();
    // Beside the levels of several factors a terminal has no room for all of them.
    let on =
        |percent: f64| if varied.len() > 1 && QUARTILES.contains(&percent) { On::Page } else { On::Both };
    let percentile =
        |percent: f64| Column::numbers(format!("{percent} %"), format!("{percent} %")).on(on(percent));
    columns.extend(PERCENTS.map(percentile));
    columns.push(Column::numbers("Operations", "").on(On::Page));
    let folded = Some("Percentiles of each cell".to_string());
    Table { columns, rows: lines.into_iter().map(row).collect(), folded, ..Table::default() }
}

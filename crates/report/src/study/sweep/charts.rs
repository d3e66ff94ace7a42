//! A sweep's figures: against one factor as charts, by two factors as maps.

use model::StudyRecord;
use model::record::study::Sweep;

use super::along::{self, title};
use super::cells::{self, CellResult};
use crate::figures;
use crate::scale::Scale;
use crate::study::page::{Content, Heat, Map, On, Part};
use crate::study::words;

/// The factor against which cells are drawn although there are others: maps have no intervals.
const TOPOLOGY: &str = "topology";

/// Charts where a level of one factor says which cell it is, else maps of several, with what explains them.
pub(super) fn parts(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<Part> {
    if let Some(at) = along::telling(sweep) {
        return along::charts(record, sweep, at, cells);
    }
    let maps = maps(record, sweep, cells);
    if maps.is_empty() {
        return Vec::new();
    }
    let lead = "Geometric means over the repeats. The darker a cell on a light page, or the brighter on a dark \
                one, the larger its value, on a logarithmic scale; hatched cells have none.";
    let on = if sweep.factors.len() == 2 { On::Both } else { On::Page };
    let topology = sweep.factors.iter().position(|factor| factor.name == TOPOLOGY);
    let charts = topology.map(|at| along::by_others(record, sweep, at, cells)).unwrap_or_default();
    let maps = [Content::Lead(lead.into()).page(), Part { on, content: Content::Maps(maps) }];
    charts.into_iter().chain(maps).collect()
}

/// Maps of the two fastest factors, one for each figure and combination of the slower ones.
fn maps(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<Map> {
    let [slower @ .., rows, columns] = sweep.factors.as_slice() else { return Vec::new() };
    let mut combinations: Vec<&[usize]> = Vec::new();
    for cell in cells {
        let outer = &cell.levels[..slower.len().min(cell.levels.len())];
        if !combinations.contains(&outer) {
            combinations.push(outer);
        }
    }
    let map = |figure: &'static str, outer: &[usize], scale: Option<Scale>| {
        let here: Vec<&CellResult> = cells.iter().filter(|cell| cell.levels.starts_with(outer)).collect();
        let levels = slower.iter().zip(outer);
        let levels = levels.map(|(factor, level)| format!("{} {}", factor.title, factor.levels[*level]));
        let unit =
            if figure == "load_line" { format!(", {}", words::load_unit(record, 0)) } else { String::new() };
        let heats = |row: usize| {
            let heat = |column: usize| heat(&here, (slower.len(), row, column), figure, scale);
            (0..columns.levels.len()).map(heat).collect()
        };
        let name = words::capital(&words::figure(figure, None));
        Map {
            title: format!("{}{unit}", title(figure)),
            of: levels.collect::<Vec<_>>().join(", "),
            short: format!("{name}{unit}, by {} (columns)", columns.title),
            rows_title: rows.title.clone(),
            columns_title: columns.title.clone(),
            columns: columns.levels.clone(),
            rows: rows.levels.iter().enumerate().map(|(row, level)| (level.clone(), heats(row))).collect(),
        }
    };
    let of_figure = |figure: &&'static str| -> Vec<Map> {
        // One scale for all maps of a figure, so that they can be compared.
        let scale = Scale::log(cells.iter().filter_map(|cell| cell.value(figure)), 0.0);
        combinations.iter().map(|outer| map(figure, outer, scale)).collect()
    };
    cells::figures(sweep).iter().flat_map(of_figure).collect()
}

/// A cell of a map: its value and where that lies, or why there is none.
fn heat(
    here: &[&CellResult],
    (outer, row, column): (usize, usize, usize),
    figure: &str,
    scale: Option<Scale>,
) -> Heat {
    let cell = here.iter().find(|cell| cell.levels.get(outer..) == Some(&[row, column]));
    if let (Some(value), Some(scale)) = (cell.and_then(|cell| cell.value(figure)), scale) {
        let text = words::figure_value(figure, Some(value), "");
        let percent = (scale.position(value).clamp(0.0, 1.0) * 100.0).round();
        return Heat { text, why: None, percent };
    }
    let (why, brief) = match cell {
        Some(cell) if !cell.answers.is_empty() => ("no load line", "none"),
        Some(cell) if cell.invalid > 0 => ("not valid", "invalid"),
        _ => ("not measured", figures::NOTHING),
    };
    Heat { text: brief.into(), why: Some(why), percent: 0.0 }
}

//! A sweep's figures: against its only factor as charts, by two factors as maps.

use model::record::study::{Factor, Measurement, Sweep};
use model::{StudyRecord, units};

use super::cells::{self, CellResult};
use crate::figures;
use crate::scale::{Kind, Scale};
use crate::study::chart::{Axis, Chart, Format, Line, Mark, Shape, Style};
use crate::study::page::{Content, Heat, Map, On, Part};
use crate::study::words;

/// Above this ratio of the largest to the smallest level an axis is logarithmic.
const LOG_FROM: f64 = 12.0;

/// Charts of one factor or maps of several, with what explains them.
pub(super) fn parts(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<Part> {
    match sweep.factors.as_slice() {
        [factor] => charts(record, sweep, factor, cells),
        factors => {
            let maps = maps(record, sweep, cells);
            if maps.is_empty() {
                return Vec::new();
            }
            let lead = "Geometric means over the repeats. The darker a cell on a light page, or the brighter on a dark \
                        one, the larger its value, on a logarithmic scale; hatched cells have none.";
            let on = if factors.len() == 2 { On::Both } else { On::Page };
            vec![Content::Lead(lead.into()).page(), Part { on, content: Content::Maps(maps) }]
        }
    }
}

/// One chart for each figure against the only factor.
fn charts(record: &StudyRecord, sweep: &Sweep, factor: &Factor, cells: &[CellResult]) -> Vec<Part> {
    let numbers = values(factor);
    let joined = numbers.is_some();
    let at = numbers.unwrap_or_else(|| (0..factor.levels.len()).map(|level| level as f64).collect());
    let charts = cells::figures(sweep).iter().filter_map(|figure| {
        let x = Axis::at(x_scale(&at, joined)?, labels(factor, &at), &factor.title);
        let marks = marks(record, cells, figure, (factor, &at));
        let unit = if *figure == "load_line" { words::load_unit(record, 0) } else { "" };
        let y = Axis::round(y_scale(figure, marks.iter().flat_map(Mark::ends))?, format(figure), unit);
        let mut means: Vec<(f64, f64)> = cells
            .iter()
            .filter_map(|cell| Some((*at.get(*cell.levels.first()?)?, cell.value(figure)?)))
            .collect();
        means.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Chart {
            lines: if joined { vec![Line::new("ink-1", means)] } else { Vec::new() },
            marks,
            height: 260.0,
            ..Chart::new(
                title(figure),
                format!("{} against {}", words::figure(figure, None), factor.title),
                x,
                y,
            )
        })
    });
    let charts: Vec<Part> = charts.map(|chart| Content::Chart(Box::new(chart)).page()).collect();
    if charts.is_empty() {
        return charts;
    }
    let interval = match sweep.measurement {
        Measurement::LoadLine(_) => "the interval of its load line",
        Measurement::Window { .. } => "its 95 % interval",
    };
    let means = if joined { "; lines go through their geometric means" } else { "" };
    let lead = format!("Each point is one repeat with {interval}{means}.");
    [Content::Lead(lead).page()].into_iter().chain(charts).collect()
}

/// A mark for each repeat of each cell.
fn marks(
    record: &StudyRecord,
    cells: &[CellResult],
    figure: &str,
    (factor, at): (&Factor, &[f64]),
) -> Vec<Mark> {
    let unit = words::load_unit(record, 0);
    let of_cell = |cell: &CellResult| -> Vec<Mark> {
        let Some((x, level)) =
            cell.levels.first().and_then(|level| at.get(*level).zip(factor.levels.get(*level)))
        else {
            return Vec::new();
        };
        let mark = |repeat: cells::Repeat| Mark {
            x: *x,
            y: repeat.value,
            shape: Shape::Circle,
            style: Style::Solid,
            ink: "ink-1".into(),
            title: format!("{level}: {}", words::figure_value(figure, Some(repeat.value), unit)),
            interval: repeat.interval,
        };
        cell.repeats(figure).into_iter().map(mark).collect()
    };
    cells.iter().flat_map(of_cell).collect()
}

/// The value of a level where all of them are numbers or sizes. Names have no order, so nothing lies between them.
fn values(factor: &Factor) -> Option<Vec<f64>> {
    let number = |level: &String| {
        let plain = level.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        plain.or_else(|| units::size_bytes(level).ok().map(|bytes| bytes as f64))
    };
    factor.levels.iter().map(number).collect()
}

fn labels(factor: &Factor, at: &[f64]) -> Vec<(f64, String)> {
    let mut labels: Vec<(f64, String)> = at.iter().copied().zip(factor.levels.iter().cloned()).collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    labels
}

fn x_scale(at: &[f64], numbers: bool) -> Option<Scale> {
    let positive = at.iter().all(|value| *value > 0.0);
    let (low, high) =
        at.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    match (numbers, positive && high / low >= LOG_FROM) {
        (false, _) => Some(Scale { kind: Kind::Linear, low: -0.5, high: high + 0.5 }),
        (true, true) => Scale::log(at.iter().copied(), 0.05),
        (true, false) => Scale::around(at.iter().copied(), 0.06),
    }
}

/// Times on a logarithmic axis: their lowest level is what a sweep is about as often as their highest.
fn y_scale(figure: &str, values: impl Iterator<Item = f64>) -> Option<Scale> {
    if matches!(figure, "throughput" | "load_line") {
        Scale::from_zero(values)
    } else {
        Scale::log(values, 0.06)
    }
}

fn format(figure: &str) -> Format {
    match figure {
        "throughput" => Format::PerS,
        "load_line" => Format::Number,
        _ => Format::Duration,
    }
}

fn title(figure: &str) -> &'static str {
    match figure {
        "throughput" => "Throughput",
        "load_line" => "Load line",
        _ => "Response time, p95",
    }
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

//! A sweep's figures against one factor, as charts: a point for each repeat, with its interval.

use model::record::study::{Factor, Measurement, Sweep};
use model::{StudyRecord, units};

use super::cells::{self, CellResult, Repeat};
use crate::scale::{Kind, Scale};
use crate::study::chart::{Axis, Chart, Format, Legend, Line, Mark, Shape, Style};
use crate::study::page::{Content, Part};
use crate::study::words;

/// Above this ratio of the largest to the smallest level an axis is logarithmic.
const LOG_FROM: f64 = 12.0;

/// What cells with other levels of the other factors look like, as many as can be told apart.
const LOOKS: [(&str, Shape); 4] = [
    ("ink-1", Shape::Circle),
    ("p99", Shape::Square),
    ("tier-web", Shape::Diamond),
    ("tier-cache", Shape::Circle),
];

/// How far series stand from each other, in levels.
const APART: f64 = 0.12;

/// A factor, and where its levels stand.
struct Along<'a> {
    /// Which of the sweep's factors.
    at: usize,
    factor: &'a Factor,
    places: Vec<f64>,
    /// Its levels are numbers, between which there is something.
    joined: bool,
}

/// Cells that have the same levels of all factors but the one that the chart is against.
struct Series<'a> {
    /// Those levels; empty where there is one series.
    name: String,
    ink: &'static str,
    shape: Shape,
    /// How far it stands from its levels.
    shift: f64,
    cells: Vec<&'a CellResult<'a>>,
}

/// The factor by whose level alone each cell is known: the only one, or one that the cells of a list all differ in.
pub(super) fn telling(sweep: &Sweep) -> Option<usize> {
    let tells = |at: &usize| {
        let mut levels: Vec<_> = sweep.cells.iter().filter_map(|cell| cell.levels.get(*at)).collect();
        levels.sort();
        levels.dedup();
        levels.len() == sweep.cells.len()
    };
    (0..sweep.factors.len()).find(tells).filter(|_| !sweep.cells.is_empty())
}

/// A chart of each figure against the factor `at`, by whose level alone each cell is known, with what explains them.
pub(super) fn charts(record: &StudyRecord, sweep: &Sweep, at: usize, cells: &[CellResult]) -> Vec<Part> {
    let along = Along::new(sweep, at);
    let (ink, shape) = LOOKS[0];
    let series = [Series { name: String::new(), ink, shape, shift: 0.0, cells: cells.iter().collect() }];
    let of_figure = |figure: &&'static str| chart(record, figure, &along, &series);
    explained(sweep, &along, cells::figures(sweep).iter().filter_map(of_figure).collect())
}

/// A chart of the most telling figure against the factor `at`, with a colour for each combination of the other factors' levels;
/// nothing where those are too many to be told apart.
pub(super) fn by_others(record: &StudyRecord, sweep: &Sweep, at: usize, cells: &[CellResult]) -> Vec<Part> {
    let along = Along::new(sweep, at);
    let series = series(sweep, &along, cells);
    if series.len() > LOOKS.len() {
        return Vec::new();
    }
    let figure = cells::figures(sweep).first();
    let charts = figure.and_then(|figure| chart(record, figure, &along, &series));
    explained(sweep, &along, charts.into_iter().collect())
}

/// Charts below what their points and lines are.
fn explained(sweep: &Sweep, along: &Along, charts: Vec<Chart>) -> Vec<Part> {
    if charts.is_empty() {
        return Vec::new();
    }
    let interval = match sweep.measurement {
        Measurement::LoadLine(_) => "the interval of its load line",
        Measurement::Window { .. } => "its 95 % interval",
    };
    let means = if along.joined { "; lines go through their geometric means" } else { "" };
    let lead = Content::Lead(format!("Each point is one repeat with {interval}{means}.")).page();
    let charts = charts.into_iter().map(|chart| Content::Chart(Box::new(chart)).page());
    [lead].into_iter().chain(charts).collect()
}

impl<'a> Along<'a> {
    fn new(sweep: &'a Sweep, at: usize) -> Along<'a> {
        let factor = &sweep.factors[at];
        let numbers = values(factor);
        let joined = numbers.is_some();
        let places = numbers.unwrap_or_else(|| (0..factor.levels.len()).map(|level| level as f64).collect());
        Along { at, factor, places, joined }
    }

    /// Where a cell stands, and its level there.
    fn position(&self, cell: &CellResult) -> Option<(f64, &'a str)> {
        let level = *cell.levels.get(self.at)?;
        Some((*self.places.get(level)?, self.factor.levels.get(level)?.as_str()))
    }
}

fn series<'a>(sweep: &Sweep, along: &Along, cells: &'a [CellResult<'a>]) -> Vec<Series<'a>> {
    let others = |cell: &CellResult| -> Vec<String> {
        let all = sweep.factors.iter().zip(cell.levels).enumerate();
        let others = all.filter(|(at, _)| *at != along.at);
        others.map(|(_, (factor, level))| format!("{} {}", factor.title, factor.levels[*level])).collect()
    };
    let mut groups: Vec<(Vec<String>, Vec<&CellResult>)> = Vec::new();
    for cell in cells {
        let of_cell = others(cell);
        match groups.iter_mut().find(|(known, _)| *known == of_cell) {
            Some((_, group)) => group.push(cell),
            None => groups.push((of_cell, vec![cell])),
        }
    }
    let middle = (groups.len() as f64 - 1.0) / 2.0;
    let looks = LOOKS.iter().cycle();
    let series =
        groups.into_iter().zip(looks).enumerate().map(|(number, ((levels, cells), (ink, shape)))| {
            // Numbers stand where they are.
            let shift = if along.joined { 0.0 } else { (number as f64 - middle) * APART };
            Series { name: levels.join(", "), ink, shape: *shape, shift, cells }
        });
    series.collect()
}

fn chart(record: &StudyRecord, figure: &str, along: &Along, series: &[Series]) -> Option<Chart> {
    let x = Axis::at(x_scale(&along.places, along.joined)?, labels(along), &along.factor.title);
    let marks: Vec<Mark> = series.iter().flat_map(|one| marks(record, one, figure, along)).collect();
    let unit = if figure == "load_line" { words::load_unit(record, 0) } else { "" };
    let y = Axis::round(y_scale(figure, marks.iter().flat_map(Mark::ends))?, format(figure), unit);
    let named = series.iter().filter(|one| !one.name.is_empty());
    Some(Chart {
        lines: if along.joined {
            series.iter().map(|one| line(one, figure, along)).collect()
        } else {
            Vec::new()
        },
        marks,
        legend: named.map(|one| Legend::new(one.ink, &one.name)).collect(),
        height: 260.0,
        ..Chart::new(
            title(figure),
            format!("{} against {}", words::figure(figure, None), along.factor.title),
            x,
            y,
        )
    })
}

/// A line through the means of a series.
fn line(series: &Series, figure: &str, along: &Along) -> Line {
    let mean = |cell: &&CellResult| Some((along.position(cell)?.0, cell.value(figure)?));
    let mut means: Vec<(f64, f64)> = series.cells.iter().filter_map(mean).collect();
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    Line::new(series.ink, means)
}

/// A mark for each repeat of each cell.
fn marks(record: &StudyRecord, series: &Series, figure: &str, along: &Along) -> Vec<Mark> {
    let unit = words::load_unit(record, 0);
    let of_cell = |cell: &&CellResult| -> Vec<Mark> {
        let Some((x, level)) = along.position(cell) else { return Vec::new() };
        let level =
            if series.name.is_empty() { level.to_string() } else { format!("{level}, {}", series.name) };
        let mark = |repeat: Repeat| Mark {
            x: x + series.shift,
            y: repeat.value,
            shape: series.shape,
            style: Style::Solid,
            ink: series.ink.into(),
            title: format!("{level}: {}", words::figure_value(figure, Some(repeat.value), unit)),
            interval: repeat.interval,
        };
        cell.repeats(figure).into_iter().map(mark).collect()
    };
    series.cells.iter().flat_map(of_cell).collect()
}

/// The value of a level where all of them are numbers or sizes. Names have no order, so nothing lies between them.
fn values(factor: &Factor) -> Option<Vec<f64>> {
    let number = |level: &String| {
        let plain = level.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        plain.or_else(|| units::size_bytes(level).ok().map(|bytes| bytes as f64))
    };
    factor.levels.iter().map(number).collect()
}

fn labels(along: &Along) -> Vec<(f64, String)> {
    let levels = along.factor.levels.iter().cloned();
    let mut labels: Vec<(f64, String)> = along.places.iter().copied().zip(levels).collect();
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

/// What a figure is called above a chart or a map of it.
pub(super) fn title(figure: &str) -> &'static str {
    match figure {
        "throughput" => "Throughput",
        "load_line" => "Load line",
        _ => "Response time, p95",
    }
}

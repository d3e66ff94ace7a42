//! A sweep's charts and tables.

use model::study::{Factor, Measurement, Sweep};
use model::{StudyRecord, units};
use serde_json::{Value, json};

use super::chart::{Axis, Chart, Labels, Line, Mark, Shape};
use super::parts::{self, Link};
use super::published;
use crate::figures;
use crate::scale::{Kind, Scale};
use crate::study::sweep::cells::{self, CellSeen};
use crate::study::words;

/// Above this ratio of the largest to the smallest level an axis is logarithmic.
const LOG_FROM: f64 = 12.0;

/// What only a sweep shows.
pub(super) fn of(record: &StudyRecord, sweep: &Sweep, link: Link<'_>) -> Value {
    let cells = cells::of(record, sweep);
    let (charts, maps) = match sweep.factors.as_slice() {
        [factor] => (lines(record, sweep, factor, &cells), Vec::new()),
        _ => (Vec::new(), maps(record, sweep, &cells)),
    };
    json!({
        "figures": top(record, sweep, &cells),
        "title": sweep.title,
        "source": sweep.source,
        "measurement": measurement(sweep),
        "repeats": sweep.repeats,
        "factors": sweep.factors.iter().map(|factor| json!({"title": factor.title, "name": factor.name, "levels": factor.levels})).collect::<Vec<_>>(),
        "lines": matches!(sweep.measurement, Measurement::LoadLine(_)),
        "joined": charts_are_joined(sweep),
        "form": sweep.form.map(words::form),
        "published": published::of(record, sweep),
        "differs": published::differs(record, sweep),
        "charts": charts,
        "maps": maps,
        "cells": cells.iter().map(|cell| row(record, sweep, cell)).collect::<Vec<_>>(),
        "trials": record.trials.iter().map(|trial| parts::trial(record, trial, link)).collect::<Vec<_>>(),
    })
}

/// The best cell by each figure.
fn top(record: &StudyRecord, sweep: &Sweep, cells: &[CellSeen]) -> Vec<Value> {
    let best = |figure: &&str| {
        let known = cells.iter().filter_map(|cell| Some((cell, cell.value(figure)?)));
        let highest = matches!(*figure, "throughput" | "load_line");
        let (cell, value) = known.reduce(|best, one| if (one.1 > best.1) == highest { one } else { best })?;
        let place = record.arms.get(cell.arm).map_or("", |arm| arm.label.as_str());
        let word = if highest { "Highest" } else { "Lowest" };
        let title = format!("{word} {}: {place}", words::figure(figure, None));
        Some(parts::figure(
            &title,
            &words::figure_value(figure, Some(value), words::load_unit(record, cell.arm)),
        ))
    };
    cells::figures(sweep).iter().filter_map(best).collect()
}

fn measurement(sweep: &Sweep) -> String {
    match &sweep.measurement {
        Measurement::Window { window_s } => format!("windows of {}", figures::duration(Some(*window_s))),
        Measurement::LoadLine(_) => "load lines".to_string(),
    }
}

fn row(record: &StudyRecord, sweep: &Sweep, cell: &CellSeen) -> Value {
    let level = |(level, factor): (&usize, &Factor)| factor.levels.get(*level).cloned().unwrap_or_default();
    let unit = words::load_unit(record, cell.arm);
    let answers = cell.answers.iter().map(|answer| match answer {
        model::study::FindAnswer::LoadLine(line) => words::load_number(record, cell.arm, line.load),
        model::study::FindAnswer::NoAnswer(none) => format!("none: {}", none.evidence),
    });
    let interval = cell.interval().map(|(low, high)| {
        format!(
            "{} to {}",
            words::load_number(record, cell.arm, low),
            words::load_number(record, cell.arm, high)
        )
    });
    json!({
        "levels": cell.levels.iter().zip(&sweep.factors).map(level).collect::<Vec<_>>(),
        "per_s": figures::number(cell.value("throughput")),
        "mean": figures::time(cell.value("mean")),
        "p50": figures::time(cell.value("p50")),
        "p95": figures::time(cell.value("p95")),
        "p99": figures::time(cell.value("p99")),
        "failed": figures::percent(cell.failed_ratio()),
        "line": cell.value("load_line").map(|line| format!("{} {unit}", words::load_number(record, cell.arm, line))),
        "interval": interval,
        "answers": answers.collect::<Vec<_>>(),
        "valid": cell.trials.len(),
        "trials": cell.trials.len() + cell.invalid,
        "overloaded": cell.overloaded(),
    })
}

/// The value of a level where all of them are numbers or sizes.
fn values(factor: &Factor) -> Option<Vec<f64>> {
    let number = |level: &String| {
        let plain = level.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        plain.or_else(|| units::size_bytes(level).ok().map(|bytes| bytes as f64))
    };
    factor.levels.iter().map(number).collect()
}

/// Whether lines lead from level to level: names have no order, so nothing lies between them.
fn charts_are_joined(sweep: &Sweep) -> bool {
    sweep.factors.first().is_some_and(|factor| values(factor).is_some())
}

/// One chart for each figure against the only factor.
fn lines(record: &StudyRecord, sweep: &Sweep, factor: &Factor, cells: &[CellSeen]) -> Vec<Value> {
    let numbers = values(factor);
    let at: Vec<f64> =
        numbers.clone().unwrap_or_else(|| (0..factor.levels.len()).map(|level| level as f64).collect());
    let chart = |figure: &&str| {
        let repeats: Vec<(f64, cells::Repeat)> = cells
            .iter()
            .filter_map(|cell| Some((*at.get(*cell.levels.first()?)?, cell)))
            .flat_map(|(x, cell)| cell.repeats(figure).into_iter().map(move |repeat| (x, repeat)))
            .collect();
        let means =
            cells.iter().filter_map(|cell| Some((*at.get(*cell.levels.first()?)?, cell.value(figure)?)));
        let mut means: Vec<(f64, f64)> = means.collect();
        means.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ends = repeats.iter().flat_map(|(_, repeat)| {
            let (low, high) = repeat.interval.unwrap_or((repeat.value, repeat.value));
            [low, high, repeat.value]
        });
        let (name, unit) = (figure.to_string(), words::load_unit(record, 0));
        let marks = repeats.iter().map(|(x, repeat)| {
            let level = at.iter().position(|one| one == x).and_then(|level| factor.levels.get(level));
            let value = words::figure_value(&name, Some(repeat.value), unit);
            Mark {
                x: *x,
                y: repeat.value,
                shape: Shape::Circle,
                class: "plain".into(),
                title: format!("{}: {value}", level.map_or("", String::as_str)),
                whisker: repeat.interval,
            }
        });
        let marks: Vec<Mark> = marks.collect();
        let label = name.clone();
        let chart = Chart {
            title: format!("{} against {}", words::figure(figure, None), factor.title),
            x: Axis {
                scale: x_scale(&at, numbers.is_some())?,
                labels: Labels::At(labels(factor, &at)),
                unit: factor.title.clone(),
            },
            y: Axis {
                scale: y_scale(figure, ends)?,
                labels: Labels::Round(Box::new(move |value| tick(&label, value))),
                unit: if *figure == "load_line" { unit.to_string() } else { String::new() },
            },
            band: None,
            y_band: None,
            limit: None,
            lines: if numbers.is_some() {
                vec![Line { class: "ink-1".into(), points: means }]
            } else {
                Vec::new()
            },
            marks,
            height: 260.0,
        };
        Some(json!({"title": title(figure), "legend": [], "svg": chart.svg()}))
    };
    cells::figures(sweep).iter().filter_map(chart).collect()
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
fn y_scale(figure: &str, values: impl Iterator<Item = f64> + Clone) -> Option<Scale> {
    if matches!(figure, "throughput" | "load_line") {
        Scale::from_zero(values)
    } else {
        Scale::log(values, 0.06)
    }
}

fn tick(figure: &str, value: f64) -> String {
    match figure {
        "throughput" => words::per_s(Some(value)),
        "load_line" => figures::number(Some(value)),
        _ => figures::duration(Some(value)),
    }
}

fn title(figure: &str) -> &'static str {
    match figure {
        "throughput" => "Throughput",
        "load_line" => "Load line",
        _ => "Response time, p95",
    }
}

/// Heat maps of the two fastest factors, one for each figure and combination of the slower ones.
fn maps(record: &StudyRecord, sweep: &Sweep, cells: &[CellSeen]) -> Vec<Value> {
    let [slower @ .., rows, columns] = sweep.factors.as_slice() else { return Vec::new() };
    let mut combinations: Vec<&[usize]> = Vec::new();
    for cell in cells {
        let outer = &cell.levels[..slower.len().min(cell.levels.len())];
        if !combinations.contains(&outer) {
            combinations.push(outer);
        }
    }
    let mut maps = Vec::new();
    for figure in cells::figures(sweep) {
        let known: Vec<f64> = cells.iter().filter_map(|cell| cell.value(figure)).collect();
        // One scale for all maps of a figure, so that they can be compared.
        let scale = Scale::log(known.iter().copied(), 0.0);
        for outer in &combinations {
            let here: Vec<&CellSeen> = cells.iter().filter(|cell| cell.levels.starts_with(outer)).collect();
            let words: Vec<String> = slower
                .iter()
                .zip(*outer)
                .map(|(factor, level)| format!("{} {}", factor.title, factor.levels[*level]))
                .collect();
            maps.push(json!({
                "title": title(figure),
                "unit": if *figure == "load_line" { words::load_unit(record, 0) } else { "" },
                "of": words.join(", "),
                "rows_title": rows.title,
                "columns_title": columns.title,
                "columns": columns.levels,
                "rows": rows.levels.iter().enumerate().map(|(row, level)| json!({
                    "level": level,
                    "cells": (0..columns.levels.len()).map(|column| heat(&here, (slower.len(), row, column), figure, scale)).collect::<Vec<_>>(),
                })).collect::<Vec<_>>(),
            }));
        }
    }
    maps
}

/// A cell of a map: its value, and how hot it is from 0 to 1; nothing where there is no value.
fn heat(
    here: &[&CellSeen],
    (outer, row, column): (usize, usize, usize),
    figure: &str,
    scale: Option<Scale>,
) -> Value {
    let cell = here.iter().find(|cell| cell.levels.get(outer..) == Some(&[row, column]));
    let value = cell.and_then(|cell| cell.value(figure));
    let (why, brief) = match cell {
        Some(cell) if !cell.answers.is_empty() => ("no load line", "none"),
        Some(cell) if cell.invalid > 0 => ("not valid", "invalid"),
        _ => ("not measured", figures::NOTHING),
    };
    match (value, scale) {
        (Some(value), Some(scale)) => {
            let heat = scale.place(value).clamp(0.0, 1.0);
            json!({"value": words::figure_value(figure, Some(value), "").trim_end(), "percent": (heat * 100.0).round(), "hot": heat > 0.58})
        }
        _ => json!({"value": null, "why": why, "brief": brief}),
    }
}

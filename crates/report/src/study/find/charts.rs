//! A find's charts: its figures against the load, and what the answer was read from.

use model::StudyRecord;
use model::record::TargetOutcome;
use model::record::study::Trial;

use super::course::{Course, smooth};
use crate::figures;
use crate::html::tier_class;
use crate::scale::Scale;
use crate::study::chart::{Axis, Chart, Drawing, Format, Line, Mark, Shape, Style};
use crate::study::page::{Content, Key, On, Part};
use crate::study::trials::mark;
use crate::study::words;

/// Loads nearer to the line than this, as a logarithm, are shown on a scale of their own.
const NEAR: f64 = 0.12;

/// Throughput, response times and, where the line is held by something else, that: each against the load; and what
/// the answer was read from, near the line. A terminal draws the target alone.
pub(super) fn curve(record: &StudyRecord, course: &Course) -> Vec<Part> {
    let charts =
        [throughput(record, course), response(record, course), held(record, course), near(record, course)];
    let charts: Vec<Chart> = charts.into_iter().flatten().collect();
    if charts.is_empty() {
        return Vec::new();
    }
    let lead = "Each point is a trial, each line goes through their means. The load is on a logarithmic scale, and so \
                are times.";
    let drawn = charts.iter().any(|chart| chart.drawing.is_some());
    let mut parts =
        vec![Content::Lead(lead.into()).page(), Content::Key(key(record, course, On::Page)).page()];
    parts.extend(charts.into_iter().map(|chart| Content::Chart(Box::new(chart)).both()));
    parts.extend(drawn.then(|| Content::Key(key(record, course, On::Terminal)).terminal()));
    parts
}

/// What marks mean; letters have no colours to explain, and little room.
fn key(record: &StudyRecord, course: &Course, on: On) -> Vec<Key> {
    let key = |mark, ink, name: &str| Key { mark, ink, name: name.into() };
    let solid = |shape| Some((shape, Style::Solid));
    let few = words::some_few(record.trials.iter());
    let interval = if on == On::Page { "interval of the load line" } else { "interval" };
    let known = [
        Some(key(solid(Shape::Circle), "good", "ramp")),
        Some(key(solid(Shape::Square), "good", "search")),
        Some(key(solid(Shape::Diamond), "good", "confirm")),
        (on == On::Page).then(|| key(solid(Shape::Square), "bad", "a target missed")),
        few.then(|| key(Some((Shape::Square, Style::Few)), "good", words::FEW)),
        Some(key(Some((Shape::Square, Style::Void)), "muted", "not valid")),
        course.line.map(|_| key(None, "open", interval)),
    ];
    known.into_iter().flatten().collect()
}

fn x_axis(record: &StudyRecord, course: &Course) -> Option<Axis> {
    let scale = Scale::log(course.trials.iter().map(|(trial, _)| trial.load), 0.04)?;
    let unit = words::load_unit(record, 0);
    Some(Axis::round(scale, if unit == "users" { Format::Whole } else { Format::Number }, unit))
}

fn throughput(record: &StudyRecord, course: &Course) -> Option<Chart> {
    let all: Vec<(&Trial, f64)> = course
        .trials
        .iter()
        .filter_map(|(trial, measured)| Some((*trial, measured.figure("throughput", None)?.value)))
        .collect();
    let scale = Scale::from_zero(all.iter().map(|(_, value)| *value))?;
    let y = Axis::round(scale, Format::Number, "operations/s");
    Some(Chart {
        x_band: course.interval(),
        lines: vec![Line::new("ink-1", smooth(&course.figure("throughput", None)))],
        marks: marks(record, &all, |value| words::per_s(Some(value))),
        ..Chart::new("Throughput", "Throughput against load", x_axis(record, course)?, y)
    })
}

/// Percentiles of the operation that the target is about; the points are what the target was judged by.
fn response(record: &StudyRecord, course: &Course) -> Option<Chart> {
    let operation = course.operation.as_deref();
    let limit = course.clause.filter(|clause| clause.target.measure.is_time());
    let line =
        |name: &str| Line { name: name.into(), ..Line::new(name, smooth(&course.figure(name, operation))) };
    let lines: Vec<Line> =
        ["p50", "p95", "p99"].map(line).into_iter().filter(|line| !line.points.is_empty()).collect();
    let observed: Vec<(&Trial, f64)> = match limit {
        Some(_) => course.observed().collect(),
        None => {
            let all = course.trials.iter();
            all.filter_map(|(trial, measured)| Some((*trial, measured.figure("p95", None)?.value))).collect()
        }
    };
    let points = lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let values =
        observed.iter().map(|(_, value)| *value).chain(points).chain(limit.map(|clause| clause.target.limit));
    let y = Axis::round(Scale::log(values, 0.06)?, Format::Duration, "");
    let title = operation
        .map_or("Response time of all operations".to_string(), |name| format!("Response time of {name}"));
    Some(Chart {
        x_band: course.interval(),
        limit: limit.map(|clause| (clause.target.limit, clause.target.to_string())),
        legend: lines.iter().map(Line::legend).collect(),
        lines,
        marks: marks(record, &observed, |value| figures::time(Some(value))),
        height: 300.0,
        drawing: limit.and_then(|clause| drawing(clause, &observed, "both scales logarithmic")),
        ..Chart::new(title, "Response time against load", x_axis(record, course)?, y)
    })
}

/// What a target that is not about times was judged by.
fn held(record: &StudyRecord, course: &Course) -> Option<Chart> {
    let clause = course.clause.filter(|clause| !clause.target.measure.is_time())?;
    let measure = clause.target.measure;
    let observed: Vec<(&Trial, f64)> = course.observed().collect();
    let valid = observed.iter().filter(|(trial, _)| trial.valid());
    let points: Vec<(f64, f64)> = valid.map(|(trial, value)| (trial.load, *value)).collect();
    let scale = Scale::from_zero(observed.iter().map(|(_, value)| *value).chain([clause.target.limit]))?;
    let name = clause.target.subject();
    Some(Chart {
        x_band: course.interval(),
        limit: Some((clause.target.limit, clause.target.to_string())),
        lines: vec![Line::new("p95", smooth(&points))],
        marks: marks(record, &observed, |value| figures::in_unit(Some(value), measure.unit())),
        drawing: drawing(clause, &observed, "load on a logarithmic scale"),
        ..Chart::new(
            name.clone(),
            format!("{name} against load"),
            x_axis(record, course)?,
            Axis::round(scale, words::axis_format(measure), ""),
        )
    })
}

/// A terminal draws a target of which there are two points.
fn drawing(clause: &TargetOutcome, observed: &[(&Trial, f64)], scales: &str) -> Option<Drawing> {
    let name = clause.target.subject();
    (observed.len() > 1).then(|| Drawing::Points(format!("{name} against load ({scales})")))
}

fn marks(record: &StudyRecord, values: &[(&Trial, f64)], show: impl Fn(f64) -> String) -> Vec<Mark> {
    values.iter().map(|(trial, value)| mark(record, trial, *value, &show(*value))).collect()
}

/// What the answer was read from: how far the target was from its limit in each trial near the line, with the slope
/// that was found there.
fn near(record: &StudyRecord, course: &Course) -> Option<Chart> {
    let (line, clause) = (course.line?, course.clause?);
    let reach = NEAR.max(1.5 * (line.high / line.low).max(1.0).ln());
    let close = |trial: &Trial| (trial.load / line.load).ln().abs() <= reach;
    let marks = course.trials.iter().filter(|(trial, _)| close(trial)).filter_map(|(trial, measured)| {
        let seen = measured.targets.iter().find(|one| one.target == clause.target)?;
        let (margin, se) = (seen.margin.log?, seen.margin.log_se.filter(|_| trial.valid()));
        let share = format!("{} of the limit", figures::percent(Some(margin.exp())));
        let interval = se.map(|se| ((margin - 1.96 * se).exp(), (margin + 1.96 * se).exp()));
        Some(Mark { interval, ..mark(record, trial, margin.exp(), &share) })
    });
    let marks: Vec<Mark> = marks.collect();
    let loads = marks.iter().map(|mark| mark.x).chain([line.low, line.high, line.load]);
    let x = Axis { scale: Scale::log(loads, 0.06)?, ..x_axis(record, course)? };
    let ends = marks.iter().flat_map(Mark::ends);
    let y = Scale::log(ends.chain([1.0]), 0.06)?;
    // The share of the limit is one at the line and rises with the load by the slope, on logarithmic scales.
    let fitted = |load: f64| (load, (load / line.load).powf(line.slope));
    let title = format!("{}, near the load line", words::share_of_limit(&clause.target));
    let slope = Line {
        name: "slope found".into(),
        dotted: true,
        ..Line::new("open", vec![fitted(x.scale.low), fitted(x.scale.high)])
    };
    let answer = Line::new("muted", vec![(line.load, y.low), (line.load, y.high)]);
    (marks.len() > 1).then(|| Chart {
        x_band: course.interval(),
        limit: Some((1.0, clause.target.to_string())),
        legend: vec![slope.legend()],
        lines: vec![slope, answer],
        marks,
        height: 280.0,
        ..Chart::new(title.clone(), title, x, Axis::round(y, Format::Percent, ""))
    })
}

/// Cores by tier against the load.
pub(super) fn cpu(record: &StudyRecord, course: &Course) -> Option<Chart> {
    let line = |(index, tier): (usize, &str)| Line {
        name: tier.into(),
        ..Line::new(tier_class(tier, index), course.cores(tier))
    };
    let exact: Vec<Line> = course.tiers().into_iter().enumerate().map(line).collect();
    let marks = exact.iter().flat_map(|line| {
        line.points.iter().map(move |(x, y)| Mark {
            x: *x,
            y: *y,
            shape: Shape::Dot,
            style: Style::Solid,
            ink: line.ink.clone(),
            title: format!(
                "{} at {}: {} cores",
                line.name,
                words::load(record, 0, *x),
                figures::number(Some(*y))
            ),
            interval: None,
        })
    });
    let loads: Vec<f64> = course.valid().map(|(trial, _)| trial.load).collect();
    let (first, last) = (*loads.first()?, *loads.last()?);
    let from = if first < last { words::load_number(record, 0, first) + " to " } else { String::new() };
    let values = |line: &Line| (line.name.clone(), line.points.iter().map(|point| point.1).collect());
    let drawing = Drawing::Sparklines {
        heading: format!("CPU by tier, {from}{}", words::load(record, 0, last)),
        rows: exact.iter().map(values).collect(),
        unit: "cores",
    };
    let y = Scale::from_zero(exact.iter().flat_map(|line| line.points.iter().map(|point| point.1)))?;
    let y = Axis::round(y, Format::Number, "cores");
    Some(Chart {
        x_band: course.interval(),
        legend: exact.iter().map(Line::legend).collect(),
        marks: marks.collect(),
        lines: exact.into_iter().map(|line| Line { points: smooth(&line.points), ..line }).collect(),
        drawing: Some(drawing),
        ..Chart::new("Cores kept busy", "CPU by tier against load", x_axis(record, course)?, y)
    })
}

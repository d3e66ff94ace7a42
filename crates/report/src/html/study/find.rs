//! A find's charts and tables.

use model::StudyRecord;
use model::study::{Find, FindAnswer, Purpose, Trial};
use serde_json::{Value, json};

use super::chart::{Axis, Chart, Labels, Line, Mark, Shape};
use super::parts::{self, Link};
use crate::figures;
use crate::scale::Scale;
use crate::study::course::{Course, smooth};
use crate::study::words::{self, Unit};

/// What only a find shows.
pub(super) fn of(record: &StudyRecord, find: &Find, link: Link<'_>) -> Value {
    let Some(course) = Course::of(record) else { return Value::Null };
    let (charts, cpu) = (charts(record, &course), cpu(record, &course));
    json!({
        "figures": top(record, find),
        "facts": facts(record, find),
        "charts": charts,
        "interval": course.line.is_some(),
        "clauses": clauses(record),
        "trials": record.trials.iter().map(|trial| row(record, trial, link)).collect::<Vec<_>>(),
        "unit": words::load_unit(record, 0),
        "cpu": cpu,
        "tiers": course.tiers(),
        "cores": cores(record, &course),
    })
}

/// The figures at the top.
fn top(record: &StudyRecord, find: &Find) -> Vec<Value> {
    let load = |load: f64| words::load(record, 0, load);
    match &find.answer {
        Some(FindAnswer::LoadLine(line)) => {
            let number = |load: f64| words::load_number(record, 0, load);
            let confidence = figures::percent(Some(find.goal.confidence_ratio));
            let mut top = vec![
                parts::figure("Load line", &load(line.load)),
                parts::figure(
                    &format!("{confidence} interval"),
                    &format!("{} to {}", number(line.low), load(line.high)),
                ),
                parts::figure("Held by", &line.held_by),
            ];
            top.extend(
                line.throughput_per_s
                    .map(|per_s| parts::figure("Operations there", &words::per_s(Some(per_s)))),
            );
            top.extend(
                line.by_average.map(|average| parts::figure("By averages it would be", &load(average))),
            );
            top
        }
        Some(FindAnswer::NoAnswer(none)) => {
            let known =
                [("Highest that passed", none.highest_passed), ("Lowest that failed", none.lowest_failed)];
            known.into_iter().filter_map(|(title, value)| Some(parts::figure(title, &load(value?)))).collect()
        }
        None => Vec::new(),
    }
}

fn facts(record: &StudyRecord, find: &Find) -> Vec<String> {
    match &find.answer {
        Some(FindAnswer::LoadLine(line)) => words::line_facts(record, line),
        _ => Vec::new(),
    }
}

/// Throughput, response times and, where the line is held by something else, that: each against the load.
fn charts(record: &StudyRecord, course: &Course) -> Vec<Value> {
    let mut charts: Vec<Option<Value>> = vec![throughput(record, course), response(record, course)];
    if course.clause.is_some_and(|clause| words::unit(&clause.clause) != Unit::Seconds) {
        charts.push(held(record, course));
    }
    charts.into_iter().flatten().collect()
}

fn figure(title: &str, legend: &[(&str, &str)], chart: &Chart) -> Value {
    let legend: Vec<Value> =
        legend.iter().map(|(class, name)| json!({"class": class, "name": name})).collect();
    json!({"title": title, "legend": legend, "svg": chart.svg()})
}

fn x_axis(record: &StudyRecord, course: &Course) -> Option<Axis> {
    let scale = Scale::log(course.trials.iter().map(|(trial, _)| trial.load), 0.04)?;
    let users = words::load_unit(record, 0) == "users";
    let label = move |load: f64| figures::number(Some(if users { load.round() } else { load }));
    Some(Axis {
        scale,
        labels: Labels::Round(Box::new(label)),
        unit: words::load_unit(record, 0).to_string(),
    })
}

fn throughput(record: &StudyRecord, course: &Course) -> Option<Value> {
    let all: Vec<(&Trial, f64)> = course
        .trials
        .iter()
        .filter_map(|(trial, seen)| Some((*trial, seen.figure("throughput", None)?.value)))
        .collect();
    let label = |value: f64| figures::number(Some(value));
    let chart = Chart {
        title: "Throughput against load".into(),
        x: x_axis(record, course)?,
        y: Axis {
            scale: Scale::from_zero(all.iter().map(|(_, value)| *value))?,
            labels: Labels::Round(Box::new(label)),
            unit: "operations/s".into(),
        },
        band: course.line.map(|line| (line.low, line.high)),
        y_band: None,
        limit: None,
        lines: vec![Line { class: "ink-1".into(), points: smooth(&course.figure("throughput", None)) }],
        marks: all
            .iter()
            .map(|(trial, value)| mark(record, trial, *value, &words::per_s(Some(*value))))
            .collect(),
        height: 240.0,
    };
    Some(figure("Throughput", &[], &chart))
}

/// Percentiles of the operation that the target is about; the points are what the target was judged by.
fn response(record: &StudyRecord, course: &Course) -> Option<Value> {
    let operation = course.operation.as_deref();
    let limit = course.clause.filter(|clause| words::unit(&clause.clause) == Unit::Seconds);
    let names = ["p50", "p95", "p99"];
    let lines: Vec<Line> = names
        .iter()
        .map(|name| Line { class: (*name).into(), points: smooth(&course.figure(name, operation)) })
        .filter(|line| !line.points.is_empty())
        .collect();
    let observed: Vec<(&Trial, f64)> = match limit {
        Some(_) => course.observed().collect(),
        None => {
            let p95 = |(trial, seen): &(&'_ Trial, &model::study::Measured)| {
                Some((trial.number, seen.figure("p95", None)?.value))
            };
            let values: Vec<(u32, f64)> = course.trials.iter().filter_map(p95).collect();
            let of = |number: u32| record.trials.iter().find(|trial| trial.number == number);
            values.into_iter().filter_map(|(number, value)| Some((of(number)?, value))).collect()
        }
    };
    let values = observed
        .iter()
        .map(|(_, value)| *value)
        .chain(lines.iter().flat_map(|line| line.points.iter().map(|point| point.1)));
    let chart = Chart {
        title: "Response time against load".into(),
        x: x_axis(record, course)?,
        y: Axis {
            scale: Scale::log(values.chain(limit.map(|clause| clause.limit)), 0.06)?,
            labels: Labels::Round(Box::new(|value| figures::duration(Some(value)))),
            unit: String::new(),
        },
        band: course.line.map(|line| (line.low, line.high)),
        y_band: None,
        limit: limit.map(|clause| (clause.limit, clause.clause.clone())),
        lines,
        marks: observed
            .iter()
            .map(|(trial, value)| mark(record, trial, *value, &figures::time(Some(*value))))
            .collect(),
        height: 300.0,
    };
    let title = operation
        .map_or("Response time of all operations".to_string(), |name| format!("Response time of {name}"));
    Some(figure(&title, &[("p50", "p50"), ("p95", "p95"), ("p99", "p99")], &chart))
}

/// What a target that is not about times was judged by.
fn held(record: &StudyRecord, course: &Course) -> Option<Value> {
    let clause = course.clause?;
    let unit = words::unit(&clause.clause);
    let observed: Vec<(&Trial, f64)> = course.observed().collect();
    let points: Vec<(f64, f64)> = observed
        .iter()
        .filter(|(trial, _)| trial.valid())
        .map(|(trial, value)| (trial.load, *value))
        .collect();
    let values = observed.iter().map(|(_, value)| *value).chain([clause.limit]);
    let name = clause.clause.split(['<', '>']).next().unwrap_or_default().trim();
    let chart = Chart {
        title: format!("{name} against load"),
        x: x_axis(record, course)?,
        y: Axis {
            scale: Scale::from_zero(values)?,
            labels: Labels::Round(Box::new(move |value| words::in_unit(Some(value), unit))),
            unit: String::new(),
        },
        band: course.line.map(|line| (line.low, line.high)),
        y_band: None,
        limit: Some((clause.limit, clause.clause.clone())),
        lines: vec![Line { class: "p95".into(), points: smooth(&points) }],
        marks: observed
            .iter()
            .map(|(trial, value)| mark(record, trial, *value, &words::in_unit(Some(*value), unit)))
            .collect(),
        height: 240.0,
    };
    Some(figure(name, &[], &chart))
}

fn mark(record: &StudyRecord, trial: &Trial, y: f64, value: &str) -> Mark {
    let title = format!(
        "trial {} ({}): {}, {value}, {}",
        trial.number,
        words::purpose(trial.purpose),
        words::load(record, trial.arm, trial.load),
        words::verdict(trial)
    );
    let shape = match trial.purpose {
        Purpose::WarmUp | Purpose::Ramp => Shape::Circle,
        Purpose::Search | Purpose::Measure => Shape::Square,
        Purpose::Confirm => Shape::Diamond,
    };
    Mark { x: trial.load, y, shape, class: parts::mark_class(trial).into(), title, whisker: None }
}

/// Cores by tier against the load.
fn cpu(record: &StudyRecord, course: &Course) -> Option<Value> {
    let tiers = course.tiers();
    let class = |tier: &str, index: usize| parts::tier_class(tier, index);
    let cores: Vec<(usize, &str, Vec<(f64, f64)>)> =
        tiers.iter().enumerate().map(|(index, tier)| (index, *tier, course.cores(tier))).collect();
    let all = cores.iter().flat_map(|(_, _, points)| points.iter().map(|point| point.1));
    let marks = cores.iter().flat_map(|(index, tier, points)| {
        points.iter().map(move |(x, y)| Mark {
            x: *x,
            y: *y,
            shape: Shape::Dot,
            class: class(tier, *index),
            title: format!("{tier} at {}: {} cores", words::load(record, 0, *x), figures::number(Some(*y))),
            whisker: None,
        })
    });
    let chart = Chart {
        title: "CPU by tier against load".into(),
        x: x_axis(record, course)?,
        y: Axis {
            scale: Scale::from_zero(all)?,
            labels: Labels::Round(Box::new(|value| figures::number(Some(value)))),
            unit: "cores".into(),
        },
        band: course.line.map(|line| (line.low, line.high)),
        y_band: None,
        limit: None,
        lines: cores
            .iter()
            .map(|(index, tier, points)| Line { class: class(tier, *index), points: smooth(points) })
            .collect(),
        marks: marks.collect(),
        height: 240.0,
    };
    let classes: Vec<(String, &str)> =
        cores.iter().map(|(index, tier, _)| (class(tier, *index), *tier)).collect();
    let legend: Vec<(&str, &str)> = classes.iter().map(|(class, tier)| (class.as_str(), *tier)).collect();
    Some(figure("Cores kept busy", &legend, &chart))
}

fn cores(record: &StudyRecord, course: &Course) -> Vec<Value> {
    let tiers = course.tiers();
    let valid = course.trials.iter().filter(|(trial, _)| trial.valid());
    valid
        .map(|(trial, seen)| {
            let of = |tier: &&str| {
                figures::number(seen.tiers.iter().find(|one| one.tier == **tier).map(|one| one.cpu_cores))
            };
            json!({
                "trial": trial.number,
                "load": words::load_number(record, 0, trial.load),
                "cores": tiers.iter().map(of).collect::<Vec<_>>(),
                "all": figures::number(Some(seen.tiers.iter().map(|tier| tier.cpu_cores).sum())),
            })
        })
        .collect()
}

/// The targets in the order of the first trial that has them.
fn clauses(record: &StudyRecord) -> Vec<&str> {
    let first = record.trials.iter().find_map(|trial| trial.measured.as_ref());
    first.map(|seen| seen.clauses.iter().map(|clause| clause.clause.as_str()).collect()).unwrap_or_default()
}

fn row(record: &StudyRecord, trial: &Trial, link: Link<'_>) -> Value {
    let mut row = parts::trial(record, trial, link);
    let of = |name: &&str| {
        let clauses = trial.measured.as_ref().map(|seen| seen.clauses.as_slice()).unwrap_or_default();
        clauses.iter().find(|clause| clause.clause == **name).map_or(Value::Null, |clause| {
            let few = clause.samples < clause.samples_needed;
            json!({"observed": words::observed(clause), "pass": clause.pass, "samples": figures::number(Some(clause.samples as f64)), "few": few})
        })
    };
    row["clauses"] = clauses(record).iter().map(of).collect();
    row
}

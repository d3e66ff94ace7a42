//! A find's charts and tables.

use model::StudyRecord;
use model::study::{Find, FindAnswer, Purpose, Trial};
use serde_json::{Value, json};

use super::chart::{Axis, Chart, Labels, Line, Mark, Shape};
use super::parts::{self, Link};
use crate::figures;
use crate::html::tier_class;
use crate::scale::Scale;
use crate::study::find::course::{Course, smooth};
use crate::study::words::{self, Unit};

/// Loads nearer to the line than this, as a logarithm, are shown on a scale of their own.
const NEAR: f64 = 0.12;

/// What only a find shows.
pub(super) fn of(record: &StudyRecord, find: &Find, link: Link<'_>) -> Value {
    let Some(course) = Course::of(record) else { return Value::Null };
    let (charts, cpu) = (charts(record, &course), cpu(record, &course));
    json!({
        "figures": top(record, find),
        "facts": facts(record, find),
        "charts": charts,
        "interval": course.line.is_some(),
        "few": words::some_few(record.trials.iter()),
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
                parts::figure("Held by", if line.held_by.is_empty() { "no target" } else { &line.held_by }),
            ];
            top.extend(
                line.throughput_per_s
                    .map(|per_s| parts::figure("Operations there", &words::per_s(Some(per_s)))),
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
        Some(FindAnswer::LoadLine(line)) => {
            words::by_average(record, line).into_iter().chain(words::line_facts(line)).collect()
        }
        _ => Vec::new(),
    }
}

/// Throughput, response times and, where the line is held by something else, that: each against the load; and what
/// the answer was read from, near the line.
fn charts(record: &StudyRecord, course: &Course) -> Vec<Value> {
    let mut charts: Vec<Option<Value>> = vec![throughput(record, course), response(record, course)];
    if course.clause.is_some_and(|clause| words::unit(&clause.clause) != Unit::Seconds) {
        charts.push(held(record, course));
    }
    charts.push(near(record, course));
    charts.into_iter().flatten().collect()
}

fn figure(title: &str, legend: &[(&str, &str)], chart: &Chart) -> Value {
    let legend: Vec<Value> =
        legend.iter().map(|(class, name)| json!({"class": class, "name": name})).collect();
    json!({"title": title, "legend": legend, "svg": chart.svg()})
}

fn x_axis<'a>(record: &'a StudyRecord, course: &Course) -> Option<Axis<'a>> {
    let scale = Scale::log(course.trials.iter().map(|(trial, _)| trial.load), 0.04)?;
    let labels = Labels::Round(Box::new(move |load| words::load_tick(record, load)));
    Some(Axis { scale, labels, unit: words::load_unit(record, 0).to_string() })
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
    let legend: Vec<(&str, &str)> =
        chart.lines.iter().map(|line| (line.class.as_str(), line.class.as_str())).collect();
    Some(figure(&title, &legend, &chart))
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
    let name = words::clause_name(&clause.clause);
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

/// What the answer was read from: how far the target was from its limit in each trial near the line, with the slope
/// that was found there.
fn near(record: &StudyRecord, course: &Course) -> Option<Value> {
    let (line, clause) = (course.line?, course.clause?);
    let reach = NEAR.max(1.5 * (line.high / line.low).max(1.0).ln());
    let close = |trial: &Trial| (trial.load / line.load).ln().abs() <= reach;
    let trials: Vec<(&Trial, f64, Option<f64>)> = course
        .trials
        .iter()
        .filter(|(trial, _)| close(trial))
        .filter_map(|(trial, seen)| {
            let seen = seen.clauses.iter().find(|one| one.clause == clause.clause)?;
            Some((*trial, seen.margin?, seen.margin_se))
        })
        .collect();
    let marks = trials.iter().map(|(trial, margin, se)| Mark {
        whisker: se
            .filter(|_| trial.valid())
            .map(|se| ((margin - 1.96 * se).exp(), (margin + 1.96 * se).exp())),
        ..mark(record, trial, margin.exp(), &format!("{} of the limit", figures::percent(Some(margin.exp()))))
    });
    let marks: Vec<Mark> = marks.collect();
    let loads = trials.iter().map(|(trial, ..)| trial.load).chain([line.low, line.high, line.load]);
    let x = Axis { scale: Scale::log(loads, 0.06)?, ..x_axis(record, course)? };
    let ends = marks.iter().flat_map(|mark| {
        [mark.y, mark.whisker.map_or(mark.y, |(low, _)| low), mark.whisker.map_or(mark.y, |(_, high)| high)]
    });
    let y = Scale::log(ends.chain([1.0]), 0.06)?;
    // The share of the limit is one at the line and rises with the load by the slope, on logarithmic scales.
    let fitted = |load: f64| (load, (load / line.load).powf(line.slope));
    let title = format!("{}, near the load line", words::share_of_limit(&clause.clause));
    let chart = Chart {
        title: title.clone(),
        lines: vec![
            Line { class: "fit".into(), points: vec![fitted(x.scale.low), fitted(x.scale.high)] },
            Line { class: "answer".into(), points: vec![(line.load, y.low), (line.load, y.high)] },
        ],
        x,
        y: Axis {
            scale: y,
            labels: Labels::Round(Box::new(|share| figures::percent(Some(share)))),
            unit: String::new(),
        },
        band: Some((line.low, line.high)),
        y_band: None,
        limit: Some((1.0, clause.clause.clone())),
        marks,
        height: 280.0,
    };
    (chart.marks.len() > 1).then(|| figure(&title, &[("fit", "slope found")], &chart))
}

fn mark(record: &StudyRecord, trial: &Trial, y: f64, value: &str) -> Mark {
    let title = format!(
        "trial {} ({}): {}, {value}, {}",
        trial.number,
        trial.purpose.word(),
        words::load(record, trial.arm, trial.load),
        words::verdict(record, trial)
    );
    let shape = match trial.purpose {
        Purpose::WarmUp | Purpose::Ramp => Shape::Circle,
        Purpose::Search | Purpose::Measure => Shape::Square,
        Purpose::Confirm => Shape::Diamond,
    };
    Mark { x: trial.load, y, shape, class: parts::mark_class(record, trial).into(), title, whisker: None }
}

/// A tier's cores by load.
struct Cores<'a> {
    tier: &'a str,
    class: String,
    points: Vec<(f64, f64)>,
}

/// Cores by tier against the load.
fn cpu(record: &StudyRecord, course: &Course) -> Option<Value> {
    let of = |(index, tier)| Cores { tier, class: tier_class(tier, index), points: course.cores(tier) };
    let tiers: Vec<Cores> = course.tiers().into_iter().enumerate().map(of).collect();
    let all = tiers.iter().flat_map(|one| one.points.iter().map(|point| point.1));
    let mark = |one: &Cores, (x, y): (f64, f64)| Mark {
        x,
        y,
        shape: Shape::Dot,
        class: one.class.clone(),
        title: format!("{} at {}: {} cores", one.tier, words::load(record, 0, x), figures::number(Some(y))),
        whisker: None,
    };
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
        lines: tiers
            .iter()
            .map(|one| Line { class: one.class.clone(), points: smooth(&one.points) })
            .collect(),
        marks: tiers.iter().flat_map(|one| one.points.iter().map(move |point| mark(one, *point))).collect(),
        height: 240.0,
    };
    let legend: Vec<(&str, &str)> = tiers.iter().map(|one| (one.class.as_str(), one.tier)).collect();
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

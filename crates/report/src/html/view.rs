//! What the template sees.

use std::collections::BTreeMap;

use model::OperationKind;
use model::RunRecord;
use model::record::statements::StatementResult;
use model::record::threads::ThreadsResult;
use model::record::{Event, MetricResult, OperationResult, PhaseResult, TargetOutcome};
use serde::Serialize;
use serde_json::json;

use super::text::{thin, thin_groups, visible_json};
use super::{bundle, calls, guests, holds, inside, topology};
use crate::checks::{self, Check};
use crate::explained::Tried;
use crate::{Page, Timeline, figures, fleet, stacks, statements, study, threads, words};

/// How many of a kit's own figures stand at the top; the others follow below.
const METRICS_SHOWN: usize = 2;

#[derive(Serialize)]
struct Figure {
    title: String,
    value: String,
}

#[derive(Serialize)]
struct Group<'a> {
    title: Option<&'static str>,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    result: &'a OperationResult,
    failed: u64,
    targets: Vec<Met>,
}

/// A target of an operation, in the operation's own row: its name is left out.
#[derive(Serialize)]
struct Met {
    clause: String,
    pass: bool,
}

/// A part of a request.
#[derive(Serialize)]
struct Part<'a> {
    name: &'static str,
    times: &'a PhaseResult,
}

/// What the charts are drawn from.
#[derive(Serialize)]
struct Data<'a> {
    timeline: &'a Timeline,
    inside: inside::Drawn<'a>,
    events: Vec<&'a Event>,
    setup: BTreeMap<&'static str, f64>,
    curves: Vec<Vec<(f64, f64)>>,
    limits: Vec<Limit>,
    lag_limit_s: Option<f64>,
    cpus: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    flames: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct Limit {
    operation: Option<String>,
    percent: Option<f64>,
    seconds: f64,
}

fn statement(one: &StatementResult) -> serde_json::Value {
    let shown = statements::shown(one);
    json!({
        "text": shown.text,
        "time": thin_groups(&shown.time),
        "verdict": shown.verdict.as_deref().map(thin_groups),
        "row_waits": shown.row_waits.iter().map(|wait| thin_groups(wait)).collect::<Vec<_>>(),
    })
}

fn thread_place(one: &ThreadsResult) -> serde_json::Value {
    let shown = threads::shown(one);
    json!({ "call": shown.call, "doing": thin_groups(&shown.doing) })
}

/// The template's variables; `bar` stands above the page.
pub(super) fn of(page: &Page, bar: &str) -> minijinja::Value {
    let record = &page.record;
    let code = format!("\n{}\n", bundle::code());
    let scopes =
        page.timeline.scopes.iter().map(|scope| scope.operation.as_deref().unwrap_or("All operations"));
    let context = json!({
        "record": record,
        "bar": bar,
        "load": record.setup.load_words(),
        "load_headline": record.setup.load_headline(),
        "headline": {
            "tone": page.headline.tone.word(),
            "word": page.headline.word,
            "sentence": page.headline.sentence,
            "caveat": page.headline.caveat(),
        },
        "figures": top_figures(page),
        "more_figures": page.record.metrics.iter().skip(METRICS_SHOWN).map(figure).collect::<Vec<_>>(),
        "statements": record.statements.iter().map(statement).collect::<Vec<_>>(),
        "threads": record.threads.iter().map(thread_place).collect::<Vec<_>>(),
        "calls": record.calls.as_ref().map(|ledger| visible_json(calls::of(ledger))),
        "holds": record.diagnosis.as_ref().map(|diagnosis| visible_json(holds::of(diagnosis, Tried::of_run(record)))),
        "guests": guests::of(&record.guests),
        "users": { "facts": words::of_users(record), "fleet": fleet::table(record) },
        "guest": record.setup.guest.as_ref().map(wording::guest),
        "topology": topology::of(&record.setup, &record.links),
        "inside": visible_json(inside::of(page).into()),
        "injected": visible_json(json!(record.injected)),
        "aborted": words::aborted(record, &page.directory),
        "outages": record.outages.iter().map(|outage| thin_groups(&wording::outage(outage))).collect::<Vec<_>>(),
        "notes": page.notes,
        "gauges": record.targets.iter().map(gauge).collect::<Vec<_>>(),
        "charts": page.timeline.at_s.len() > 1,
        "scopes": scopes.collect::<Vec<_>>(),
        "step_s": page.timeline.step_s,
        "groups": groups(page),
        "parts": record.phases.occurred().map(|(name, times)| Part { name, times }).collect::<Vec<_>>(),
        "untimed": record.untimed.as_ref().map(words::untimed),
        "wire": words::wire(&record.wire),
        "happenings": page.happenings().collect::<Vec<_>>(),
        "cpus": page.cpus(),
        "errors_sentence": errors_sentence(page),
        "has_errors": !page.timeline.errors.is_empty(),
        "checks": checks(record),
        "command": study::words::command(&record.command),
        "directory": page.directory.display().to_string(),
        "data": bundle::in_script(&serde_json::to_string(&data(page)).expect("numbers and strings are JSON")),
        "script_sources": bundle::sources(&[bundle::TRAP, bundle::LIBRARY, &code]),
        "trap": bundle::TRAP,
        "style": bundle::style(),
        "library": bundle::LIBRARY,
        "code": code,
    });
    minijinja::Value::from(minijinja::value::Serde(context))
}

fn top_figures(page: &Page) -> Vec<Figure> {
    let usual = |title: &str, value: String| Figure { title: title.to_string(), value: thin(&value) };
    let mut top: Vec<Figure> = page.record.metrics.iter().take(METRICS_SHOWN).map(figure).collect();
    if page.counts == (0, 0) {
        return top;
    }
    let per_s: f64 = page.rows(OperationKind::Operation).map(|row| row.per_s).sum();
    top.push(usual("Operations", format!("{}/s", figures::number(Some(per_s)))));
    top.push(usual("Response time, p95", figures::time(page.all.p95_s)));
    top.push(usual("Failed operations", figures::percent(page.failed_ratio())));
    top
}

/// A figure of the kit's own.
fn figure(metric: &MetricResult) -> Figure {
    let title = match figures::bounds(metric) {
        Some(bounds) => format!("{} ({bounds})", metric.title),
        None => metric.title.clone(),
    };
    Figure { title, value: thin(&figures::measured(metric.value, &metric.unit)) }
}

/// Where the observed value stands on a gauge whose limit is at two thirds; in percent of its length.
fn gauge(target: &TargetOutcome) -> f64 {
    let share = target
        .observed
        .filter(|_| target.target.limit > 0.0)
        .map_or(0.0, |observed| observed / target.target.limit);
    (share.clamp(0.0, 1.5) / 1.5 * 1000.0).round() / 10.0
}

fn groups(page: &Page) -> Vec<Group<'_>> {
    let group = |kind, title| Group {
        title,
        rows: page
            .rows(kind)
            .map(|result| Row {
                result,
                failed: result.errors.values().sum(),
                targets: page
                    .record
                    .targets
                    .iter()
                    .filter(|target| {
                        kind == OperationKind::Operation
                            && target.target.operation.as_ref() == Some(&result.name)
                    })
                    .map(met)
                    .collect(),
            })
            .collect(),
    };
    let groups = [
        group(OperationKind::Operation, None),
        group(OperationKind::Session, Some("Whole sessions")),
        group(OperationKind::Request, Some("Requests")),
    ];
    groups.into_iter().filter(|group| !group.rows.is_empty()).collect()
}

fn met(target: &TargetOutcome) -> Met {
    Met { clause: target.target.clause(), pass: target.pass }
}

fn errors_sentence(page: &Page) -> String {
    let (completed, failed) = page.counts;
    if failed == 0 {
        return if completed == 0 { "Nothing was counted." } else { "No operation failed." }.to_string();
    }
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for row in page.rows(OperationKind::Operation) {
        row.errors.iter().for_each(|(kind, count)| *kinds.entry(kind).or_default() += count);
    }
    let (failed, all) = (figures::count(failed), figures::count(completed + failed));
    let share = figures::percent(page.failed_ratio());
    format!("{failed} of {all} operations failed over the steady state, {share}: {}.", words::errors(&kinds))
}

fn checks(record: &RunRecord) -> Vec<Check<'_>> {
    let mut checks: Vec<Check<'_>> = checks::of(&record.validity, &record.consistency).collect();
    checks.sort_by_key(|check| check.ok);
    checks
}

fn data(page: &Page) -> Data<'_> {
    let setup = &page.record.setup;
    let curve = |operation: &Option<String>| match operation {
        None => page.all.curve.clone(),
        Some(name) => page
            .rows(OperationKind::Operation)
            .find(|row| row.name == *name)
            .map(|row| row.response.curve.clone())
            .unwrap_or_default(),
    };
    let limit = |target: &TargetOutcome| {
        let percent = match target.target.measure {
            model::catalogue::qos::Measure::Percentile(percent) => Some(percent),
            _ => None,
        };
        target.target.measure.is_time().then(|| Limit {
            operation: target.target.operation.clone(),
            percent,
            seconds: target.target.limit,
        })
    };
    Data {
        timeline: &page.timeline,
        inside: inside::drawn(page),
        events: page.happenings().collect(),
        setup: BTreeMap::from([
            ("ramp_up_s", setup.ramp_up_s),
            ("steady_s", setup.steady_s),
            ("ramp_down_s", setup.ramp_down_s),
        ]),
        curves: page.timeline.scopes.iter().map(|scope| curve(&scope.operation)).collect(),
        limits: page.record.targets.iter().filter_map(limit).collect(),
        lag_limit_s: page
            .record
            .validity
            .iter()
            .find(|check| check.check == model::Check::SendLag)
            .and_then(|check| check.limit),
        cpus: page.cpus(),
        flames: page.record.calls.as_ref().filter(|ledger| !ledger.is_withheld()).map(stacks::flames),
    }
}

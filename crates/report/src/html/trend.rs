//! One setup over time as the inside of a page's main part, with small pictures that are drawn here; its frame is the
//! laboratory's.

use serde_json::{Value, json};

use super::environment::environment;
use super::text::visible_json;
use crate::figures;
use crate::scale::Scale;
use crate::trend::{Trend, TrendPoint};

const TEMPLATE: &str = include_str!("../../../../web/trend.html");

/// Of a picture, in its own units: as wide as it is on a phone.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 96.0;

/// Room around the marks.
const MARGIN: f64 = 8.0;

/// One setup over time as the inside of a page's main part, in the classes of `web/page.css`: a small picture of each figure and
/// a table of all runs, which are links to `/runs/ID`. Whatever servers and users supplied is escaped; there is no script
/// in it.
pub fn trend(trend: &Trend) -> String {
    let context = minijinja::Value::from(minijinja::value::Serde(visible_json(context(trend))));
    environment()
        .render_str(TEMPLATE, context)
        .expect("the template is a constant and the context has every name in it; a test renders each part")
}

fn context(trend: &Trend) -> Value {
    let setup = &trend.setup;
    let guests = (setup.guests > 0).then(|| format!("{} guests", setup.guests));
    let mix = setup.mix.as_ref().map(|mix| format!("mix {mix}"));
    let parts: Vec<String> =
        mix.into_iter().chain(setup.topology.clone()).chain(guests).chain(setup.settings.clone()).collect();
    let unit = trend.metric.as_ref().map_or("", |metric| metric.unit.as_str());
    let points = trend.points.iter().map(|point| {
        let mut view = json!(point);
        view["address"] = format!("/runs/{}", point.id).into();
        view["class"] = class(point).into();
        let metric = point.metric.map(|value| figures::measured(value, unit));
        view["metric_shown"] = metric.unwrap_or_else(|| figures::NOTHING.to_string()).into();
        view
    });
    json!({
        "setup": setup,
        "parts": parts,
        "metric": trend.metric,
        "points": points.collect::<Vec<_>>(),
        "lines": lines(trend, unit),
    })
}

/// Whether a run's mark and verdict praise, blame or do neither.
fn class(point: &TrendPoint) -> &'static str {
    match (point.valid, point.pass) {
        (false, _) => "void",
        (true, Some(false)) => "missed",
        (true, _) => "met",
    }
}

fn lines(trend: &Trend, unit: &str) -> Vec<Value> {
    let metric = trend.metric.as_ref().map(|metric| {
        line(trend, &metric.title, |point| point.metric, |value| figures::measured(value, unit))
    });
    let throughput =
        line(trend, "Operations/s", |point| point.operations_per_s, |value| figures::number(Some(value)));
    let p95 = line(trend, "Worst p95", |point| point.worst_p95_s, |value| figures::time(Some(value)));
    [throughput, p95].into_iter().chain(metric).flatten().collect()
}

/// The picture of one figure; absent where no run has it.
fn line(
    trend: &Trend,
    title: &str,
    of: impl Fn(&TrendPoint) -> Option<f64>,
    shown: impl Fn(f64) -> String,
) -> Option<Value> {
    let points = &trend.points;
    let values = || points.iter().filter_map(&of);
    let scale = Scale::around(values(), 0.05)?;
    let (low, high) = values().fold((f64::MAX, f64::MIN), |(low, high), one| (low.min(one), high.max(one)));
    let range = if low == high { shown(low) } else { format!("{} to {}", shown(low), shown(high)) };
    let steps = points.len().saturating_sub(1).max(1) as f64;
    let x = |index: usize| rounded(MARGIN + index as f64 / steps * (WIDTH - 2.0 * MARGIN));
    let y = |value: f64| rounded(HEIGHT - MARGIN - scale.position(value) * (HEIGHT - 2.0 * MARGIN));
    let marks = points.iter().enumerate().filter_map(|(index, point)| {
        let value = of(point)?;
        let class = class(point);
        Some(json!({
            "x": x(index), "y": y(value), "class": class,
            "shape": if class == "missed" { "square" } else { "circle" },
            "title": format!("{}, {}: {}", figures::moment(&point.started), point.verdict, shown(value)),
        }))
    });
    // Runs that are no result are marks beside the line.
    let course = points.iter().enumerate().filter(|(_, point)| point.valid);
    let course = course.filter_map(|(index, point)| Some(format!("{} {}", x(index), y(of(point)?))));
    let course: Vec<String> = course.collect();
    let paths: Vec<String> =
        (course.len() > 1).then(|| format!("M{}", course.join("L"))).into_iter().collect();
    let changes = points.iter().enumerate().filter(|(_, point)| !point.changed.is_empty());
    Some(json!({
        "title": title,
        "range": range,
        "label": format!("{title} of {} runs, {range}; the table below has each", values().count()),
        "width": WIDTH,
        "height": HEIGHT,
        "changes": changes.map(|(index, _)| x(index)).collect::<Vec<_>>(),
        "paths": paths,
        "marks": marks.collect::<Vec<_>>(),
    }))
}

/// To a tenth of a unit: more digits only make the page longer.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

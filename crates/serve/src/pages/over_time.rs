//! One setup over time: the runs of it that are kept, with the versions that changed.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};
use store::{Filter, Runs, Selection};

use crate::answer::{Answer, Refusal};
use crate::app::App;
use crate::endpoint::Asked;
use crate::quiet::look;

const TEMPLATE: &str = "over-time.html";

/// Whether all setups are wanted.
pub(super) fn is_overview(asked: &Asked) -> bool {
    asked.parameter("run").is_none()
}

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let runs = Runs::open(app.laboratory.home())?;
    let wanted = asked.parameter("run");
    if let Some(run) = wanted {
        let of_setup = Selection::of(Filter::of_setup(run));
        let trends = report::trends(&runs.select(&of_setup, look(app), Duration::MAX)?.runs);
        if let Some(trend) = trends.first() {
            let context = json!({ "title": "Over time", "trend": report::trend_html(trend) });
            return Ok(app.templates.page(TEMPLATE, StatusCode::OK, app.frame("/runs", asked.role), context));
        }
    }
    let trends = report::trends(&runs.list()?);
    let all: Vec<Value> = trends
        .iter()
        .map(|trend| {
            let last = trend.points.last().map(|point| point.id.clone());
            json!({ "setup": trend.setup, "number": trend.points.len(), "last": last })
        })
        .collect();
    let context = json!({
        "title": "Over time",
        "trend": null,
        "wanted": wanted,
        "all": all,
    });
    Ok(app.templates.page(TEMPLATE, StatusCode::OK, app.frame("/runs", asked.role), context))
}

//! What is being measured, at a glance and followed.

use axum::http::StatusCode;
use serde_json::{Value, json};
use store::{JobState, Queue};

use crate::answer::{Answer, Refusal};
use crate::app::App;
use crate::command;
use crate::endpoint::Asked;
use crate::quiet::Measuring;

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let context = json!({ "title": "Live", "now": now(app) });
    Ok(app.templates.page("live.html", StatusCode::OK, app.frame("/live", asked.role), context))
}

/// What is being measured now; null where nothing is.
pub(super) fn now(app: &App) -> Value {
    let Some(measuring) = Measuring::now(app) else { return Value::Null };
    let process = measuring.begin.process;
    let jobs = Queue::open(app.laboratory.home()).and_then(|queue| queue.jobs()).unwrap_or_default();
    let job = jobs.into_iter().find(|job| job.state == JobState::Running && job.process == process);
    json!({
        "command": command::line(&command::of_record(&measuring.begin.command)),
        "job": job.map(|job| job.id),
        "process": process.map(|process| process.id),
        "step": measuring.step,
        "study": measuring.study.map(|study| study.text),
        "second": measuring.second,
    })
}

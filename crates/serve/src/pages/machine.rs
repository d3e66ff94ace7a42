//! What this machine can and cannot do, and what the keys of the pages do.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::answer::{Answer, Refusal};
use crate::api::machine;
use crate::app::App;
use crate::endpoint::Asked;
use crate::pages::live;

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let now = live::now(app);
    // It is found out by trying, which takes CPU time.
    let findings = if now.is_null() { machine(app)? } else { Value::Null };
    let context = json!({ "title": "Machine", "findings": findings, "now": now });
    Ok(app.templates.page("machine.html", StatusCode::OK, app.frame("/machine", asked.role), context))
}

pub(super) fn help(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    Ok(app.templates.page("help.html", StatusCode::OK, app.frame("", asked.role), json!({ "title": "Help" })))
}

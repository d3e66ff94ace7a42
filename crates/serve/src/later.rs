//! What takes much CPU time is put off while seconds count: it is said until when, and how to have it all the same.

use axum::http::StatusCode;
use model::Problem;
use serde_json::json;

use crate::answer::{Answer, Refusal};
use crate::app::App;
use crate::command;
use crate::endpoint::Asked;
use crate::quiet::Measuring;

/// The parameter with which something is wanted all the same.
const NOW: (&str, &str) = ("now", "1");

/// What would be disturbed; nothing where no second counts, or where it is wanted all the same.
pub(crate) fn disturbed(app: &App, asked: &Asked) -> Option<Measuring> {
    let (name, yes) = NOW;
    if asked.parameter(name) == Some(yes) {
        return None;
    }
    Measuring::now(app).filter(Measuring::counts)
}

/// Why there is no answer yet: a page for people, a refusal for programs.
pub(crate) fn answer(app: &App, asked: &Asked, measuring: &Measuring) -> Result<Answer, Refusal> {
    let (name, yes) = NOW;
    let join = if asked.place.contains('?') { "&" } else { "?" };
    let at_once = format!("{}{join}{name}={yes}", asked.place);
    let command = command::line(&command::of_record(&measuring.begin.command));
    let phase = measuring.second.as_ref().map(|second| second.phase.as_str());
    let status = StatusCode::SERVICE_UNAVAILABLE;
    if asked.place.starts_with("/api/") {
        let at = phase.map_or(String::new(), |phase| format!(", {phase}"));
        let problem = Problem::environment(format!("this is put off while seconds count: {command}{at}"))
            .why("it takes CPU time from what is being measured")
            .remedy(format!("ask again later, or at once: {at_once}"));
        return Err(Refusal::new(status, problem));
    }
    let context = json!({ "title": "Later", "phase": phase, "command": command, "place": asked.place, "at_once": at_once });
    Ok(app.templates.page("later.html", status, app.frame("", asked.role), context))
}

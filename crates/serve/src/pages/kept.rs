//! A run that is kept: its report with what can be done about it.

use std::collections::BTreeSet;

use model::Problem;
use serde_json::{Value, json};
use store::{Notes, Run, Runs};

use crate::answer::{Answer, Refusal};
use crate::api::run_of;
use crate::app::App;
use crate::command;
use crate::endpoint::Asked;
use crate::form::Form;

/// Letters of an id that are asked for before it is removed.
const LAST_LETTERS: usize = 4;

pub(super) fn run(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let run = run_of(app, asked.part("run"))?;
    if run.record().id != asked.part("run") {
        return Ok(Answer::See(format!("/runs/{}", run.record().id)));
    }
    report(app, asked, &run, &format!("/runs/{}", run.record().id))
}

/// The report of a run, with the bar of what can be done about it at `place`.
pub(super) fn report(app: &App, asked: &Asked, run: &Run, place: &str) -> Result<Answer, Refusal> {
    let record = run.record();
    let words = command::of_record(&record.command);
    let form = Form::of_command(&words);
    let notes = Notes::read(run.directory()).unwrap_or_default();
    let context = json!({
        "title": record.id,
        "id": record.id,
        "place": place,
        "tags": notes.tags.iter().cloned().collect::<Vec<_>>().join(" "),
        "notes": notes,
        "again": command::permit(&words).is_ok().then(|| form.address()),
        "json": format!("/api/v1/runs/{}", record.id),
        "under_way": run.under_way(),
        "is_trial": place.starts_with("/studies/"),
    });
    let bar = bar(app, asked, context)?;
    Ok(Answer::Report(report::html_with_bar(&report::Page::of(run, &app.signals), &bar)))
}

/// The bar above a report.
pub(super) fn bar(app: &App, asked: &Asked, context: Value) -> Result<String, Refusal> {
    let bar = app.templates.render("bar.html", app.frame("", asked.role), context);
    bar.map_err(|error| Problem::bug(format!("{error:#}")).into())
}

/// Puts other notes in the place of a run's.
pub(super) fn set_notes(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let run = run_of(app, asked.part("run"))?;
    let tags: BTreeSet<String> =
        asked.field("tags").split([' ', ',']).filter(|tag| !tag.is_empty()).map(str::to_string).collect();
    let before = Notes::read(run.directory())?;
    let (note, pinned) = (asked.field("note").trim().to_string(), asked.field("pinned") == "on");
    let is_baseline = asked.field("baseline") == "on";
    let mut notes = Notes { note, tags, pinned, baseline: before.baseline && is_baseline, ..before.clone() };
    if let Ok(second) = asked.field("second").trim().parse() {
        notes.mark(second, &asked.field("mark"));
    } else if !asked.field("second").trim().is_empty() || !asked.field("mark").trim().is_empty() {
        let what = format!("`{}` is no second of the run", asked.field("second").escape_debug());
        return Err(Problem::recipe(what).key("second").remedy("a whole number, from 0").into());
    }
    notes.write(run.directory())?;
    if is_baseline && !before.baseline {
        Runs::open(app.laboratory.home())?.set_baseline(&run)?;
    }
    Ok(Answer::See(format!("/runs/{}", run.record().id)))
}

/// Removes a run for good, if the end of its id was written.
pub(super) fn delete(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let run = run_of(app, asked.part("run"))?;
    let id = run.record().id.clone();
    let end = &id[id.len().saturating_sub(LAST_LETTERS)..];
    if asked.field("end").trim() != end {
        let what = format!("to remove {id} for good, write the last {LAST_LETTERS} letters of its name");
        return Err(Problem::recipe(what).remedy(end.to_string()).into());
    }
    Runs::open(app.laboratory.home())?.remove(&id)?;
    Ok(Answer::See("/runs".to_string()))
}

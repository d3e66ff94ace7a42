//! Studies that are kept, and the runs of their trials.

use axum::http::StatusCode;
use model::Problem;
use model::record::Outcome;
use serde_json::{Value, json};
use store::{Notes, Studies, Study, StudySummary};

use crate::answer::{Answer, Refusal};
use crate::api::study_of;
use crate::app::App;
use crate::endpoint::Asked;
use crate::pages::kept;

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let studies = Studies::open(app.laboratory.home())?.list()?;
    let context = json!({
        "title": "Studies",
        "studies": studies.iter().rev().map(shown).collect::<Vec<_>>(),
    });
    Ok(app.templates.page("studies.html", StatusCode::OK, app.frame("/studies", asked.role), context))
}

fn shown(study: &StudySummary) -> Value {
    json!({
        "id": study.id,
        "state": report::study::state(study),
        "verb": study.verb,
        "kit": study.kit,
        "trials": study.trials,
        "spent_s": study.spent_s,
        "sentence": study.sentence,
        "started": study.started,
        "notes": study.notes,
    })
}

pub(super) fn study(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let study = study_of(app, asked.part("study"))?;
    let id = study.record().id.clone();
    if id != asked.part("study") {
        return Ok(Answer::See(format!("/studies/{id}")));
    }
    let notes = Notes::read(study.directory()).unwrap_or_default();
    let context = json!({
        "title": id,
        "id": id,
        "place": format!("/studies/{id}"),
        "tags": notes.tags.iter().cloned().collect::<Vec<_>>().join(" "),
        "notes": notes,
        "again": null,
        "json": format!("/api/v1/studies/{id}"),
        "under_way": study.under_way(),
        "is_trial": false,
        "is_study": true,
        "resume": is_resumable(&study),
    });
    let bar = kept::bar(app, asked, context)?;
    let link = |run: &str| Some(format!("/studies/{id}/runs/{run}/report.html"));
    Ok(Answer::Report(report::study_html_with_bar(study.record(), study.directory(), link, &bar)))
}

/// A study that ended before its end: it goes on with what it has.
fn is_resumable(study: &Study) -> bool {
    let open = matches!(study.record().outcome, Outcome::Unfinished | Outcome::Interrupted);
    open && !study.under_way()
}

/// Puts the rest of a study into the queue.
pub(super) fn resume(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let study = study_of(app, asked.part("study"))?;
    let (id, verb) = (study.record().id.clone(), study.record().question.verb());
    if !is_resumable(&study) {
        return Err(Problem::recipe(format!("study {id} is under way, or has come to its end")).into());
    }
    app.laboratory.add(&[verb.to_string(), "--resume".to_string(), id])?;
    Ok(Answer::See("/".to_string()))
}

/// The run of a trial.
pub(super) fn trial(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let study = study_of(app, asked.part("study"))?;
    let name = asked.part("run");
    let trial = study.record().trials.iter().find(|trial| trial.run == name);
    let run = match trial {
        Some(trial) => study.run(trial).map_err(Refusal::missing)?,
        None => {
            let what =
                format!("study {} has no trial with the run `{}`", study.record().id, name.escape_debug());
            return Err(Refusal::missing(Problem::recipe(what).into()));
        }
    };
    kept::report(app, asked, &run, &format!("/studies/{}", study.record().id))
}

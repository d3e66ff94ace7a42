//! The first page: may I start, did it work?

use axum::http::StatusCode;
use serde_json::json;
use store::{Filter, Job, JobState, Order, Runs, Selection, Studies};

use crate::answer::{Answer, Refusal};
use crate::api::queue;
use crate::app::App;
use crate::endpoint::Asked;
use crate::pages::{jobs, live, runs};
use crate::quiet::look;

/// Runs that are shown.
const LAST_RUNS: usize = 10;

pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let queue = queue(app)?;
    let all = queue.jobs()?;
    let (open, over): (Vec<_>, Vec<_>) =
        all.iter().partition(|job| matches!(job.state, JobState::Waiting | JobState::Running));
    let last = Selection { order: Order::NEWEST, rows: Some(LAST_RUNS), ..Selection::of(Filter::default()) };
    let all_runs = Runs::open(app.laboratory.home())?;
    let kept = all_runs.select(&last, look(app), runs::READ_FOR)?;
    // Counted and not read: that takes time, and this page is open while things are measured.
    let number_of_studies = Studies::open(app.laboratory.home())?.ids()?.len();
    let job = |job: &Job| jobs::shown(app, job);
    let context = json!({
        "title": "Now",
        "now": live::now(app),
        "open": open.into_iter().map(job).collect::<Vec<_>>(),
        "over": over.into_iter().rev().take(5).map(job).collect::<Vec<_>>(),
        "paused": queue.is_paused()?,
        "runs": kept.runs.iter().map(runs::shown).collect::<Vec<_>>(),
        "number_of_runs": kept.number + kept.unread,
        "number_of_studies": number_of_studies,
        "bytes": all_runs.bytes()?,
        "home": app.laboratory.home().display().to_string(),
    });
    Ok(app.templates.page("home.html", StatusCode::OK, app.frame("/", asked.role), context))
}

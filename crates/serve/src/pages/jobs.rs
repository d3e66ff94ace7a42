//! Jobs of the queue: what each printed, and what can be done with it.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use axum::http::StatusCode;
use model::Problem;
use model::progress::{ProgressLine, Told};
use serde_json::{Value, json};
use store::{Job, JobState};

use crate::answer::{Answer, Refusal};
use crate::api::{ask_users, end_job, now, queue};
use crate::app::App;
use crate::command;
use crate::endpoint::Asked;
use crate::files::text_end;
use crate::form::Form;

/// Of what a job printed, the end is shown.
const MAX_SHOWN_BYTES: u64 = 64 << 10;

/// Of what a job tells, the beginning is read to see whether it measures yet.
const MAX_BEGINNING_BYTES: u64 = 64 << 10;

/// A job of `app`'s queue as pages show it.
pub(super) fn shown(app: &App, job: &Job) -> Value {
    let (tone, word) = match (job.state, job.exit_code) {
        (JobState::Waiting, _) => ("open", "waits".to_string()),
        (JobState::Running, _) => ("open", held_up(app, job).unwrap_or("under way".to_string())),
        (JobState::Interrupted, _) => ("doubtful", "interrupted: its process is gone".to_string()),
        (JobState::Ended, Some(0)) => ("good", "done".to_string()),
        (JobState::Ended, Some(3)) => ("doubtful", "no valid result".to_string()),
        (JobState::Ended, Some(99)) => ("bad", "a target was missed".to_string()),
        (JobState::Ended, Some(105)) => ("open", "ended by a user".to_string()),
        (JobState::Ended, code) => ("bad", format!("failed (exit code {})", code.unwrap_or(1))),
    };
    let form = Form::of_command(&job.command);
    json!({
        "id": job.id,
        "command": command::line(&job.command),
        "tone": tone,
        "word": word,
        "waits": job.state == JobState::Waiting,
        "runs": job.state == JobState::Running,
        "added": job.added,
        "began": job.began,
        "ended": job.ended,
        "again": form.address(),
    })
}

/// What a job says that it waits for, before it measures: one measures at a time on a machine, whichever home it is for.
fn held_up(app: &App, job: &Job) -> Option<String> {
    let path = directory(app, job.id).join("progress.jsonl");
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_BEGINNING_BYTES).read_to_string(&mut text).ok()?;
    let mut step = None;
    for line in text.lines() {
        match serde_json::from_str::<ProgressLine>(line).ok()?.told {
            Told::Begin(_) => return None,
            Told::Step { text } => step = Some(text),
            _ => {}
        }
    }
    step
}

fn directory(app: &App, id: i64) -> PathBuf {
    app.laboratory.home().join("queue").join(id.to_string())
}

/// What a job printed.
pub(super) fn page(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let id = asked.number("job")?;
    let job = queue(app)?.job(id).map_err(Refusal::missing)?;
    let folder = directory(app, id);
    let context = json!({
        "title": format!("Job {id}"),
        "job": shown(app, &job),
        "stdout": text_end(&folder.join("stdout"), MAX_SHOWN_BYTES),
        "stderr": text_end(&folder.join("stderr"), MAX_SHOWN_BYTES),
    });
    Ok(app.templates.page("job.html", StatusCode::OK, app.frame("/", asked.role), context))
}

/// Moves, removes or ends a job, or changes its users.
pub(super) fn act(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let id = asked.number("job")?;
    let mut queue = queue(app)?;
    let waiting = |queue: &store::Queue| -> Result<Vec<i64>, Refusal> {
        let jobs = queue.jobs()?.into_iter().filter(|job| job.state == JobState::Waiting);
        Ok(jobs.map(|job| job.id).collect())
    };
    match asked.field("do").as_str() {
        "remove" => queue.remove(id)?,
        "end" => end_job(app, id, false)?,
        "end at once" => end_job(app, id, true)?,
        "users" => {
            let text = asked.field("users");
            let users = text.trim().parse().map_err(|_| {
                let what = format!("`{}` is no number of users", text.escape_debug());
                Refusal::from(Problem::recipe(what).key("users"))
            })?;
            ask_users(app, id, users)?;
            return Ok(Answer::See("/live".to_string()));
        }
        direction @ ("earlier" | "later") => {
            let waiting = waiting(&queue)?;
            let place = waiting.iter().position(|one| *one == id).map_or(1, |at| at + 1);
            let place = if direction == "earlier" { place.saturating_sub(1).max(1) } else { place + 1 };
            queue.move_to(id, place)?;
        }
        other => {
            let what = format!("`{}` can't be done with a job", other.escape_debug());
            return Err(Problem::recipe(what)
                .remedy("earlier, later, remove, end, end at once, users")
                .into());
        }
    }
    Ok(Answer::See("/".to_string()))
}

/// Pauses the queue, or has it go on.
pub(super) fn pause(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    queue(app)?.set_paused(asked.field("do") == "pause", &now())?;
    Ok(Answer::See("/".to_string()))
}

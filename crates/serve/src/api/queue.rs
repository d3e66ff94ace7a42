//! The queue.

use model::Problem;
use model::progress::UsersAsked;
use serde::Deserialize;
use serde_json::json;
use store::{Queue, utc};

use crate::answer::{Answer, Refusal, json};
use crate::app::App;
use crate::command;
use crate::endpoint::Asked;
use crate::quiet::Measuring;

#[derive(Deserialize)]
struct Command {
    command: Vec<String>,
}

#[derive(Deserialize)]
struct Place {
    place: usize,
}

#[derive(Deserialize)]
struct End {
    #[serde(default)]
    at_once: bool,
}

#[derive(Deserialize)]
struct Users {
    users: u32,
}

#[derive(Deserialize)]
struct Paused {
    paused: bool,
}

pub(super) fn check(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let Command { command } = asked.json()?;
    command::permit(&command)?;
    json(&app.laboratory.check(&command))
}

pub(super) fn list(app: &App, _: &Asked) -> Result<Answer, Refusal> {
    json(&queue(app)?.jobs()?)
}

pub(super) fn add(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let Command { command } = asked.json()?;
    command::permit(&command)?;
    let id = app.laboratory.add(&command)?;
    json(&queue(app)?.job(id)?)
}

pub(super) fn remove(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    queue(app)?.remove(asked.number("job")?)?;
    list(app, asked)
}

pub(super) fn move_to(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let Place { place } = asked.json()?;
    queue(app)?.move_to(asked.number("job")?, place)?;
    list(app, asked)
}

pub(super) fn end(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let End { at_once } = asked.json()?;
    end_job(app, asked.number("job")?, at_once)?;
    list(app, asked)
}

pub(super) fn users(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let Users { users } = asked.json()?;
    json(&ask_users(app, asked.number("job")?, users)?)
}

pub(super) fn pause(app: &App, asked: &Asked) -> Result<Answer, Refusal> {
    let Paused { paused } = asked.json()?;
    queue(app)?.set_paused(paused, &now())?;
    json(&json!({ "paused": paused }))
}

/// The queue of the laboratory.
pub(crate) fn queue(app: &App) -> Result<Queue, Refusal> {
    let queue = Queue::open(app.laboratory.home())?;
    Ok(if Measuring::now(app).is_some() { queue.without_sync()? } else { queue })
}

/// Asks the process of a job to end.
pub(crate) fn end_job(app: &App, id: i64, at_once: bool) -> Result<(), Refusal> {
    let job = queue(app)?.job(id).map_err(Refusal::missing)?;
    match job.process.filter(|_| job.state == store::JobState::Running) {
        Some(process) => Ok(app.laboratory.end(process, at_once)?),
        None => Err(Problem::recipe(format!("job {id} is not under way")).into()),
    }
}

/// Asks for another number of users of a job that explores; what is asked for now.
pub(crate) fn ask_users(app: &App, id: i64, users: u32) -> Result<UsersAsked, Refusal> {
    let job = queue(app)?.job(id).map_err(Refusal::missing)?;
    Ok(app.laboratory.ask_users(&job, users)?)
}

/// Now, as the queue keeps it.
pub(crate) fn now() -> String {
    utc(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs())
}

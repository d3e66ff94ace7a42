//! The API: what the command line prints as JSON, by address, and what it does, by method.

mod catalogue;
mod kept;
mod queue;

use model::progress::UsersAsked;
use model::{Checked, RunRecord};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use store::{Folded, Job, Notes, RunSummary, StudySummary};

use crate::access::Role::{Reader, Runner};
use crate::answer::Answer;
use crate::endpoint::{Endpoint, Handler, Method, Route, SchemaOf};
use crate::openapi;

pub(crate) use catalogue::machine;
pub(crate) use kept::{beside_of, filter_of, remove_all, run_of, study_of, tag_all};
pub(crate) use queue::{ask_users, end_job, now, queue};

/// An object of whatever fields.
type Fields = Map<String, Value>;

const WHERE: (&str, &str) = ("where", "which are meant, as `runs --where` has it");
const LAST: (&str, &str) = ("last", "how many of the last ones, as `runs -n` has it");

/// All of it, in the order of its document.
pub(crate) static ENDPOINTS: &[Endpoint] = &[
    reading("/api/v1/runs", kept::runs, schema_of::<Vec<RunSummary>>)
        .says("The runs that are kept, a summary each, the oldest first")
        .like("runs --json")
        .with_query(&[WHERE, LAST]),
    reading("/api/v1/groups", kept::groups, schema_of::<Folded>)
        .heavy()
        .says("Runs that belong together, a group each with its spread: those of a study, or the repeats of one setup")
        .like("runs --json --fold FOLD")
        .with_query(&[("fold", "what belongs together: `study`, or `setup`"), WHERE, LAST]),
    reading("/api/v1/runs/{run}", kept::run, schema_of::<RunRecord>)
        .says("The record of a run, by its id, the beginning of it, or `last`")
        .like("show RUN --json"),
    reading("/api/v1/runs/{run}/series", kept::series, object_schema)
        .heavy()
        .says("Every series of a run, point by point")
        .like("show RUN --json --series"),
    reading("/api/v1/runs/{run}/notes", kept::run_notes, schema_of::<Notes>)
        .says("What people say of a run")
        .like("note RUN --json"),
    changing(Method::Put, "/api/v1/runs/{run}/notes", kept::set_run_notes, schema_of::<Notes>)
        .says("Puts other notes in their place")
        .taking(schema_of::<Notes>),
    changing(Method::Delete, "/api/v1/runs/{run}", kept::remove_run, object_schema)
        .says("Removes a run for good, by its whole id; none that is pinned or under way"),
    changing(Method::Post, "/api/v1/runs/tags", kept::tag_runs, object_schema)
        .says("Tags several runs, and takes tags back; gives what people say of each")
        .like("note RUN RUN --json")
        .taking(tags_schema),
    changing(Method::Post, "/api/v1/runs/remove", kept::remove_runs, object_schema)
        .says("Removes several runs for good, by their whole ids, all of them or none")
        .taking(runs_schema),
    reading("/api/v1/beside", kept::beside, schema_of::<report::Beside>)
        .heavy()
        .says("Two to eight runs side by side, held against the first: what differs, then the figures")
        .like("show RUN RUN --json")
        .with_query(&[("run", "a run; given again for each further one")]),
    reading("/api/v1/studies", kept::studies, schema_of::<Vec<StudySummary>>)
        .says("The studies that are kept, a summary each, the oldest first")
        .like("runs --studies --json"),
    reading("/api/v1/studies/{study}", kept::study, schema_of::<model::StudyRecord>)
        .says("The record of a study, by its id, the beginning of it, or `last`")
        .like("show STUDY --json"),
    reading("/api/v1/catalogue", catalogue::all, object_schema)
        .says("Kits, stacks, services, studies, links, topologies and presets, with all settings")
        .like("list --json"),
    reading("/api/v1/catalogue/{name}", catalogue::one, object_schema)
        .says("Everything of that name")
        .like("list NAME --json"),
    reading("/api/v1/machine", catalogue::machine_json, schema_of::<Vec<Fields>>)
        .heavy()
        .says("What this machine can and cannot do")
        .like("doctor --json"),
    changing(Method::Post, "/api/v1/check", queue::check, schema_of::<Checked>)
        .says("What is wrong with a measurement, each with its place; nothing is started")
        .like("queue check --json")
        .taking(command_schema)
        .for_readers(),
    reading("/api/v1/queue", queue::list, schema_of::<Vec<Job>>)
        .says("The queue's jobs: those that have begun, then those that wait in their order")
        .like("queue list --json"),
    changing(Method::Post, "/api/v1/queue", queue::add, schema_of::<Job>)
        .says("Puts a measurement behind all others")
        .taking(command_schema),
    changing(Method::Delete, "/api/v1/queue/{job}", queue::remove, schema_of::<Vec<Job>>)
        .says("Takes a job that does not run out of the queue"),
    changing(Method::Put, "/api/v1/queue/{job}/place", queue::move_to, schema_of::<Vec<Job>>)
        .says("Puts a job that waits at a place among those that wait, from 1")
        .taking(place_schema),
    changing(Method::Post, "/api/v1/queue/{job}/end", queue::end, schema_of::<Vec<Job>>)
        .says("Ends a job that runs: well, which keeps what was measured, or at once")
        .taking(end_schema),
    changing(Method::Post, "/api/v1/queue/{job}/users", queue::users, schema_of::<UsersAsked>)
        .says("Asks for another number of users of a job that explores; says what is asked for now, and the most that can be")
        .like("queue users JOB USERS --json")
        .taking(users_schema),
    changing(Method::Put, "/api/v1/queue/paused", queue::pause, paused_schema)
        .says("Has no further job begun, or lets it be again; what runs goes on")
        .taking(paused_schema),
    reading("/api/v1/openapi.json", |_, _| Ok(Answer::Json(openapi::document())), object_schema)
        .says("This document"),
];

/// A request that looks, which everybody may.
const fn reading(path: &'static str, handler: Handler, answer: SchemaOf) -> Endpoint {
    let route = Route::of(Method::Get, path, Reader, handler);
    Endpoint { route, summary: "", verb: "", query: &[], body: None, answer }
}

/// A request that changes something, which runners may.
const fn changing(method: Method, path: &'static str, handler: Handler, answer: SchemaOf) -> Endpoint {
    let route = Route::of(method, path, Runner, handler);
    Endpoint { route, summary: "", verb: "", query: &[], body: None, answer }
}

/// The schema of a type.
fn schema_of<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

/// Whatever has fields.
fn object_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// A place among the jobs that wait.
fn place_schema(_: &mut SchemaGenerator) -> Schema {
    let place = json!({ "type": "integer", "minimum": 1 });
    json_schema!({ "type": "object", "properties": { "place": place }, "required": ["place"] })
}

/// How a job is ended.
fn end_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "properties": { "at_once": { "type": "boolean" } } })
}

/// How many users are asked for.
fn users_schema(_: &mut SchemaGenerator) -> Schema {
    let users = json!({ "type": "integer", "minimum": 1 });
    json_schema!({ "type": "object", "properties": { "users": users }, "required": ["users"] })
}

/// Whether no further job is begun.
fn paused_schema(_: &mut SchemaGenerator) -> Schema {
    let paused = json!({ "type": "boolean" });
    json_schema!({ "type": "object", "properties": { "paused": paused }, "required": ["paused"] })
}

/// Runs by their whole ids.
fn runs_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "properties": { "runs": list_of_words() }, "required": ["runs"] })
}

/// Runs, and tags that they get or lose.
fn tags_schema(_: &mut SchemaGenerator) -> Schema {
    let words = list_of_words();
    json_schema!({ "type": "object", "properties": { "runs": words, "add": words, "remove": words }, "required": ["runs"] })
}

fn list_of_words() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

/// The words behind `plimsoll`.
fn command_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { "command": { "type": "array", "items": { "type": "string" }, "minItems": 1 } },
        "required": ["command"]
    })
}

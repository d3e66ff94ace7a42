//! The record as programs read it; `docs/reference/run-json.md` says what it means.

use model::{HitRecord, RunRecord};
use serde::Serialize;

/// `record` as indented JSON with a line break at its end: what `--json` prints and `run.json` holds.
pub fn json(record: &RunRecord) -> String {
    lines(record)
}

/// What `plimsoll hit --json` prints.
pub fn hit_json(record: &HitRecord) -> String {
    lines(record)
}

/// The JSON Schema of [`json`]: the contents of `docs/reference/run.schema.json`.
pub fn schema() -> String {
    lines(&schemars::schema_for!(RunRecord))
}

/// The JSON Schema of [`hit_json`]: the contents of `docs/reference/hit.schema.json`.
pub fn hit_schema() -> String {
    lines(&schemars::schema_for!(HitRecord))
}

pub(crate) fn lines(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("records and schemas have string keys only");
    text.push('\n');
    text
}

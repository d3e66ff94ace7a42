//! The record as programs read it; `docs/reference/run-json.md` says what it means.

use model::RunRecord;

/// `record` as indented JSON with a line break at its end: what `--json` prints and `run.json` holds.
pub fn json(record: &RunRecord) -> String {
    let mut text =
        serde_json::to_string_pretty(record).expect("a record has string keys only, so it is JSON");
    text.push('\n');
    text
}

/// The JSON Schema of [`json`]: the contents of `docs/reference/run.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(RunRecord);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

//! What people and programs see of a study: the same record as text, JSON, one HTML file, CSV, JUnit XML.

pub(crate) mod compare;
mod csv;
pub(crate) mod find;
mod headline;
mod junit;
mod list;
pub(crate) mod sweep;
pub(crate) mod words;

use model::StudyRecord;

pub(crate) use headline::of as headline;

pub use self::csv::csv;
pub use crate::html::study as html;
pub use crate::terminal::study as terminal;
pub use junit::junit;
pub use list::list;

/// `record` as indented JSON with a line break at its end: what `--json` prints and `study.json` holds.
pub fn json(record: &StudyRecord) -> String {
    crate::json::lines(record)
}

/// The JSON Schema of [`json`]: the contents of `docs/reference/study.schema.json`.
pub fn schema() -> String {
    crate::json::lines(&schemars::schema_for!(StudyRecord))
}

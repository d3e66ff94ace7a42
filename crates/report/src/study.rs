//! What people and programs see of a study: the same record as text, JSON, one HTML file, CSV, JUnit XML, Markdown. A kind of
//! study gives what it shows as data ([`view::View`], a file a kind); the outputs know no kinds.

pub(crate) mod chart;
mod compare;
mod csv;
mod find;
mod headline;
mod junit;
mod list;
pub(crate) mod page;
mod sweep;
pub(crate) mod trials;
pub(crate) mod view;
pub(crate) mod words;

use model::StudyRecord;

pub(crate) use headline::of as headline;

pub use self::csv::csv;
pub use junit::junit;
pub use list::{list, state};
pub use view::{Document, Made};

/// What was studied, for people.
pub(crate) fn title(record: &StudyRecord) -> String {
    let (kit, stack) = (&record.setup.kit_title, &record.setup.stack_title);
    record.question.kind().title().map_or_else(|| format!("{kit} on {stack}"), str::to_string)
}

/// The study as a page of docs/results; absent where its kind has none.
pub fn document(record: &StudyRecord, made: Made<'_>) -> Option<Document> {
    view::view(&record.question).document(record, made)
}

/// `record` as indented JSON with a line break at its end: what `--json` prints and `study.json` holds.
pub fn json(record: &StudyRecord) -> String {
    crate::json::lines(record)
}

/// The JSON Schema of [`json`]: the contents of `docs/reference/study.schema.json`.
pub fn schema() -> String {
    crate::json::lines(&schemars::schema_for!(StudyRecord))
}

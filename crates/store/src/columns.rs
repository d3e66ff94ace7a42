//! What runs are found and sorted by: the columns of the index. Filters' words, the table and its SQL follow from this one list.

use rusqlite::types::Value as Cell;

use crate::summary::RunSummary;
use crate::verdict::verdict_of;

/// What is known of a run beside its summary.
pub(crate) struct Column {
    /// In the table; also the word of filters and of orders.
    pub(crate) name: &'static str,
    /// How a filter asks for it.
    pub(crate) asked: Asked,
    /// The cell of a run.
    pub(crate) of: fn(&RunSummary) -> Cell,
}

/// How a filter asks for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// `kit:dvd`: a part of it, in lower case.
    Part,
    /// `tag:night`: a whole line of it, in lower case.
    Line,
    /// `set:KNOB`, `set:KNOB=VALUE`: a line of it, or its beginning.
    Setting,
    /// `verdict:not-valid`: the whole, with `-` for blanks.
    Verdict,
    /// `users>50`.
    Number,
    /// `p95<300ms`.
    Seconds,
    /// `since:7d`, `until:2026-11-27`.
    Moment,
    /// `is:pinned`.
    Flag,
    /// Any other word: a part of it, in lower case.
    Word,
    /// Not by a filter.
    Never,
}

/// The column of the study that a run is a trial of; empty for a run that stands alone.
pub(crate) const STUDY: &str = "study";

/// The column of whether others are held against it.
pub(crate) const BASELINE: &str = "baseline";

/// The one of what repeats of one setup have in common.
pub(crate) const SETUP: &str = "setup";

/// All columns; a change of them is another [format](crate::index::INDEX_FORMAT).
pub(crate) const COLUMNS: [Column; 16] = [
    Column { name: STUDY, asked: Asked::Part, of: |run| text(run.study.as_deref().unwrap_or_default()) },
    Column { name: "started", asked: Asked::Moment, of: |run| text(&run.started) },
    Column { name: "kit", asked: Asked::Part, of: |run| text(&run.kit.to_lowercase()) },
    Column { name: "stack", asked: Asked::Part, of: |run| text(&run.stack.to_lowercase()) },
    Column { name: "size", asked: Asked::Part, of: |run| text(&run.size.to_lowercase()) },
    Column {
        name: "tag",
        asked: Asked::Line,
        of: |run| lines(run.notes.tags.iter().map(|tag| tag.to_lowercase())),
    },
    Column { name: "verdict", asked: Asked::Verdict, of: |run| text(verdict_of(run)) },
    Column { name: "set", asked: Asked::Setting, of: |run| lines(settings(run)) },
    Column { name: "users", asked: Asked::Number, of: |run| Cell::Real(run.users.into()) },
    Column { name: "ops", asked: Asked::Number, of: |run| figure(run.operations_per_s) },
    Column { name: "p95", asked: Asked::Seconds, of: |run| figure(run.worst_p95_s) },
    Column { name: "pinned", asked: Asked::Flag, of: |run| Cell::Integer(run.notes.pinned.into()) },
    Column { name: BASELINE, asked: Asked::Flag, of: |run| Cell::Integer(run.notes.baseline.into()) },
    Column {
        name: "bytes",
        asked: Asked::Never,
        of: |run| Cell::Integer(run.bytes.try_into().unwrap_or(i64::MAX)),
    },
    Column { name: "openness", asked: Asked::Never, of: |run| Cell::Integer(run.openness()) },
    Column { name: "words", asked: Asked::Word, of: |run| lines(words(run).map(str::to_lowercase)) },
];

fn text(value: &str) -> Cell {
    Cell::Text(value.to_string())
}

fn figure(value: Option<f64>) -> Cell {
    value.map_or(Cell::Null, Cell::Real)
}

/// Each between two line ends, so that a whole one can be looked for.
fn lines(values: impl Iterator<Item = String>) -> Cell {
    Cell::Text(values.fold("\n".to_string(), |all, one| all + &one.replace('\n', " ") + "\n"))
}

/// What was given: `web.MaxRequestWorkers=64`.
fn settings(run: &RunSummary) -> impl Iterator<Item = String> {
    let given = run.given.set.iter().chain(&run.given.param);
    given.map(|(name, value)| format!("{name}={value}"))
}

/// What a word is looked for in.
fn words(run: &RunSummary) -> impl Iterator<Item = &str> {
    let fields = [&run.id, &run.kit, &run.stack, &run.size, &run.sentence, &run.notes.note];
    fields.into_iter().map(String::as_str).chain(run.notes.tags.iter().map(String::as_str))
}

/// The text of a run that others share.
type Shared = fn(&RunSummary) -> String;

/// What runs are folded by: a text that many runs share, kept once and compared as its number.
pub(crate) const GROUPED: [(&str, Shared); 2] =
    [(SETUP, setup), ("versions", |run| format!("{} {:?}", run.kit, run.versions))];

/// What repeats of one setup have in common, without what it was made with.
fn setup(run: &RunSummary) -> String {
    let kit = run.kit.split('@').next().unwrap_or_default();
    let (size, load, given) = (&run.size, &run.load, &run.given);
    format!(
        "{kit} {} {size} {:?} {:?} {} {} {load} {} {given:?}",
        run.stack, run.mix, run.topology, run.guests, run.users, run.by_hand
    )
}

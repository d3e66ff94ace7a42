//! A study as text: what `find`, `compare` and `sweep` print at their end. What only one kind shows comes as data.

mod charts;
mod parts;
mod sections;

use std::path::Path;

use model::StudyRecord;

use super::paint::Paint;
use super::{holds, width};
use crate::study;
use crate::study::page::Body;
use crate::study::view::view;

/// The study as text for a terminal of `width` columns, the answer first; `directory` is where it is kept.
pub fn study(record: &StudyRecord, directory: &Path, width: usize, colour: bool) -> String {
    text(record, &view(&record.question).body(record, &|_| None), directory, width, colour)
}

/// The text of a study that shows `body`.
pub(crate) fn text(
    record: &StudyRecord,
    body: &Body,
    directory: &Path,
    width: usize,
    colour: bool,
) -> String {
    let width = width::of_lines(width);
    let paint = Paint { colour };
    let answer = record.diagnosis.as_ref().map(|diagnosis| holds::answer(diagnosis, width, paint));
    let mut sections = vec![
        paint.headline(&study::headline(record), width),
        answer.unwrap_or_default(),
        parts::setup(record, width),
    ];
    sections.extend(sections::sections(record, body, width, paint));
    sections.extend([
        parts::faults(record, width, paint),
        parts::overloaded(record, width, paint),
        parts::ceiling(record, width),
        super::sections::checks(&record.checks, &[], width, paint),
        parts::end(record, directory, width),
    ]);
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

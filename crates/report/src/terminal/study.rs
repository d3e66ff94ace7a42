//! A study as text: what `find`, `compare` and `sweep` print at their end.

mod compare;
mod find;
mod parts;
mod published;
mod sweep;

use std::path::Path;

use model::StudyRecord;
use model::study::Question;

use super::paint::Paint;
use super::{NARROWEST, WIDEST, holds};

/// The study as text for a terminal of `width` columns, the answer first; `directory` is where it is kept.
pub fn study(record: &StudyRecord, directory: &Path, width: usize, colour: bool) -> String {
    let width = width.clamp(NARROWEST, WIDEST);
    let paint = Paint { colour };
    let answer = record.diagnosis.as_ref().map(|diagnosis| holds::answer(diagnosis, width, paint));
    let mut sections =
        vec![parts::headline(record, width, paint), answer.unwrap_or_default(), parts::setup(record, width)];
    sections.extend(match &record.question {
        Question::Find(find) => find::sections(record, find, width, paint),
        Question::Compare(compare) => compare::sections(record, compare, width, paint),
        Question::Sweep(sweep) => sweep::sections(record, sweep, width, paint),
    });
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

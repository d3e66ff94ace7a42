//! A page as text: what a run prints at its end. Reads the same without colour.

mod beside;
mod calls;
mod draw;
mod explain;
mod fleet;
mod guests;
mod hit;
mod holds;
mod over_time;
mod paint;
mod plot;
mod sections;
mod study;
pub(crate) mod table;
mod width;

use crate::Page;
use crate::explained::Tried;
use holds::Detail;
use paint::Paint;

pub use beside::beside;
pub use calls::explain_calls;
pub use explain::{explain, explain_study};
pub use hit::hit;
pub(crate) use model::outside::{hidden, one_line as plain};
pub use paint::PAINT;
pub use study::study;
#[cfg(test)]
pub(crate) use study::text as study_text;
pub(crate) use table::{Align, Table};

/// The page as text for a terminal of `width` columns. The verdict comes first. Whatever servers and users supplied
/// is stripped of control characters, so that it can't steer the terminal.
pub fn terminal(page: &Page, width: usize, colour: bool) -> String {
    let width = width::of_lines(width);
    let paint = Paint { colour };
    let record = &page.record;
    let (tried, diagnosis) = (Tried::of_run(record), record.diagnosis.as_ref());
    let mut sections = vec![
        paint.headline(&page.headline, width),
        diagnosis.map(|diagnosis| holds::answer(diagnosis, width, paint)).unwrap_or_default(),
        record
            .injected
            .as_ref()
            .map(|fault| holds::injected(fault, &record.outages, width, paint))
            .unwrap_or_default(),
        holds::aborted(record, &page.directory, width),
        sections::setup(page, width),
        over_time::course(page, width),
        sections::targets(page, width, paint),
        sections::operations(page, width, paint),
        guests::guests(&record.guests, width, paint),
        fleet::agents(record.fleet.as_ref(), width, paint),
        sections::phases(page, width),
        sections::metrics(page, width),
        diagnosis.map(|diagnosis| holds::reasons(diagnosis, tried, Detail::Brief, width)).unwrap_or_default(),
        sections::tiers(page, width),
        over_time::inside(page, width),
        sections::errors(page, width, paint),
        holds::unseen(&record.unseen, width),
        sections::notes(page, width),
        sections::files(page),
    ];
    // Why a run is not valid is read before its figures; that all checks hold, after them.
    let place = if record.verdict.valid { sections.len() - 2 } else { 1 };
    sections.insert(place, sections::checks(&record.validity, &record.consistency, width, paint));
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(section.trim_end());
        text.push('\n');
    }
    text
}

//! A page as text: what a run prints at its end. Reads the same without colour.

mod draw;
mod hit;
mod over_time;
mod paint;
mod plot;
mod sections;
mod study;
mod table;

use crate::Page;
use paint::Paint;

pub use hit::hit;
pub(crate) use paint::{hidden, plain};
pub use study::study;
pub(crate) use table::{Align, Table, shorten};

/// The narrowest terminal that is believed.
const NARROWEST: usize = 60;

/// A terminal line longer than this is not read.
const WIDEST: usize = 110;

/// The page as text for a terminal of `width` columns. The verdict comes first. Whatever servers and users supplied
/// is stripped of control characters, so that it can't steer the terminal.
pub fn terminal(page: &Page, width: usize, colour: bool) -> String {
    let width = width.clamp(NARROWEST, WIDEST);
    let paint = Paint { colour };
    let mut sections = vec![
        sections::headline(page, width, paint),
        sections::setup(page, width),
        sections::targets(page, width, paint),
        sections::operations(page, width, paint),
        sections::phases(page, width),
        sections::metrics(page),
        sections::tiers(page, width),
        over_time::course(page, width),
        sections::errors(page, width, paint),
        sections::notes(page, width),
        sections::files(page),
    ];
    // Why a run is not valid is read before its figures; that all checks hold, after them.
    let place = if page.record.verdict.valid { sections.len() - 1 } else { 1 };
    sections.insert(place, sections::checks(&page.record.validity, &page.record.consistency, width, paint));
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

//! A compare as text.

use model::StudyRecord;
use model::study::Compare;

use crate::terminal::paint::Paint;

/// What only a compare shows.
pub(super) fn sections(
    _record: &StudyRecord,
    _compare: &Compare,
    _width: usize,
    _paint: Paint,
) -> Vec<String> {
    Vec::new()
}

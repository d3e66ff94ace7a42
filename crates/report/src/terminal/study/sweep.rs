//! A sweep as text.

use model::StudyRecord;
use model::study::Sweep;

use crate::terminal::paint::Paint;

/// What only a sweep shows.
pub(super) fn sections(_record: &StudyRecord, _sweep: &Sweep, _width: usize, _paint: Paint) -> Vec<String> {
    Vec::new()
}

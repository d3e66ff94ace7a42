//! How wide the lines of a text are.

/// The narrowest terminal that is believed.
const NARROWEST: usize = 60;

/// A terminal line longer than this is not read.
const WIDEST: usize = 110;

/// The width of lines on a terminal of `width` columns.
pub(super) fn of_lines(width: usize) -> usize {
    width.clamp(NARROWEST, WIDEST)
}

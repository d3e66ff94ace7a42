//! Made-up studies, the same every time: plausible figures, every way to end.

mod compare;
mod find;
mod parts;
mod published;
mod sweep;
mod trial;

pub use compare::{CompareEnding, compare};
pub use find::{FindEnding, find};
pub use sweep::{SweepShape, sweep};

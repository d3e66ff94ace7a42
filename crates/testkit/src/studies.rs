//! Studies on simulated stacks, the same every time. What is measured is made up; what is asked next, what follows from it and
//! how that is said is decided by the policies and the wording that users get.

mod compare;
mod find;
mod lab;
mod published;
mod response_times;
mod stack;
mod study;
mod sweep;

pub use compare::{CompareEnding, compare};
pub use find::{FindEnding, find};
pub use sweep::{SweepShape, sweep};

//! Several guests on one machine: a stack for each, driven at the same time, kept and judged one by one and together.

mod merged;
mod run;
mod stacks;
mod whole;

pub(crate) use run::run;
pub(crate) use stacks::refuse;
pub use stacks::{GuestStack, Stacks};
pub(crate) use whole::{Part, Whole, WholeKept, end_all, keep_whole, sides, worst_targets};

//! The instrument's look at itself: this process, and the generator as a tier.

mod generator;
mod process;

pub use generator::OwnWatch;
pub(crate) use process::{OwnProbe, parse_schedstat};

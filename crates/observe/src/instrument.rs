//! The instrument's look at itself: this process, the generator as a tier, and whoever shows the laboratory meanwhile.

mod generator;
mod process;
mod viewer;

pub use generator::OwnWatch;
pub(crate) use process::{OwnProbe, parse_schedstat};
pub(crate) use viewer::Viewer;

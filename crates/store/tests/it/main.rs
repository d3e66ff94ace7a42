//! The room as its users see it, on real files.

mod damage;
mod death;
mod golden;
mod guests;
mod list;
mod queue;
mod reopened;
mod round_trip;
mod studies;

use std::path::Path;

use store::Runs;
use testkit::recorded::{Recorded, Specimen};

/// Seconds of a short run.
const SHORT_S: usize = 9;

/// The first seconds of a recorded run.
fn short(specimen: Specimen) -> Recorded {
    specimen.open().first(SHORT_S)
}

/// Keeps all of `recorded` below `home`, under another id.
fn keep(home: &Path, mut recorded: Recorded, id: &str) -> String {
    recorded.record.id = id.to_string();
    recorded.keep(&Runs::open(home).expect("the home can be made"));
    id.to_string()
}

//! What is being measured at this moment, for those who follow it.

use std::path::{Path, PathBuf};

use model::Result;

use crate::run::{self, Run};
use crate::runs::Runs;
use crate::studies::Studies;

/// The file below `home` in which the process that measures tells what it is at, a [`model::progress::ProgressLine`] each: made
/// anew by the next one that does.
pub fn measuring_file(home: &Path) -> PathBuf {
    home.join("measuring.jsonl")
}

/// The latest run below `home` that a living process is measuring, a study's trial among them.
pub fn under_way(home: &Path) -> Result<Option<Run>> {
    let mut found = newest(&Runs::open(home)?)?;
    let studies = Studies::open(home)?;
    for id in studies.ids()?.iter().rev() {
        let directory = studies.directory().join(id);
        if run::under_way(&directory) && directory.join("runs").is_dir() {
            found.extend(newest(&Runs::open(&directory)?)?);
        }
    }
    // The last that began: ids begin with the time.
    found.sort_by(|one, other| one.record().id.cmp(&other.record().id));
    Ok(found.pop())
}

/// The last of them that is under way. Its record is written before it can be seen to be under way or not at all: one
/// that can't be read yet is looked at again a moment later.
fn newest(runs: &Runs) -> Result<Vec<Run>> {
    let directories = runs.ids()?.into_iter().rev().map(|id| runs.directory().join(id));
    let living = directories.filter(|directory| run::under_way(directory));
    Ok(living.filter_map(|directory| Run::open(&directory).ok()).take(1).collect())
}

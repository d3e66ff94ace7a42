//! Whether a kept file set is still what was made: every path and length, and the content of a sample.

use std::fs;
use std::path::Path;

use model::{Problem, Result};

use super::failed;
use super::list::FileList;
use super::make::{MADE, bytes_of};

/// Compares the set in `place` (where [`super::make`] made it) with its list: each file is there with its length, and
/// the content of `sample` of them, evenly spread over the list, is what it was.
///
/// # Errors
/// The first file that is not as it was made.
pub fn check(list: &FileList, place: &Path, sample: usize) -> Result<()> {
    let root = place.join(MADE);
    for (path, length) in list.files() {
        let path = root.join(path);
        let about = fs::symlink_metadata(&path)
            .map_err(|error| failed("find a file of the file set", &path, &error))?;
        if !about.is_file() || about.len() != length {
            let what =
                format!("a kept file of the file set has {} bytes, but {length} were made", about.len());
            return Err(Problem::environment(what).file(path.display().to_string()).into());
        }
    }
    let step = list.entries.len().div_ceil(sample.max(1)).max(1);
    for entry in list.entries.iter().step_by(step).take(sample) {
        let path = root.join(&entry.path);
        let found = fs::read(&path).map_err(|error| failed("read a file of the file set", &path, &error))?;
        if found[..] != bytes_of(list, entry)[..] {
            let what = "the content of a kept file of the file set is not what was made";
            return Err(Problem::environment(what).file(path.display().to_string()).into());
        }
    }
    Ok(())
}

//! Whether a kept file set is still what was made: every path and length, and the content of a sample.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use model::{Problem, Result};

use super::failed;
use super::list::FileList;
use super::make::{MADE, bytes_of};

/// Compares the set in `place` (where [`super::make`] made it) with its list: servers, which run as another user, can
/// enter each directory, each file is there with its length, and the content of `sample` of them, evenly spread over the
/// list, is what it was.
///
/// # Errors
/// The first directory or file that is not as it was made.
pub fn check(list: &FileList, place: &Path, sample: usize) -> Result<()> {
    let root = place.join(MADE);
    check_enterable(place)?;
    check_enterable(&root)?;
    list.folders().iter().try_for_each(|folder| check_enterable(&root.join(folder)))?;
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

/// Refuses a directory that other users can't enter.
fn check_enterable(dir: &Path) -> Result<()> {
    let about = fs::metadata(dir).map_err(|error| failed("find a directory of the file set", dir, &error))?;
    if about.permissions().mode() & 0o001 != 0 {
        return Ok(());
    }
    let what = "other users can't enter a directory of the kept file set";
    Err(Problem::environment(what).file(dir.display().to_string()).into())
}

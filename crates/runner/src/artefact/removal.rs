//! Removing what is kept, and what was left half made.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Problem, Result};

use crate::artefact::cache::{DATA_SETS, PRODUCTS};

/// Whether any data set, file set or anything built may be kept below `home`.
pub fn is_anything_kept(home: &Path) -> bool {
    folders(home).iter().any(|folder| folder.exists())
}

/// Removes all data sets, file sets and what was built. What is kept loses its name first: what is removed only in part
/// is never used.
pub fn remove_all(home: &Path) -> Result<()> {
    for (folder, name) in folders(home).iter().flat_map(|folder| names(folder)) {
        let path = folder.join(&name);
        if name.starts_with('.') {
            remove(&path)?;
            continue;
        }
        let nameless = folder.join(format!(".removed-{name}"));
        fs::rename(&path, &nameless).map_err(|error| failed(&path, &error))?;
        remove(&nameless)?;
    }
    Ok(())
}

/// Removes what killed plimsolls left half made, and the logs of what failed to start or to build.
pub fn remove_unfinished(home: &Path) -> Result<()> {
    let unfinished = folders(home).into_iter().flat_map(|folder| names(&folder));
    for (folder, name) in unfinished.filter(|(_, name)| name.starts_with('.')) {
        remove(&folder.join(name))?;
    }
    remove(&home.join("failed"))
}

fn folders(home: &Path) -> [PathBuf; 2] {
    [DATA_SETS, PRODUCTS].map(|name| home.join(name))
}

fn names(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| (folder.to_path_buf(), entry.file_name().to_string_lossy().into_owned())).collect()
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(path, &error).into()),
        _ => Ok(()),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Problem {
    Problem::environment(format!("failed to remove: {error}")).file(path.display().to_string())
}

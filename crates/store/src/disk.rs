//! Files that are replaced at once or not at all, and directories that are measured and synced as a whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use model::{Problem, Result};

use crate::fault;

/// Replaces the file at `path` at once: a reader sees the old contents or the new, never half of them.
pub(crate) fn replace(path: &Path, bytes: &[u8], durable: bool) -> Result<()> {
    let temporary = path.with_extension("tmp");
    let write = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        if durable {
            file.sync_all()?;
        }
        fs::rename(&temporary, path)
    };
    write().map_err(|error| {
        // What is left of the temporary file would only take room on a disk that may be full.
        _ = fs::remove_file(&temporary);
        fault::io(&error, "writing", path).into()
    })
}

/// `directory/inner`, when `inner` stays below `directory`.
pub(crate) fn below(directory: &Path, inner: &str) -> Result<PathBuf> {
    let inside =
        !inner.is_empty() && Path::new(inner).components().all(|part| matches!(part, Component::Normal(_)));
    if !inside {
        return Err(Problem::bug(format!("`{inner}` does not lie in the run's directory")).into());
    }
    Ok(directory.join(inner))
}

/// Syncs every file and directory below `directory`, and `directory` itself.
pub(crate) fn sync_tree(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(directory)?.sync_all()
}

/// Bytes of all files below `directory`; what vanishes or can't be read meanwhile counts nothing.
pub(crate) fn size_bytes(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_bytes(&entry.path()),
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => 0,
    });
    sizes.sum()
}

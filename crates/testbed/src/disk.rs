//! What a disk can refuse, as problems that name the path and what to try.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use model::{Problem, Result};

use crate::guarded;

/// The problem of a failed file operation: `verb` completes "failed to …".
pub(crate) fn failed(verb: &str, path: &Path, error: &io::Error) -> Problem {
    let problem = Problem::environment(format!("failed to {verb} {}: {error}", path.display()));
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => problem
            .why("a half-written file is never used, so nothing was started from it")
            .remedy("free disk space, or set PLIMSOLL_HOME to a file system with more of it"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            problem.remedy("set PLIMSOLL_HOME to a directory that this user may write to")
        }
        _ => problem,
    }
}

/// Makes a directory and its parents with the given mode; one that exists is left as it is.
pub(crate) fn make_dir(path: &Path, mode: u32) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(|error| failed("make the directory", path, &error).into())
}

/// Makes a directory and its parents that everybody may enter, whatever the umask; one that exists is left as it is.
pub(crate) fn make_open_dir(path: &Path) -> Result<()> {
    if path.is_dir() || path.as_os_str().is_empty() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), make_open_dir)?;
    make_dir(path, 0o755)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| failed("set the mode of", path, &error).into())
}

/// Refuses a path that another user can't reach, naming the directory that is closed.
pub(crate) fn check_enterable(path: &Path) -> Result<()> {
    let closed = |dir: &&Path| fs::metadata(dir).is_ok_and(|meta| meta.permissions().mode() & 0o001 == 0);
    let Some(dir) = path.ancestors().find(closed) else { return Ok(()) };
    Err(Problem::environment(format!("other users can't enter {}", dir.display()))
        .key("PLIMSOLL_HOME")
        .why("servers run as a user of their own")
        .remedy(format!("PLIMSOLL_HOME=/srv/plimsoll, or chmod o+x {}", dir.display()))
        .into())
}

/// Makes a directory that belongs to `owner` (a uid, used as gid too) alone, and the parents that it lacks.
pub(crate) fn make_private_dir(path: &Path, owner: Option<u32>) -> Result<()> {
    if owner.is_none() {
        // Servers run as we do: nobody else's folders are on the way.
        return make_dir(path, 0o700);
    }
    match (guarded::make_dir(path, owner), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            make_private_dir(parent, owner)?;
            guarded::make_dir(path, owner)
        }
        (made, _) => made,
    }
    .map_err(|error| failed("make the directory", path, &error).into())
}

/// Writes a file that belongs to `owner` and that others can't read, in place of what has that name.
pub(crate) fn write(path: &Path, bytes: &[u8], owner: Option<u32>) -> Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.is_dir()) {
        make_private_dir(parent, owner)?;
    }
    guarded::replace(path, bytes, owner).map_err(|error| failed("write", path, &error).into())
}

/// Removes a directory with all that is in it; one that is gone already is fine.
pub(crate) fn remove_dir(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, &error).into()),
        _ => Ok(()),
    }
}

/// Removes a file; one that is gone already is fine.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, &error).into()),
        _ => Ok(()),
    }
}

//! What disk and database say, as problems that a person can act on.

use std::io;
use std::path::Path;

use model::Problem;
use rusqlite::ErrorCode;

/// The problem behind an I/O error met while `doing` something with `path`.
pub(crate) fn io(error: &io::Error, doing: &str, path: &Path) -> Problem {
    let problem = Problem::environment(format!("{doing} failed: {error}")).file(path.display().to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            problem.remedy("make room on the disk, or set PLIMSOLL_HOME to another one")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => problem
            .remedy("set PLIMSOLL_HOME to a directory that you may write to, or be the user who owns it"),
        _ => problem,
    }
}

/// The problem behind an error of SQLite met while `doing` something with the database at `path`.
pub(crate) fn sql(error: &rusqlite::Error, doing: &str, path: &Path) -> Problem {
    let code = error.sqlite_error_code();
    let what = match code {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => "the file is damaged".to_string(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another process holds the file".to_string()
        }
        Some(ErrorCode::DiskFull) => "the disk is full".to_string(),
        _ => error.to_string(),
    };
    let problem = Problem::environment(format!("{doing} failed: {what}")).file(path.display().to_string());
    match code {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => problem.remedy(
            "`sqlite3 FILE .recover` saves what can be read; run.json beside it still has the result",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            problem.remedy("try again when it has ended")
        }
        Some(ErrorCode::DiskFull) => {
            problem.remedy("make room on the disk, or set PLIMSOLL_HOME to another one")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => problem
            .remedy("be the user who made the run, or copy its directory to a place that you may write to"),
        _ => problem,
    }
}

/// A file written by a Plimsoll newer than this one.
pub(crate) fn newer(path: &Path, found: i64, known: i64) -> Problem {
    Problem::environment(format!("the file has format {found}; this Plimsoll reads formats up to {known}"))
        .file(path.display().to_string())
        .why("a number that is read by old rules could be misread without a sign of it")
        .remedy("a Plimsoll at least as new as the one that wrote it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_and_so_is_the_way_out() {
        let path = Path::new("/srv/plimsoll/runs/x/run.sqlite");
        let full =
            rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None);
        assert_eq!(
            sql(&full, "keeping a second of the run", path).to_string(),
            "/srv/plimsoll/runs/x/run.sqlite: keeping a second of the run failed: the disk is full\n  try: make room \
             on the disk, or set PLIMSOLL_HOME to another one"
        );
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(io(&full, "writing", path).to_string().contains("PLIMSOLL_HOME"));
    }
}

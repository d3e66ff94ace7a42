//! A kit's file set: the files that its web tier serves beside the application, or instead of one.
//!
//! `files.lua` only says which files there are: [`list`] runs it once and knows every path and length before a byte is
//! written. Their contents are made here, on all cores ([`make`]), and can be made again to see whether a kept file is
//! still what it was ([`check`]). It is all or nothing: what failed half-way is removed.

mod content;
mod declaration;
mod list;
mod make;
mod verify;

pub use list::{FileList, list};
pub use make::{MADE, MakeOptions, Making, make};
pub use verify::check;

use std::path::Path;

use model::Problem;

/// The problem of a failed file operation: `verb` completes "failed to …".
fn failed(verb: &str, path: &Path, error: &std::io::Error) -> Problem {
    use std::io::ErrorKind;
    let problem = Problem::environment(format!("failed to {verb}: {error}")).file(path.display().to_string());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => problem
            .why("a file set that is not whole is never used")
            .remedy("free disk space, a smaller --size, or a PLIMSOLL_HOME with more of it"),
        _ => problem,
    }
}

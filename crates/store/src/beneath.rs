//! Files beneath a directory and nowhere else. Servers under users of their own write logs there, so that a name may lead anywhere,
//! or to a pipe that nobody writes.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

/// The regular file `inner` of `directory`: no link, no pipe, nothing outside.
///
/// # Errors
/// There is no such file.
pub fn open_beneath(directory: &Path, inner: &Path) -> io::Result<File> {
    let root = File::open(directory)?;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // A pipe must not be waited for.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(openat2(&root, inner, flags, Mode::empty(), beneath)?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

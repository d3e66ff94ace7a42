//! Unmounting what a lab mounted.

use std::io;
use std::path::Path;

use model::Result;
use rustix::io::Errno;
use rustix::mount::{self, UnmountFlags};

use crate::disk;

/// Unmounts what a lab mounted, if anything is mounted there; files of it that are still open stay readable.
pub(crate) fn unmount(at: &Path) -> Result<()> {
    match mount::unmount(at, UnmountFlags::DETACH) {
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(error) => Err(disk::failed("unmount", at, &io::Error::from(error)).into()),
    }
}

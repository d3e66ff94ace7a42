//! What the loop does not do itself, because it could block: opening a file, and reading a part of it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

use crate::sys::File;

/// Bytes that are looked at, read and sent at once.
pub const CHUNK_BYTES: u64 = 65_536;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Task {
    Open,
    Read { offset: u64, len: usize },
}

impl Task {
    pub fn len(&self) -> usize {
        match self {
            Task::Open => 0,
            Task::Read { len, .. } => *len,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Job {
    /// Relative to the root.
    pub path: Arc<[u8]>,
    pub task: Task,
    /// Where whoever does it can use the loop's descriptor.
    pub file: Option<File>,
    /// Whether the loop wants the descriptor of it.
    pub passes: bool,
}

pub struct Reply {
    pub job: Job,
    pub outcome: Result<Given>,
}

/// What a job gives.
#[derive(Debug, Default)]
pub struct Given {
    pub file: Option<OwnedFd>,
    pub size: u64,
    pub modified_s: i64,
    pub bytes: Vec<u8>,
}

impl Given {
    /// A file that has been opened; what is no plain file is none.
    pub fn of_file(file: OwnedFd) -> Result<Given> {
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Errno::NOENT);
        }
        let (size, modified_s) = (stat.st_size as u64, stat.st_mtime as i64);
        Ok(Given { file: Some(file), size, modified_s, bytes: Vec::new() })
    }
}

const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// The directory of the files. The loop does not work in it: its core would have to be left there, where it may not write.
static ROOT: OnceLock<OwnedFd> = OnceLock::new();

/// Says where the files are; once, before any is opened.
pub fn set_root(path: &Path) -> Result<()> {
    let root = rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    ROOT.set(root).map_err(|_| Errno::EXIST)
}

/// Where the files are: of a helper process its working directory.
pub fn root() -> BorrowedFd<'static> {
    ROOT.get().map_or(CWD, AsFd::as_fd)
}

/// Opens a file; may wait for the disk.
pub fn open(path: &[u8]) -> Result<Given> {
    Given::of_file(rustix::fs::openat(root(), path, FLAGS, Mode::empty())?)
}

/// Opens a file whose names and inode are in memory; `AGAIN` otherwise.
pub fn open_cached(path: &[u8]) -> Result<Given> {
    let file = rustix::fs::openat2(root(), path, FLAGS, Mode::empty(), ResolveFlags::CACHED)?;
    Given::of_file(file)
}

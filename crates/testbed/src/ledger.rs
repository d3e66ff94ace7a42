//! The ledger of a lab: every change that it makes to the machine, written down before or as it is made, one JSON
//! object a line. Undo is its replay (`undo.rs`).
//!
//! The file is locked (`flock`) by the tool and by its keeper for as long as either lives, so that a free lock means
//! a dead lab.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::Result;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::disk;
use crate::process::Identity;

/// The version of the ledger's format.
pub(crate) const FORMAT: u32 = 1;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first line.
    Opened {
        format: u32,
        /// What the environment of each process of this lab says.
        marker: String,
        /// Process numbers and cgroups mean nothing after another boot.
        boot: String,
        /// The user that all its processes run as.
        uid: u32,
    },
    /// A directory that goes with all that is in it.
    Directory { path: PathBuf },
    /// A cgroup, to be ended, then removed with those below it.
    Cgroup { path: PathBuf },
    /// Our end of the cable to a tier's own host, to be removed as long as `owner`, a lab's mark, is written on it. Its
    /// other end, and the host, are gone with it.
    Cable { name: String, owner: String },
    /// A setting of the machine, and what stood there before.
    Machine { path: PathBuf, found: String },
    /// A file system that was mounted there.
    Mount { path: PathBuf },
    /// A process that was started, the leader of its session.
    Process { tier: String, process: Identity },
}

/// A ledger whose lock is held.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: File,
    path: PathBuf,
}

impl Ledger {
    /// Opens and locks the ledger at `path`, making it if there is none; `None` while somebody else holds it.
    pub(crate) fn lock(path: &Path) -> Result<Option<Ledger>> {
        loop {
            let file = OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .mode(0o600)
                .open(path)
                .map_err(|error| disk::failed("open", path, &error))?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                return Ok(None);
            }
            // Between open and lock its last holder may have removed it: then this is a file without a name.
            let named = fs::metadata(path).ok().map(|named| (named.dev(), named.ino()));
            let ours = file.metadata().map_err(|error| disk::failed("read", path, &error))?;
            if named == Some((ours.dev(), ours.ino())) {
                return Ok(Some(Ledger { file, path: path.to_path_buf() }));
            }
        }
    }

    /// Takes over a lock that was inherited with `file`.
    pub(crate) fn inherited(file: File, path: &Path) -> Ledger {
        Ledger { file, path: path.to_path_buf() }
    }

    /// Adds a line.
    pub(crate) fn append(&self, entry: &Entry) -> Result<()> {
        let mut line = serde_json::to_vec(entry)
            .map_err(|error| model::Problem::bug(format!("a ledger entry can't be written: {error}")))?;
        line.push(b'\n');
        // One write in append mode: a line is whole or, at worst, the torn last one, which `entries` skips.
        (&self.file).write_all(&line).map_err(|error| disk::failed("write", &self.path, &error).into())
    }

    /// All changes so far; a torn last line is left out.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>> {
        let mut text = String::new();
        let read = |error: std::io::Error| disk::failed("read", &self.path, &error);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).map_err(read)?;
        file.read_to_string(&mut text).map_err(read)?;
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Removes the file; the lock goes with this value.
    pub(crate) fn remove(self) -> Result<()> {
        disk::remove_file(&self.path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The locked file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("plimsoll-ledger-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a temporary directory");
        dir
    }

    #[test]
    fn a_ledger_is_held_by_one_and_a_torn_last_line_is_left_out() {
        let dir = temporary("torn");
        let path = dir.join("a.ledger");
        let ledger = Ledger::lock(&path).expect("a lock").expect("nobody else holds it");
        assert!(Ledger::lock(&path).expect("a lock").is_none(), "a held ledger must not be had twice");
        let entry = Entry::Process { tier: "db".into(), process: Identity { pid: 7, start_ticks: 9 } };
        ledger.append(&entry).expect("a line");
        (&ledger.file).write_all(b"{\"entry\":\"proc").expect("a torn line");
        assert_eq!(ledger.entries().expect("entries"), vec![entry]);
        drop(ledger);
        let again = Ledger::lock(&path).expect("a lock").expect("it is free again");
        again.remove().expect("removal");
        assert!(!path.exists());
        fs::remove_dir_all(dir).expect("removal");
    }
}

//! What an agent has told and nobody is known to have kept: in files, so that it outlives the agent, the broker and the controller.
//! Each message has a number; what is sent again from here has the same one, by which whoever has it already leaves it out.
//!
//! A message is whole in the file when `append` returns, and survives the process. It is not forced onto the disk: a machine that
//! loses its power loses what its load was anyway.

mod segment;

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use segment::Segment;

/// A file is closed and a new one begun when it is longer than this: whole files are removed once all of them is kept.
const SEGMENT_BYTES: u64 = 4 << 20;

/// Why a message can't be taken.
#[derive(Debug)]
pub enum SpoolError {
    /// There is more in it already than it may have: nobody keeps what is told.
    Full {
        /// What it holds.
        bytes: u64,
        /// What it may.
        max_bytes: u64,
    },
    /// The disk has failed, or is full.
    Disk {
        /// The file or the directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl std::fmt::Display for SpoolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpoolError::Full { bytes, max_bytes } => {
                write!(
                    f,
                    "{bytes} bytes of seconds wait for the controller to keep them, and {max_bytes} may"
                )
            }
            SpoolError::Disk { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for SpoolError {}

/// An agent's messages of one run in the order in which they were told.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    /// The oldest first; the last one is written to.
    segments: VecDeque<Segment>,
    /// Of the next message.
    next: u64,
    max_bytes: u64,
}

impl Spool {
    /// The spool in that folder, which is made where there is none. What an agent before this one left in it is taken up: a message
    /// that was cut off as it was written, and whatever is behind it, is not.
    ///
    /// # Errors
    /// The disk's.
    pub fn open(folder: &Path, max_bytes: u64) -> Result<Spool, SpoolError> {
        let failed = |error| SpoolError::Disk { path: folder.to_path_buf(), error };
        fs::create_dir_all(folder).map_err(failed)?;
        let mut firsts = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            firsts.extend(name.to_str().and_then(segment::first_of_name));
        }
        firsts.sort_unstable();
        let mut segments: VecDeque<Segment> = VecDeque::new();
        for first in firsts {
            let follows = segments.back().is_none_or(|before| before.next() == first);
            if follows {
                segments.push_back(Segment::open(folder, first)?);
            } else {
                // What comes after a gap would be told out of order.
                Segment::open(folder, first)?.remove()?;
            }
        }
        let next = segments.back().map_or(0, Segment::next);
        Ok(Spool { folder: folder.to_path_buf(), segments, next, max_bytes })
    }

    /// Takes a message; gives its number.
    ///
    /// # Errors
    /// It is full, or the disk has failed. The message is not in it then.
    pub fn append(&mut self, message: &[u8]) -> Result<u64, SpoolError> {
        let bytes = self.bytes();
        if bytes + message.len() as u64 > self.max_bytes {
            return Err(SpoolError::Full { bytes, max_bytes: self.max_bytes });
        }
        if self.segments.back().is_none_or(|last| last.bytes() >= SEGMENT_BYTES) {
            self.segments.push_back(Segment::begin(&self.folder, self.next)?);
        }
        if let Some(last) = self.segments.back_mut() {
            last.append(message)?;
        }
        self.next += 1;
        Ok(self.next - 1)
    }

    /// The messages from that number on, the oldest first, at most as many as come to `max_bytes` (and one at least): those that are
    /// to be told again.
    ///
    /// # Errors
    /// The disk's.
    pub fn from(&self, number: u64, max_bytes: usize) -> Result<Vec<(u64, Vec<u8>)>, SpoolError> {
        let mut found = Vec::new();
        let mut bytes = 0;
        for segment in self.segments.iter().filter(|segment| segment.next() > number) {
            for (number, message) in segment.messages_from(number)? {
                bytes += message.len();
                if bytes > max_bytes && !found.is_empty() {
                    return Ok(found);
                }
                found.push((number, message));
            }
        }
        Ok(found)
    }

    /// All messages below that number are kept elsewhere: files that hold nothing else are removed.
    ///
    /// # Errors
    /// The disk's.
    pub fn forget_before(&mut self, number: u64) -> Result<(), SpoolError> {
        // The one that is written to stays, so that numbers go on from where they were.
        while self.segments.len() > 1 && self.segments.front().is_some_and(|oldest| oldest.next() <= number) {
            if let Some(oldest) = self.segments.pop_front() {
                oldest.remove()?;
            }
        }
        Ok(())
    }

    /// The number that the next message will have.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The oldest message that is still there; [`Self::next`] where there is none.
    pub fn first(&self) -> u64 {
        self.segments.front().map_or(self.next, Segment::first)
    }

    /// How much it takes on the disk.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(Segment::bytes).sum()
    }

    /// Removes all of it: everything in it is kept elsewhere, or nobody wants it.
    ///
    /// # Errors
    /// The disk's.
    pub fn remove(self) -> Result<(), SpoolError> {
        self.segments.into_iter().try_for_each(Segment::remove)?;
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SpoolError::Disk { path: self.folder, error })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;

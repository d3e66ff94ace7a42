//! One file of a spool: messages one after the other, each behind its length and a sum over it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::SpoolError;

/// Length and CRC-32, both little-endian.
const HEAD_BYTES: u64 = 8;

/// Longer messages are damage: a second is some kilobytes.
const MAX_MESSAGE_BYTES: u64 = 64 << 20;

const ENDING: &str = ".spool";

#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: File,
    /// The number of its first message.
    first: u64,
    /// Where each message's head begins.
    starts: Vec<u64>,
    bytes: u64,
}

/// The number of the first message of a file of that name, where it is a segment's.
pub(super) fn first_of_name(name: &str) -> Option<u64> {
    name.strip_suffix(ENDING)?.parse().ok()
}

impl Segment {
    /// A new one, for its owner alone.
    pub(super) fn begin(folder: &Path, first: u64) -> Result<Segment, SpoolError> {
        let path = path(folder, first);
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&path);
        let file = opened.map_err(|error| SpoolError::Disk { path: path.clone(), error })?;
        Ok(Segment { path, file, first, starts: Vec::new(), bytes: 0 })
    }

    /// One that is there; what is not whole at its end is cut off.
    pub(super) fn open(folder: &Path, first: u64) -> Result<Segment, SpoolError> {
        let path = path(folder, first);
        let failed = |error| SpoolError::Disk { path: path.clone(), error };
        let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let (mut starts, mut at) = (Vec::new(), 0);
        while let Some(length) = whole_message(&content[at as usize..]) {
            starts.push(at);
            at += HEAD_BYTES + length;
        }
        file.set_len(at).map_err(failed)?;
        Ok(Segment { path, file, first, starts, bytes: at })
    }

    /// Adds a message at the end. Where that fails nothing of it stays.
    pub(super) fn append(&mut self, message: &[u8]) -> Result<(), SpoolError> {
        let mut record = Vec::with_capacity(HEAD_BYTES as usize + message.len());
        record.extend((message.len() as u32).to_le_bytes());
        record.extend(sum(message).to_le_bytes());
        record.extend(message);
        // At the place where the last whole one ends: what was written of one that failed is written over.
        let written = self.file.write_all_at(&record, self.bytes);
        written.map_err(|error| SpoolError::Disk { path: self.path.clone(), error })?;
        self.starts.push(self.bytes);
        self.bytes += record.len() as u64;
        Ok(())
    }

    /// Its messages from that number on, with theirs.
    pub(super) fn messages_from(&self, number: u64) -> Result<Vec<(u64, Vec<u8>)>, SpoolError> {
        let skipped = number.saturating_sub(self.first) as usize;
        let mut found = Vec::new();
        for (index, start) in self.starts.iter().enumerate().skip(skipped) {
            let end = self.starts.get(index + 1).copied().unwrap_or(self.bytes);
            let mut message = vec![0; (end - start - HEAD_BYTES) as usize];
            let read = self.file.read_exact_at(&mut message, start + HEAD_BYTES);
            read.map_err(|error| SpoolError::Disk { path: self.path.clone(), error })?;
            found.push((self.first + index as u64, message));
        }
        Ok(found)
    }

    pub(super) fn remove(self) -> Result<(), SpoolError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SpoolError::Disk { path: self.path, error })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The number after its last message's.
    pub(super) fn next(&self) -> u64 {
        self.first + self.starts.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

fn path(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}{ENDING}"))
}

/// The length of the message at the beginning of `bytes`, where all of it is there and nothing of it is damaged.
fn whole_message(bytes: &[u8]) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    let [a, b, c, d, e, f, g, h] = *head;
    let (length, expected) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    let message = rest.get(..length as usize)?;
    (u64::from(length) <= MAX_MESSAGE_BYTES && sum(message) == expected).then_some(length.into())
}

fn sum(message: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(message);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_full_takes_nothing_and_nothing_is_believed_to_be_there() {
        let path = PathBuf::from("/dev/full");
        let file = OpenOptions::new().read(true).write(true).open(&path).expect("the kernel has it");
        let mut segment = Segment { path, file, first: 7, starts: Vec::new(), bytes: 0 };
        let failed = segment.append(b"a message").expect_err("there is no room");
        assert!(failed.to_string().starts_with("/dev/full: No space left"), "{failed}");
        assert_eq!((segment.next(), segment.bytes()), (7, 0));
    }
}

//! A small kernel file that is read again and again: opened once, one buffer.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// An open file of procfs, sysfs or cgroupfs. Reading at offset 0 makes the kernel write its text anew.
#[derive(Debug)]
pub(crate) struct Reread {
    file: File,
    buffer: Vec<u8>,
}

impl Reread {
    /// `None` when it can't be opened: another kernel, another privilege.
    pub(crate) fn open(path: impl AsRef<Path>) -> Option<Reread> {
        Some(Reread { file: File::open(path).ok()?, buffer: vec![0; 1024] })
    }

    /// The whole text, as it is now; `None` when what it is about no longer exists.
    pub(crate) fn text(&mut self) -> Option<&str> {
        let mut length = 0;
        loop {
            match self.file.read_at(&mut self.buffer[length..], length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
            if length == self.buffer.len() {
                self.buffer.resize(2 * length, 0);
            }
        }
        std::str::from_utf8(&self.buffer[..length]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_longer_than_the_buffer_is_read_to_its_end() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("long");
        let text = "0123456789".repeat(1000);
        std::fs::write(&path, &text).expect("the file is writable");
        let mut file = Reread::open(&path).expect("it exists");
        assert_eq!(file.text(), Some(text.as_str()));
        std::fs::write(&path, "short").expect("the file is writable");
        assert_eq!(file.text(), Some("short"), "the second reading has nothing of the first");
    }

    #[test]
    fn a_file_that_is_not_there_is_no_error() {
        assert!(Reread::open("/proc/self/no-such-file").is_none());
    }
}

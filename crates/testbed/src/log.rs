//! Servers' logs: their last lines, and the new lines that mean trouble.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::guarded;

/// Enough for the last lines, whatever the log's length.
const TAIL_BYTES: u64 = 16 * 1024;
/// A server that writes more than this between two looks is in trouble that other checks see.
const NEWS_BYTES: u64 = 1024 * 1024;

/// The last `count` lines that are not empty.
pub(crate) fn tail(path: &Path, count: usize) -> Vec<String> {
    let bytes = end(path, TAIL_BYTES);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].iter().map(|line| line.to_string()).collect()
}

/// The last lines of each log, in the logs' order: a server that fails early writes to its console, later to its log.
pub(crate) fn tails(logs: &[PathBuf], count: usize) -> Vec<String> {
    logs.iter().flat_map(|log| tail(log, count)).collect()
}

/// The last bytes of a log, at most `limit`; none of what is no log of its own.
pub(crate) fn end(path: &Path, limit: u64) -> Vec<u8> {
    read_bytes(path, None, limit).map(|(bytes, _)| bytes).unwrap_or_default()
}

/// Bytes from `from` (or the last `limit`), and the offset behind them.
fn read_bytes(path: &Path, from: Option<u64>, limit: u64) -> std::io::Result<(Vec<u8>, u64)> {
    let mut file = guarded::open(path)?;
    let length = file.metadata()?.len();
    let start = from.filter(|from| *from <= length).unwrap_or(0).max(length.saturating_sub(limit));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let end = start + bytes.len() as u64;
    Ok((bytes, end))
}

/// Follows a log.
#[derive(Debug)]
pub(crate) struct Follower {
    path: PathBuf,
    offset: u64,
}

impl Follower {
    /// From the log's beginning.
    pub(crate) fn new(path: PathBuf) -> Follower {
        Follower { path, offset: 0 }
    }

    /// The whole lines written since the last call.
    pub(crate) fn news(&mut self) -> Vec<String> {
        let Ok((bytes, end)) = read_bytes(&self.path, Some(self.offset), NEWS_BYTES) else {
            return Vec::new();
        };
        // A line that is still being written is left for the next call.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset = end - (bytes.len() - whole) as u64;
        String::from_utf8_lossy(&bytes[..whole]).lines().map(str::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    #[test]
    fn news_are_whole_lines_and_come_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("error.log");
        let mut follower = Follower::new(path.clone());
        assert_eq!(follower.news(), Vec::<String>::new(), "a log that does not exist yet has no news");
        let mut log = File::create(&path).expect("a log");
        log.write_all(b"one\ntwo\nthr").expect("a write");
        assert_eq!(follower.news(), ["one", "two"]);
        log.write_all(b"ee\n\xff").expect("a write");
        assert_eq!(follower.news(), ["three"]);
        log.write_all(b"\n").expect("a write");
        assert_eq!(follower.news(), ["\u{fffd}"], "bytes that are no text don't disturb the count");
        assert_eq!(follower.news(), Vec::<String>::new());
        assert_eq!(tail(&path, 2), ["three", "\u{fffd}"]);
    }
}

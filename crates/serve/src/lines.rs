//! Lines of a log: the last ones, and those with some words. Memory is bounded whatever the length of the log and of its lines, and
//! so is the time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::files::end_of;

/// Lines that are shown.
pub(crate) const MAX_LINES: usize = 200;
/// Of a line that is longer, the beginning is shown; words are looked for in it all the same as far as [`MAX_SEARCHED_BYTES`].
const MAX_LINE_CHARS: usize = 1_000;
const MAX_SEARCHED_BYTES: u64 = 64 << 10;
/// The last lines are looked for in so much of the end.
const MAX_END_BYTES: u64 = 1 << 20;
/// So long words are looked for at once; who goes on gets more.
pub(crate) const SEARCH_TIME: Duration = Duration::from_secs(2);
/// Lines between two looks at the clock.
const LINES_A_LOOK: u64 = 1_000;

/// A line as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Line {
    /// From 1, in the whole file; absent where the lines before it were not counted.
    pub(crate) number: Option<u64>,
    pub(crate) text: String,
}

/// The lines with some words.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Hits {
    /// The first of them.
    pub(crate) lines: Vec<Line>,
    /// How many more there are in what was looked through.
    pub(crate) more: u64,
    /// How much was looked through, from the beginning of the file.
    pub(crate) bytes: u64,
    /// How many lines that are.
    pub(crate) number: u64,
    /// All of the file was.
    pub(crate) whole: bool,
}

/// The last lines of a file, and whether there are others before them; nothing where it is no text.
///
/// # Errors
/// It can't be read.
pub(crate) fn tail(file: File) -> io::Result<Option<(Vec<Line>, bool)>> {
    let (bytes, cut) = end_of(file, MAX_END_BYTES)?;
    if bytes.contains(&0) {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text.lines().rev().take(MAX_LINES + 1).collect();
    // The first one may have lost its beginning.
    let more = lines.len() > MAX_LINES || cut;
    if more {
        lines.pop();
    }
    let shown = lines.into_iter().rev().map(|line| Line { number: None, text: shown(line) });
    Ok(Some((shown.collect(), more)))
}

/// The lines of a file in which all of `words` occur, whatever their case, from byte `from` on, before which there are `number` lines.
///
/// # Errors
/// It can't be read.
pub(crate) fn search(
    mut file: File,
    words: &str,
    from: u64,
    number: u64,
    time: Duration,
) -> io::Result<Hits> {
    let began = Instant::now();
    file.seek(SeekFrom::Start(from))?;
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut hits = Hits { bytes: from, number, ..Hits::default() };
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut read = (&mut reader).take(MAX_SEARCHED_BYTES).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            hits.whole = true;
            return Ok(hits);
        }
        if line.last() != Some(&b'\n') {
            read += skip_line(&mut reader)?;
        }
        hits.bytes += read;
        hits.number += 1;
        let text = String::from_utf8_lossy(&line);
        let lower = text.to_lowercase();
        if words.iter().all(|word| lower.contains(word)) {
            match hits.lines.len() {
                MAX_LINES.. => hits.more += 1,
                _ => hits.lines.push(Line { number: Some(hits.number), text: shown(text.trim_end()) }),
            }
        }
        if hits.number.is_multiple_of(LINES_A_LOOK) && began.elapsed() > time {
            return Ok(hits);
        }
    }
}

/// Reads to the end of a line without keeping it; gives how long that was, in bytes.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let (bytes, is_end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(bytes);
        skipped += bytes as u64;
        if is_end {
            return Ok(skipped);
        }
    }
}

fn shown(line: &str) -> String {
    // A tab is no character that steers anything.
    let mut text: String = line.chars().take(MAX_LINE_CHARS).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text.replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(parts: &[&str]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        parts.iter().for_each(|part| file.write_all(part.as_bytes()).expect("there is room"));
        file
    }

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn the_last_lines_are_shown_and_it_is_said_whether_there_are_others() {
        let tail = |parts: &[&str]| super::tail(file(parts)).expect("it can be read");
        assert_eq!(tail(&[]), Some((Vec::new(), false)));
        let (lines, more) = tail(&["one\n", "two"]).expect("a text");
        assert_eq!((texts(&lines), more), (vec!["one", "two"], false));
        let all: Vec<String> = (0..=MAX_LINES).map(|number| format!("{number}\n")).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let (lines, more) = tail(&all).expect("a text");
        assert_eq!((lines.len(), lines[0].text.as_str(), more), (MAX_LINES, "1", true));
        assert_eq!(tail(&["SQLite\0"]), None, "it is no text");
        let (lines, _) = tail(&[&"x".repeat(5_000)]).expect("a text");
        assert_eq!(lines[0].text.chars().count(), MAX_LINE_CHARS + 1);
    }

    #[test]
    fn lines_with_all_words_are_found_with_their_numbers_and_the_others_counted() {
        let search = |words| {
            super::search(file(&["Error: a\nwarn b\nerror: b", "\nfine\n"]), words, 0, 0, SEARCH_TIME)
        };
        let hits = search("ERROR").expect("it can be read");
        assert_eq!(texts(&hits.lines), ["Error: a", "error: b"]);
        assert_eq!(hits.lines.iter().map(|line| line.number).collect::<Vec<_>>(), [Some(1), Some(3)]);
        assert_eq!((hits.more, hits.number, hits.bytes, hits.whole), (0, 4, 30, true));
        assert_eq!(texts(&search("b error").expect("it can be read").lines), ["error: b"]);
        let many = "hit\n".repeat(MAX_LINES + 7);
        let hits = super::search(file(&[&many]), "hit", 0, 0, SEARCH_TIME).expect("it can be read");
        assert_eq!((hits.lines.len(), hits.more), (MAX_LINES, 7));
    }

    #[test]
    fn a_search_ends_in_time_and_goes_on_from_there() {
        let text = "a line\n".repeat(2_500) + "the last one\n";
        let first = search(file(&[&text]), "last", 0, 0, Duration::ZERO).expect("it can be read");
        assert!(!first.whole && first.lines.is_empty() && first.number == LINES_A_LOOK, "{first:?}");
        let rest =
            search(file(&[&text]), "last", first.bytes, first.number, SEARCH_TIME).expect("it can be read");
        assert_eq!((rest.lines[0].number, rest.whole), (Some(2_501), true));
    }

    #[test]
    fn a_line_of_any_length_takes_no_more_memory() {
        let text = format!("begin {}\nnext\n", "x".repeat(300_000));
        let hits = search(file(&[&text]), "begin", 0, 0, SEARCH_TIME).expect("it can be read");
        assert_eq!((hits.lines.len(), hits.lines[0].number, hits.number), (1, Some(1), 2));
        assert_eq!(hits.bytes, text.len() as u64);
    }
}

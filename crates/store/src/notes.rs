//! `notes.json`: what people say of a run or a study, in its directory, so that a copy of it keeps that.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use model::{Problem, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::touch::touch;
use crate::{disk, fault};

/// The version of the file.
const NOTES_FORMAT: u32 = 2;
const FILE: &str = "notes.json";
/// A longer note is a document, which has its place elsewhere.
const MAX_NOTE_CHARS: usize = 4_000;
const MAX_TAG_CHARS: usize = 40;
const MAX_TAGS: usize = 50;
const MAX_MARKS: usize = 50;
/// A longer one has no room in a chart.
const MAX_MARK_CHARS: usize = 200;

/// What people say of a run or a study.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notes {
    /// In their words; empty when nobody said anything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    /// It is not removed before that is taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Other runs of its setup are held against it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub baseline: bool,
    /// What they say of seconds of it, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// What people say of a second of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// The second, since the run's start.
    pub second: u32,
    /// What happened, in their words.
    pub text: String,
}

#[derive(Serialize, Deserialize)]
struct File {
    format: u32,
    #[serde(flatten)]
    notes: Notes,
}

impl Notes {
    /// Whether nobody said anything.
    pub fn is_empty(&self) -> bool {
        *self == Notes::default()
    }

    /// Says something of a second of the run in place of what was said of it; with an empty text nothing any more.
    pub fn mark(&mut self, second: u32, text: &str) {
        self.marks.retain(|mark| mark.second != second);
        if !text.trim().is_empty() {
            self.marks.push(Mark { second, text: text.trim().to_string() });
        }
        self.marks.sort();
    }

    /// Adds tags and takes others back, whether they were there or not.
    pub fn tag(&mut self, add: &[String], remove: &[String]) {
        self.tags.extend(add.iter().cloned());
        self.tags.retain(|tag| !remove.contains(tag));
    }

    /// Those in `directory`; empty where there are none.
    ///
    /// # Errors
    /// The file can't be read, is damaged, or of a newer format.
    pub fn read(directory: &Path) -> Result<Notes> {
        let path = directory.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Notes::default()),
            Err(error) => return Err(fault::io(&error, "reading notes", &path).into()),
        };
        let damaged = |error: serde_json::Error| {
            Problem::environment(format!("the notes are damaged: {error}"))
                .file(path.display().to_string())
                .remedy("mend the file or remove it; nothing else is in it")
        };
        let json: serde_json::Value = serde_json::from_str(&text).map_err(damaged)?;
        let format = json.get("format").and_then(serde_json::Value::as_i64).unwrap_or(0);
        if format > i64::from(NOTES_FORMAT) {
            return Err(fault::newer(&path, format, i64::from(NOTES_FORMAT)).into());
        }
        Ok(serde_json::from_value::<File>(json).map_err(damaged)?.notes)
    }

    /// Keeps them in `directory` in place of those that are there; empty ones leave no file.
    ///
    /// # Errors
    /// A note or a tag that is too long or no text to be shown; no room on the disk.
    pub fn write(&self, directory: &Path) -> Result<()> {
        self.check()?;
        let path = directory.join(FILE);
        if self.is_empty() {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(fault::io(&error, "removing notes", &path).into());
                }
                _ => touch(directory),
            }
            return Ok(());
        }
        let file = File { format: NOTES_FORMAT, notes: self.clone() };
        let mut text = serde_json::to_string_pretty(&file)
            .map_err(|error| Problem::bug(format!("notes can't be written as JSON: {error}")))?;
        text.push('\n');
        disk::replace(&path, text.as_bytes(), true)?;
        touch(directory);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let mut problems = Vec::new();
        if self.note.chars().count() > MAX_NOTE_CHARS {
            problems
                .push(Problem::recipe(format!("a note has at most {MAX_NOTE_CHARS} characters")).key("note"));
        }
        if self.tags.len() > MAX_TAGS {
            problems.push(Problem::recipe(format!("there are at most {MAX_TAGS} tags")).key("tag"));
        }
        if self.marks.len() > MAX_MARKS {
            let what = format!("there are at most {MAX_MARKS} notes at a second");
            problems.push(Problem::recipe(what).key("marks"));
        }
        if self.marks.iter().any(|mark| mark.text.chars().count() > MAX_MARK_CHARS) {
            let what = format!("a note at a second has at most {MAX_MARK_CHARS} characters");
            problems.push(Problem::recipe(what).key("marks"));
        }
        problems.extend(
            self.tags.iter().filter_map(|tag| tag_problem(tag)).map(|what| Problem::recipe(what).key("tag")),
        );
        model::Problems::check(problems)
    }
}

/// What is wrong with a tag.
fn tag_problem(tag: &str) -> Option<String> {
    let is_of_tags = |one: char| one.is_alphanumeric() || "-_.:/+".contains(one);
    let shown = tag.escape_debug();
    match tag.chars().count() {
        0 => Some("a tag has at least one character".to_string()),
        1..=MAX_TAG_CHARS if tag.chars().all(is_of_tags) => None,
        1..=MAX_TAG_CHARS => Some(format!("the tag `{shown}` may have letters, digits and - _ . : / + only")),
        _ => Some(format!("the tag `{shown}` has more than {MAX_TAG_CHARS} characters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> Notes {
        Notes {
            note: "before the upgrade".to_string(),
            tags: BTreeSet::from(["night".to_string()]),
            pinned: true,
            baseline: true,
            marks: vec![Mark { second: 42, text: "backup begins".to_string() }],
        }
    }

    #[test]
    fn notes_of_format_1_still_open() {
        let directory = tempfile::tempdir().expect("a directory");
        let text = "{\"format\": 1, \"note\": \"before\", \"tags\": [\"night\"], \"pinned\": true}";
        fs::write(directory.path().join(FILE), text).expect("a file");
        let notes = Notes::read(directory.path()).expect("an old file");
        assert_eq!((notes.note.as_str(), notes.pinned, notes.tags.len()), ("before", true, 1));
        assert!(!notes.baseline && notes.marks.is_empty());
    }

    #[test]
    fn a_second_has_one_mark_and_marks_are_in_the_order_of_time() {
        let mut notes = notes();
        notes.mark(7, " warm ");
        notes.mark(42, "backup ends");
        let said: Vec<_> = notes.marks.iter().map(|mark| (mark.second, mark.text.as_str())).collect();
        assert_eq!(said, [(7, "warm"), (42, "backup ends")]);
        notes.mark(7, "");
        assert_eq!(notes.marks.len(), 1);
    }

    #[test]
    fn notes_are_read_as_they_were_written_and_leave_nothing_when_they_are_taken_back() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(Notes::read(directory.path()), Ok(Notes::default()));
        notes().write(directory.path()).expect("there is room");
        assert_eq!(Notes::read(directory.path()), Ok(notes()));
        Notes::default().write(directory.path()).expect("it can be removed");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 0);
        Notes::default().write(directory.path()).expect("there is nothing to be removed");
    }

    #[test]
    fn notes_that_are_damaged_or_newer_are_told_and_not_lost() {
        let directory = tempfile::tempdir().expect("a directory");
        for text in ["{", "{\"format\": 99, \"note\": \"\"}", "{\"format\": 1, \"tags\": 3}"] {
            fs::write(directory.path().join(FILE), text).expect("a file");
            let problems = Notes::read(directory.path()).expect_err(text).to_string();
            assert!(problems.contains("notes"), "{text}: {problems}");
        }
    }

    #[test]
    fn every_tag_that_is_none_is_told_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let tags = ["", "a b", "fine-1.2", &"x".repeat(41)].map(str::to_string);
        let wrong = Notes { tags: BTreeSet::from(tags), note: "n".repeat(4_001), ..Notes::default() };
        let problems = wrong.write(directory.path()).expect_err("four are wrong");
        assert_eq!(problems.iter().count(), 4, "{problems}");
        assert_eq!(Notes::read(directory.path()), Ok(Notes::default()), "nothing is kept of it");
    }
}

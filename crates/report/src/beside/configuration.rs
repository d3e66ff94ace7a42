//! The rendered configuration files that differ from those of the base, line by line, without what is each run's own.

use std::collections::{BTreeMap, BTreeSet};

use model::RunRecord;
use schemars::JsonSchema;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::own::without_own;

/// Lines around a change.
const CONTEXT_LINES: usize = 2;

/// The maximum number of lines of a difference that are kept.
const MAX_LINES: usize = 200;

/// Files longer than this are not set against each other line by line.
const MAX_BYTES: usize = 400_000;

/// A configuration file that differs from that of the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileDifference {
    /// Its path in the run's directory: `conf/web/conf/httpd.conf`.
    pub file: String,
    /// The indices of the runs that differ from the base in this way.
    pub runs: Vec<usize>,
    /// What became of it.
    pub change: FileChange,
    /// Lines that only these runs have.
    pub added: usize,
    /// Lines that only the base has.
    pub removed: usize,
    /// A unified difference, the base first; empty where a whole file came or went, or it is too long. Words in capitals
    /// (`PORT`, `INSTANCES`) stand for what every run has of its own.
    pub diff: String,
    /// Lines of the difference that are left out at its end.
    pub left_out: usize,
}

/// What became of a file of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// It has other lines.
    Changed,
    /// The base has no such file.
    Added,
    /// Only the base has it.
    Removed,
}

/// The files of `records` that differ from those of the one with the index `base`, by their paths.
pub(super) fn of(records: &[&RunRecord], base: usize) -> Vec<FileDifference> {
    let all: Vec<BTreeMap<&str, String>> = records.iter().map(|record| files(record)).collect();
    let Some(of_base) = all.get(base) else { return Vec::new() };
    let paths: BTreeSet<&str> = all.iter().flat_map(|files| files.keys().copied()).collect();
    let mut found: Vec<FileDifference> = Vec::new();
    for path in paths {
        let first = found.len();
        for (index, files) in all.iter().enumerate() {
            let Some(new) = difference(path, of_base.get(path), files.get(path)) else { continue };
            let like = |one: &&mut FileDifference| {
                (one.change, &one.diff, one.added) == (new.change, &new.diff, new.added)
            };
            match found.iter_mut().skip(first).find(like) {
                Some(same) => same.runs.push(index),
                None => found.push(FileDifference { runs: vec![index], ..new }),
            }
        }
    }
    found
}

fn files(record: &RunRecord) -> BTreeMap<&str, String> {
    let files = record.setup.tiers.iter().flat_map(|tier| &tier.files);
    files.map(|(path, text)| (path.as_str(), without_own(text))).collect()
}

fn difference(path: &str, base: Option<&String>, other: Option<&String>) -> Option<FileDifference> {
    let whole = |change, added: &str, removed: &str| FileDifference {
        file: path.to_string(),
        runs: Vec::new(),
        change,
        added: added.lines().count(),
        removed: removed.lines().count(),
        diff: String::new(),
        left_out: 0,
    };
    match (base, other) {
        (Some(base), Some(other)) if base == other => None,
        (Some(base), Some(other)) if base.len() + other.len() > MAX_BYTES => {
            Some(whole(FileChange::Changed, other, base))
        }
        (Some(base), Some(other)) => Some(lines(whole(FileChange::Changed, "", ""), base, other)),
        (None, Some(other)) => Some(whole(FileChange::Added, other, "")),
        (Some(base), None) => Some(whole(FileChange::Removed, "", base)),
        (None, None) => None,
    }
}

fn lines(unchanged: FileDifference, base: &str, other: &str) -> FileDifference {
    let diff = TextDiff::from_lines(base, other);
    let count = |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let text = diff.unified_diff().context_radius(CONTEXT_LINES).missing_newline_hint(false).to_string();
    let shown: String = text.split_inclusive('\n').take(MAX_LINES).collect();
    let left_out = text.lines().count().saturating_sub(MAX_LINES);
    FileDifference { added, removed, diff: shown, left_out, ..unchanged }
}

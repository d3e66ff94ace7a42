//! The repository as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// Folders that hold nothing of ours: build results, version control, code of others that is kept as it came.
const NOT_OURS: [&str; 4] = [".git", "target", "node_modules", "vendor"];

/// Every text file by its path from the repository's root, with `/` between names.
#[derive(Debug, Clone, Default)]
pub struct House {
    files: BTreeMap<String, String>,
    /// Files that are no text, such as pictures: only that they are there.
    others: BTreeSet<String>,
}

impl House {
    /// A house of the given files.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> House {
        let owned = files.into_iter().map(|(path, text)| (path.to_string(), text.to_string()));
        House { files: owned.collect(), others: BTreeSet::new() }
    }

    /// Reads the repository at `root`; of what is not UTF-8 text only its name.
    pub fn read(root: &Path) -> io::Result<House> {
        let mut house = House::default();
        house.read_folder(root, "")?;
        Ok(house)
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> io::Result<()> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() && !NOT_OURS.contains(&name.as_str()) {
                self.read_folder(root, &path)?;
            } else if kind.is_file() {
                match String::from_utf8(fs::read(entry.path())?) {
                    Ok(text) => _ = self.files.insert(path, text),
                    Err(_) => _ = self.others.insert(path),
                }
            }
        }
        Ok(())
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is such a file or folder.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path)
            || self.others.contains(path)
            || self.files.keys().any(|file| file.starts_with(&folder))
    }

    /// All files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose path begins and ends so.
    pub fn matching<'a>(&'a self, start: &'a str, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files().filter(move |(path, _)| path.starts_with(start) && path.ends_with(end))
    }

    /// Names of the folders directly in `folder`.
    pub fn folders(&self, folder: &str) -> Vec<&str> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let inner =
            |path: &'_ String| path.strip_prefix(&prefix)?.split_once('/').map(|(name, _)| name.len());
        let mut found: Vec<&str> = self
            .files
            .keys()
            .filter_map(|path| inner(path).map(|length| &path[prefix.len()..prefix.len() + length]))
            .collect();
        found.dedup();
        found
    }
}

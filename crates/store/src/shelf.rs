//! Directories by their ids, one beside the other: how runs and studies are named, found and removed.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use model::document::nearest;
use model::{Problem, Problems, Result};

use crate::notes::Notes;
use crate::run::under_way;
use crate::{disk, fault, id};

/// What a directory is called while it is being removed.
const REMOVING: &str = ".removing-";

/// A directory whose directories are runs, or studies.
pub(crate) struct Shelf {
    /// Where they are.
    pub(crate) directory: PathBuf,
    /// What one of them is called: `run`.
    pub(crate) noun: &'static str,
    /// What several of them are called.
    pub(crate) nouns: &'static str,
    /// What makes the first one.
    pub(crate) maker: &'static str,
}

impl Shelf {
    /// Makes the directory when it is missing.
    pub(crate) fn make(&self) -> Result<()> {
        Ok(fs::create_dir_all(&self.directory)
            .map_err(|error| fault::io(&error, "making", &self.directory))?)
    }

    /// All ids, sorted, so the oldest first.
    pub(crate) fn ids(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.directory)
            .map_err(|error| fault::io(&error, &format!("listing the {}", self.nouns), &self.directory))?;
        let mut ids: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| id::check(name).is_ok())
            .collect();
        ids.sort();
        Ok(ids)
    }

    /// The directory of that id, of the only id that begins with `name`, or of the last one for `last`.
    pub(crate) fn find(&self, name: &str) -> Result<PathBuf> {
        Ok(self.directory.join(self.resolve(name)?))
    }

    /// Removes one for good; gives the bytes that are free now. `name` as for [`Self::find`], except `last`: a word
    /// that means another one every day is too short for something that can't be undone.
    pub(crate) fn remove(&self, name: &str) -> Result<u64> {
        self.take(&self.removable(name)?)
    }

    /// Removes several for good, all or none; gives their ids, each with its bytes. Names as for [`Self::remove`].
    pub(crate) fn remove_all(&self, names: &[String]) -> Result<Vec<(String, u64)>> {
        let (mut ids, mut problems) = (BTreeSet::new(), Vec::new());
        for name in names {
            match self.removable(name) {
                Ok(id) => _ = ids.insert(id),
                Err(wrong) => problems.extend(wrong.into_vec()),
            }
        }
        Problems::check(problems)?;
        ids.into_iter().map(|id| Ok((id.clone(), self.take(&id)?))).collect()
    }

    /// The id of what may be removed.
    fn removable(&self, name: &str) -> Result<String> {
        let id = if name == "last" { name.to_string() } else { self.resolve(name)? };
        id::check(&id)?;
        let directory = self.directory.join(&id);
        if under_way(&directory) {
            return Err(Problem::environment(format!("{} {id} is still under way", self.noun))
                .remedy("end it first, with Ctrl-C in its terminal")
                .into());
        }
        if Notes::read(&directory).is_ok_and(|notes| notes.pinned) {
            return Err(Problem::environment(format!(
                "{} {id} is pinned, so that nobody removes it",
                self.noun
            ))
            .remedy(format!("plimsoll note {id} --unpin"))
            .into());
        }
        Ok(id)
    }

    /// Removes what may be removed; gives its bytes.
    fn take(&self, id: &str) -> Result<u64> {
        let directory = self.directory.join(id);
        let bytes = disk::size_bytes(&directory);
        let doomed = self.directory.join(format!("{REMOVING}{id}"));
        // Renamed first: a removal that is cut short never leaves half a run in the list.
        fs::rename(&directory, &doomed).map_err(|error| fault::io(&error, "removing", &directory))?;
        fs::remove_dir_all(&doomed).map_err(|error| fault::io(&error, "removing", &doomed))?;
        self.sweep();
        Ok(bytes)
    }

    /// The full id behind what the user wrote.
    fn resolve(&self, name: &str) -> Result<String> {
        let ids = self.ids()?;
        if name == "last" {
            return ids.last().cloned().ok_or_else(|| self.none_yet().into());
        }
        if ids.iter().any(|id| id == name) {
            return Ok(name.to_string());
        }
        let matches: Vec<&String> =
            ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
        match matches.as_slice() {
            [only] => Ok((*only).clone()),
            [] if ids.is_empty() => Err(self.none_yet().into()),
            [] => {
                let near = nearest(name, ids.iter().map(String::as_str));
                let remedy = match (near, ids.last()) {
                    (Some(near), _) => format!("`{near}`"),
                    (None, last) => format!("`last`, which is {}", last.map_or("none", String::as_str)),
                };
                Err(Problem::recipe(format!("there is no {} `{}`", self.noun, name.escape_debug()))
                    .remedy(remedy)
                    .into())
            }
            several => {
                let shown: Vec<&str> = several.iter().take(5).map(|id| id.as_str()).collect();
                let what = format!("`{name}` begins the names of {} {}", several.len(), self.nouns);
                Err(Problem::recipe(what).remedy(format!("one of: {}", shown.join(", "))).into())
            }
        }
    }

    fn none_yet(&self) -> Problem {
        Problem::recipe(format!("there are no {} in {} yet", self.nouns, self.directory.display()))
            .remedy(format!("`{}` makes one", self.maker))
    }

    /// Removes what removals that were cut short have left; what another process removes meanwhile is no error.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(REMOVING) {
                _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// What can't be read, in a line for a list.
pub(crate) fn why(problems: &model::Problems) -> String {
    problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>().join("; ")
}

//! All runs below a home.

use std::fs;
use std::path::{Path, PathBuf};

use model::document::nearest;
use model::{Problem, Result, RunRecord};

use crate::index::{self, Rows};
use crate::run::{self, Run};
use crate::summary::RunSummary;
use crate::writer::RunWriter;
use crate::{disk, fault, id};

/// What a run's directory is called while it is being removed.
const REMOVING: &str = ".removing-";

/// All runs below a home. Any number of processes may use it at once.
pub struct Runs {
    home: PathBuf,
}

impl Runs {
    /// The runs below `home`, which is made when it is missing.
    pub fn open(home: &Path) -> Result<Runs> {
        let runs = Runs { home: home.to_path_buf() };
        let directory = runs.directory();
        fs::create_dir_all(&directory).map_err(|error| fault::io(&error, "making", &directory))?;
        Ok(runs)
    }

    /// Where the runs are kept.
    pub fn directory(&self) -> PathBuf {
        self.home.join("runs")
    }

    /// Begins to keep a run: `record` says what is to be done, with [`model::record::Outcome::Unfinished`].
    pub fn create(&self, record: &RunRecord) -> Result<RunWriter> {
        RunWriter::create(&self.directory(), record)
    }

    /// Every run in a line, the oldest first; also those whose record can't be read, with the reason.
    pub fn list(&self) -> Result<Vec<RunSummary>> {
        let path = self.home.join("index.sqlite");
        let known = index::load(&path);
        let mut rows = Rows::new();
        for id in self.ids()? {
            let directory = self.directory().join(&id);
            let stamp = index::stamp(&directory);
            let summary = match known.get(&id) {
                Some((old, summary)) if *old == stamp && !unsettled(summary) => summary.clone(),
                _ => summarise(&id, &directory),
            };
            rows.insert(id, (stamp, summary));
        }
        if rows != known {
            index::save(&path, &rows);
        }
        Ok(rows.into_values().map(|(_, summary)| summary).collect())
    }

    /// The run of that id, of the only id that begins with `name`, or the last one for `last`.
    pub fn find(&self, name: &str) -> Result<Run> {
        Run::open(&self.directory().join(self.resolve(name)?))
    }

    /// Removes a run for good; gives the bytes that are free now. `name` as for [`Self::find`], except `last`: a word
    /// that means another run every day is too short for something that can't be undone.
    pub fn remove(&self, name: &str) -> Result<u64> {
        let id = if name == "last" { name.to_string() } else { self.resolve(name)? };
        id::check(&id)?;
        let directory = self.directory().join(&id);
        if run::under_way(&directory) {
            return Err(Problem::environment(format!("run {id} is still under way"))
                .remedy("end it first, with Ctrl-C in its terminal")
                .into());
        }
        let bytes = disk::size_bytes(&directory);
        let doomed = self.directory().join(format!("{REMOVING}{id}"));
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
                Err(Problem::recipe(format!("there is no run `{}`", name.escape_debug()))
                    .remedy(remedy)
                    .into())
            }
            several => {
                let shown: Vec<&str> = several.iter().take(5).map(|id| id.as_str()).collect();
                let what = format!("`{name}` begins the names of {} runs", several.len());
                Err(Problem::recipe(what).remedy(format!("one of: {}", shown.join(", "))).into())
            }
        }
    }

    /// Ids of all runs, sorted, so the oldest first.
    fn ids(&self) -> Result<Vec<String>> {
        let directory = self.directory();
        let entries =
            fs::read_dir(&directory).map_err(|error| fault::io(&error, "listing the runs", &directory))?;
        let mut ids: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| id::check(name).is_ok())
            .collect();
        ids.sort();
        Ok(ids)
    }

    fn none_yet(&self) -> Problem {
        Problem::recipe(format!("there are no runs in {} yet", self.directory().display()))
            .remedy("`plimsoll run KIT` makes one")
    }

    /// Removes what removals that were cut short have left; what another process removes meanwhile is no error.
    fn sweep(&self) {
        for entry in fs::read_dir(self.directory()).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(REMOVING) {
                _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Whether a cached summary may change without a change of its stamp: files grow, and the tool may have died since.
fn unsettled(summary: &RunSummary) -> bool {
    summary.under_way || summary.outcome.is_none_or(|outcome| outcome == model::record::Outcome::Unfinished)
}

fn summarise(id: &str, directory: &Path) -> RunSummary {
    match Run::open(directory) {
        Ok(run) => RunSummary::of(run.record(), directory),
        Err(problems) => {
            let why = problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>().join("; ");
            RunSummary::unreadable(id, directory, why)
        }
    }
}

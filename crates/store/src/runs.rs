//! All runs below a home.

use std::path::{Path, PathBuf};

use model::{Result, RunRecord};

use crate::index::{self, Rows};
use crate::run::Run;
use crate::shelf::{self, Shelf};
use crate::summary::RunSummary;
use crate::writer::RunWriter;

/// All runs below a home; a study's directory is the home of its trials' runs. Any number of processes may use it at
/// once.
pub struct Runs {
    home: PathBuf,
    shelf: Shelf,
}

impl Runs {
    /// The runs below `home`, which is made when it is missing.
    pub fn open(home: &Path) -> Result<Runs> {
        let shelf =
            Shelf { directory: home.join("runs"), noun: "run", nouns: "runs", maker: "plimsoll run KIT" };
        shelf.make()?;
        Ok(Runs { home: home.to_path_buf(), shelf })
    }

    /// Where the runs are kept.
    pub fn directory(&self) -> PathBuf {
        self.shelf.directory.clone()
    }

    /// Ids of all runs, the oldest first.
    pub fn ids(&self) -> Result<Vec<String>> {
        self.shelf.ids()
    }

    /// Begins to keep a run: `record` says what is to be done, with [`model::record::Outcome::Unfinished`].
    pub fn create(&self, record: &RunRecord) -> Result<RunWriter> {
        RunWriter::create(&self.shelf.directory, record)
    }

    /// Every run in a line, the oldest first; also those whose record can't be read, with the reason.
    pub fn list(&self) -> Result<Vec<RunSummary>> {
        let path = self.home.join("index.sqlite");
        let known = index::load(&path);
        let mut rows = Rows::new();
        for id in self.shelf.ids()? {
            let directory = self.shelf.directory.join(&id);
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
        Run::open(&self.shelf.find(name)?)
    }

    /// Removes a run for good; gives the bytes that are free now. `name` as for [`Self::find`], except `last`: a word
    /// that means another run every day is too short for something that can't be undone.
    pub fn remove(&self, name: &str) -> Result<u64> {
        self.shelf.remove(name)
    }
}

/// Whether a cached summary may change without a change of its stamp: files grow, and the tool may have died since.
fn unsettled(summary: &RunSummary) -> bool {
    summary.under_way || summary.outcome.is_none_or(|outcome| outcome == model::record::Outcome::Unfinished)
}

fn summarise(id: &str, directory: &Path) -> RunSummary {
    match Run::open(directory) {
        Ok(run) => RunSummary::of(run.record(), directory),
        Err(problems) => RunSummary::unreadable(id, directory, shelf::why(&problems)),
    }
}

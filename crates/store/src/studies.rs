//! All studies below a home.

use std::path::{Path, PathBuf};

use model::record::Outcome;
use model::{Result, StudyRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::notes::Notes;
use crate::shelf::{self, Shelf};
use crate::study::{Study, StudyWriter};
use crate::{disk, run};

/// All studies below a home. Any number of processes may use it at once; one at a time measures a study.
pub struct Studies {
    shelf: Shelf,
}

/// A study in a line, for lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudySummary {
    /// The study's id.
    pub id: String,
    /// RFC 3339, UTC; empty when the record can't be read.
    pub started: String,
    /// `find`, `compare` or `sweep`; empty when the record can't be read.
    pub verb: String,
    /// `dvdstore@1`.
    pub kit: String,
    /// What was measured: the labels of its arms.
    pub arms: Vec<String>,
    /// The data set's size as asked for.
    pub size: String,
    /// Trials that are kept.
    pub trials: usize,
    /// Seconds spent so far, over all sittings.
    pub spent_s: f64,
    /// How it ended; absent when the record can't be read.
    pub outcome: Option<Outcome>,
    /// A living process is still measuring it.
    pub under_way: bool,
    /// The answer in a sentence; what is wrong with the record when it can't be read.
    pub sentence: String,
    /// Bytes of everything kept.
    pub bytes: u64,
    /// What people say of it; nothing where that can't be read.
    #[serde(flatten)]
    pub notes: Notes,
}

impl Studies {
    /// The studies below `home`, which is made when it is missing.
    pub fn open(home: &Path) -> Result<Studies> {
        let directory = home.join("studies");
        let shelf = Shelf { directory, noun: "study", nouns: "studies", maker: "plimsoll find KIT" };
        shelf.make()?;
        Ok(Studies { shelf })
    }

    /// Where the studies are kept.
    pub fn directory(&self) -> PathBuf {
        self.shelf.directory.clone()
    }

    /// Ids of all studies, the oldest first.
    pub fn ids(&self) -> Result<Vec<String>> {
        self.shelf.ids()
    }

    /// Begins to keep a study: `record` says what is asked, with [`Outcome::Unfinished`].
    pub fn create(&self, record: &StudyRecord) -> Result<StudyWriter> {
        StudyWriter::create(&self.shelf.directory, record)
    }

    /// Goes on with a kept study, named as for [`Self::find`]: what it says so far, and its writer.
    ///
    /// # Errors
    /// It can't be read, or a living process is measuring it.
    pub fn resume(&self, name: &str) -> Result<(StudyRecord, StudyWriter)> {
        StudyWriter::resume(&self.shelf.find(name)?)
    }

    /// Every study in a line, the oldest first; also those whose record can't be read, with the reason.
    pub fn list(&self) -> Result<Vec<StudySummary>> {
        let ids = self.shelf.ids()?;
        Ok(ids.into_iter().map(|id| summarise(&id, &self.shelf.directory.join(&id))).collect())
    }

    /// The study that has the run of that id as one of its trials'.
    ///
    /// # Errors
    /// The directory can't be read.
    pub fn of_run(&self, run: &str) -> Result<Option<String>> {
        let has = |id: &String| self.shelf.directory.join(id).join("runs").join(run).is_dir();
        Ok(self.ids()?.into_iter().find(has))
    }

    /// The study of that id, of the only id that begins with `name`, or the last one for `last`.
    pub fn find(&self, name: &str) -> Result<Study> {
        Study::open(&self.shelf.find(name)?)
    }

    /// Removes a study and its runs for good; gives the bytes that are free now. `name` as for [`Self::find`], except
    /// `last`.
    pub fn remove(&self, name: &str) -> Result<u64> {
        self.shelf.remove(name)
    }
}

fn summarise(id: &str, directory: &Path) -> StudySummary {
    let unreadable = StudySummary {
        id: id.to_string(),
        started: String::new(),
        verb: String::new(),
        kit: String::new(),
        arms: Vec::new(),
        size: String::new(),
        trials: 0,
        spent_s: 0.0,
        outcome: None,
        under_way: run::under_way(directory),
        sentence: String::new(),
        bytes: disk::size_bytes(directory),
        notes: Notes::read(directory).unwrap_or_default(),
    };
    let study = match Study::open(directory) {
        Ok(study) => study,
        Err(problems) => return StudySummary { sentence: shelf::why(&problems), ..unreadable },
    };
    let record = study.record();
    StudySummary {
        started: record.started.clone(),
        verb: record.question.verb().to_string(),
        kit: record.setup.kit.clone(),
        arms: record.arms.iter().map(|arm| arm.label.clone()).collect(),
        size: record.setup.size.clone(),
        trials: record.trials.len(),
        spent_s: record.spent_s,
        outcome: Some(record.outcome),
        sentence: record.sentence.clone(),
        ..unreadable
    }
}

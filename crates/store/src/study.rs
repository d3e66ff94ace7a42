//! One study: as it was kept, and while it is measured.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use model::record::study::Trial;
use model::{Problem, Result, StudyRecord};

use crate::run::{LOCK, Run};
use crate::runs::Runs;
use crate::stored::{self, Stored};
use crate::{disk, fault, id};

/// A study as it was kept.
pub type Study = Stored<StudyRecord>;

impl Study {
    /// The run of a trial.
    pub fn run(&self, trial: &Trial) -> Result<Run> {
        id::check(&trial.run)?;
        Run::open(&self.directory.join("runs").join(&trial.run))
    }

    /// The run of the trial of that number.
    pub fn run_of(&self, number: u32) -> Result<Run> {
        let trials = &self.record.trials;
        match trials.iter().find(|trial| trial.number == number) {
            Some(trial) => self.run(trial),
            None => {
                let what = format!("study {} has no trial {number}", self.record.id);
                let numbers = match trials.as_slice() {
                    [] => "it has no trial yet".to_string(),
                    [only] => format!("its only trial is {}", only.number),
                    [first, .., last] => format!("its trials are {} to {}", first.number, last.number),
                };
                Err(Problem::recipe(what).remedy(numbers).into())
            }
        }
    }
}

/// Keeps a study while it is measured. The record on the disk is always a whole one, the old or the new; it is synced
/// each time, which falls between trials. As long as the writer lives, no other
/// process can go on with the study.
pub struct StudyWriter {
    directory: PathBuf,
    /// Held, never read: as long as it lives, others see that the study is under way.
    _lock: File,
}

impl StudyWriter {
    /// Makes the directory of `record` below `studies`.
    pub(crate) fn create(studies: &Path, record: &StudyRecord) -> Result<StudyWriter> {
        id::check(&record.id)?;
        let directory = studies.join(&record.id);
        fs::create_dir(&directory)
            .map_err(|error| fault::io(&error, "making the study's directory", &directory))?;
        let writer = StudyWriter { _lock: lock(&directory)?, directory };
        writer.update(record)?;
        Ok(writer)
    }

    /// Takes the study in `directory` up again.
    pub(crate) fn resume(directory: &Path) -> Result<(StudyRecord, StudyWriter)> {
        // Locked before it is read: what another process still writes would be lost.
        let writer = StudyWriter { _lock: lock(directory)?, directory: directory.to_path_buf() };
        Ok((stored::read(directory)?, writer))
    }

    /// Where the study is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps `bytes` as the file `inner` of the study's directory.
    pub fn keep(&self, inner: &str, bytes: &[u8]) -> Result<()> {
        disk::replace(&disk::below(&self.directory, inner)?, bytes, true)
    }

    /// The file `inner` of the study's directory; absent when there is none.
    pub fn read(&self, inner: &str) -> Result<Option<Vec<u8>>> {
        let path = disk::below(&self.directory, inner)?;
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fault::io(&error, "reading", &path).into()),
        }
    }

    /// The runs of its trials, also of one that was cut short.
    pub fn runs(&self) -> Result<Runs> {
        Runs::open(&self.directory)
    }

    /// Replaces the record by one that knows more, and syncs it: between trials no database is disturbed, and hours of
    /// measuring must not hang on the power staying on.
    pub fn update(&self, record: &StudyRecord) -> Result<()> {
        stored::write(&self.directory, record, true)
    }

    /// Ends the sitting: the final record, and one sync of it. Its runs were synced as they ended.
    pub fn finish(self, record: &StudyRecord) -> Result<PathBuf> {
        stored::write(&self.directory, record, true)?;
        let sync = File::open(&self.directory).and_then(|directory| directory.sync_all());
        sync.map_err(|error| fault::io(&error, "syncing the study", &self.directory))?;
        Ok(self.directory)
    }
}

/// The lock stays when the study has ended: two who wait for one that is removed would each make their own.
fn lock(directory: &Path) -> Result<File> {
    let path = directory.join(LOCK);
    let file = File::create(&path).map_err(|error| fault::io(&error, "making", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::Error(error)) => Err(fault::io(&error, "locking", &path).into()),
        Err(fs::TryLockError::WouldBlock) => {
            let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
            Err(Problem::environment(format!("study {} is still under way", name.unwrap_or_default()))
                .why("another process is measuring it")
                .remedy("end it first, with Ctrl-C in its terminal")
                .into())
        }
    }
}

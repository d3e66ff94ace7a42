//! What a run and a study have in common: a directory, and in it a record as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use model::record::study::STUDY_FORMAT;
use model::{Problem, Result, RunRecord, StudyRecord, record::RUN_FORMAT};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::run::under_way;
use crate::touch::touch;
use crate::{disk, fault};

/// A record that is kept in a directory of its own.
pub trait Record: Serialize + DeserializeOwned {
    /// Its file in the directory.
    const FILE: &'static str;
    /// The version of its format.
    const FORMAT: u32;
    /// What the record is of, for people: `run`.
    const NOUN: &'static str;
    /// What to try when it is damaged.
    const REMEDY: Option<&'static str>;
}

impl Record for RunRecord {
    const FILE: &'static str = "run.json";
    const FORMAT: u32 = RUN_FORMAT;
    const NOUN: &'static str = "run";
    const REMEDY: Option<&'static str> = None;
}

impl Record for StudyRecord {
    const FILE: &'static str = "study.json";
    const FORMAT: u32 = STUDY_FORMAT;
    const NOUN: &'static str = "study";
    const REMEDY: Option<&'static str> =
        Some("its trials' runs lie beside it, in runs/, each with a record of its own");
}

/// A run or a study as it was kept: finished, under way, or left behind by a tool that died.
pub struct Stored<R> {
    pub(crate) directory: PathBuf,
    pub(crate) record: R,
}

impl<R: Record> Stored<R> {
    /// Opens what is kept in `directory`, wherever that is.
    ///
    /// # Errors
    /// A record that can't be read, is damaged, or of a newer format.
    pub fn open(directory: &Path) -> Result<Stored<R>> {
        Ok(Stored { record: read(directory)?, directory: directory.to_path_buf() })
    }

    /// What it says; of a study under way so far.
    pub fn record(&self) -> &R {
        &self.record
    }

    /// Where it is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Bytes of everything kept.
    pub fn size_bytes(&self) -> u64 {
        disk::size_bytes(&self.directory)
    }

    /// Whether a living process is still measuring it.
    pub fn under_way(&self) -> bool {
        under_way(&self.directory)
    }

    /// What is kept as the file `inner` of its directory; nothing where there is no such file.
    ///
    /// # Errors
    /// It can't be read.
    pub fn file(&self, inner: &str) -> Result<Option<Vec<u8>>> {
        let path = disk::below(&self.directory, inner)?;
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fault::io(&error, "reading", &path).into()),
        }
    }

    /// Keeps `bytes` as the file `inner` of its directory, such as `report.html`; gives its path.
    pub fn keep(&self, inner: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = disk::below(&self.directory, inner)?;
        disk::replace(&path, bytes, false)?;
        touch(&self.directory);
        Ok(path)
    }
}

/// The record in `directory`.
pub(crate) fn read<R: Record>(directory: &Path) -> Result<R> {
    let path = directory.join(R::FILE);
    let text = fs::read_to_string(&path)
        .map_err(|error| fault::io(&error, &format!("reading the {}'s record", R::NOUN), &path))?;
    let damaged = |error: serde_json::Error| {
        let mut problem = Problem::environment(format!("the {}'s record is damaged: {error}", R::NOUN));
        problem.remedy = R::REMEDY.map(str::to_string);
        problem.file(path.display().to_string())
    };
    let json: serde_json::Value = serde_json::from_str(&text).map_err(damaged)?;
    let format = json.get("format").and_then(serde_json::Value::as_i64).unwrap_or(0);
    if format > i64::from(R::FORMAT) {
        return Err(fault::newer(&path, format, i64::from(R::FORMAT)).into());
    }
    Ok(serde_json::from_value(json).map_err(damaged)?)
}

/// Replaces the record in `directory`; where it must be `durable` it is on the disk when this returns.
pub(crate) fn write<R: Record>(directory: &Path, record: &R, durable: bool) -> Result<()> {
    let mut text = serde_json::to_string_pretty(record)
        .map_err(|error| Problem::bug(format!("a {}'s record can't be written as JSON: {error}", R::NOUN)))?;
    text.push('\n');
    disk::replace(&directory.join(R::FILE), text.as_bytes(), durable)
}

//! `serve/process.json`: which process serves the laboratory's page, so that a run can watch what it takes.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Problem, ProcessIdentity, Result};

use crate::{disk, fault};

/// The process that serves the laboratory's page, as it names itself below a home. Whether it still lives is for the reader to
/// see: a process that was killed takes nothing back.
#[derive(Debug)]
pub struct ServeProcess;

impl ServeProcess {
    /// The file that names it.
    pub fn file(home: &Path) -> PathBuf {
        home.join("serve/process.json")
    }

    /// Who names itself last below `home`; nobody where the file is missing or damaged.
    pub fn read(home: &Path) -> Option<ProcessIdentity> {
        serde_json::from_slice(&fs::read(ServeProcess::file(home)).ok()?).ok()
    }

    /// Names `process`, in place of the one before.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(home: &Path, process: ProcessIdentity) -> Result<()> {
        let file = ServeProcess::file(home);
        let directory = home.join("serve");
        fs::create_dir_all(&directory).map_err(|error| fault::io(&error, "making", &directory))?;
        let text = serde_json::to_vec(&process).map_err(|error| Problem::bug(error.to_string()))?;
        disk::replace(&file, &text, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_named_itself_is_known_and_a_damaged_file_names_nobody() {
        let home = tempfile::tempdir().expect("a directory");
        assert_eq!(ServeProcess::read(home.path()), None, "there is no file");
        let process = ProcessIdentity { id: 4711, start: u64::MAX };
        ServeProcess::write(home.path(), ProcessIdentity { id: 1, start: 1 }).expect("it can be written");
        ServeProcess::write(home.path(), process).expect("it can be written again");
        assert_eq!(ServeProcess::read(home.path()), Some(process));
        fs::write(ServeProcess::file(home.path()), r#"{"id":4711,"#).expect("a file");
        assert_eq!(ServeProcess::read(home.path()), None);
    }
}

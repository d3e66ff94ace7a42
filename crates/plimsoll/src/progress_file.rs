//! Files to follow the tool by: what the console tells, and each second of a run, as a line of JSON each. `--progress-file` is
//! one; the other is `measuring.jsonl` of the home, of whoever measures on this machine.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use model::progress::{Begin, ProgressLine, Told};
use model::{Problem, Result};

/// The file. A line that can't be written is no reason to lose a run: whoever reads it sees that no more come.
pub(crate) struct ProgressFile(File);

impl ProgressFile {
    /// An empty file at `path`.
    ///
    /// # Errors
    /// There can be none.
    pub(crate) fn create(path: &Path) -> Result<ProgressFile> {
        let made = File::create(path).map(ProgressFile);
        made.map_err(|error| {
            Problem::environment(format!("failed to make the progress file: {error}"))
                .file(path.display().to_string())
                .key("--progress-file")
                .into()
        })
    }

    /// A new file at `path` that has the first line already when it is there, in place of the one before: who still reads
    /// that sees it end.
    pub(crate) fn replace(path: &Path, at_s: f64, begin: &Begin) -> io::Result<ProgressFile> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = ProgressFile(File::create(&new)?);
        file.write(at_s, &Told::Begin(begin.clone()));
        fs::rename(&new, path).inspect_err(|_| _ = fs::remove_file(&new))?;
        Ok(file)
    }

    /// Appends a line, whole or not at all for whoever reads line by line.
    pub(crate) fn write(&mut self, at_s: f64, told: &Told) {
        let Ok(mut line) = serde_json::to_vec(&ProgressLine { at_s, told: told.clone() }) else { return };
        line.push(b'\n');
        _ = self.0.write_all(&line);
    }
}

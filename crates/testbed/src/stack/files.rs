//! The file set as the servers of a stack see it.

use std::path::{Path, PathBuf};

use model::Result;

use crate::links;
use crate::stack::Stack;

impl Stack {
    pub(crate) fn set_files(&mut self, files: Option<PathBuf>) {
        self.files = files;
    }

    /// The directory of the file set as its servers see it and have left it, where the kit has one.
    pub fn files(&self) -> Option<&Path> {
        self.files.as_deref()
    }

    /// `links` to the files of `kept` serve the next stack as well.
    pub(crate) fn gives_back(&mut self, kept: PathBuf, links: PathBuf) {
        self.links = Some((kept, links));
    }

    /// Keeps the run's own files of the file set at `to`, which must not exist and lies on the same file system: servers can read
    /// them there, and not change them. The servers must have stopped, since they lose these files.
    ///
    /// # Errors
    /// A full disk, no right to write there.
    pub fn keep_files(&self, to: &Path) -> Result<()> {
        self.files.as_ref().map_or(Ok(()), |files| links::keep_tree(files, to))
    }
}

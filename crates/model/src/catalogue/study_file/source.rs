//! Where a study was read: from the path of something to its line.

use super::StudyFile;
use super::level::key_of;
use crate::document;
use crate::problem::Problem;
use crate::record::study::Form;

/// Where a study was read.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

/// A form of a study where it was read.
pub(super) struct Read<'a> {
    pub(super) study: &'a StudyFile,
    pub(super) form: Form,
    pub(super) source: &'a Source<'a>,
}

impl Read<'_> {
    /// The line of what leads to `path` in the form.
    pub(super) fn line(&self, path: &[String]) -> Option<u32> {
        let place = self.study.place_in(self.form, path);
        let steps: Vec<&str> = place.iter().map(String::as_str).collect();
        document::line(self.source.text, &steps)
    }

    /// The problem at that place.
    pub(super) fn locate(&self, path: &[String], mut problem: Problem) -> Problem {
        problem.place.line = self.line(path);
        problem.file(self.source.file).key(key_of(&self.study.place_in(self.form, path)))
    }
}

//! What a kind of study gives the outputs. Here every kind is listed.

use model::StudyRecord;
use model::record::study::{Question, Trial};

use super::page::{Body, Link};
use crate::Tone;

/// A kind of study as people and programs see it.
pub(crate) trait View {
    /// Its answer in a word, once the study has ended by itself.
    fn answer(&self, record: &StudyRecord) -> Answer;

    /// It has an answer that stands though it was interrupted.
    fn has_answer(&self) -> bool;

    /// What only this kind shows; `link` gives the address of a trial's own report.
    fn body(&self, record: &StudyRecord, link: Link<'_>) -> Body;

    /// Columns of the CSV before and after those that every study has.
    fn csv(&self, record: &StudyRecord) -> CsvColumns {
        let label =
            |trial: &Trial| record.arms.get(trial.arm).map_or_else(String::new, |arm| arm.label.clone());
        CsvColumns { before: vec![CsvColumn::of(record, "arm", label)], after: Vec::new() }
    }

    /// The study as a suite of tests, where something in it can fail.
    fn junit(&self, _record: &StudyRecord) -> Option<Suite> {
        None
    }

    /// The study as a page of docs/results, where it has one.
    fn document(&self, _record: &StudyRecord, _made: Made<'_>) -> Option<Document> {
        None
    }
}

/// The view of a question's kind.
pub(crate) fn view(question: &Question) -> &dyn View {
    match question {
        Question::Find(find) => find,
        Question::Compare(compare) => compare,
        Question::Sweep(sweep) => sweep,
    }
}

/// An answer in a word.
pub(crate) struct Answer {
    pub(crate) tone: Tone,
    pub(crate) word: &'static str,
    /// What the record's sentence may begin with that the word says already.
    pub(crate) beginning: &'static str,
}

impl Answer {
    pub(crate) fn new(tone: Tone, word: &'static str) -> Answer {
        Answer { tone, word, beginning: "" }
    }
}

/// What a kind adds to the CSV.
pub(crate) struct CsvColumns {
    pub(crate) before: Vec<CsvColumn>,
    pub(crate) after: Vec<CsvColumn>,
}

/// A column of the CSV.
pub(crate) struct CsvColumn {
    pub(crate) name: String,
    /// One for each trial, in their order.
    pub(crate) values: Vec<String>,
}

impl CsvColumn {
    /// The column of that name, with the value of each trial.
    pub(crate) fn of(
        record: &StudyRecord,
        name: impl Into<String>,
        value: impl Fn(&Trial) -> String,
    ) -> CsvColumn {
        CsvColumn { name: name.into(), values: record.trials.iter().map(value).collect() }
    }
}

/// What the record of a study doesn't know of itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Made<'a> {
    /// The commit of the program.
    pub commit: Option<&'a str>,
    /// Where the study's file is, as seen from the page.
    pub file: Option<&'a str>,
}

/// A page of docs/results, as Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What was studied, and where that comes from.
    pub title: String,
    /// What was measured: the part of the page that is made by machine.
    pub text: String,
}

/// A study as a suite of tests.
pub(crate) struct Suite {
    pub(crate) properties: Vec<(&'static str, String)>,
    /// At least one.
    pub(crate) cases: Vec<Case>,
    /// Lines of its output, after the study's sentence.
    pub(crate) output: Vec<String>,
}

/// A test.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) took_s: f64,
    pub(crate) verdict: Verdict,
}

/// How a CI server shows a test; its message is the study's sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Success,
    /// Of this type.
    Failure(&'static str),
    /// Neither of them: why, in a word.
    Error(&'static str),
}

#[cfg(test)]
mod tests;

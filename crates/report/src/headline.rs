//! The verdict in a word and a sentence: what is read first.

use model::RunRecord;
use model::record::Outcome;

/// What a verdict's sentence may begin with that the headline's word says already.
const BEGINNINGS: [&str; 5] =
    ["not valid: ", "no result: ", "valid: passed — ", "valid: failed — ", "valid: "];

/// How a headline is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Valid, every target met.
    Good,
    /// Valid, a target missed.
    Bad,
    /// The instrument can't vouch for the figures.
    Doubtful,
    /// The run did not come to its end.
    Open,
}

impl Tone {
    /// The word in CSS classes.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Doubtful => "doubtful",
            Tone::Open => "open",
        }
    }
}

/// The verdict in a word and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// How it is to be taken.
    pub tone: Tone,
    /// `Passed`, `Failed`, `Not valid`, `No result`, `Interrupted`, `Aborted`, `Unfinished`, `Under way`.
    pub word: &'static str,
    /// The verdict's sentence.
    pub sentence: String,
    /// The figures are a result.
    pub valid: bool,
    /// They are over all numbers of users that somebody asked for.
    pub by_hand: bool,
}

impl Headline {
    /// The headline of a run; `under_way` while a living process is still measuring it.
    pub fn of(record: &RunRecord, under_way: bool) -> Headline {
        let sentence = || verdict_sentence(&record.verdict.sentence);
        let (tone, word, sentence) = match (record.outcome, record.verdict.valid, record.verdict.pass) {
            (Outcome::Unfinished, ..) if under_way => {
                let sentence = "The run is still being measured; this is what there is so far.";
                (Tone::Open, "Under way", sentence.to_string())
            }
            (Outcome::Unfinished, ..) => {
                let sentence =
                    "The run has no result: the tool died before its end. Every second up to then is kept.";
                (Tone::Open, "Unfinished", sentence.to_string())
            }
            (Outcome::Interrupted, ..) => (Tone::Open, "Interrupted", sentence()),
            (Outcome::Aborted, ..) => (Tone::Doubtful, "Aborted", sentence()),
            (Outcome::Completed, ..) if record.setup.is_by_hand() => (Tone::Open, "No result", sentence()),
            (Outcome::Completed, true, Some(true)) => (Tone::Good, "Passed", sentence()),
            (Outcome::Completed, true, Some(false)) => (Tone::Bad, "Failed", sentence()),
            (Outcome::Completed, true, None) => (Tone::Good, "Valid", sentence()),
            (Outcome::Completed, false, _) => (Tone::Doubtful, "Not valid", sentence()),
        };
        let by_hand = record.setup.is_by_hand();
        Headline { tone, word, sentence, valid: record.verdict.valid, by_hand }
    }

    /// What has to be said before any figure of a run that is no result.
    pub fn caveat(&self) -> Option<&'static str> {
        match (self.valid, self.by_hand) {
            (true, _) => None,
            (false, true) => Some(
                "The figures are over all numbers of users together. What held the stack is not said of them: that takes a run with one.",
            ),
            (false, false) => Some("The figures help to find out why; they are not a result."),
        }
    }
}

/// A verdict's sentence as it is read after the word: without what that says already.
pub(crate) fn verdict_sentence(verdict: &str) -> String {
    sentence(after(verdict, &BEGINNINGS))
}

/// What follows the first of `beginnings` that `text` has, whatever its case; all of it where it begins otherwise.
pub(crate) fn after<'a>(text: &'a str, beginnings: &[&str]) -> &'a str {
    let after = |beginning: &&str| {
        let head = text.get(..beginning.len()).filter(|head| head.eq_ignore_ascii_case(beginning))?;
        Some(&text[head.len()..])
    };
    beginnings.iter().find_map(after).unwrap_or(text)
}

/// `text` with a capital letter at its beginning and a full stop at its end.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let Some(first) = letters.next() else { return "Nothing was said about it.".to_string() };
    let mut sentence: String = first.to_uppercase().chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::recorded::Specimen;

    #[test]
    fn each_ending_has_its_word() {
        let of = |specimen: Specimen| Headline::of(&specimen.open().record, false);
        for (specimen, tone, word) in [
            (Specimen::Passed, Tone::Good, "Passed"),
            (Specimen::Failed, Tone::Bad, "Failed"),
            (Specimen::Invalid, Tone::Doubtful, "Not valid"),
            (Specimen::Interrupted, Tone::Open, "Interrupted"),
            (Specimen::Unfinished, Tone::Open, "Unfinished"),
        ] {
            assert_eq!((of(specimen).tone, of(specimen).word), (tone, word), "{specimen:?}");
        }
    }

    #[test]
    fn no_word_is_said_twice() {
        let strip = |sentence: &'static str| after(sentence, &BEGINNINGS);
        assert_eq!(strip("Not valid: send lag"), "send lag");
        assert_eq!(strip("valid: passed — 20 users"), "20 users");
        assert_eq!(strip("valid: no targets asked for — 20 users"), "no targets asked for — 20 users");
        assert_eq!(strip("Failed too often"), "Failed too often");
        assert_eq!(strip("é"), "é");
    }

    #[test]
    fn a_sentence_begins_and_ends_as_one() {
        assert_eq!(sentence("p95 missed"), "P95 missed.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence(" "), "Nothing was said about it.");
    }
}

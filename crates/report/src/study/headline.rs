//! A study's answer in a word and its sentence.

use model::StudyRecord;
use model::record::Outcome;

use super::view::{Answer, view};
use crate::headline::{after, sentence};
use crate::{Headline, Tone};

/// The answer in a word, and the record's sentence without the words that it says already.
pub(crate) fn of(record: &StudyRecord) -> Headline {
    let view = view(&record.question);
    let answer = match record.outcome {
        Outcome::Unfinished => Answer::new(Tone::Open, "Unfinished"),
        Outcome::Interrupted if !view.has_answer() => Answer::new(Tone::Open, "Interrupted"),
        Outcome::Aborted => Answer::new(Tone::Doubtful, "Aborted"),
        _ => view.answer(record),
    };
    let rest = after(record.sentence.trim(), &[answer.beginning]);
    Headline { tone: answer.tone, word: answer.word, sentence: sentence(rest), valid: true, by_hand: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::studies::{SweepShape, sweep};

    #[test]
    fn a_sweep_in_which_no_trial_met_its_targets_is_not_told_in_the_tone_of_success() {
        let mut record = sweep(SweepShape::Users);
        assert_eq!((of(&record).tone, of(&record).word), (Tone::Good, "Swept"));
        let measured = record.trials.iter_mut().filter_map(|trial| trial.measured.as_mut());
        measured.flat_map(|seen| &mut seen.targets).for_each(|clause| clause.pass = false);
        assert_eq!((of(&record).tone, of(&record).word), (Tone::Bad, "Swept"));
    }
}

//! A study's answer in a word and its sentence.

use model::StudyRecord;
use model::record::Outcome;
use model::study::{Compare, Conclusion, Find, FindAnswer, Question, Sweep, Trial, WhyNot};

use crate::headline::sentence;
use crate::{Headline, Tone};

/// The answer in a word, and the record's sentence without the words that it says already.
pub(crate) fn of(record: &StudyRecord) -> Headline {
    let (tone, word) = match (record.outcome, &record.question) {
        (Outcome::Unfinished, _) => (Tone::Open, "Unfinished"),
        (Outcome::Interrupted, question) if !answered(question) => (Tone::Open, "Interrupted"),
        (Outcome::Aborted, _) => (Tone::Doubtful, "Aborted"),
        (_, Question::Find(find)) => of_find(find),
        (_, Question::Compare(compare)) => of_compare(compare),
        (Outcome::Interrupted, Question::Sweep(_)) => (Tone::Open, "Interrupted"),
        (_, Question::Sweep(sweep)) => (of_sweep(sweep, &record.trials), "Swept"),
    };
    let said = record.sentence.trim();
    let said = match word {
        "Load line" => after(said, "load line "),
        "No load line" => after(said, "no load line: "),
        _ => said,
    };
    Headline { tone, word, sentence: sentence(said), valid: true }
}

fn answered(question: &Question) -> bool {
    match question {
        Question::Find(find) => matches!(find.answer, Some(FindAnswer::LoadLine(_))),
        Question::Compare(compare) => compare.conclusion.is_some(),
        Question::Sweep(_) => false,
    }
}

fn of_find(find: &Find) -> (Tone, &'static str) {
    match &find.answer {
        None => (Tone::Open, "Unfinished"),
        Some(FindAnswer::LoadLine(line)) if line.wide => (Tone::Open, "Load line"),
        Some(FindAnswer::LoadLine(_)) => (Tone::Good, "Load line"),
        Some(FindAnswer::NoAnswer(none)) => match none.why {
            WhyNot::FailsAtLeast | WhyNot::NeverPasses => (Tone::Bad, "No load line"),
            WhyNot::NeverFails | WhyNot::OutOfTime | WhyNot::Interrupted => (Tone::Open, "No load line"),
            _ => (Tone::Doubtful, "No load line"),
        },
    }
}

/// A sweep asks how much, not whether; but where no trial met its targets none of the cells is one to choose.
fn of_sweep(sweep: &Sweep, trials: &[Trial]) -> Tone {
    if analysis::sweep::never_met(sweep, trials).is_some() { Tone::Bad } else { Tone::Good }
}

fn of_compare(compare: &Compare) -> (Tone, &'static str) {
    match (compare.gate_held, &compare.conclusion) {
        (Some(false), _) => (Tone::Bad, "Gate failed"),
        (_, None) => (Tone::Open, "Unfinished"),
        (_, Some(Conclusion::Faster)) => (Tone::Good, "Faster"),
        (_, Some(Conclusion::Slower)) => (Tone::Bad, "Slower"),
        (_, Some(Conclusion::Same)) => (Tone::Good, "Same"),
        (_, Some(Conclusion::Open { .. })) => (Tone::Open, "Open"),
    }
}

/// What follows `beginning`, whatever its case; all of it where it begins otherwise.
fn after<'a>(said: &'a str, beginning: &str) -> &'a str {
    let head = said.get(..beginning.len()).filter(|head| head.eq_ignore_ascii_case(beginning));
    head.map_or(said, |head| &said[head.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::sample::study::{SweepShape, sweep};

    #[test]
    fn a_sweep_in_which_no_trial_met_its_targets_is_not_told_in_the_tone_of_success() {
        let mut record = sweep(SweepShape::Users);
        assert_eq!((of(&record).tone, of(&record).word), (Tone::Good, "Swept"));
        let measured = record.trials.iter_mut().filter_map(|trial| trial.measured.as_mut());
        measured.flat_map(|seen| &mut seen.targets).for_each(|clause| clause.pass = false);
        assert_eq!((of(&record).tone, of(&record).word), (Tone::Bad, "Swept"));
    }
}

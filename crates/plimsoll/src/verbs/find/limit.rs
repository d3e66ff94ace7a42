//! What holds the stack at its load line: by the run of the trial there, and by how that shows over all loads.

use analysis::diagnosis::shape::{self, AtLoad};
use model::record::study::{Find, FindAnswer, Question, Trial};
use model::{Catalogue, Diagnosis, Result, RunRecord, StudyRecord};

use runner::diagnose;

/// The diagnosis of the trial at the line or just above it, with how its suspects became likelier over the trials'
/// loads. Absent for a study that is no find, or without a trial that was watched. `run` gives a trial's record. Where no
/// trial's figures hold, those of all tell what there is to be told, and the answer says so.
///
/// # Errors
/// Rules that can't be read. A trial whose run can't be read is left out.
pub(crate) fn of(
    record: &StudyRecord,
    run: impl Fn(&Trial) -> Result<RunRecord>,
    catalogue: &Catalogue,
) -> Result<Option<Diagnosis>> {
    let Question::Find(find) = &record.question else { return Ok(None) };
    let rules = catalogue.rules()?;
    let seen_in = |trial: &Trial| {
        let one = run(trial).ok()?;
        let (_, diagnosis) = diagnose::facts(&one, &rules, &diagnose::services(&one, catalogue))?;
        Some(AtLoad { load: trial.load, diagnosis })
    };
    let counts = || record.trials.iter().filter(|trial| record.counts(trial));
    let mut seen: Vec<AtLoad> = counts().filter(|trial| figures_hold(trial)).filter_map(seen_in).collect();
    if seen.is_empty() {
        let doubtful = |one: AtLoad| AtLoad { diagnosis: one.diagnosis.of_spoiled_trials(), ..one };
        seen = counts().filter_map(seen_in).map(doubtful).collect();
    }
    let line_proof = record.diagnosis.as_ref().and_then(|before| before.line_proof.clone());
    Ok(line(find, &seen)
        .and_then(|line| shape::at(line, find.goal.by, seen))
        .map(|facts| Diagnosis { line_proof, ..wording::diagnosis(&facts) }))
}

/// Also where checks broke that an overloaded stack breaks, such as those for samples and for what is under way at the end of a short
/// window: just above a line nothing else may be there. What held the stack can be seen there as in any trial.
fn figures_hold(trial: &Trial) -> bool {
    trial.measured.is_some() && trial.faults.iter().all(|fault| fault.check.may_be_overload())
}

/// The load at which the stack is held: the line, or where a find without one saw most.
fn line(find: &Find, seen: &[AtLoad]) -> Option<f64> {
    let most = || {
        seen.iter()
            .map(|one| one.load)
            .fold(None, |most: Option<f64>, load| Some(most.map_or(load, |most| most.max(load))))
    };
    match &find.answer {
        Some(FindAnswer::LoadLine(line)) => Some(line.load),
        Some(FindAnswer::NoAnswer(none)) => none.load.or(none.lowest_failed).or_else(most),
        None => most(),
    }
}

#[cfg(test)]
mod tests {
    use model::Check;
    use model::record::study::Fault;
    use testkit::recorded::Specimen;
    use testkit::studies::{FindEnding, find};

    use super::*;

    /// What holds the stack of a find whose runs above the line were those of a slow page, and below it of a healthy stack.
    fn held(record: &StudyRecord) -> Diagnosis {
        let Question::Find(Find { answer: Some(FindAnswer::LoadLine(line)), .. }) = &record.question else {
            panic!("it has a line: {:?}", record.question)
        };
        let run = |trial: &Trial| {
            let specimen = if trial.load > line.load { Specimen::Failed } else { Specimen::Passed };
            Ok(specimen.open().record)
        };
        let catalogue = crate::context::built_in();
        of(record, run, &catalogue).expect("rules that can be read").expect("its trials were watched")
    }

    /// All trials with figures that miss a target broke this check, too.
    fn with_broken(check: Check, mut record: StudyRecord) -> StudyRecord {
        let missed =
            |trial: &Trial| trial.measured.iter().flat_map(|seen| &seen.targets).any(|seen| seen.is_missed());
        for trial in record.trials.iter_mut().filter(|trial| missed(trial)) {
            let sentence = "it broke".to_string();
            trial.faults.push(Fault { check: check.clone(), sentence });
        }
        record
    }

    #[test]
    fn trials_above_the_line_tell_what_holds_a_stack_though_checks_broke_there_by_it() {
        let carried = held(&find(FindEnding::LoadLine));
        assert!(!carried.suspects.is_empty(), "{carried:?}");
        for check in [Check::Cycle, Check::Samples, Check::Little] {
            let broken = held(&with_broken(check.clone(), find(FindEnding::LoadLine)));
            assert_eq!((broken.state, &broken.sentence), (carried.state, &carried.sentence), "{check}");
        }
    }

    #[test]
    fn where_no_trial_is_valid_all_tell_what_held_them_and_that_they_are_not() {
        let mut record = find(FindEnding::LoadLine);
        for trial in &mut record.trials {
            trial.faults.push(Fault { check: Check::SendLag, sentence: "sent late".to_string() });
        }
        let (carried, spoiled) = (held(&find(FindEnding::LoadLine)), held(&record));
        let first = |diagnosis: &Diagnosis| diagnosis.suspects.first().map(|first| first.title.clone());
        assert_eq!(first(&spoiled), first(&carried));
        assert!(spoiled.sentence.starts_with("by trials that are not valid: "), "{}", spoiled.sentence);
        let unwatched = |_: &Trial| {
            let mut run = Specimen::Failed.open().record;
            run.signals.clear();
            Ok(run)
        };
        let nothing = of(&record, unwatched, &crate::context::built_in()).expect("rules that can be read");
        assert!(nothing.is_none(), "{nothing:?}");
    }
}

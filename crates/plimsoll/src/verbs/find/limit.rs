//! What holds the stack at its load line: by the run of the trial there, and by how that shows over all loads.

use analysis::diagnosis::shape::{self, AtLoad};
use model::record::study::{Find, FindAnswer, Question, Trial};
use model::{Catalogue, Diagnosis, Result, RunRecord, StudyRecord};

use runner::diagnose;

/// The diagnosis of the trial at the line or just above it, with how its suspects became likelier over the trials'
/// loads. Absent for a study that is no find, or without a trial that was watched. `run` gives a trial's record.
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
    let counts = |trial: &&Trial| record.counts(trial) && figures_hold(record, trial);
    let mut seen = Vec::new();
    for trial in record.trials.iter().filter(counts) {
        let Ok(one) = run(trial) else { continue };
        let services = diagnose::services(&one, catalogue);
        let facts = diagnose::facts(&one, &rules, &services);
        seen.extend(facts.map(|(_, diagnosis)| AtLoad { load: trial.load, diagnosis }));
    }
    let line_proof = record.diagnosis.as_ref().and_then(|before| before.line_proof.clone());
    Ok(line(find, &seen)
        .and_then(|line| shape::at(line, find.goal.by, seen))
        .map(|facts| Diagnosis { line_proof, ..wording::diagnosis(&facts) }))
}

/// Also where checks broke because the stack was overloaded: just above a line nothing else may be there.
fn figures_hold(record: &StudyRecord, trial: &Trial) -> bool {
    trial.valid() || analysis::overloaded(&record.question, record.trials.iter(), trial)
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

    #[test]
    fn trials_above_the_line_tell_what_holds_a_stack_though_it_was_overloaded_there() {
        let mut record = find(FindEnding::LoadLine);
        let carried = held(&record);
        let missed =
            |trial: &Trial| trial.measured.iter().flat_map(|seen| &seen.targets).any(|seen| seen.is_missed());
        for trial in record.trials.iter_mut().filter(|trial| missed(trial)) {
            let sentence = "users fell behind".to_string();
            trial.faults.push(Fault { check: Check::Cycle, sentence });
        }
        let overloaded = held(&record);
        assert_eq!(overloaded.state, carried.state);
        assert_eq!(
            overloaded.suspects.first().map(|first| &first.title),
            carried.suspects.first().map(|first| &first.title)
        );
        assert!(!carried.suspects.is_empty(), "{carried:?}");
    }
}

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
    let counts = |trial: &&Trial| record.counts(trial) && trial.valid();
    let mut seen = Vec::new();
    for trial in record.trials.iter().filter(counts) {
        let Ok(one) = run(trial) else { continue };
        let services = diagnose::services(&one, catalogue);
        let facts = diagnose::facts(&one, &rules, &services);
        seen.extend(facts.map(|(_, diagnosis)| AtLoad { load: trial.load, diagnosis }));
    }
    let before = record.diagnosis.as_ref().and_then(|before| before.proof.clone());
    Ok(line(find, &seen)
        .and_then(|line| shape::at(line, find.goal.by, seen))
        .map(|facts| Diagnosis { proof: before, ..wording::diagnosis(&facts) }))
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

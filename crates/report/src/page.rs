//! Everything that is shown of a run.

use std::path::PathBuf;

use analysis::Steady;
use model::outside::one_line;
use model::record::interval::{OperationName, add_times, new_times};
use model::record::{Event, OperationResult, Series, TimeSummary};
use model::{OperationKind, RunRecord, SignalRegistry};
use store::{Mark, Notes, Run};

use crate::headline::Headline;
use crate::inside::{self, Inside};
use crate::timeline::{self, Timeline};

/// Everything that is shown of a run.
pub struct Page {
    /// What the run said. Of a run without results, its operations over the part of the steady state that was kept.
    pub record: RunRecord,
    /// The verdict in a word and a sentence.
    pub headline: Headline,
    /// All operations together over the steady state.
    pub all: TimeSummary,
    /// Operations that completed and that failed over the steady state.
    pub counts: (u64, u64),
    /// The run's course.
    pub timeline: Timeline,
    /// What tiers, servers and the machine told over time.
    pub inside: Inside,
    /// What happened at which moment.
    pub events: Vec<Event>,
    /// What could not be read, and why.
    pub notes: Vec<String>,
    /// Where the run is kept.
    pub directory: PathBuf,
}

/// What people said of a second, among what happened.
fn event_of(mark: &Mark) -> Event {
    Event { second: mark.second.into(), kind: "note".to_string(), text: one_line(&mark.text) }
}

impl Page {
    /// The page of `run`, whose figures are explained by `signals`: those of the rooms; what a server's own mean is kept in
    /// the run. What can't be read is named in [`Page::notes`] instead of failing: the rest is still worth
    /// showing.
    pub fn of(run: &Run, signals: &SignalRegistry) -> Page {
        let mut notes = Vec::new();
        let mut record = run.record().clone();
        let (steady, names) =
            note(&mut notes, steady(run)).unwrap_or_else(|| (Steady::new(0.0, 0.0), Vec::new()));
        if record.operations.is_empty() {
            record.operations = analysis::operations(&steady, &names);
            record.phases = analysis::phases(&steady);
            record.untimed = analysis::untimed(&steady, &record.operations);
            record.wire = steady.whole().wire;
        }
        if record.evidence.is_empty() {
            record.evidence = note(&mut notes, run.evidence()).unwrap_or_default();
        }
        let series: Vec<Series> = note(&mut notes, timeline::series(run, &record)).unwrap_or_default();
        let mut events = note(&mut notes, run.events()).unwrap_or_default();
        events.extend(
            note(&mut notes, Notes::read(run.directory())).unwrap_or_default().marks.iter().map(event_of),
        );
        events.sort_by(|one, other| one.second.total_cmp(&other.second));
        let timeline = note(&mut notes, timeline::of(run, &record, &series)).unwrap_or_default();
        let (all, counts) = together(&record, &steady, &names);
        let inside = inside::of(&record, &series, &timeline, signals);
        notes.dedup();
        Page {
            headline: Headline::of(&record, run.under_way()),
            record,
            all,
            counts,
            timeline,
            inside,
            events,
            notes,
            directory: run.directory().to_path_buf(),
        }
    }

    /// Sessions, operations or requests of the record; no session that has the name of an operation, which is all that
    /// it does.
    pub(crate) fn rows(&self, kind: OperationKind) -> impl Iterator<Item = &OperationResult> {
        let rows = self.record.operations.iter().filter(move |row| row.kind == kind);
        rows.filter(move |row| !self.repeats_an_operation(row))
    }

    fn repeats_an_operation(&self, row: &OperationResult) -> bool {
        let named_so =
            |other: &OperationResult| other.kind == OperationKind::Operation && other.name == row.name;
        row.kind == OperationKind::Session && self.record.operations.iter().any(named_so)
    }

    /// What happened beside the phases, which the charts shade: tiers that died, alarms of their logs.
    pub(crate) fn happenings(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.kind != "phase")
    }

    /// Failed operations as a share of all; absent when there were none.
    pub(crate) fn failed_ratio(&self) -> Option<f64> {
        let (completed, failed) = self.counts;
        (completed + failed > 0).then(|| failed as f64 / (completed + failed) as f64)
    }

    /// How many CPUs the stack and the generator had, together.
    pub(crate) fn cpus(&self) -> usize {
        let setup = &self.record.setup;
        let mut cpus: Vec<usize> = setup.generator_cpus.iter().chain(&setup.stack_cpus).copied().collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus.len()
    }
}

/// The value, or a note of why there is none.
fn note<T>(notes: &mut Vec<String>, result: model::Result<T>) -> Option<T> {
    result.map_err(|problems| notes.push(problems.to_string())).ok()
}

/// The steady state, as far as it was kept.
fn steady(run: &Run) -> model::Result<(Steady, Vec<OperationName>)> {
    let setup = &run.record().setup;
    let mut steady = Steady::new(setup.ramp_up_s, setup.ramp_up_s + setup.steady_s);
    let seconds = run.seconds()?;
    let names = seconds.names().to_vec();
    seconds.add_to(&mut [&mut steady])?;
    Ok((steady, names))
}

/// All operations together: their times from the seconds, their counts from the record, which is the result.
fn together(record: &RunRecord, steady: &Steady, names: &[OperationName]) -> (TimeSummary, (u64, u64)) {
    let mut times = new_times();
    for (name, part) in names.iter().zip(&steady.whole().operations) {
        if name.kind == OperationKind::Operation {
            add_times(&mut times, &part.response);
        }
    }
    let operations = record.operations.iter().filter(|result| result.kind == OperationKind::Operation);
    let counts = operations.fold((0, 0), |(completed, failed), result| {
        (completed + result.completed, failed + result.errors.values().sum::<u64>())
    });
    (analysis::summary(&times), counts)
}

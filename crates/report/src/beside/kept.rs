//! What is needed of a kept run to show it beside others.

use analysis::failures::{Failures, failed_more};
use analysis::{Also, Batches};
use model::RunRecord;
use model::record::study::{Failed, Measured};
use store::{Notes, Run};

use crate::timeline::{self, Timeline};

/// Steps of a run's course: as many points of up to eight runs can be told apart in one chart.
const MAX_STEPS: f64 = 60.0;

/// A kept run, with the figures of its steady state.
#[derive(Debug, Clone)]
pub struct KeptRun {
    /// What the run said.
    pub record: RunRecord,
    /// The figures of its steady state with their standard errors; absent where none was kept.
    pub measured: Option<Measured>,
    /// Its course over time, in few steps; empty where it could not be read.
    pub course: Timeline,
    /// What people say of it.
    pub notes: Notes,
    /// A living process is still measuring it.
    pub under_way: bool,
    /// Why something of it could not be read.
    pub fault: Option<String>,
}

impl KeptRun {
    /// What is kept of `run`. It reads every second of it. What can't be read is named in
    /// [`KeptRun::fault`] instead of failing.
    pub fn read(run: &Run) -> KeptRun {
        let record = run.record().clone();
        let (measured, notes) = (measured(run), Notes::read(run.directory()));
        let course = timeline::coarse(run, MAX_STEPS);
        let faults = [measured.as_ref().err(), course.as_ref().err(), notes.as_ref().err()];
        let faults = faults.into_iter().flatten();
        let mut faults: Vec<String> = faults.map(ToString::to_string).collect();
        faults.dedup();
        KeptRun {
            record,
            measured: measured.ok().flatten(),
            course: course.unwrap_or_default(),
            notes: notes.unwrap_or_default(),
            under_way: run.under_way(),
            fault: (!faults.is_empty()).then(|| faults.join("; ")),
        }
    }

    /// Which of the two failed clearly more often; nothing where one of them is no result.
    pub(super) fn failed_more(&self, other: &KeptRun) -> Option<Failed> {
        failed_more(self.failures()?, other.failures()?)
    }

    fn failures(&self) -> Option<Failures> {
        let measured = self.measured.as_ref().filter(|_| self.record.verdict.valid)?;
        Some(Failures { waiting: Failures::waiting(&self.record.targets), ..Failures::of(measured) })
    }
}

fn measured(run: &Run) -> model::Result<Option<Measured>> {
    let setup = &run.record().setup;
    let from = setup.ramp_up_s.ceil() as u32;
    let to = (setup.ramp_up_s + setup.steady_s).floor() as u32;
    let seconds = run.figures(from, to)?;
    let names = seconds.names().to_vec();
    // A second takes megabytes: it is forgotten as soon as it is in its batch.
    let mut batches = Batches::of(seconds.count_within(from, to));
    for second in seconds {
        batches.push(&second?);
    }
    Ok(analysis::measured_in(&batches, &names, &[], &run.record().tiers, &Also::default()))
}

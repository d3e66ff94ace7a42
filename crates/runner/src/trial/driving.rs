//! Driving one trial on a stack that stands, from its first file to its verdict.

use std::time::Instant;

use engine::preflight;
use model::Result;
use model::catalogue::rules::Rule;
use model::record::{RunRecord, Step, ValidityCheck};
use store::{RunWriter, Runs};

use super::arm::Task;
use super::driven::Driven;
use super::settle::{Ending, Settling};
use crate::environment::{Environment, Settings};
use crate::keep;
use crate::measure::{Recording, SideBySide, measure};
use crate::standing_stack::StandingStack;

/// When a trial's window is in, sessions under way may take this long to end.
const DRAIN_S: f64 = 2.0;

/// A trial whose run has begun to be kept.
pub(super) struct Begun {
    record: RunRecord,
    writer: RunWriter,
    pace: Settling,
}

/// Begins to keep a trial's run under its id and the time of its start; a load that this machine has no room for, with that
/// number of runs of it at once, is over before it begins.
pub(super) fn begin(
    (task, at_once): (&Task, u64),
    stack: &mut StandingStack,
    runs: &Runs,
    (id, started): (&str, &str),
    settings: &Settings,
) -> Result<std::result::Result<Begun, Driven>> {
    let (mut record, writer) = keep::begin(runs, &task.recipe, &task.plan, stack, (id, started), settings)?;
    if let Some(check) = no_room((task, at_once), stack) {
        record.validity.push(check);
        record.steps = std::mem::take(&mut stack.steps);
        return Driven::refused(record, writer).map(Err);
    }
    record.links = stack.links(&task.plan)?;
    let pace = Settling::new(task.ramp_up_s, task.min_warm_up_s, task.window_s)
        .by(&task.plan.qos)
        .with_pauses(task.pause_s);
    Ok(Ok(Begun { record, writer, pace }))
}

impl Begun {
    /// The same, ending together with others.
    pub(super) fn with(self, partner: super::partner::Partner) -> Begun {
        Begun { pace: self.pace.with(partner), ..self }
    }

    /// Drives the users until there is enough.
    pub(super) fn measure(
        &mut self,
        plan: &model::Plan,
        stack: &mut StandingStack,
        side: &SideBySide,
        env: &mut Environment<'_>,
    ) -> Result<Recording> {
        let began = Instant::now();
        let recording = measure(plan, stack, (&mut self.writer, &mut self.pace), DRAIN_S, side, env);
        self.pace.leave_partner();
        let recording = recording.inspect_err(|_| keep::logs(stack, &self.writer))?;
        let took_s = began.elapsed().as_secs_f64();
        stack.steps.push(Step { name: "drive the users".to_string(), took_s });
        Ok(recording)
    }

    /// The seconds of the run that count, and how they were found.
    pub(super) fn window(&self) -> ((u32, u32), Option<Ending>) {
        (self.pace.window(), self.pace.ending())
    }

    /// Judges what was recorded, and keeps it.
    pub(super) fn judge(
        mut self,
        task: &Task,
        stack: &mut StandingStack,
        recording: &Recording,
        rules: &[Rule],
        env: &mut Environment<'_>,
    ) -> Result<Driven> {
        stack.links_again(&mut self.record.links);
        self.record.consistency = keep::check(&task.plan, stack, recording, env.catalogue, env.progress);
        keep::logs(stack, &self.writer);
        self.record.steps = std::mem::take(&mut stack.steps);
        Driven::judge(task, recording, &self.pace, rules, (self.record, self.writer))
    }
}

/// Whether this machine has too few ports or descriptors for a trial's users, and as many again for each other run at once.
pub(super) fn no_room((task, at_once): (&Task, u64), stack: &StandingStack) -> Option<ValidityCheck> {
    let needs = preflight::Needs::of_connections(at_once * u64::from(task.plan.load.places()));
    preflight::prepare(&needs, &stack.target).err().map(|problems| wording::no_room(&problems))
}

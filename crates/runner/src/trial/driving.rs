//! Driving one trial on a stack that stands, from its first file to its verdict.

use std::time::Instant;

use model::Result;
use model::catalogue::rules::Rule;
use model::record::{RunRecord, Step};
use store::{RunWriter, Runs};

use super::arm::Task;
use super::driven::Driven;
use super::settle::Settling;
use super::{DRAIN_S, no_room};
use crate::environment::{Environment, Origin};
use crate::keep;
use crate::measure::{Recording, TakingTurns, measure};
use crate::standing_stack::StandingStack;

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
    origin: &Origin,
) -> Result<std::result::Result<Begun, Driven>> {
    let (mut record, writer) = keep::begin(runs, &task.recipe, &task.plan, stack, (id, started), origin)?;
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
    /// The same, ending together with another one.
    pub(super) fn with(self, partner: super::partner::Partner) -> Begun {
        Begun { pace: self.pace.with(partner), ..self }
    }

    /// Drives the users until there is enough.
    pub(super) fn measure(
        &mut self,
        plan: &model::Plan,
        stack: &mut StandingStack,
        turns: Option<&TakingTurns>,
        env: &mut Environment<'_>,
    ) -> Result<Recording> {
        let began = Instant::now();
        let recording = measure(plan, stack, (&mut self.writer, &mut self.pace), DRAIN_S, turns, env);
        self.pace.leave_partner();
        let recording = recording.inspect_err(|_| keep::logs(stack, &self.writer))?;
        let took_s = began.elapsed().as_secs_f64();
        stack.steps.push(Step { name: "drive the users".to_string(), took_s });
        Ok(recording)
    }

    /// Judges what was recorded, and keeps it.
    pub(super) fn judge(
        mut self,
        task: &Task,
        stack: &mut StandingStack,
        recording: Recording,
        rules: &[Rule],
        env: &mut Environment<'_>,
    ) -> Result<Driven> {
        stack.links_again(&mut self.record.links);
        self.record.consistency = keep::check(&task.plan, stack, &recording, env.catalogue, env.progress);
        keep::logs(stack, &self.writer);
        self.record.steps = std::mem::take(&mut stack.steps);
        Driven::judge(task, &recording, &self.pace, rules, (self.record, self.writer))
    }
}

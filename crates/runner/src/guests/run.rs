//! One run of several guests, from plan to record.

use std::time::Instant;

use engine::preflight;
use model::catalogue::rules::Rule;
use model::record::Step;
use model::{Plan, Problems, Recipe, Result, RunRecord};
use store::{Run, RunWriter, Runs};

use super::stacks::{GuestStack, Stacks};
use super::whole::{Part, Whole, end_all, keep_whole, sides};
use crate::at_once::{self, Job};
use crate::environment::Environment;
use crate::keep;
use crate::measure::{DRAIN_S, Recording, measure};
use crate::outcome::{Driven, Measured, new_id, with_remedy};
use crate::pace::Planned;
use crate::server::ServerAccess;

/// Stages, measures, judges and keeps one run of a plan with guests.
pub(crate) fn run(
    recipe: &Recipe,
    plan: &Plan,
    rules: &[Rule],
    env: &mut Environment<'_>,
) -> Result<Measured> {
    let (id, started) = new_id(&plan.kit.name);
    let mut stacks = Stacks::set_up(plan, &ServerAccess::default(), &id, env)?;
    for warning in stacks.take_warnings() {
        env.progress.note(&format!("note: {warning}"));
    }
    env.interrupt.check()?;
    // Each engine looks for room for its own users alone.
    let connections = preflight::Needs::of_connections(u64::from(plan.load.places()));
    preflight::prepare(&connections, &stacks.first().target)?;
    let runs = Runs::open(env.home)?;
    let settings = env.settings;
    let (record, writer) = keep::begin(&runs, recipe, plan, stacks.first(), (&id, &started), settings)?;
    let below = Runs::open(writer.directory())?;
    let mut guests = Vec::new();
    for one in stacks.all() {
        guests.push(GuestRun::begin(recipe, plan, one, &below, env)?);
    }
    let recorded = drive(&mut guests, &mut stacks, env);
    let recorded = recorded.into_iter().collect::<Result<Vec<Recording>>>().map_err(|problems| {
        let kept = guests.iter().zip(stacks.all());
        kept.for_each(|(guest, one)| keep::logs(&one.stack, &guest.writer));
        with_remedy(problems, &format!("what was measured until then is kept: plimsoll show {id}/1"))
    })?;
    let mut problems: Vec<Problems> = Vec::new();
    let mut parts = Vec::new();
    for ((guest, one), recording) in guests.into_iter().zip(stacks.all_mut()).zip(recorded) {
        let (part, stopped) = guest.conclude(one, recording, rules, &below, env)?;
        parts.push(part);
        problems.extend(stopped);
    }
    let load = plan.load.clone();
    let (from_s, to_s) = load.steady_span_s();
    let whole = Whole {
        plan,
        load: &load,
        ramp_up_s: load.ramp_up_s,
        window: (from_s.ceil() as u32, to_s.floor() as u32),
        unsettled_after_s: None,
        asking: wording::Asking::Run,
    };
    let (mut record, writer) = keep_whole(&whole, &parts, record, writer)?.kept;
    record.steps = parts.first().map(|part| part.run.record().steps.clone()).unwrap_or_default();
    record.setup.load = Some(load);
    writer.finish(&record)?;
    problems.extend(stacks.close().err());
    Ok(Measured { run: runs.find(&id)?, problems })
}

/// A guest's run that is under way.
struct GuestRun {
    plan: Plan,
    id: String,
    record: RunRecord,
    writer: RunWriter,
    pace: Planned,
}

impl GuestRun {
    fn begin(
        recipe: &Recipe,
        plan: &Plan,
        one: &GuestStack,
        runs: &Runs,
        env: &Environment<'_>,
    ) -> Result<GuestRun> {
        let plan = one.guest.as_ref().map_or_else(|| plan.clone(), |guest| plan.of_guest(guest));
        let (id, started) = new_id(&plan.kit.name);
        let settings = env.settings;
        let (mut record, writer) = keep::begin(runs, recipe, &plan, &one.stack, (&id, &started), settings)?;
        record.links = one.stack.links(&plan)?;
        let pace = Planned::of(&plan.load);
        Ok(GuestRun { plan, id, record, writer, pace })
    }

    fn conclude(
        self,
        one: &mut GuestStack,
        recording: Recording,
        rules: &[Rule],
        runs: &Runs,
        env: &mut Environment<'_>,
    ) -> Result<(Part, Option<Problems>)> {
        let GuestRun { plan, id, record, writer, pace } = self;
        let driven = Driven { plan: &plan, recording: &recording, pace: &pace, rules };
        let stopped = driven.conclude(&mut one.stack, (record, writer), env)?;
        let run: Run = runs.find(&id)?;
        Ok((Part::of(one, recording, run), stopped))
    }
}

/// All at once.
fn drive(guests: &mut [GuestRun], stacks: &mut Stacks, env: &mut Environment<'_>) -> Vec<Result<Recording>> {
    let sides = sides(stacks);
    let began = Instant::now();
    let jobs = guests.iter_mut().zip(stacks.all_mut()).zip(&sides).map(|((guest, one), side)| {
        let job: Job<'_> = Box::new(move |env| {
            let GuestRun { plan, writer, pace, .. } = guest;
            measure(plan, &mut one.stack, (writer, pace), DRAIN_S, side, env)
        });
        (env.catalogue, job)
    });
    let jobs: Vec<_> = jobs.collect();
    let recorded = at_once::measure(jobs, &|| end_all(&sides), env);
    let took_s = began.elapsed().as_secs_f64();
    stacks.all_mut().for_each(|one| {
        one.stack.steps.push(Step { name: "drive the users".to_string(), took_s });
    });
    recorded
}

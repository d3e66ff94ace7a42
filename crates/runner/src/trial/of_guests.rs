//! A trial of several guests: each has a run of its own below the trial's, and the trial's is their sums.

use std::time::Instant;

use analysis::Also;
use model::catalogue::rules::Rule;
use model::record::Outcome;
use model::record::plan::Load;
use model::record::study::Measured;
use model::{Problem, Result};
use store::Runs;

use super::arm::Task;
use super::driven::Driven;
use super::driving::{self, Begun, no_room};
use super::partner::Partner;
use super::settle::Ending;
use super::verdict;
use crate::at_once::{self, Job};
use crate::environment::Environment;
use crate::guests::{Part, Stacks, Whole, WholeKept, end_all, keep_whole, sides, worst_targets};
use crate::keep;
use crate::measure::Recording;
use crate::outcome::new_id;

/// Drives the guests that stand together, and keeps and judges their runs and the whole.
pub(super) fn drive(
    task: &Task,
    stacks: &mut Stacks,
    (runs, id, started): (&Runs, &str, &str),
    rules: &[Rule],
    env: &mut Environment<'_>,
) -> Result<Driven> {
    let (mut record, writer) =
        keep::begin(runs, &task.recipe, &task.plan, stacks.first(), (id, started), env.settings)?;
    if let Some(check) = no_room((task, 1), stacks.first()) {
        record.validity.push(check);
        return Driven::refused(record, writer);
    }
    let below = Runs::open(writer.directory())?;
    let tasks: Vec<Task> = stacks
        .all()
        .filter_map(|one| one.guest.as_ref())
        .map(|guest| Task { plan: task.plan.of_guest(guest), ..task.clone() })
        .collect();
    let mut begun = begin(&tasks, stacks, &below, env)?;
    let began = Instant::now();
    let recorded = measure(&tasks, &mut begun, stacks, env).into_iter().collect::<Result<Vec<_>>>()?;
    let found: Vec<Found> = begun.iter().map(|(_, one)| one.window()).collect();
    let mut judged = Vec::new();
    let mut parts = Vec::new();
    for ((((own, begun), own_task), one), recording) in
        begun.into_iter().zip(&tasks).zip(stacks.all_mut()).zip(recorded)
    {
        judged.push(begun.judge(own_task, &mut one.stack, &recording, rules, env)?);
        parts.push(Part::of(one, recording, below.find(&own)?));
    }
    record.steps.push(model::record::Step {
        name: "drive the users".to_string(),
        took_s: began.elapsed().as_secs_f64(),
    });
    judge(task, Common::of(task, &found), (parts, judged), (record, writer))
}

/// What a guest's pace found.
type Found = ((u32, u32), Option<Ending>);

/// The guests' runs, by their ids, which end together.
fn begin(
    tasks: &[Task],
    stacks: &mut Stacks,
    below: &Runs,
    env: &Environment<'_>,
) -> Result<Vec<(String, Begun)>> {
    let settings = env.settings;
    let partners = Partner::all(tasks.len());
    let all = tasks.iter().zip(stacks.all_mut()).zip(partners);
    all.map(|((task, one), partner)| {
        let (id, started) = new_id(&task.plan.kit.name);
        match driving::begin((task, 1), &mut one.stack, below, (&id, &started), settings)? {
            Ok(begun) => Ok((id, begun.with(partner))),
            Err(_) => Err(Problem::bug("one of several guests has no room where all have").into()),
        }
    })
    .collect()
}

fn measure(
    tasks: &[Task],
    begun: &mut [(String, Begun)],
    stacks: &mut Stacks,
    env: &mut Environment<'_>,
) -> Vec<Result<Recording>> {
    let sides = sides(stacks);
    let all = begun.iter_mut().zip(tasks).zip(stacks.all_mut().zip(&sides));
    let jobs = all.map(|(((_, begun), task), (one, side))| {
        let plan = &task.plan;
        let job: Job<'_> = Box::new(move |env| begun.measure(plan, &mut one.stack, side, env));
        (&*task.catalogue, job)
    });
    at_once::measure(jobs.collect(), &|| end_all(&sides), env)
}

/// The seconds that all guests have in common.
struct Common {
    window: (u32, u32),
    /// Seconds after the ramp-up at which the last of them was steady; absent where one was not.
    warm_up_s: Option<f64>,
    /// Whether one never settled.
    unsettled: bool,
    /// Whether one was hopeless.
    hopeless: bool,
}

impl Common {
    fn of(task: &Task, found: &[Found]) -> Common {
        let from = found.iter().map(|((from, _), _)| *from).max().unwrap_or(0);
        let to = found.iter().map(|((_, to), _)| *to).min().unwrap_or(0);
        let any = |wanted: Ending| found.iter().any(|(_, ending)| *ending == Some(wanted));
        let settled = found.iter().all(|(_, ending)| matches!(ending, Some(Ending::Settled(_))));
        Common {
            window: (from, to.max(from)),
            warm_up_s: settled.then(|| f64::from(from.saturating_sub(task.ramp_up_s))),
            unsettled: any(Ending::Unsettled),
            hopeless: any(Ending::Hopeless),
        }
    }
}

/// The whole, by the seconds that all have in common.
fn judge(
    task: &Task,
    common: Common,
    (parts, judged): (Vec<Part>, Vec<Driven>),
    (record, writer): (model::RunRecord, store::RunWriter),
) -> Result<Driven> {
    let (from, to) = common.window;
    let wanted_s = if common.hopeless { to - from } else { task.window_s };
    let load = Load { ramp_up_s: f64::from(from), steady_s: f64::from(wanted_s), ..task.plan.load.clone() };
    let whole = Whole {
        plan: &task.plan,
        load: &load,
        ramp_up_s: f64::from(task.ramp_up_s),
        window: common.window,
        unsettled_after_s: common.unsettled.then(|| f64::from(to.saturating_sub(task.ramp_up_s))),
        asking: wording::Asking::Trial,
    };
    let WholeKept { kept: (mut record, writer), steady, batches, names } =
        keep_whole(&whole, &parts, record, writer)?;
    let counted = Load { steady_s: f64::from(to - from), ..load };
    record.setup.ramp_up_s = counted.ramp_up_s;
    record.setup.steady_s = counted.steady_s;
    record.setup.load = Some(counted);
    writer.finish(&record)?;
    let also = Also {
        percentiles: &task.percentiles,
        metrics: &task.plan.kit.metrics,
        response_times: task.response_times,
    };
    let seen = || judged.iter().filter_map(|one| one.measured.as_ref());
    let measured = analysis::measured_in(&batches, &names, &task.plan.qos, &record.tiers, &also);
    let measured = measured.map(|sums| Measured {
        targets: worst_targets(seen().map(|one| one.targets.as_slice())),
        foreign_cores: record.generator.foreign_cores,
        only_under_way: seen().any(|one| one.only_under_way),
        guest_spread_ratio: model::record::guest::spread_ratio(&record.guests),
        ..sums
    });
    let outcome = |wanted: Outcome| judged.iter().any(|one| one.outcome == wanted);
    Ok(Driven {
        outcome: match (outcome(Outcome::Aborted), outcome(Outcome::Interrupted)) {
            (true, _) => Outcome::Aborted,
            (false, true) => Outcome::Interrupted,
            (false, false) => record.outcome,
        },
        warm_up_s: common.warm_up_s,
        window_s: steady.length_s(),
        faults: verdict::faults(&record, common.unsettled),
        measured,
        interrupted_ratio: None,
        spoilt: common.hopeless || judged.iter().any(|one| one.spoilt),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_what_all_guests_have_in_common() {
        let of = |found: &[Found]| Common::of(&task(), found);
        let both = of(&[((12, 40), Some(Ending::Settled(2))), ((15, 40), Some(Ending::Settled(5)))]);
        assert_eq!((both.window, both.warm_up_s), ((15, 40), Some(5.0)));
        let one = of(&[((12, 40), Some(Ending::Settled(2))), ((14, 24), Some(Ending::Hopeless))]);
        assert_eq!((one.window, one.warm_up_s, one.hopeless), ((14, 24), None, true));
        let never = of(&[((12, 40), Some(Ending::Settled(2))), ((30, 60), Some(Ending::Unsettled))]);
        assert_eq!((never.window, never.unsettled), ((30, 40), true));
    }

    fn task() -> Task {
        let catalogue = std::rc::Rc::new(testkit::catalogue::catalogue());
        let recipe = model::Recipe { format: 1, kit: "dvdstore".into(), ..model::Recipe::default() };
        let plan = model::Plan::resolve(&recipe, None, &catalogue, &[0, 1]).expect("a plan");
        Task {
            recipe,
            plan,
            catalogue,
            ramp_up_s: 10,
            min_warm_up_s: 0,
            pause_s: 0.0,
            window_s: 20,
            percentiles: Vec::new(),
            response_times: false,
            signals: Vec::new(),
        }
    }
}

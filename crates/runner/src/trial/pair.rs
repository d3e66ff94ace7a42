//! Two trials that take turns, a second each, on two stacks that stand side by side: what the machine does meanwhile is
//! the same for both.

use std::time::Duration;

use engine::time_slices::{Share, TimeSlices};
use experiment::Order;
use model::record::study::Trial;
use model::{OperationKind, Problem, Result};

use super::driven::Driven;
use super::driving::{self, Begun};
use super::partner::Partner;
use super::{Task, Times, TrialBench};
use crate::at_once::{self, Job};
use crate::guests::Stacks;
use crate::measure::{Recording, SideBySide};
use crate::outcome;
use crate::standing_stack::StandingStack;
use crate::watching;

/// How long a turn is: the shorter, the more alike is what the machine does; the longer, the fewer answers are under way
/// when one ends.
const TURN: Duration = Duration::from_secs(1);

/// Runs that take turns at once.
const SIDES: u64 = 2;

/// Measures both; they are kept in their order.
pub(super) fn measure(
    bench: &mut TrialBench<'_>,
    orders: [&Order; 2],
    trials: &[Trial],
) -> Result<[Trial; 2]> {
    bench.env.interrupt.check()?;
    let began_s = bench.study.spent_s();
    if let Some(standing) = bench.standing.take() {
        bench.take_down(standing.stacks);
    }
    let tasks = [bench.task(orders[0])?, bench.task(orders[1])?];
    bench.tell_so_far(&orders, trials);
    let ids = [0, 1].map(|side: usize| outcome::new_id(&tasks[side].plan.kit.name));
    let mut stacks = stand(bench, &tasks, &ids, trials)?;
    let muted = bench.env.progress.mute(true);
    let driven = drive(bench, &tasks, &ids, &mut stacks);
    bench.env.progress.mute(muted);
    for one in stacks {
        bench.take_down(one);
    }
    let took_s = (bench.study.spent_s() - began_s) / 2.0;
    let [one, two] = driven?;
    let [(one_id, _), (two_id, _)] = ids;
    let times = || Times { began_s, took_s, fresh: true };
    // Both are kept before either ends the study.
    let (first, first_ended) = bench.keep((orders[0], &tasks[0]), (one, one_id), times(), trials)?;
    let before = [trials, std::slice::from_ref(&first)].concat();
    let (second, second_ended) = bench.keep((orders[1], &tasks[1]), (two, two_id), times(), &before)?;
    first_ended.and(second_ended).map(|()| [first, second])
}

/// Both stacks; neither is left standing where one can't be.
fn stand(
    bench: &mut TrialBench<'_>,
    tasks: &[Task; 2],
    ids: &[(String, String); 2],
    trials: &[Trial],
) -> Result<Vec<Stacks>> {
    let mut stacks: Vec<Stacks> = Vec::new();
    for (task, (id, _)) in tasks.iter().zip(ids) {
        match bench.set_up(task, id, (!trials.is_empty(), false)) {
            Ok(stack) => stacks.push(stack),
            Err(problems) => {
                stacks.into_iter().for_each(|stack| bench.take_down(stack));
                return Err(problems);
            }
        }
    }
    Ok(stacks)
}

fn drive(
    bench: &mut TrialBench<'_>,
    tasks: &[Task; 2],
    ids: &[(String, String); 2],
    stacks: &mut [Stacks],
) -> Result<[Driven; 2]> {
    let runs = bench.study.runs()?;
    let settings = bench.env.settings;
    let [one, two] = stacks else { return Err(Problem::bug("two stacks take turns").into()) };
    // Guests take no turns (`can_take_turns`): there is one stack for each trial.
    let (one, two) = (one.first_mut(), two.first_mut());
    let begin = |side: usize, stack: &mut StandingStack| {
        let (id, started) = &ids[side];
        driving::begin((&tasks[side], SIDES), stack, &runs, (id, started), settings)
    };
    let (first, second) = match (begin(0, one)?, begin(1, two)?) {
        (Ok(first), Ok(second)) => (first, second),
        // There is no room for the users of either.
        (first, second) => return Ok([over(first)?, over(second)?]),
    };
    let [partner, other] =
        <[Partner; 2]>::try_from(Partner::all(2)).map_err(|_| Problem::bug("two partners"))?;
    let (mut first, mut second) = (first.with(partner), second.with(other));
    let slices = TimeSlices::new(2, TURN);
    let side = |run: usize, other: &StandingStack| SideBySide {
        turns: Some(Share::of(&slices, run)),
        together: None,
        beside: watching::tiers(other),
    };
    let sides = [side(0, two), side(1, one)];
    let recorded = in_turn(bench, tasks, [(&mut first, &mut *one), (&mut second, &mut *two)], &sides);
    let mut driven = Vec::new();
    let begun = [(first, one), (second, two)];
    for (((begun, stack), recording), (task, side)) in
        begun.into_iter().zip(recorded).zip(tasks.iter().zip(&sides))
    {
        let recording = recording?;
        let interrupted_ratio = side.turns.as_ref().map(|share| interrupted_ratio(&recording, share));
        let mut env = bench.env.with(&task.catalogue);
        let one = begun.judge(task, stack, &recording, &bench.rules, &mut env)?;
        driven.push(Driven { interrupted_ratio, ..one });
    }
    <[Driven; 2]>::try_from(driven).map_err(|_| Problem::bug("two trials took turns").into())
}

/// Answers that were under way when a turn ended, as a share of all.
fn interrupted_ratio(recording: &Recording, share: &Share) -> f64 {
    let rows = recording.totals.names.iter().zip(&recording.totals.completed);
    let requests = rows.filter(|(name, _)| name.kind == OperationKind::Request);
    let answers: u64 = requests.map(|(_, completed)| completed).sum();
    share.interrupted() as f64 / answers.max(1) as f64
}

fn over(begun: std::result::Result<Begun, Driven>) -> Result<Driven> {
    begun.err().ok_or_else(|| Problem::bug("one of two trials has room, and the other one has not").into())
}

/// Both at once, each in its turns.
fn in_turn(
    bench: &mut TrialBench<'_>,
    tasks: &[Task; 2],
    runs: [(&mut Begun, &mut StandingStack); 2],
    sides: &[SideBySide; 2],
) -> Vec<Result<Recording>> {
    let jobs = runs.into_iter().zip(tasks.iter().zip(sides)).map(|((begun, stack), (task, side))| {
        let plan = &task.plan;
        let job: Job<'_> = Box::new(move |env| begun.measure(plan, stack, side, env));
        (&*task.catalogue, job)
    });
    let release =
        || sides.iter().filter_map(|side| side.turns.as_ref()).for_each(|share| drop(share.or_leave_out()));
    at_once::measure(jobs.collect(), &release, &mut bench.env)
}

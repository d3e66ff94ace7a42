//! Two trials that take turns, a second each, on two stacks that stand side by side: what the machine does meanwhile is
//! the same for both.

use std::thread;
use std::time::Duration;

use engine::time_slices::{Share, TimeSlices};
use experiment::Order;
use model::record::study::Trial;
use model::{OperationKind, Problem, Problems, Result};

use super::driven::Driven;
use super::driving::{self, Begun};
use super::partner::Partner;
use super::{Task, Times, TrialBench};
use crate::environment::Environment;
use crate::measure::{Recording, TakingTurns};
use crate::outcome;
use crate::progress::Progress;
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
        bench.take_down(standing.stack);
    }
    let tasks = [bench.task(orders[0])?, bench.task(orders[1])?];
    let below = (bench.outlook)(orders[0], trials);
    bench.env.progress.below(&below);
    let ids = [0, 1].map(|side: usize| outcome::new_id(&tasks[side].plan.kit.name));
    let mut stacks = stand(bench, &tasks, &ids, trials)?;
    let muted = bench.env.progress.mute(true);
    let driven = drive(bench, &tasks, &ids, &mut stacks);
    bench.env.progress.mute(muted);
    for stack in stacks {
        bench.take_down(stack);
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
) -> Result<Vec<StandingStack>> {
    let mut stacks: Vec<StandingStack> = Vec::new();
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
    stacks: &mut [StandingStack],
) -> Result<[Driven; 2]> {
    let runs = bench.study.runs()?;
    let origin = &bench.env.settings.origin;
    let [one, two] = stacks else { return Err(Problem::bug("two stacks take turns").into()) };
    let begin = |side: usize, stack: &mut StandingStack| {
        let (id, started) = &ids[side];
        driving::begin((&tasks[side], SIDES), stack, &runs, (id, started), origin)
    };
    let (first, second) = match (begin(0, one)?, begin(1, two)?) {
        (Ok(first), Ok(second)) => (first, second),
        // There is no room for the users of either.
        (first, second) => return Ok([over(first)?, over(second)?]),
    };
    let [partner, other] = Partner::both();
    let (mut first, mut second) = (first.with(partner), second.with(other));
    let slices = TimeSlices::new(2, TURN);
    let turns = [
        TakingTurns { share: Share::of(&slices, 0), beside: watching::tiers(two) },
        TakingTurns { share: Share::of(&slices, 1), beside: watching::tiers(one) },
    ];
    let recorded = {
        let sides = [(&mut first, &mut *one), (&mut second, &mut *two)];
        in_turn(bench, tasks, sides, &turns)
    };
    let mut driven = Vec::new();
    let begun = [(first, one), (second, two)];
    for (((begun, stack), recording), (task, turns)) in
        begun.into_iter().zip(recorded).zip(tasks.iter().zip(&turns))
    {
        let recording = recording?;
        let interrupted_ratio = Some(interrupted_ratio(&recording, &turns.share));
        let mut env = bench.env.with(&task.catalogue);
        let one = begun.judge(task, stack, recording, &bench.rules, &mut env)?;
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

/// The second one on a thread of its own; the first one's progress is shown.
fn in_turn(
    bench: &mut TrialBench<'_>,
    tasks: &[Task; 2],
    [(first, one), (second, two)]: [(&mut Begun, &mut StandingStack); 2],
    turns: &[TakingTurns; 2],
) -> [Result<Recording>; 2] {
    let env = &mut bench.env;
    let (home, settings, machine, interrupt) = (env.home, env.settings, env.machine, env.interrupt);
    let [(own_plan, own_catalogue), (plan, catalogue)] =
        [0, 1].map(|side: usize| (&tasks[side].plan, &*tasks[side].catalogue));
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            let progress = &mut Nobody;
            let mut env = Environment { home, catalogue, settings, machine, interrupt, progress };
            second.measure(plan, two, Some(&turns[1]), &mut env)
        });
        let own = first.measure(own_plan, one, Some(&turns[0]), &mut env.with(own_catalogue));
        let panicked = |_| Err(Problem::bug("the thread of a trial panicked").into());
        [own, other.join().unwrap_or_else(panicked)]
    })
}

/// Listens to the trial whose progress is not shown.
struct Nobody;

impl Progress for Nobody {
    fn step(&mut self, _text: &str) {}
    fn advance(&mut self, _text: &str, _done_ratio: f64) {}
    fn still(&mut self, _text: &str) {}
    fn done(&mut self, _text: &str) {}
    fn note(&mut self, _text: &str) {}
    fn problem(&mut self, _problems: &Problems) {}
    fn below(&mut self, _text: &str) {}
    fn mute(&mut self, _muted: bool) -> bool {
        true
    }
}

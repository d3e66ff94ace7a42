//! Proof by intervention: a kept run's stack stands up again and is driven without a pause, while in short windows a part
//! of the suspect's resource is taken, or of an innocent tier's, or nothing. What the throughput does then tells whether
//! the suspect holds it.

mod handicap;
mod same;

use analysis::elasticity;
use analysis::random::Random;
use engine::{Audience, Control, Second, Stop};
use model::diagnosis::{Handicap, Proof};
use model::{OperationKind, Plan, Problem, Recipe, Result, RunRecord};
use store::Run;

use crate::bench::server::ServerArgs;
use crate::bench::stage::Stage;
use crate::bench::{measure, measuring, outcome};
use crate::console::Console;
use crate::context::Context;
use crate::verbs::recipe_args::cpus;
use handicap::Take;

/// Seconds of a window that count.
const WINDOW_S: u32 = 8;
/// Seconds before them, in which what was taken makes itself felt.
const SETTLE_S: u32 = 2;
/// Blocks of three windows; seven are needed for an interval.
const BLOCKS: u32 = 8;
/// At the end sessions under way may take so many seconds.
const DRAIN_S: f64 = 2.0;

/// What is done in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    Baseline,
    Suspect,
    Innocent,
}

/// Proves or refutes what the diagnosis in a run's `record` says. Ctrl-C ends it with what it has.
pub(crate) fn prove(run: &Run, record: &RunRecord, context: &mut Context) -> Result<Proof> {
    let usual = context.catalogue.clone();
    let proof = in_catalogue(run, record, context);
    context.catalogue = usual;
    proof
}

fn in_catalogue(run: &Run, record: &RunRecord, context: &mut Context) -> Result<Proof> {
    let plan = plan(run, context)?;
    same::check(&plan, record)?;
    let mut takes = Take::both(record, &plan)?;
    measuring::hold(context)?;
    let (id, _) = outcome::new_id(&plan.kit.name);
    let keep_failed = context.home.join("failed").join(&id);
    let server = ServerArgs { resume: 1.0, ..ServerArgs::default() };
    let mut stage = Stage::set(&plan, &server, &id, keep_failed, context)?;
    let stack = stage.stack().ok_or_else(|| Problem::bug("a run without a stack of its own"))?;
    if let Some(reason) = takes.settle(&plan, stack)? {
        context.console.note(&format!("nothing is taken from another tier: {reason}"));
    }
    let windows = order(record.setup.seed);
    let driven = drive(&plan, &takes, &windows, &mut stage, context);
    let stopped = stage.stop();
    stage.close()?;
    stopped?;
    Ok(sum_up(&takes, &driven?))
}

/// The run's own plan, to be driven for as long as all windows take.
fn plan(run: &Run, context: &mut Context) -> Result<Plan> {
    let path = run.directory().join("recipe.json");
    let unread = |what: String| Problem::recipe(what).file(path.display().to_string());
    let text = std::fs::read(&path).map_err(|error| unread(format!("failed to read the recipe: {error}")))?;
    let recipe: Recipe = serde_json::from_slice(&text).map_err(|error| unread(error.to_string()))?;
    if recipe.target.is_some() || recipe.rate.is_some() || !recipe.stages.is_empty() {
        let what = "only a stack of its own, driven by a number of users, can be handicapped";
        return Err(Problem::recipe(what).key("--prove").into());
    }
    if let Some(fault) = &recipe.fault {
        context.catalogue.fault(fault)?.patch(&mut context.catalogue)?;
    }
    // One second more than the windows take: they begin with a whole second, and never at 0.
    let steady_s = BLOCKS * 3 * (SETTLE_S + WINDOW_S) + 1;
    let recipe = Recipe { steady: Some(format!("{steady_s}s")), ramp_down: Some("0s".into()), ..recipe };
    let file = path.display().to_string();
    Plan::resolve(&recipe, Some(&file), &context.catalogue, &cpus())
}

/// Blocks of all three kinds, each in an order drawn anew.
fn order(seed: u64) -> Vec<Window> {
    let mut random = Random::new(seed);
    let mut windows = Vec::new();
    for _ in 0..BLOCKS {
        let mut block = vec![Window::Baseline, Window::Suspect, Window::Innocent];
        while !block.is_empty() {
            windows.push(block.swap_remove(random.below(block.len())));
        }
    }
    windows
}

/// What each whole window has given.
fn drive(
    plan: &Plan,
    takes: &Take,
    windows: &[Window],
    stage: &mut Stage,
    context: &mut Context,
) -> Result<Vec<Driven>> {
    let options = measure::options(plan, stage, DRAIN_S, context)?;
    let control = Control::default();
    context.interrupt.steer(&control);
    let mut prover = Prover {
        begins_s: (plan.load.ramp_up_s.ceil() as u32).max(1),
        takes,
        windows,
        stage,
        console: &mut context.console,
        control: &control,
        sums: Vec::new(),
    };
    let ended = engine::run(&options, &control, &mut prover);
    let sums = prover.sums;
    context.interrupt.release();
    ended?;
    let whole = sums.into_iter().filter(|sum| sum.seconds == WINDOW_S);
    let driven = whole.map(|sum| {
        let per_s = sum.completed as f64 / f64::from(WINDOW_S);
        Driven { index: sum.index, window: sum.window, per_s }
    });
    Ok(driven.collect())
}

/// What a whole window has given.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Driven {
    /// Its place among all windows, also those that are not whole.
    index: usize,
    window: Window,
    /// Operations completed per second.
    per_s: f64,
}

/// What a window has given so far.
struct Sum {
    index: usize,
    window: Window,
    seconds: u32,
    completed: u64,
}

struct Prover<'a> {
    /// At this end of a second the first window begins: 1 or later, since the end of no second is at 0.
    begins_s: u32,
    takes: &'a Take,
    windows: &'a [Window],
    stage: &'a mut Stage,
    console: &'a mut Console,
    control: &'a Control,
    sums: Vec<Sum>,
}

impl Audience for Prover<'_> {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        let ended_s = second.interval.second + 1;
        if let Some(death) = self.stage.deaths().into_iter().next() {
            return Err(death.problem().why("nothing can be proved without it").into());
        }
        // Users who leave are no throughput of a window.
        if self.control.stop() != Stop::No {
            return Ok(());
        }
        self.count(second);
        let length_s = SETTLE_S + WINDOW_S;
        let done_s = ended_s.saturating_sub(self.begins_s);
        if ended_s >= self.begins_s && done_s.is_multiple_of(length_s) {
            self.turn((done_s / length_s) as usize)?;
        }
        let all_s = self.begins_s + self.windows.len() as u32 * length_s;
        let (number, all) = (self.sums.len(), self.windows.len());
        let text =
            format!("window {number} of {all}: {}", self.takes.words(self.sums.last().map(|sum| sum.window)));
        self.console.progress(&text, f64::from(ended_s) / f64::from(all_s));
        Ok(())
    }
}

impl Prover<'_> {
    /// A second counts for the window under way when it has settled.
    fn count(&mut self, second: &Second<'_>) {
        let at_s = second.interval.second.saturating_sub(self.begins_s) % (SETTLE_S + WINDOW_S);
        let Some(sum) = self.sums.last_mut().filter(|_| at_s >= SETTLE_S) else { return };
        let rows = second.names.iter().zip(&second.interval.operations);
        let operations = rows.filter(|(name, _)| name.kind == OperationKind::Operation);
        sum.completed += operations.map(|(_, row)| row.completed).sum::<u64>();
        sum.seconds += 1;
    }

    /// The next window begins.
    fn turn(&mut self, index: usize) -> Result<()> {
        let before = self.sums.last().map_or(Window::Baseline, |sum| sum.window);
        let next = self.windows.get(index).copied();
        let stack = self.stage.stack().ok_or_else(|| Problem::bug("a run without a stack of its own"))?;
        self.takes.change(before, next.unwrap_or(Window::Baseline), stack)?;
        match next {
            Some(window) => self.sums.push(Sum { index, window, seconds: 0, completed: 0 }),
            None => self.control.ask(Stop::Gently),
        }
        Ok(())
    }
}

/// What follows from the pairs of each block.
fn sum_up(takes: &Take, driven: &[Driven]) -> Proof {
    let handicap = |wanted: Window| -> Option<Handicap> {
        let one = takes.of(wanted)?;
        let (elasticity, interval, pairs) = elasticity::elasticity(&pairs(driven, wanted), one.left_ratio());
        let suspect = wanted == Window::Suspect;
        Some(Handicap {
            tier: one.tier().to_string(),
            what: one.what(),
            suspect,
            elasticity,
            interval,
            pairs,
        })
    };
    let handicaps: Vec<Handicap> =
        [Window::Suspect, Window::Innocent].into_iter().filter_map(handicap).collect();
    let taken_ratio = takes.of(Window::Suspect).map_or(0.0, |one| 1.0 - one.left_ratio());
    let mut sentence = elasticity::sentence(&handicaps);
    if takes.is_alone() {
        sentence += " Nothing was taken from another tier: this machine lets no CPU quota be set.";
    }
    Proof { taken_ratio, window_s: f64::from(WINDOW_S), handicaps, sentence }
}

/// The throughputs (with nothing taken, in the wanted window) of each block whose windows are all whole.
fn pairs(driven: &[Driven], wanted: Window) -> Vec<(f64, f64)> {
    let of =
        |block: &[Driven], wanted: Window| block.iter().find(|one| one.window == wanted).map(|one| one.per_s);
    driven
        .chunk_by(|one, next| one.index / 3 == next.index / 3)
        .filter(|block| block.len() == 3)
        .filter_map(|block| Some((of(block, Window::Baseline)?, of(block, wanted)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_each_kind_of_window_once_and_not_always_in_the_same_order() {
        let windows = order(7);
        assert_eq!(windows.len() as u32, BLOCKS * 3);
        let blocks: Vec<&[Window]> = windows.chunks(3).collect();
        for kind in [Window::Baseline, Window::Suspect, Window::Innocent] {
            assert!(blocks.iter().all(|block| block.contains(&kind)));
        }
        assert!(blocks.iter().any(|block| block != &blocks[0]));
        assert_eq!(windows, order(7), "the same seed gives the same order");
    }

    #[test]
    fn a_window_that_is_not_whole_takes_its_block_with_it_and_no_other() {
        let all: Vec<Driven> = order(7)
            .into_iter()
            .enumerate()
            .map(|(index, window)| Driven { index, window, per_s: (index / 3) as f64 })
            .collect();
        let of_blocks = |numbers: &[u32]| -> Vec<(f64, f64)> {
            numbers.iter().map(|number| (f64::from(*number), f64::from(*number))).collect()
        };
        assert_eq!(pairs(&all, Window::Suspect), of_blocks(&[0, 1, 2, 3, 4, 5, 6, 7]));
        for lost in [3, 4, 5] {
            let rest: Vec<Driven> = all.iter().copied().filter(|one| one.index != lost).collect();
            assert_eq!(pairs(&rest, Window::Suspect), of_blocks(&[0, 2, 3, 4, 5, 6, 7]), "without {lost}");
        }
        assert_eq!(pairs(&all[..5], Window::Innocent), of_blocks(&[0]));
        assert_eq!(pairs(&[], Window::Suspect), of_blocks(&[]));
    }
}

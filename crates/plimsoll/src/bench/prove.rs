//! Proof by intervention: a kept run's stack stands up again and is driven without a pause, while in short windows a part
//! of the suspect's resource is taken, or of an innocent tier's, or nothing. What the throughput does then tells whether
//! the suspect holds it.

mod handicap;
mod same;
mod windows;

use analysis::elasticity::{self, Elasticity};
use engine::{Audience, Control, Second, Stop};
use model::diagnosis::{Handicap, Proof};
use model::{Plan, Problem, Recipe, Result, RunRecord};
use store::Run;

use crate::bench::server::ServerArgs;
use crate::bench::stage::Stage;
use crate::bench::{judge, measure, measuring, outcome};
use crate::console::Console;
use crate::context::Context;
use crate::verbs::recipe_args::cpus;
use handicap::Take;
use windows::{Driven, Tally, Turn, Window, left_out, order, pairs};

/// Seconds of a window that count.
const WINDOW_S: u32 = 8;
/// Seconds before them, in which what was taken makes itself felt.
const SETTLE_S: u32 = 2;
/// Blocks of three windows; seven are needed for an interval.
const BLOCKS: u32 = 8;
/// At the end sessions under way may take so many seconds.
const DRAIN_S: f64 = 2.0;

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
    let steady = Some(format!("{steady_s}s"));
    let recipe = Recipe { sessions: None, steady, ramp_down: Some("0s".into()), ..recipe };
    let file = path.display().to_string();
    Plan::resolve(&recipe, Some(&file), &context.catalogue, &cpus())
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
    let begins_s = (plan.load.ramp_up_s.ceil() as u32).max(1);
    let generator = (plan.placement.generator.len(), judge::shares_cpus(plan));
    let mut prover = Prover {
        tally: Tally::new(begins_s, windows, generator),
        takes,
        stage,
        console: &mut context.console,
        control: &control,
    };
    let ended = engine::run(&options, &control, &mut prover);
    let driven = prover.tally.whole();
    context.interrupt.release();
    ended?;
    Ok(driven)
}

struct Prover<'a> {
    tally: Tally<'a>,
    takes: &'a Take,
    stage: &'a mut Stage,
    console: &'a mut Console,
    control: &'a Control,
}

impl Audience for Prover<'_> {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        if let Some(death) = self.stage.deaths().into_iter().next() {
            return Err(death.problem().why("nothing can be proved without it").into());
        }
        // Users who leave are no throughput of a window.
        if self.control.stop() != Stop::No {
            return Ok(());
        }
        if let Some(turn) = self.tally.second(second) {
            self.turn(turn)?;
        }
        let (number, all, done_ratio) = self.tally.progress(second.interval.second + 1);
        let text = format!("window {number} of {all}: {}", self.takes.words(self.tally.under_way()));
        self.console.progress(&text, done_ratio);
        Ok(())
    }
}

impl Prover<'_> {
    /// The next window begins.
    fn turn(&mut self, turn: Turn) -> Result<()> {
        let stack = self.stage.stack().ok_or_else(|| Problem::bug("a run without a stack of its own"))?;
        self.takes.change(turn.before, turn.next.unwrap_or(Window::Baseline), stack)?;
        if turn.next.is_none() {
            self.control.ask(Stop::Gently);
        }
        Ok(())
    }
}

/// What follows from the pairs of each block.
fn sum_up(takes: &Take, driven: &[Driven]) -> Proof {
    let handicap = |wanted: Window| -> Option<Handicap> {
        let one = takes.of(wanted)?;
        let seen = elasticity::elasticity(&pairs(driven, wanted), one.left_ratio());
        let Elasticity { value, interval, pairs, stopped } = seen;
        let suspect = wanted == Window::Suspect;
        let (tier, what) = (one.tier().to_string(), one.what());
        Some(Handicap { tier, what, suspect, elasticity: value, interval, pairs, stopped })
    };
    let handicaps: Vec<Handicap> =
        [Window::Suspect, Window::Innocent].into_iter().filter_map(handicap).collect();
    let taken_ratio = takes.of(Window::Suspect).map_or(0.0, |one| 1.0 - one.left_ratio());
    let left_out = left_out(driven);
    let mut sentence = wording::proof(&handicaps);
    if takes.is_alone() {
        sentence += " Nothing was taken from another tier: this machine lets no CPU quota be set.";
    }
    if let Some(left_out) = &left_out {
        sentence += &format!(" {}", wording::left_out(left_out, driven.len()));
    }
    Proof { taken_ratio, window_s: f64::from(WINDOW_S), handicaps, left_out, sentence }
}

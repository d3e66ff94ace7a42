//! Proof by intervention: a kept run's stack stands up again and is driven without a pause, while in short windows a part
//! of the suspect's resource is taken, or of an innocent tier's, or nothing. What the throughput does then tells whether
//! the suspect holds it.

mod handicap;
mod same;
mod windows;

use analysis::elasticity::{self, Elasticity};
use engine::{Audience, Control, Second, Stop};
use model::record::diagnosis::{Change, Handicap, Proof};
use model::{Catalogue, Plan, Problem, Recipe, Result, RunRecord};
use store::Run;
use wording::ProofFacts;

use crate::environment::Environment;
use crate::progress::Progress;
use crate::server::ServerAccess;
use crate::standing_stack::StandingStack;
use crate::{cpus, judge, outcome, run_options};
use handicap::Take;
use windows::{BLOCKS, Driven, MAX_KINDS, SETTLE_S, Tally, Turn, WINDOW_S, Window, left_out, order, pairs};

/// Seconds that sessions under way may take at the end.
const DRAIN_S: f64 = 2.0;

/// Proves or refutes what the diagnosis in a run's `record` says. Ctrl-C ends it with what it has.
pub fn prove(run: &Run, record: &RunRecord, env: &mut Environment<'_>) -> Result<Proof> {
    let (mut plan, catalogue) = plan(run, env.catalogue)?;
    let env = &mut env.with(&catalogue);
    same::check(&plan, record)?;
    let mut takes = Take::both(record, &plan)?;
    takes.prepare(&mut plan);
    env.machine.hold(env.interrupt, env.progress)?;
    let (id, _) = outcome::new_id(&plan.kit.name);
    let mut standing = StandingStack::set_up(&plan, &ServerAccess::default(), &id, env)?;
    let stack = standing.stack().ok_or_else(|| Problem::bug("a run without a stack of its own"))?;
    if let Some(reason) = takes.settle(&plan, stack)? {
        env.progress.note(&format!("nothing is taken from another tier: {reason}"));
    }
    let windows = order(record.setup.seed, &takes.kinds());
    let driven = drive(&plan, &takes, &windows, &mut standing, env);
    let stopped = standing.stop();
    standing.close()?;
    stopped?;
    Ok(sum_up(&takes, &driven?))
}

/// The run's own plan, to be driven for as long as all windows take, and the catalogue patched by the run's fault.
fn plan(run: &Run, catalogue: &Catalogue) -> Result<(Plan, Catalogue)> {
    let path = run.directory().join("recipe.json");
    let unread = |what: String| Problem::recipe(what).file(path.display().to_string());
    let text = std::fs::read(&path).map_err(|error| unread(format!("failed to read the recipe: {error}")))?;
    let recipe: Recipe = serde_json::from_slice(&text).map_err(|error| unread(error.to_string()))?;
    if recipe.target.is_some() || recipe.rate.is_some() || !recipe.stages.is_empty() {
        let what = "only a stack of its own, driven by a number of users, can be handicapped";
        return Err(Problem::recipe(what).key("--prove").into());
    }
    let mut catalogue = catalogue.clone();
    if let Some(fault) = &recipe.fault {
        catalogue.fault(fault)?.patch(&mut catalogue)?;
    }
    // One second more than the windows take at most: they begin with a whole second, and never at 0. The last one ends the run.
    let steady_s = BLOCKS * MAX_KINDS * (SETTLE_S + WINDOW_S) + 1;
    let steady = Some(format!("{steady_s}s"));
    let recipe = Recipe { sessions: None, steady, ramp_down: Some("0s".into()), ..recipe };
    let file = path.display().to_string();
    let plan = Plan::resolve(&recipe, Some(&file), &catalogue, &cpus::allowed())?;
    if let Some(injection) = plan.outage() {
        let what = format!("in this run {}", injection.sentence());
        let why = "what throughput does without a server would be taken for what the suspect does";
        return Err(Problem::recipe(what).key("--prove").why(why).remedy("a run without it").into());
    }
    if !plan.guests.is_empty() {
        let what = "this run has several guests";
        let why = "what is taken from a tier of one would show in the others as well";
        return Err(Problem::recipe(what).key("--prove").why(why).remedy("a run without guests").into());
    }
    Ok((plan, catalogue))
}

/// What each whole window has given.
fn drive(
    plan: &Plan,
    takes: &Take,
    windows: &[Window],
    standing: &mut StandingStack,
    env: &mut Environment<'_>,
) -> Result<Vec<Driven>> {
    let options = run_options::options(plan, &standing.target, DRAIN_S, env.catalogue)?;
    let control = Control::default();
    env.interrupt.steer(&control);
    let begins_s = (plan.load.ramp_up_s.ceil() as u32).max(1);
    let generator = (plan.placement.generator.len(), judge::shares_cpus(plan));
    let mut prover = Prover {
        tally: Tally::new(begins_s, windows, generator),
        takes,
        standing,
        progress: &mut *env.progress,
        control: &control,
    };
    let ended = engine::run(&options, &control, &mut prover);
    let driven = prover.tally.whole();
    env.interrupt.release(&control);
    ended?;
    Ok(driven)
}

struct Prover<'a> {
    tally: Tally<'a>,
    takes: &'a Take,
    standing: &'a mut StandingStack,
    progress: &'a mut dyn Progress,
    control: &'a Control,
}

impl Audience for Prover<'_> {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        if let Some(death) = self.standing.deaths().into_iter().next() {
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
        self.progress.advance(&text, done_ratio);
        Ok(())
    }
}

impl Prover<'_> {
    /// The next window begins.
    fn turn(&mut self, turn: Turn) -> Result<()> {
        let stack = self.standing.stack().ok_or_else(|| Problem::bug("a run without a stack of its own"))?;
        self.takes.change(turn.before, turn.next.unwrap_or(Window::Baseline), stack)?;
        if turn.next.is_none() {
            self.control.ask(Stop::Gently);
        }
        Ok(())
    }
}

/// What follows from the pairs of each block.
fn sum_up(takes: &Take, driven: &[Driven]) -> Proof {
    let kinds = takes.kinds().len();
    let handicap = |wanted: Window| -> Option<Handicap> {
        let one = takes.of(wanted)?;
        let more = wanted == Window::More;
        let (ratio, what) = if more { one.more()? } else { (one.left_ratio(), one.what()) };
        let change = if more { Change::Added } else { one.change() };
        let seen = elasticity::elasticity(&pairs(driven, kinds, wanted), ratio);
        let Elasticity { value, interval, pairs, stopped } = seen;
        let (tier, suspect) = (one.tier().to_string(), wanted != Window::Innocent);
        let expected = one.expected().filter(|_| wanted == Window::Suspect);
        Some(Handicap { tier, what, change, suspect, elasticity: value, expected, interval, pairs, stopped })
    };
    let wanted = [Window::Suspect, Window::Innocent, Window::More];
    let handicaps: Vec<Handicap> = wanted.into_iter().filter_map(handicap).collect();
    let taken_ratio = takes.of(Window::Suspect).map_or(0.0, |one| 1.0 - one.left_ratio());
    let left_out = left_out(driven);
    let sentence = wording::proof(&ProofFacts {
        handicaps: &handicaps,
        alone: takes.is_alone(),
        left_out: left_out.as_ref(),
        windows: driven.len(),
    });
    Proof { taken_ratio, window_s: f64::from(WINDOW_S), handicaps, left_out, sentence }
}

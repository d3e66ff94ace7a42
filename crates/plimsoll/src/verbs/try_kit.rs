//! `plimsoll try`: one user, every request printed.

mod shown;

use clap::Args;
use engine::trace::{Step, Trace};
use engine::{Audience, Control, RunOptions, Second};
use model::document::nearest;
use model::{Kind, Plan, Problem, Result};

use crate::context::Context;
use crate::verbs::recipe_args::{RecipeArgs, Resolved};
use crate::verbs::server_args::SingleArgs;
use runner::standing_stack::StandingStack;
use shown::Shown;

/// Follow one user through a session, every request printed; where users are of several populations, one of each.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll try dvdstore
  plimsoll try dvdstore --sessions 3 --bodies
  plimsoll try tpcw --sessions 20 --param think_time=0.1     its sessions are single interactions")]
pub(crate) struct TryArgs {
    #[command(flatten)]
    recipe: RecipeArgs,
    #[command(flatten)]
    server: SingleArgs,
    /// How many sessions the user goes through
    #[arg(long, default_value_t = 1)]
    sessions: u32,
    /// Follow a user of this population only
    #[arg(long, value_name = "NAME")]
    population: Option<String>,
    /// Print the beginning of every answer
    #[arg(long)]
    bodies: bool,
}

struct Printer<'a> {
    context: &'a mut Context,
    shown: Shown,
    failed: u64,
}

impl Audience for Printer<'_> {
    fn second(&mut self, _second: &Second<'_>) -> Result<()> {
        Ok(())
    }

    fn traces(&mut self, traces: &[Trace]) {
        for trace in traces {
            self.failed += u64::from(matches!(trace.step, Step::Error { .. }));
            self.shown.step(trace).iter().for_each(|text| self.context.console.result(text));
        }
    }
}

pub(crate) fn main(args: &TryArgs, context: &mut Context) -> Result<u8> {
    let Resolved { mut plan, catalogue, .. } = args.recipe.plan(context)?;
    if !plan.guests.is_empty() {
        let problem = Problem::recipe("a session is tried on one stack, and these are guests");
        return Err(problem.key("guests").remedy("leave --guests out, or another --topology").into());
    }
    plan.load = model::record::plan::Load { steady_s: 3600.0, seed: plan.load.seed, ..Default::default() };
    let kinds = kinds(&plan, args.population.as_deref())?;
    let (id, _) = runner::outcome::new_id(&plan.kit.name);
    let server = args.server.access();
    let mut standing =
        StandingStack::set_up(&plan, &server, &id, &mut context.environment().with(&catalogue))?;
    context.console.clear();
    let control = Control::default();
    context.interrupt.steer(&control);
    let mut failed = 0;
    for kind in &kinds {
        if context.interrupt.count() > 0 {
            break;
        }
        let scenario = kit::scenario(kind, &catalogue)?;
        let options = RunOptions {
            cpus: vec![plan.placement.generator.first().copied().unwrap_or(0)],
            max_sessions: Some(args.sessions.max(1)),
            drain_s: 5.0,
            tracing: true,
            ..RunOptions::of(scenario, plan.load.clone(), standing.target.clone())
        };
        let mut printer = Printer { context, shown: Shown::new(args.bodies), failed: 0 };
        engine::run(&options, &control, &mut printer)?;
        failed += printer.failed;
        let last = printer.shown.end();
        last.iter().for_each(|text| context.console.result(text));
    }
    context.interrupt.release(&control);
    let deaths = standing.deaths();
    standing.stop()?;
    standing.close()?;
    if let Some(death) = deaths.first() {
        return Err(death.problem().into());
    }
    if context.interrupt.count() > 0 {
        return Ok(Kind::Interrupted.exit_code());
    }
    Ok(if failed > 0 { Kind::Qos.exit_code() } else { 0 })
}

/// The plan for one user of each population, or of the one asked for; the plan itself where all users are alike.
fn kinds(plan: &Plan, asked: Option<&str>) -> Result<Vec<Plan>> {
    let names = || plan.kit.population.keys().map(String::as_str);
    if let Some(name) = asked.filter(|name| !names().any(|known| known == *name)) {
        let what = format!("users of kit {} are of no population `{name}`", plan.kit.name);
        let known: Vec<&str> = names().collect();
        let remedy = match (nearest(name, names()), known.is_empty()) {
            (Some(near), _) => format!("`{near}`"),
            (None, false) => format!("one of {}", known.join(", ")),
            (None, true) => "leave it out: all users are alike".to_string(),
        };
        return Err(Problem::recipe(what).key("--population").remedy(remedy).into());
    }
    if plan.kit.population.is_empty() {
        return Ok(vec![plan.clone()]);
    }
    let wanted = names().filter(|name| asked.is_none_or(|asked| asked == *name));
    Ok(wanted.map(|name| Plan { kit: plan.kit.only_of(name), ..plan.clone() }).collect())
}

//! `plimsoll run`: one run from plan to report.

use clap::Args;
use model::record::RunRecord;
use model::{Checked, Kind, Plan, Problem, Result};
use observe::{AbortOn, CallCounting};

use crate::context::Context;
use crate::verbs::check::plan_words;
use crate::verbs::enough_samples;
use crate::verbs::kept;
use crate::verbs::recipe_args::{LoadArgs, RecipeArgs, Resolved, StackArgs};
use crate::verbs::server_args::SingleArgs;
use runner::environment::Settings;
use runner::fleet::choice::FleetChoice;
use runner::outcome::{self, Measured};
use runner::progress::Progress;
use runner::resume;

/// Stand a stack up, drive it with users, measure and judge it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll run dvdstore
  plimsoll run dvdstore --users 50 --steady 2m --set web.MaxRequestWorkers=64
  plimsoll run dvdstore --stack lighttpd-fpm-mariadb --qos 'Browse p95 < 100ms' --json > run.json
  plimsoll run tpcw --mix ordering --size items=1000,browsers=50 --users 50
  plimsoll run calendar --param database_over=tcp --set db.net.host=own     its database on a host of its own
  plimsoll run dvdstore --users 20 --sessions 5000          5,000 order cycles, however long they take
  plimsoll run dvdstore --target http://127.0.0.1:8080       a server that somebody else started
  plimsoll run static --stack flash-new --set web.pass=names --abort-on open:disk      a core at the first such wait
  plimsoll run dvdstore --fleet local:2                      two agents on this machine, half of the users each
  plimsoll run dvdstore --fleet lab --tolerate 1 --target http://shop --allow-target shop      may lose one of fleet lab's
  plimsoll run dvdstore --fleet lab --target http://shop.example --allow-target shop.example
  plimsoll run --resume last          take such a run over whose process was killed, while its agents go on and later
  plimsoll run shop.toml

Ctrl-C once ends the run well and keeps what was measured; twice ends it at once.")]
pub(crate) struct RunArgs {
    /// A kit's name, or a recipe file (FILE.toml)
    #[arg(value_name = "KIT|RECIPE.toml", required_unless_present = "resume")]
    kit: Option<String>,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    load: LoadArgs,
    /// Number of sessions of all users together (with --rate: of arrivals) instead of a length: the run ends with the last
    /// of them. The same seed makes the same requests, however many threads make them
    #[arg(long, value_name = "N", conflicts_with_all = ["steady", "ramp_down"], value_parser = clap::value_parser!(u64).range(1..))]
    sessions: Option<u64>,
    /// End a server at the first wait that a thread of its event loop must never have, and keep its core: a call and what
    /// it waits for. Only servers that are built to be studied are ended (flash, haboob)
    #[arg(long, value_name = "CALL:disk")]
    abort_on: Option<AbortOn>,
    /// Let agents drive the users instead of this process: local:N starts N of them on this machine, a name is that of a
    /// fleet (`plimsoll fleet`)
    #[arg(long, value_name = "local:N|NAME")]
    fleet: Option<FleetChoice>,
    /// Go on without up to N agents that are lost: the run is then DEGRADED, and its users are judged by those that were left
    #[arg(long, value_name = "N", requires = "fleet", default_value_t = 0)]
    tolerate: u32,
    #[command(flatten)]
    server: SingleArgs,
    /// Take over a run that a named fleet drives and whose own process was killed: its id, the beginning of it, or `last`. Within
    /// 15 s its users go on; later what the agents told is kept, and the run is interrupted
    #[arg(long, value_name = "RUN", conflicts_with_all = ["kit", "StackArgs", "LoadArgs", "sessions", "abort_on", "fleet", "tolerate", "ServerArgs", "tls_resume"])]
    resume: Option<String>,
    /// Print the run's record as JSON (docs/reference/run-json.md) instead of the summary
    #[arg(long)]
    json: bool,
}

impl RunArgs {
    fn plan(&self, context: &Context) -> Result<Resolved> {
        let (kit, stack, load) =
            (self.kit.clone().unwrap_or_default(), self.stack.clone(), self.load.clone());
        RecipeArgs { kit, stack, load }
            .plan_of(context, |recipe| recipe.sessions = self.sessions.or(recipe.sessions))
    }

    /// What will be done.
    ///
    /// # Errors
    /// Everything that is wrong with the recipe.
    pub(crate) fn check(&self, context: &Context) -> Result<Checked> {
        if let Some(run) = &self.resume {
            return Ok(Checked { ok: vec![format!("takes over {run}")], ..Checked::default() });
        }
        let Resolved { plan, recipe, catalogue } = self.plan(context)?;
        kit::lint(&catalogue, &plan.kit.name)?;
        kit::check_targets(&plan, &catalogue)?;
        let load = &plan.load;
        let takes_s = load.sessions.is_none().then_some(load.ramp_up_s + load.steady_s + load.ramp_down_s);
        let recipe = Some(recipe.to_toml()?);
        let ok = [plan_words(&plan)].into_iter().chain(enough_samples::lacking(&plan, &catalogue)?).collect();
        Ok(Checked { ok, takes_s, recipe, ..Checked::default() })
    }
}

pub(crate) fn main(args: &RunArgs, context: &mut Context) -> Result<u8> {
    let measured = match &args.resume {
        Some(name) => resume::resume(name, &mut context.environment())?,
        None => begin(args, context)?,
    };
    kept::show_run(&measured, args.json, context);
    Ok(exit_code(measured.run.record()))
}

fn begin(args: &RunArgs, context: &mut Context) -> Result<Measured> {
    let Resolved { recipe, plan, catalogue } = args.plan(context)?;
    if let Some(sentence) = enough_samples::lacking(&plan, &catalogue)? {
        context.console.note(&sentence);
    }
    let server = args.server.access();
    if args.abort_on.is_some() {
        check_abort(&plan, &context.settings)?;
        context.settings.abort_on.clone_from(&args.abort_on);
    }
    context.settings.fleet.clone_from(&args.fleet);
    context.settings.tolerated = args.tolerate;
    outcome::run(&recipe, &plan, &server, &mut context.environment().with(&catalogue))
}

/// Whether a server can be ended for a wait, and leave a core.
fn check_abort(plan: &Plan, settings: &Settings) -> Result<()> {
    let problem = |what: &str| Problem::recipe(what).key("--abort-on");
    if plan.tiers.iter().all(|tier| tier.service.build.is_none()) {
        let what = format!(
            "no server of {} is built to be studied, and others are not ended on purpose",
            plan.stack.name
        );
        return Err(problem(&what).remedy("--stack flash-new, or another of flash and haboob").into());
    }
    if !plan.guests.is_empty() {
        return Err(problem("one server is ended, and guests have one each")
            .remedy("without --guests")
            .into());
    }
    if !settings.observes || settings.calls == CallCounting::Off {
        let what = "the programs that see waits are switched off (--observe off, --count-calls off)";
        return Err(problem(what).remedy("--count-calls blocks").into());
    }
    testbed::allow_cores().map_err(|why| Problem::environment(why).key("--abort-on").into())
}

/// The exit code that a run's record stands for.
pub(crate) fn exit_code(record: &RunRecord) -> u8 {
    use model::record::Outcome;
    match (record.outcome, record.verdict.valid, record.verdict.pass) {
        (Outcome::Interrupted, ..) => Kind::Interrupted.exit_code(),
        (_, false, _) | (_, true, None) => Kind::Invalid.exit_code(),
        (_, true, Some(false)) => Kind::Qos.exit_code(),
        (_, true, Some(true)) => 0,
    }
}

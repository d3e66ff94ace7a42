//! `plimsoll run`: one run from plan to report.

use clap::Args;
use model::record::RunRecord;
use model::{Kind, Result};

use crate::context::Context;
use crate::verbs::kept;
use crate::verbs::recipe_args::{RecipeArgs, Resolved};
use crate::verbs::server_args::SingleArgs;
use runner::outcome::{self, Measured};
use runner::signals;

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
  plimsoll run shop.toml

Ctrl-C once ends the run well and keeps what was measured; twice ends it at once.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    recipe: RecipeArgs,
    /// Number of sessions of all users together (with --rate: of arrivals) instead of a length: the run ends with the last
    /// of them. The same seed makes the same requests, however many threads make them
    #[arg(long, value_name = "N", conflicts_with_all = ["steady", "ramp_down"], value_parser = clap::value_parser!(u64).range(1..))]
    sessions: Option<u64>,
    #[command(flatten)]
    server: SingleArgs,
    /// Print the run's record as JSON (docs/reference/run-json.md) instead of the summary
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &RunArgs, context: &mut Context) -> Result<u8> {
    let Resolved { recipe, plan, catalogue } =
        args.recipe.plan_of(context, |recipe| recipe.sessions = args.sessions.or(recipe.sessions))?;
    let server = args.server.access();
    let measured = outcome::run(&recipe, &plan, &server, &mut context.environment().with(&catalogue))?;
    let report = kept::keep_run_report(&measured, context);
    let Measured { run, .. } = &measured;
    let record = run.record();
    if args.json {
        context.console.result(&report::json(record));
    } else {
        let page = report::Page::of(run, &signals::built_in());
        let text = report::terminal(&page, context.console.width(), context.console.colour());
        context.console.painted(&text);
        if let Some(report) = report {
            context.console.result(&format!("\nReport: {}", report.display()));
        }
    }
    Ok(exit_code(record))
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

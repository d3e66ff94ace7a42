//! `plimsoll explore`: a stack stands, and the number of its users is changed by hand.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

use clap::Args;
use model::catalogue::load::ByHand;
use model::record::{Outcome, RunRecord};
use model::{Checked, Kind, Plan, Problem, Problems, Result, units};

use crate::context::Context;
use crate::verbs::kept;
use crate::verbs::recipe_args::{LoadArgs, RecipeArgs, Resolved, StackArgs};
use crate::verbs::server_args::SingleArgs;
use runner::by_hand::Wishes;
use runner::jobs::USERS_FILE_VARIABLE;
use runner::outcome;
use runner::progress::Progress;

/// Times as many users as there are at first may be asked for, if nothing else is said.
const MAX_TIMES: u32 = 10;

/// Stand a stack up, drive it with users, and change their number by hand while looking on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll explore dvdstore
  plimsoll explore static --stack lighttpd --users 5 --max-users 200
  plimsoll explore dvdstore --set web.MaxRequestWorkers=64 --ramp-up 10s
  plimsoll explore dvdstore --users-file wish.json     with `echo '{\"users\": 20}' > new && mv new wish.json`

While it goes on: a number and Enter asks for that many users, + and - for a tenth more and less, +5 and -5 for five; q or
Ctrl-C ends it well. Users who are too many leave when their next session would begin. What was measured is kept, with every
change, and is no result: find and run give one.")]
pub(crate) struct ExploreArgs {
    /// A kit's name, or a recipe file (FILE.toml)
    #[arg(value_name = "KIT|RECIPE.toml")]
    kit: String,
    #[command(flatten)]
    stack: StackArgs,
    /// Emulated users at first
    #[arg(long, short)]
    users: Option<u32>,
    /// No more users than these can be asked for; ten times those at first, if not given
    #[arg(long, value_name = "N")]
    max_users: Option<u32>,
    /// Time over which the first users come, and those of each change
    #[arg(long, value_name = "TIME", default_value = "2s")]
    ramp_up: String,
    /// It ends by itself after this time
    #[arg(long, value_name = "TIME", default_value = "1h")]
    max_time: String,
    /// Take the number of users from this file, too, whenever another takes its place: {"users": 20}
    #[arg(long, value_name = "FILE")]
    users_file: Option<PathBuf>,
    #[command(flatten)]
    server: SingleArgs,
    /// Print the run's record as JSON (docs/reference/run-json.md) instead of the summary
    #[arg(long)]
    json: bool,
}

impl ExploreArgs {
    fn plan(&self, context: &Context) -> Result<Resolved> {
        let load = LoadArgs {
            users: self.users,
            ramp_up: Some(self.ramp_up.clone()),
            steady: Some(self.max_time.clone()),
            ramp_down: Some("0s".to_string()),
            rate: None,
        };
        let recipe = RecipeArgs { kit: self.kit.clone(), stack: self.stack.clone(), load };
        let mut resolved = recipe.plan(context)?;
        refuse(&resolved.plan)?;
        let users = resolved.plan.load.users;
        let max_users = self.max_users.unwrap_or_else(|| users.saturating_mul(MAX_TIMES));
        if max_users < users {
            let what = format!("{users} users at first are more than {max_users}");
            return Err(Problem::recipe(what).key("--max-users").into());
        }
        resolved.plan.load.by_hand = Some(ByHand { max_users });
        Ok(resolved)
    }

    /// What will be done.
    ///
    /// # Errors
    /// Everything that is wrong with the recipe.
    pub(crate) fn check(&self, context: &Context) -> Result<Checked> {
        let Resolved { plan, catalogue, .. } = self.plan(context)?;
        kit::lint(&catalogue, &plan.kit.name)?;
        kit::check_targets(&plan, &catalogue)?;
        Ok(Checked { ok: vec![words(&plan)], ..Checked::default() })
    }
}

/// `20 users at first, changed by hand, at most 200 at once of DVD Store (small) on …: until it is ended, 1 h at most`.
fn words(plan: &Plan) -> String {
    let (load, stack) = (&plan.load, &plan.stack.name);
    let most = units::show_seconds(load.steady_s);
    let what = format!("{} of {} ({}) on {stack}", load.words(), plan.kit.title, plan.size.label);
    format!("{what}: until somebody ends it, {most} at most; it is kept, and is no result")
}

/// A number of users is all that can be changed by hand.
fn refuse(plan: &Plan) -> Result<()> {
    let load = &plan.load;
    let others = [
        ("rate", load.arrivals.is_some(), "arrivals are no number of users"),
        ("stage", !load.stages.is_empty(), "stages change the number of users by a plan of their own"),
        ("--guests", !plan.guests.is_empty(), "guests share the users among several stacks"),
    ];
    let given = others.into_iter().filter(|(_, given, _)| *given);
    let problem = |(key, _, what)| {
        Problem::recipe(format!("{what}, which could be changed by hand")).key(key).remedy("plimsoll run")
    };
    Problems::check(given.map(problem).collect())
}

pub(crate) fn main(args: &ExploreArgs, context: &mut Context) -> Result<u8> {
    let Resolved { recipe, plan, catalogue } = args.plan(context)?;
    let server = args.server.access();
    let (sender, typed) = channel();
    if listens_to_terminal() {
        context.console.note(
            "a number and Enter asks for that many users, + and - for a tenth more and less; q ends it",
        );
        listen(sender);
    }
    let file = args.users_file.clone().or_else(|| std::env::var_os(USERS_FILE_VARIABLE).map(PathBuf::from));
    let wishes = Wishes { typed, file };
    let env = &mut context.environment();
    let measured = outcome::explore(&recipe, &plan, &server, &wishes, &mut env.with(&catalogue))?;
    kept::show_run(&measured, args.json, context);
    Ok(exit_code(measured.run.record()))
}

/// Ended well it did what it was asked to, whatever was seen.
fn exit_code(record: &RunRecord) -> u8 {
    match record.outcome {
        Outcome::Completed => 0,
        Outcome::Interrupted => Kind::Interrupted.exit_code(),
        Outcome::Aborted | Outcome::Unfinished => Kind::Invalid.exit_code(),
    }
}

/// Whether somebody may type. A process in a terminal's background is stopped when it reads.
fn listens_to_terminal() -> bool {
    let stdin = std::io::stdin();
    let foreground =
        || rustix::termios::tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp());
    !stdin.is_terminal() || foreground()
}

/// Passes on what is typed, until nobody types any more or nobody listens.
fn listen(sender: Sender<String>) {
    let pass = move || {
        let lines = std::io::stdin().lock().lines().map_while(std::io::Result::ok);
        lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
    };
    // Where no thread can be had, the file and Ctrl-C are left.
    _ = std::thread::Builder::new().name("typed".to_string()).spawn(pass);
}

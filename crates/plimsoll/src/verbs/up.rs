//! `plimsoll up`: a stack to click around in.

use std::time::Duration;

use clap::Args;
use model::{Problem, Result};

use crate::context::Context;
use crate::verbs::recipe_args::{RecipeArgs, Resolved};
use runner::progress::Progress;
use runner::server::ServerAccess;
use runner::standing_stack::StandingStack;
use testbed::{Instance, Tier};

/// Stand a stack up with its data and keep it until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll up dvdstore
  plimsoll up dvdstore --stack lighttpd-fpm-mariadb --port 8080
  plimsoll up calendar --port 8080     for any calendar program: user00001, with its name as the password")]
pub(crate) struct UpArgs {
    #[command(flatten)]
    recipe: RecipeArgs,
}

pub(crate) fn main(args: &UpArgs, context: &mut Context) -> Result<u8> {
    let Resolved { plan, catalogue, .. } = args.recipe.plan(context)?;
    if plan.target.is_some() {
        let problem = Problem::recipe("a target is a server that stands already").key("--target");
        return Err(problem.remedy("leave --target out to stand the kit's stack up").into());
    }
    if let Some(injection) = plan.outage() {
        let what = format!(
            "{}: there are no users, and no steady state that it could be counted from",
            injection.sentence()
        );
        return Err(Problem::recipe(what)
            .key("kill")
            .remedy("plimsoll run, or end the server yourself")
            .into());
    }
    let (id, _) = runner::outcome::new_id(&plan.kit.name);
    let server = ServerAccess::default();
    let mut standing =
        StandingStack::set_up(&plan, &server, &id, &mut context.environment().with(&catalogue))?;
    context.console.result(&format!("http://{}{}", standing.target.host, plan.kit.front_page));
    for instance in standing.tiers().iter().flat_map(Tier::instances) {
        let Instance { name, service, pid, reached_at } = instance;
        context.console.result(&format!("  {name:<5} {service:<10} pid {pid:<8} {reached_at}"));
    }
    context.console.note("Ctrl-C ends it");
    loop {
        // The others go on: what a stack does without one of its servers may be what somebody wants to see.
        for death in standing.deaths() {
            context.console.error(&death.problem().to_string());
        }
        if context.interrupt.count() > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    context.console.step("stopping");
    standing.stop()?;
    standing.close()?;
    Ok(0)
}

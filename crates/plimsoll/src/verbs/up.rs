//! `plimsoll up`: a stack to click around in.

use std::time::Duration;

use clap::Args;
use model::record::Cloned;
use model::{Problem, Result, units};

use crate::context::Context;
use crate::verbs::recipe_args::{RecipeArgs, Resolved};
use runner::guests::{GuestStack, Stacks};
use runner::progress::Progress;
use runner::server::ServerAccess;
use testbed::{Instance, Tier};

/// Stand a stack up with its data and keep it until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll up dvdstore
  plimsoll up dvdstore --stack lighttpd-fpm-mariadb --port 8080
  plimsoll up dvdstore --guests 4      four copies of it, each with servers and data of its own
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
    let mut stacks = Stacks::set_up(&plan, &server, &id, &mut context.environment().with(&catalogue))?;
    stacks.all().for_each(|one| tell(one, &plan.kit.front_page, context));
    context.console.note("Ctrl-C ends it");
    loop {
        // The others go on: what a stack does without one of its servers may be what somebody wants to see.
        for one in stacks.all_mut() {
            let of_guest = one.guest.as_ref().map(|guest| format!("guest {}: ", guest.number));
            for death in one.stack.deaths() {
                let whose = of_guest.as_deref().unwrap_or_default();
                context.console.error(&format!("{whose}{}", death.problem()));
            }
        }
        if context.interrupt.count() > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    context.console.step("stopping");
    let stopped = stacks.stop();
    stacks.close()?;
    stopped.map(|()| 0)
}

/// Where a stack is, and its servers; of a guest also what it took to make.
fn tell(one: &GuestStack, front_page: &str, context: &mut Context) {
    let address = format!("http://{}{front_page}", one.stack.target.host);
    let Cloned { copy_s, start_s, ready_s, disk_bytes } = one.cloned;
    let line = match &one.guest {
        None => address,
        Some(guest) => format!(
            "guest {}: {address}  ready in {} (copy {}, start {}), {} on disk",
            guest.number,
            units::show_seconds(ready_s),
            units::show_seconds(copy_s),
            units::show_seconds(start_s),
            units::show_bytes(disk_bytes),
        ),
    };
    context.console.result(&line);
    for instance in one.stack.tiers().iter().flat_map(Tier::instances) {
        let Instance { name, service, pid, reached_at } = instance;
        context.console.result(&format!("  {name:<5} {service:<10} pid {pid:<8} {reached_at}"));
    }
}

//! What drives the users instead of this process, of whichever kind.

use model::{Plan, Problem, Result};

use super::choice::FleetChoice;
use super::folder::FleetFolder;
use super::standing::StandingFleet;
use super::{local, named};
use crate::environment::Environment;

/// Has a fleet stand for runs of `plan` against `target`; `id` names what is started for it.
pub(crate) fn set_up(
    choice: &FleetChoice,
    plan: &Plan,
    target: (&engine::Target, &str),
    env: &mut Environment<'_>,
) -> Result<StandingFleet> {
    match choice {
        FleetChoice::Local(agents) => local::set_up(*agents, plan, target, env),
        FleetChoice::Named(name) => named::set_up(name, target.0, env),
    }
}

/// Refuses what a fleet can't drive, and one that isn't there or can't be, before anything is started.
pub(crate) fn refuse(choice: Option<&FleetChoice>, plan: &Plan, env: &Environment<'_>) -> Result<()> {
    let Some(choice) = choice else { return Ok(()) };
    let problem = |what: &str| Problem::recipe(what).key("--fleet");
    if !plan.guests.is_empty() {
        let what = "guests share the load by themselves, and a fleet would share each of theirs again";
        return Err(problem(what).remedy("without --guests").into());
    }
    if plan.load.by_hand.is_some() {
        return Err(problem("users whose number is changed by hand are this process's own").into());
    }
    let agents = match choice {
        FleetChoice::Local(agents) => {
            local::refuse(env)?;
            *agents as usize
        }
        FleetChoice::Named(name) => {
            named::refuse(name, plan, env)?;
            FleetFolder::of(env.home, name).agents().len()
        }
    };
    let tolerated = env.settings.tolerated;
    if agents > 0 && tolerated as usize >= agents {
        let what = format!("--tolerate {tolerated} of {agents} agents would leave none to go on");
        return Err(Problem::recipe(what).key("--tolerate").remedy(format!("at most {}", agents - 1)).into());
    }
    Ok(())
}

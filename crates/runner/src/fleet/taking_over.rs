//! Becoming the controller of a fleet in the middle of a run whose own controller has died.

use std::time::Instant;

use fleet::bus::Name;
use fleet::controller::{Controller, Handover};
use fleet::want::Claim;
use model::{Result, units};

use super::choice::FleetChoice;
use super::folder::FleetFolder;
use super::named::{become_controller, who};
use super::standing::{Beside, StandingFleet};
use crate::environment::Environment;

/// Takes over the run of `handover`, which the fleet of that name drives or drove.
pub(crate) fn take_over(
    name: &Name,
    handover: &Handover,
    env: &mut Environment<'_>,
) -> Result<StandingFleet> {
    let began = Instant::now();
    env.progress.step(&format!("taking over from the controller of fleet {name}"));
    let who = who(&env.settings.origin.command);
    let folder = FleetFolder::of(env.home, name);
    folder.check_is_there()?;
    let (held, broker) = become_controller(&folder, &who)?;
    env.interrupt.check()?;
    let claim = Claim::of(held.epoch, &who);
    let controller = Controller::take_over(broker, folder.signer()?, claim, handover)?;
    let took = units::show_seconds(began.elapsed().as_secs_f64());
    env.progress.done(&format!("this process is the controller of fleet {name} now ({took})"));
    Ok(StandingFleet {
        choice: FleetChoice::Named(name.clone()),
        members: handover.members()?,
        observers: Vec::new(),
        controller,
        takes_over: Some(handover.clone()),
        beside: Beside::Held { _right: held },
    })
}

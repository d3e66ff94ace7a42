//! `fleet.json` of a run that a fleet drives: what another controller needs to take the run over. It is there before any agent has users.

use engine::Target;
use fleet::bus::Name;
use fleet::controller::Handover;
use model::{Problem, Result};
use serde::{Deserialize, Serialize};
use store::Run;

use super::build::build;
use super::choice::FleetChoice;

/// The file in the run's directory.
pub(crate) const FILE: &str = "fleet.json";

/// Counts up when a reader of the old ones would misread the new ones.
const FORMAT: u32 = 1;

/// What such a file has.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HandedOver {
    format: u32,
    /// As it was asked for.
    fleet: String,
    /// The controller's machine, for people.
    machine: String,
    /// The boot of that machine: its clock counts from there, and the agents' leases are by that clock.
    boot_id: String,
    /// The build of the controller and of the agents.
    build: String,
    /// The server under load.
    pub(crate) target: Target,
    /// The run itself.
    pub(crate) handover: Handover,
}

impl HandedOver {
    /// Of a run that this process is about to begin.
    pub(crate) fn of(choice: &FleetChoice, target: &Target, handover: &Handover) -> Result<HandedOver> {
        Ok(HandedOver {
            format: FORMAT,
            fleet: choice.to_string(),
            machine: machine(),
            boot_id: testbed::boot_id(),
            build: build()?,
            target: target.clone(),
            handover: handover.clone(),
        })
    }

    /// As it is kept.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        Ok(serde_json::to_vec_pretty(self).map_err(|error| Problem::bug(error.to_string()))?)
    }

    /// That of `run`.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub(crate) fn read(run: &Run) -> Result<HandedOver> {
        let id = &run.record().id;
        let Some(bytes) = run.file(FILE)? else {
            let problem = Problem::recipe(format!("run {id} has no {FILE}, so nobody can take it over"));
            return Err(problem
                .why("the users of a run go on without their controller where a named fleet drives them, and it is there before they begin")
                .remedy(format!("begin it anew; what was measured of it: plimsoll show {id}"))
                .into());
        };
        let file = run.directory().join(FILE).display().to_string();
        let damaged = |what: String| Problem::environment(what).file(file.clone());
        let read: HandedOver = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(format!("what is needed to take the run over is damaged: {error}")))?;
        match read.format > FORMAT {
            true => Err(damaged(format!(
                "it has format {}; this Plimsoll reads formats up to {FORMAT}",
                read.format
            ))
            .into()),
            false => Ok(read),
        }
    }

    /// The fleet whose agents go on without this run's controller; none for agents that end with it.
    fn fleet(&self) -> Option<Name> {
        match self.fleet.parse() {
            Ok(FleetChoice::Named(name)) => Some(name),
            Ok(FleetChoice::Local(_)) | Err(_) => None,
        }
    }

    /// The fleet, where this program on this machine can take the run `id` over.
    ///
    /// # Errors
    /// Why it can't.
    pub(crate) fn check(&self, id: &str) -> Result<Name> {
        let fleet = self.check_boot(id)?;
        let own = build()?;
        if own != self.build {
            let what = format!(
                "run {id} was begun by another build of Plimsoll ({}) than this one ({own})",
                self.build
            );
            let why = "a run's controllers and agents are one instrument";
            return Err(Problem::environment(what).why(why).remedy("the program that began it").into());
        }
        Ok(fleet)
    }

    /// The same, whichever program on this machine.
    ///
    /// # Errors
    /// Why none can.
    pub(super) fn check_boot(&self, id: &str) -> Result<Name> {
        let kept = format!("begin it anew; what was measured of it: plimsoll show {id}");
        let Some(fleet) = self.fleet() else {
            let what =
                format!("run {id} was driven by {}, whose agents ended with their controller", self.fleet);
            let why = "only agents of a named fleet go on without it";
            return Err(Problem::recipe(what).why(why).remedy(kept).into());
        };
        if self.boot_id != testbed::boot_id() {
            let what = match machine() == self.machine {
                true => format!("this machine was started anew since it began run {id}"),
                false => format!("run {id} was begun on {}, and this is {}", self.machine, machine()),
            };
            let why = "the agents' clocks are known against the one that ran there then, and what they are told has its time by it";
            return Err(Problem::environment(what).why(why).remedy(kept).into());
        }
        Ok(fleet)
    }
}

fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn handed_over(choice: &str) -> HandedOver {
        let handover = serde_json::json!({
            "version": 1,
            "want": { "run": "r-1", "phase": { "phase": "go", "at_ns": 5 }, "bundle": "", "lease_s": 15, "parts": {} },
            "members": [],
            "tolerated": 0,
        });
        let handover = serde_json::from_value(handover).expect("it is one");
        let target = Target::from(SocketAddr::from(([127, 0, 0, 1], 80)));
        let choice = choice.parse().expect("a choice");
        HandedOver::of(&choice, &target, &handover).unwrap_or_else(|problems| panic!("{problems}"))
    }

    #[test]
    fn a_run_of_a_named_fleet_is_taken_over_by_the_same_program_in_the_same_boot() {
        let written = handed_over("lab").encode().expect("it is written");
        let read: HandedOver = serde_json::from_slice(&written).expect("it is read");
        assert_eq!(read.check("r-1").expect("it can be").as_str(), "lab");
        let said = |handed: HandedOver| handed.check("r-1").expect_err("it can't be").to_string();
        let local = said(handed_over("local:2"));
        assert!(local.contains("driven by local:2, whose agents ended with their controller"), "{local}");
        let elsewhere = HandedOver { machine: "shop".into(), boot_id: "x".into(), ..handed_over("lab") };
        let elsewhere = said(elsewhere);
        assert!(elsewhere.contains("begun on shop, and this is"), "{elsewhere}");
        let later = said(HandedOver { boot_id: "x".into(), ..handed_over("lab") });
        assert!(later.contains("was started anew"), "{later}");
        let other = said(HandedOver { build: "of yesterday".into(), ..handed_over("lab") });
        assert!(other.contains("another build of Plimsoll (of yesterday)"), "{other}");
    }
}

//! Taking a fleet down: its agents end, their keys leave the machines, and its broker ends.

use std::time::Duration;

use model::{Problems, Result};
use testbed::StopOutcome;

use super::broker;
use super::folder::FleetFolder;
use super::named::{QUIET, who};
use super::placed::{PlacedAgent, PlacedFile};
use crate::environment::Environment;

/// An agent may take so long to end, until it is killed.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// What may still run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// An agent, or the broker.
    pub what: String,
    /// Its machine.
    pub place: String,
    /// Why it could not be ended.
    pub why: String,
}

/// Ends what was started for a fleet; what may still run is remembered, and said.
///
/// # Errors
/// There is no such fleet; a controller has it; the user's wish to stop.
pub fn down(folder: &FleetFolder, env: &mut Environment<'_>) -> Result<Vec<Left>> {
    folder.check_is_there()?;
    let _held = folder.hold(&who(&env.settings.origin.command))?;
    refuse_controlled(folder)?;
    let mut placed = PlacedFile::read(folder)?;
    let mut left = Vec::new();
    for agent in placed.agents.clone() {
        env.interrupt.check()?;
        env.progress.step(&format!("ending agent {} on {}", agent.agent, agent.ssh));
        match end(&agent) {
            Ok(how) => {
                env.progress.done(&format!("agent {} on {} {how}", agent.agent, agent.ssh));
                placed.agents.retain(|known| known.agent != agent.agent);
                placed.write(folder)?;
            }
            Err(problems) => {
                let what = format!("agent {}", agent.agent);
                left.push(Left { what, place: agent.ssh, why: sentence(&problems) });
            }
        }
    }
    if let Some(process) = &placed.broker {
        env.progress.step("ending the broker");
        match broker::stop(process) {
            Ok(how) => {
                env.progress.done(&format!("the broker {}", words(how)));
                placed.broker = None;
                placed.write(folder)?;
            }
            Err(problems) => left.push(Left {
                what: format!("the broker, process {}", process.identity.pid),
                place: "this machine".to_string(),
                why: sentence(&problems),
            }),
        }
    }
    Ok(left)
}

/// Ends one and removes its folder; how it ended. One whose start was never answered ends by itself without its credentials.
pub(super) fn end(agent: &PlacedAgent) -> Result<&'static str> {
    let host = agent.host()?;
    let how = agent.process.as_ref().map(|process| host.stop(process, STOP_GRACE)).transpose()?;
    host.remove(&agent.folder)?;
    Ok(how.map_or("ends, if it ever began", words))
}

fn words(how: StopOutcome) -> &'static str {
    match how {
        StopOutcome::Terminated => "has ended",
        StopOutcome::Killed => "did not end, and was killed",
        StopOutcome::WasNotRunning => "did not run any more",
    }
}

fn sentence(problems: &Problems) -> String {
    problems.iter().map(|problem| problem.what.clone()).collect::<Vec<_>>().join("; ")
}

/// Refuses to touch agents that another machine's controller has.
pub(super) fn refuse_controlled(folder: &FleetFolder) -> Result<()> {
    // Where the bus isn't there nobody controls over it.
    let listener = folder.listener(LISTEN_TIMEOUT)?;
    let heard = listener.listen(&folder.trusted()?, QUIET, &|heard| heard.beacon.is_some());
    match heard.ok().and_then(|heard| heard.beacon) {
        Some(beacon) => Err(folder.taken(&beacon.who)),
        None => Ok(()),
    }
}

/// A bus that is there can be reached within this.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(2);

//! Taking a fleet down: its agents end, their keys leave the machines, and its broker ends.

use std::time::Duration;

use model::Result;
use testbed::StopOutcome;

use super::broker;
use super::folder::FleetFolder;
use super::placed::{PlacedAgent, PlacedFile};
use crate::environment::Environment;

/// An agent may take so long to end, until it is killed.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// An agent that may still run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its name.
    pub agent: String,
    /// How ssh calls its machine.
    pub ssh: String,
    /// Why it could not be ended.
    pub why: String,
}

/// Ends what was started for a fleet; what may still run is remembered, and said.
///
/// # Errors
/// There is no such fleet; a controller has it; its broker can't be ended.
pub fn down(folder: &FleetFolder, env: &mut Environment<'_>) -> Result<Vec<Left>> {
    folder.check_is_there()?;
    let _held = folder.hold()?;
    let mut placed = PlacedFile::read(folder)?;
    let mut left = Vec::new();
    for agent in placed.agents.clone() {
        env.progress.step(&format!("ending agent {} on {}", agent.agent, agent.ssh));
        match end(&agent) {
            Ok(how) => {
                env.progress.done(&format!("agent {} on {} {how}", agent.agent, agent.ssh));
                placed.agents.retain(|known| known.agent != agent.agent);
                placed.write(folder)?;
            }
            Err(problems) => {
                let why = problems.iter().map(|problem| problem.what.clone()).collect::<Vec<_>>().join("; ");
                left.push(Left { agent: agent.agent, ssh: agent.ssh, why });
            }
        }
    }
    if let Some(process) = placed.broker.take() {
        env.progress.step("ending the broker");
        broker::stop(&process)?;
        env.progress.done("the broker has ended");
        placed.write(folder)?;
    }
    Ok(left)
}

/// Ends one and removes its folder; how it ended.
fn end(agent: &PlacedAgent) -> Result<&'static str> {
    let host = agent.host()?;
    let how = match &agent.process {
        None => StopOutcome::WasNotRunning,
        Some(process) => host.stop(process, STOP_GRACE)?,
    };
    host.remove(&agent.folder)?;
    Ok(match how {
        StopOutcome::Terminated => "has ended",
        StopOutcome::Killed => "did not end, and was killed",
        StopOutcome::WasNotRunning => "did not run any more",
    })
}

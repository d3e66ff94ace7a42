//! How a fleet's agents are, without disturbing them.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet::bus::{Listened, Name};
use fleet::heartbeat::Heartbeat;
use fleet::permissions::Role;
use model::Result;

use super::build::build;
use super::folder::FleetFolder;
use super::named::{CONNECT_TIMEOUT, unreachable};
use super::placed::PlacedFile;

/// An agent, and a controller, say something each second.
const LISTEN_FOR: Duration = Duration::from_millis(2500);

/// How a fleet is.
#[derive(Debug, Clone)]
pub struct FleetStatus {
    /// Where its bus is.
    pub broker: String,
    /// Who controls it now, and the run that it wants, where it wants one.
    pub controller: Option<(String, Option<String>)>,
    /// Its agents.
    pub agents: Vec<AgentStatus>,
}

/// How an agent is.
#[derive(Debug, Clone)]
pub struct AgentStatus {
    /// Its name.
    pub agent: Name,
    /// Its last word, where one was heard.
    pub heard: Option<Heartbeat>,
    /// It is of this program's build.
    pub is_same_build: bool,
    /// What it is for.
    pub roles: Vec<Role>,
    /// The tiers that it watches.
    pub watches: Vec<String>,
}

/// Listens to a fleet.
///
/// # Errors
/// There is no such fleet; its bus can't be reached.
pub fn status(folder: &FleetFolder) -> Result<FleetStatus> {
    let file = folder.file()?;
    let expected = folder.agents();
    let listener = folder.listener(CONNECT_TIMEOUT)?;
    let is_enough = |heard: &Listened| {
        heard.beacon.is_some() && expected.iter().all(|name| heard.agents.contains_key(name.as_str()))
    };
    let heard = listener.listen(&folder.trusted()?, LISTEN_FOR, &is_enough);
    let heard = heard.map_err(|error| unreachable(folder, &error.to_string()))?;
    let build = build()?;
    let names: BTreeSet<Name> =
        expected.iter().cloned().chain(heard.agents.keys().filter_map(|name| Name::of(name).ok())).collect();
    let placed = PlacedFile::read(folder)?;
    let agent = |agent: Name| {
        let roles = placed.roles(&agent);
        let heard = heard.agents.get(agent.as_str()).map(|heard| heard.heartbeat.clone());
        let is_same_build = heard.as_ref().is_some_and(|heard| heard.build == build);
        AgentStatus { agent, heard, is_same_build, roles: roles.all(), watches: roles.watches() }
    };
    let controller = heard
        .beacon
        .as_ref()
        .map(|beacon| (beacon.who.clone(), beacon.want.as_ref().map(|want| want.run.clone())));
    Ok(FleetStatus { broker: file.broker, controller, agents: names.into_iter().map(agent).collect() })
}

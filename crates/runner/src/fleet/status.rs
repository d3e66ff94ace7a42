//! How a fleet's agents are, without disturbing them.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet::bus::{Listened, Listener, Name, is_open_to_anybody, now_ns};
use fleet::clock::{Offset, offset};
use fleet::heartbeat::Heartbeat;
use fleet::permissions::Role;
use fleet::{Credentials, new_user_seed};
use model::{Problem, Result};
use testbed::ssh::Facts;

use super::build::build;
use super::folder::FleetFolder;
use super::named::{CONNECT_TIMEOUT, unreachable};
use super::placed::{PlacedAgent, PlacedFile};

/// An agent, and a controller, say something each second.
const LISTEN_FOR: Duration = Duration::from_millis(2500);

/// So often an agent is asked for its clock.
const QUESTIONS: usize = 32;

/// Who isn't let in is told so at once.
const REFUSED_WITHIN: Duration = Duration::from_secs(2);

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

/// What a fleet's doctor found.
#[derive(Debug, Clone)]
pub struct FleetHealth {
    /// The agents, and how they are.
    pub status: FleetStatus,
    /// Each agent's clock, in the order of the status.
    pub clocks: Vec<Option<AgentClock>>,
    /// What strangers can do on the bus, and should not.
    pub open_doors: Vec<String>,
    /// The machines on which agents were placed: how ssh calls each, and what it is, or why it can't be asked.
    pub machines: Vec<(String, std::result::Result<Facts, String>)>,
}

/// An agent's clock and how far away it is.
#[derive(Debug, Clone, Copy)]
pub struct AgentClock {
    /// By how much it is ahead of this machine's.
    pub offset: Offset,
    /// The fastest answer of all.
    pub round_trip: Duration,
    /// The number of questions that were answered.
    pub answered: usize,
    /// The number of questions.
    pub asked: usize,
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

/// Asks more of a fleet: its clocks, and whether strangers are kept out.
///
/// # Errors
/// There is no such fleet; its bus can't be reached.
pub fn health(folder: &FleetFolder) -> Result<FleetHealth> {
    let status = status(folder)?;
    let listener = folder.listener(CONNECT_TIMEOUT)?;
    let clock = |agent: &AgentStatus| {
        agent.heard.as_ref()?;
        let exchanges = listener.clock(&agent.agent, QUESTIONS).ok()?;
        let round_trip = exchanges
            .iter()
            .map(|one| (one.back_ns - one.asked_ns) - (one.answered_ns - one.received_ns))
            .min()?;
        Some(AgentClock {
            offset: offset(&exchanges, now_ns())?,
            round_trip: Duration::from_nanos(u64::try_from(round_trip).unwrap_or(0)),
            answered: exchanges.len(),
            asked: QUESTIONS,
        })
    };
    let clocks = status.agents.iter().map(clock).collect();
    let open_doors = open_doors(folder, &listener)?;
    Ok(FleetHealth { status, clocks, open_doors, machines: machines(folder)? })
}

fn machines(folder: &FleetFolder) -> Result<Vec<(String, std::result::Result<Facts, String>)>> {
    let placed = PlacedFile::read(folder)?.agents;
    let facts = |agent: &PlacedAgent| agent.host()?.facts();
    let machine =
        |agent: &PlacedAgent| (agent.ssh.clone(), facts(agent).map_err(|problems| problems.to_string()));
    Ok(placed.iter().map(machine).collect())
}

/// What nobody may do without a key.
fn open_doors(folder: &FleetFolder, listener: &Listener) -> Result<Vec<String>> {
    let mut doors = Vec::new();
    if is_open_to_anybody(listener.broker.url.trim_start_matches("tls://")) {
        doors.push("without encryption and without a key".to_string());
    }
    let unknown =
        Credentials { seed: new_user_seed().map_err(Problem::environment)?, ..folder.credentials()? };
    let broker = unknown.broker().map_err(Problem::environment)?;
    let stranger = Listener { broker, connect_timeout: REFUSED_WITHIN, ..listener.clone() };
    if stranger.connects().is_ok() {
        doors.push("with a key that it was never given".to_string());
    }
    Ok(doors)
}

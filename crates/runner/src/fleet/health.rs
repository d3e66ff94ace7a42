//! What a run may count on of a fleet: its clocks, its ways, its machines, and whether strangers are kept out.
//!
//! Agents are asked over the bus, and their machines by ssh, as [`super::look`] has it. Nothing is changed, and no machine that drives
//! users is put under load.

mod machines;

use std::time::{Duration, Instant};

use fleet::bus::{BusSpeed, Listener, is_open_to_anybody, is_open_without_key, now_ns};
use fleet::clock::{Drift, Offset, offset};
use fleet::want::Standing;
use fleet::{Credentials, new_user_seed};
use model::{Problem, Result};

pub use machines::MachineHealth;

use super::folder::{FleetFolder, Held};
use super::look::TargetAsked;
use super::named::{CONNECT_TIMEOUT, refuse_own_loopback, who};
use super::status::{AgentStatus, FleetStatus, status};
use crate::environment::Environment;
use crate::server::LookedUp;

/// So often an agent is asked for its clock.
const QUESTIONS: usize = 32;

/// Who isn't let in is told so at once.
const REFUSED_WITHIN: Duration = Duration::from_secs(2);

/// What a fleet's doctor is asked.
#[derive(Debug, Clone, Default)]
pub struct HealthAsked {
    /// A server that its agents are to reach.
    pub target: Option<LookedUp>,
    /// Generators are not driven against a server that does nothing.
    pub is_quick: bool,
}

/// What a fleet's doctor found.
#[derive(Debug, Clone)]
pub struct FleetHealth {
    /// The agents, and how they are.
    pub status: FleetStatus,
    /// What the bus shows of each agent, in the order of the status.
    pub bus: Vec<BusHealth>,
    /// What strangers can do on the bus, and should not.
    pub open_doors: Vec<String>,
    /// The machines on which agents were placed.
    pub machines: Vec<MachineHealth>,
}

/// What the bus shows of an agent.
#[derive(Debug, Clone, Default)]
pub struct BusHealth {
    /// Its clock.
    pub clock: Option<AgentClock>,
    /// By how much that clock has moved, and in which time.
    pub drift: Option<(Drift, Duration)>,
    /// How fast the bus is to it and from it; or why that wasn't measured.
    pub speed: Option<std::result::Result<BusSpeed, String>>,
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

/// Looks at a fleet. Nobody begins a run with it from this machine meanwhile, unless somebody has it already: its agents are left in
/// peace then.
///
/// # Errors
/// There is no such fleet; its bus can't be reached; a target that is none of its agents'; the user's wish to stop.
pub fn health(folder: &FleetFolder, asked: &HealthAsked, env: &mut Environment<'_>) -> Result<FleetHealth> {
    folder.check_is_there()?;
    for address in asked.target.iter().flat_map(|target| &target.addresses) {
        refuse_own_loopback(folder, &engine::Target::from(*address))?;
    }
    env.progress.step("listening");
    // Held before it is listened: who begins afterwards is refused.
    let held = folder.hold(&who(&env.settings.origin.command));
    let status = status(folder)?;
    let taken = taken(&held, &status);
    let listener = folder.listener(CONNECT_TIMEOUT)?;

    let began = Instant::now();
    let clocks = clocks(&listener, &status, "asking for clocks", env)?;
    let target =
        asked.target.clone().map(|LookedUp { host, addresses, tls }| TargetAsked { host, addresses, tls });
    let machines = machines::look_at_all(folder, (&status, taken.as_deref()), (target, asked.is_quick), env)?;
    let mut bus: Vec<BusHealth> =
        clocks.into_iter().map(|clock| BusHealth { clock, ..BusHealth::default() }).collect();
    for (index, (agent, health)) in status.agents.iter().zip(&mut bus).enumerate() {
        env.interrupt.check()?;
        env.progress.advance("measuring the bus", index as f64 / status.agents.len() as f64);
        health.speed = speed(&listener, agent, taken.as_deref());
    }
    let later = self::clocks(&listener, &status, "asking for clocks again", env)?;
    for (health, now) in bus.iter_mut().zip(later) {
        let both = health.clock.zip(now);
        health.drift = both.map(|(then, now)| (Drift::between(&then.offset, &now.offset), began.elapsed()));
    }
    env.progress.step("trying as a stranger");
    let open_doors = open_doors(folder, &listener)?;
    Ok(FleetHealth { status, bus, open_doors, machines })
}

/// Who has the fleet, so that nothing of it may be put under load.
fn taken(held: &Result<Held>, status: &FleetStatus) -> Option<String> {
    match (&status.controller, held) {
        (Some((who, _)), _) => Some(format!("{who} controls the fleet")),
        (None, Err(problems)) => problems.iter().next().map(|problem| problem.what.clone()),
        (None, Ok(_)) => None,
    }
}

/// Why an agent is left in peace: it has a part in a run.
fn busy(agent: &AgentStatus) -> Option<String> {
    let heard = agent.heard.as_ref()?;
    let does = match heard.standing {
        Standing::Idle | Standing::Ended | Standing::Missed | Standing::Failed { .. } => return None,
        Standing::Running => "drives users of",
        Standing::Fetching
        | Standing::Checked
        | Standing::Arming
        | Standing::Armed
        | Standing::Agreed { .. } => "makes itself ready for",
    };
    let run = heard.run.as_deref().map_or("a run".to_string(), |run| format!("run {run}"));
    Some(format!("it {does} {run} now"))
}

fn clocks(
    listener: &Listener,
    status: &FleetStatus,
    step: &str,
    env: &mut Environment<'_>,
) -> Result<Vec<Option<AgentClock>>> {
    let mut clocks = Vec::new();
    for (index, agent) in status.agents.iter().enumerate() {
        env.interrupt.check()?;
        env.progress.advance(step, index as f64 / status.agents.len() as f64);
        clocks.push(clock(listener, agent));
    }
    Ok(clocks)
}

fn clock(listener: &Listener, agent: &AgentStatus) -> Option<AgentClock> {
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
}

/// Nothing where it isn't heard; megabytes beside its seconds are not for an agent that has a run.
fn speed(
    listener: &Listener,
    agent: &AgentStatus,
    taken: Option<&str>,
) -> Option<std::result::Result<BusSpeed, String>> {
    agent.heard.as_ref()?;
    match busy(agent).or_else(|| taken.map(str::to_string)) {
        Some(why) => Some(Err(why)),
        None => Some(listener.speed(&agent.agent).map_err(|error| error.to_string())),
    }
}

/// What nobody may do without a key.
fn open_doors(folder: &FleetFolder, listener: &Listener) -> Result<Vec<String>> {
    let mut doors = Vec::new();
    if is_open_to_anybody(listener.broker.url.trim_start_matches("tls://")) {
        doors.push("without encryption and without a key".to_string());
    }
    let is_open = is_open_without_key(&listener.broker);
    if is_open.map_err(|error| Problem::environment(error.to_string()))? {
        doors.push("with encryption and without a key".to_string());
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

//! What a fleet's doctor found that a run can't count on.

use std::time::Duration;

use analysis::limits;
use model::outside::one_line;
use model::units::{number, percent, show_bytes, show_seconds};
use runner::fleet::health::{BusHealth, FleetHealth, MachineHealth};
use runner::fleet::look::{Look, NullServerLook, WayEnd};
use runner::fleet::status::AgentStatus;
use testbed::ssh::Facts;

/// An agent's clock is known well enough where its bound is below this.
const MAX_BOUND: Duration = Duration::from_millis(10);

/// Each user has a connection, or several.
const MIN_OPEN_FILES: u64 = 4096;

/// Each connection to a target has a local port.
const MIN_PORTS: u64 = 4096;

/// As much as an agent keeps at most.
const MIN_FREE_BYTES: u64 = 2 << 30;

/// What the hypervisor may take of the generator's CPUs.
const MAX_STEAL_RATIO: f64 = 0.05;

/// An agent's seconds are some 20 kB each, and what it couldn't send meanwhile comes on top.
const MIN_BUS_BYTES_PER_S: f64 = 100e3;

/// Each with who it is of.
pub(super) fn findings(health: &FleetHealth) -> Vec<String> {
    let mut all = Vec::new();
    if health.status.agents.is_empty() {
        all.push("it has no agents".to_string());
    }
    for (agent, bus) in health.status.agents.iter().zip(&health.bus) {
        all.extend(of_agent(agent, bus).into_iter().map(|what| format!("{}: {what}", agent.agent)));
    }
    for machine in &health.machines {
        all.extend(
            of_machine(machine).into_iter().map(|what| format!("{}: {what}", one_line(&machine.agent))),
        );
    }
    let door = |door: &String| {
        format!("ANYBODY is let onto its bus {door}: take it down, and look at its configuration")
    };
    all.extend(health.open_doors.iter().map(door));
    all
}

fn of_agent(agent: &AgentStatus, bus: &BusHealth) -> Vec<String> {
    let Some(heard) = &agent.heard else { return vec!["nothing is heard of it".to_string()] };
    let mut all = Vec::new();
    if !agent.is_same_build {
        all.push(
            "it is of another build than this program, and builds have to be equal: fleet up again"
                .to_string(),
        );
    }
    if heard.refused.is_some() {
        all.push("it believes no controller of this fleet".to_string());
    }
    match &bus.clock {
        None => all.push("its clock doesn't answer".to_string()),
        Some(clock) if clock.offset.bound_ns() as u128 > MAX_BOUND.as_nanos() => all.push(format!(
            "its clock is known to {} only, too badly for agents to begin together: bring it nearer",
            show_seconds(clock.offset.bound_ns() as f64 / 1e9)
        )),
        Some(_) => {}
    }
    if let Some((drift, _)) = &bus.drift
        && drift.least_ns() as f64 / 1e9 > limits::FLEET_CLOCK_S
    {
        all.push(format!(
            "its clock moved by {} at least meanwhile, and a run tolerates {}",
            show_seconds(drift.least_ns() as f64 / 1e9),
            show_seconds(limits::FLEET_CLOCK_S)
        ));
    }
    if let Some(Ok(speed)) = &bus.speed {
        for (way, rate) in [("to", speed.to_agent_bytes_per_s), ("from", speed.from_agent_bytes_per_s)] {
            if rate.unwrap_or(0.0) < MIN_BUS_BYTES_PER_S {
                let least = show_bytes(MIN_BUS_BYTES_PER_S as u64);
                all.push(format!("the bus is too slow {way} it: below {least}/s its seconds come late"));
            }
        }
    }
    all
}

fn of_machine(machine: &MachineHealth) -> Vec<String> {
    let facts = match &machine.facts {
        Ok(facts) => facts,
        Err(why) => return vec![format!("its machine can't be asked: {}", one_line(why))],
    };
    let mut all = Vec::new();
    if facts.free_bytes < MIN_FREE_BYTES {
        all.push(format!(
            "little disk ({} free): what it keeps for its controller may not fit",
            show_bytes(facts.free_bytes)
        ));
    }
    match &machine.look {
        None => all.extend(few_files(facts.max_open_files)),
        Some(Err(why)) => {
            all.extend(few_files(facts.max_open_files));
            all.push(format!("its program doesn't look at its machine: {}", one_line(why)));
        }
        Some(Ok(look)) => all.extend(of_look(machine, facts, look)),
    }
    all
}

fn of_look(machine: &MachineHealth, facts: &Facts, look: &Look) -> Vec<String> {
    let mut all: Vec<String> = few_files(max_open_files(facts, look)).into_iter().collect();
    if !machine.drives {
        return all;
    }
    if look.ports < MIN_PORTS {
        all.push(format!(
            "few local ports ({}): its users have that number of connections at most (net.ipv4.ip_local_port_range)",
            number(look.ports as f64)
        ));
    }
    if let Some(steal) = worst_steal(look).filter(|steal| *steal > MAX_STEAL_RATIO) {
        let limit = percent(MAX_STEAL_RATIO);
        all.push(format!(
            "the hypervisor takes {} of its CPUs, more than {limit}: its times are not its own",
            percent(steal)
        ));
    }
    if let Some(NullServerLook::Failed { why }) = &look.null_server {
        all.push(format!("its generator gets nothing of a server that does nothing: {}", one_line(why)));
    }
    for way in look.target.iter().flat_map(|target| &target.ways) {
        match &way.end {
            WayEnd::Connected { .. } => {}
            WayEnd::NotAllowed { why } => {
                all.push(format!(
                    "no load may go to {}: {} (agent.toml); nothing was sent",
                    way.address,
                    one_line(why)
                ));
            }
            WayEnd::Failed { why } => all.push(format!("{} is not reached: {}", way.address, one_line(why))),
        }
    }
    all
}

/// The fewer of what its program has and what any program of that user has.
pub(super) fn max_open_files(facts: &Facts, look: &Look) -> Option<u64> {
    [facts.max_open_files, look.max_open_files].into_iter().flatten().min()
}

fn few_files(max: Option<u64>) -> Option<String> {
    let few = max.filter(|max| *max < MIN_OPEN_FILES)?;
    Some(format!("few open files ({few}): its users have that number of connections at most (ulimit -n)"))
}

/// At rest and under load.
fn worst_steal(look: &Look) -> Option<f64> {
    let loaded = look.null_server.as_ref().and_then(|null| match null {
        NullServerLook::Measured { steal_ratio, .. } => *steal_ratio,
        NullServerLook::Failed { .. } => None,
    });
    look.steal_ratio.into_iter().chain(loaded).max_by(f64::total_cmp)
}

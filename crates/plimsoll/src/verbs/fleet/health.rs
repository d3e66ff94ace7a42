//! What a fleet's doctor found, for people and for programs.

use std::time::Duration;

use analysis::limits;
use fleet::bus::{BusSpeed, Name};
use fleet::clock::Drift;
use model::outside::one_line;
use model::units::{number, percent, show_bytes, show_cpus, show_seconds};
use runner::fleet::health::{AgentClock, BusHealth, FleetHealth, MachineHealth};
use runner::fleet::look::{Look, NullServerLook, TargetLook, Way, WayEnd};
use serde_json::{Value as Json, json};
use testbed::ssh::Facts;

use super::findings::max_open_files;
use super::words::{status, status_json};

/// All of it, and what a run can't count on.
pub(super) fn health(name: &Name, health: &FleetHealth, findings: &[String]) -> String {
    let mut text = status(name, &health.status);
    for (agent, bus) in health.status.agents.iter().zip(&health.bus) {
        text += &format!("\n{}\n", agent.agent);
        bus_lines(bus).iter().for_each(|line| text += &format!("  {line}\n"));
        let machines = health.machines.iter().filter(|machine| machine.agent == agent.agent.as_str());
        machines.flat_map(machine_lines).for_each(|line| text += &format!("  {line}\n"));
    }
    let is_agent = |machine: &&MachineHealth| {
        health.status.agents.iter().any(|agent| machine.agent == agent.agent.as_str())
    };
    for machine in health.machines.iter().filter(|machine| !is_agent(machine)) {
        text += &format!("\n{}\n", one_line(&machine.agent));
        machine_lines(machine).iter().for_each(|line| text += &format!("  {line}\n"));
    }
    if health.open_doors.is_empty() {
        text += "\nstrangers are kept out: without encryption, without a key, and with a key that was never given, nobody is let in\n";
    }
    match findings {
        [] => text += "\nnothing was found that a run can't count on\n",
        all => {
            text += "\na run can't count on this fleet:\n";
            all.iter().for_each(|finding| text += &format!("  {finding}\n"));
        }
    }
    text
}

fn bus_lines(bus: &BusHealth) -> Vec<String> {
    let Some(clock) = &bus.clock else { return vec!["its clock doesn't answer".to_string()] };
    let drift = bus.drift.as_ref().map(|(drift, within)| drift_words(drift, *within));
    let mut lines = vec![clock_words(clock, drift.as_deref())];
    lines.extend(bus.speed.as_ref().map(|speed| match speed {
        Ok(speed) => speed_words(speed),
        Err(why) => format!("the bus was not measured: {}", one_line(why)),
    }));
    lines
}

fn clock_words(clock: &AgentClock, drift: Option<&str>) -> String {
    let AgentClock { offset, round_trip, answered, asked } = clock;
    let seconds = |ns: i64| show_seconds(ns as f64 / 1e9);
    let lost = if answered < asked {
        format!(", {} of {asked} questions unanswered", asked - answered)
    } else {
        String::new()
    };
    let drift = drift.map(|drift| format!("; {drift}"));
    format!(
        "clock ahead by {} ± {}, there and back in {} at best{lost}{}",
        seconds(offset.middle_ns()),
        seconds(offset.bound_ns()),
        show_seconds(round_trip.as_secs_f64()),
        drift.unwrap_or_default()
    )
}

/// Only what is certain, or what a run would not tolerate.
fn drift_words(drift: &Drift, within: Duration) -> String {
    let seconds = |ns: u64| show_seconds(ns as f64 / 1e9);
    let (least, within_s) = (drift.least_ns(), within.as_secs_f64());
    let within = show_seconds(within_s);
    if least > 0 {
        let rate = least as f64 / 1e9 / within_s.max(1e-3);
        let limit = show_seconds(limits::FLEET_CLOCK_S);
        let until = show_seconds(limits::FLEET_CLOCK_S / rate);
        return format!(
            "it drifts: by {} at least in {within}, which makes {limit} in {until}, and a run tolerates no more",
            seconds(least)
        );
    }
    match drift.largest_ns() as f64 / 1e9 > limits::FLEET_CLOCK_S {
        true => format!(
            "it may have drifted by {} in {within}, more than a run tolerates",
            seconds(drift.largest_ns())
        ),
        false => format!("no drift seen in {within}"),
    }
}

fn speed_words(speed: &BusSpeed) -> String {
    let rate = |rate: Option<f64>| match rate {
        Some(rate) => format!("{}/s", show_bytes(rate as u64)),
        None => "nothing within 5 s".to_string(),
    };
    format!(
        "the bus carries {} to it and {} from it, at least",
        rate(speed.to_agent_bytes_per_s),
        rate(speed.from_agent_bytes_per_s)
    )
}

fn machine_lines(machine: &MachineHealth) -> Vec<String> {
    let ssh = one_line(&machine.ssh);
    let facts = match &machine.facts {
        Ok(facts) => facts,
        Err(why) => return vec![format!("machine {ssh} can't be asked: {}", one_line(why))],
    };
    let look = machine.look.as_ref();
    let files = match look {
        Some(Ok(look)) => max_open_files(facts, look),
        _ => facts.max_open_files,
    };
    let Facts { kernel, cpus, free_bytes, .. } = facts;
    let files = files.map_or("any number of".to_string(), |files| number(files as f64));
    let mut lines = vec![format!(
        "machine {ssh}: {}, {}, {} free, {files} open files",
        one_line(kernel),
        show_cpus(*cpus),
        show_bytes(*free_bytes)
    )];
    match look {
        Some(Ok(look)) => lines.extend(look_lines(machine, look)),
        Some(Err(why)) => lines.push(format!("its program doesn't look at it: {}", one_line(why))),
        None => {}
    }
    lines
}

fn look_lines(machine: &MachineHealth, look: &Look) -> Vec<String> {
    let (first, last) = look.port_range;
    let steal = |ratio: Option<f64>| ratio.map_or("unknown".to_string(), percent);
    let mut lines = Vec::new();
    if machine.drives {
        let list: Vec<String> = look.cpus.iter().map(ToString::to_string).collect();
        lines.push(format!(
            "generates on CPU {}: steal {}; {} local ports ({first} to {last})",
            list.join(","),
            steal(look.steal_ratio),
            number(look.ports as f64)
        ));
    } else {
        lines.push(format!("steal {}", steal(look.steal_ratio)));
    }
    lines.extend(match &look.null_server {
        Some(null) => Some(null_server_words(null)),
        None if machine.drives => {
            let why = machine.not_loaded.as_deref().unwrap_or("it was not asked for");
            Some(format!("null server: not driven: {}", one_line(why)))
        }
        None => None,
    });
    lines.extend(look.target.iter().flat_map(target_lines));
    lines
}

fn null_server_words(null: &NullServerLook) -> String {
    match null {
        NullServerLook::Failed { why } => format!("null server: {}", one_line(why)),
        NullServerLook::Measured { requests_per_s, lag_p99_s, waited_ratio, steal_ratio, shares_cpus } => {
            let steal = steal_ratio.map(|ratio| format!(", steal {}", percent(ratio)));
            let shares = if *shares_cpus { "; the server was on the same CPUs" } else { "" };
            format!(
                "null server: {} scripted requests/s; send lag p99 {} at full load; waited for a CPU {} of the time{}{shares}",
                number(requests_per_s.round()),
                show_seconds(*lag_p99_s),
                percent(*waited_ratio),
                steal.unwrap_or_default()
            )
        }
    }
}

fn target_lines(target: &TargetLook) -> Vec<String> {
    let mut lines: Vec<String> = target.ways.iter().map(way_words).collect();
    let others = target.ways.iter().filter(|way| !target.resolved.contains(&way.address.ip()));
    // A run goes where the controller finds the name.
    if !target.resolved.is_empty() && others.count() > 0 {
        let found: Vec<String> = target.resolved.iter().map(ToString::to_string).collect();
        lines.push(format!(
            "target: its name is {} there, and a run goes where it is from here",
            found.join(", ")
        ));
    }
    lines
}

fn way_words(way: &Way) -> String {
    let end = match &way.end {
        WayEnd::NotAllowed { why } => format!("not allowed, and nothing was sent: {}", one_line(why)),
        WayEnd::Failed { why } => format!("not reached: {}", one_line(why)),
        WayEnd::Connected { connect_s, tls_s } => {
            let tls = tls_s.map(|tls_s| format!(", TLS in {}", show_seconds(tls_s)));
            format!("connects in {}{}", show_seconds(*connect_s), tls.unwrap_or_default())
        }
    };
    format!("target {}: {end}", way.address)
}

/// The same for programs.
pub(super) fn health_json(health: &FleetHealth, findings: &[String]) -> Json {
    let mut all = status_json(&health.status);
    let bus =
        health.status.agents.iter().zip(&health.bus).map(|(agent, bus)| bus_json(agent.agent.as_str(), bus));
    all["bus"] = bus.collect();
    all["machines"] = health.machines.iter().map(machine_json).collect();
    all["open_doors"] = json!(health.open_doors);
    all["findings"] = json!(findings);
    all
}

fn bus_json(agent: &str, bus: &BusHealth) -> Json {
    let seconds = |ns: i64| ns as f64 / 1e9;
    let clock = bus.clock.as_ref().map(|clock| {
        json!({
            "offset_s": seconds(clock.offset.middle_ns()),
            "offset_bound_s": seconds(clock.offset.bound_ns()),
            "round_trip_s": clock.round_trip.as_secs_f64(),
            "answered": clock.answered,
            "asked": clock.asked,
        })
    });
    let drift = bus.drift.as_ref().map(|(drift, within)| {
        let (low_s, high_s) = (seconds(drift.low_ns), seconds(drift.high_ns));
        json!({ "low_s": low_s, "high_s": high_s, "within_s": within.as_secs_f64() })
    });
    let (speed, why) = match &bus.speed {
        None => (None, None),
        Some(Ok(speed)) => (Some(speed), None),
        Some(Err(why)) => (None, Some(why)),
    };
    json!({
        "agent": agent,
        "clock": clock,
        "drift": drift,
        "to_agent_bytes_per_s": speed.and_then(|speed| speed.to_agent_bytes_per_s),
        "from_agent_bytes_per_s": speed.and_then(|speed| speed.from_agent_bytes_per_s),
        "not_measured": why,
    })
}

fn machine_json(machine: &MachineHealth) -> Json {
    let look = machine.look.as_ref();
    json!({
        "agent": machine.agent,
        "ssh": machine.ssh,
        "drives": machine.drives,
        "facts": machine.facts.as_ref().ok(),
        "look": look.and_then(|look| look.as_ref().ok()),
        "not_loaded": machine.not_loaded,
        "problem": machine.facts.as_ref().err().or(look.and_then(|look| look.as_ref().err())),
    })
}

#[cfg(test)]
mod tests;

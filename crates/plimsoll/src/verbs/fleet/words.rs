//! What is said of a fleet.

use fleet::bus::Name;
use fleet::permissions::Role;
use fleet::want::Standing;
use model::outside::one_line;
use model::units::show_cpus;
use runner::fleet::init::Initiated;
use runner::fleet::status::{AgentStatus, FleetStatus};
use runner::fleet::up::Placed;
use serde_json::{Value as Json, json};

/// What was made, and how it goes on.
pub(super) fn initiated(name: &Name, made: &Initiated) -> String {
    let Initiated { broker, config, controller, agents } = made;
    let mut text = format!(
        "fleet {name}: its broker will be at {broker}, and agents obey\n  {controller}\n\n\
         Its port must be open for agents, and no other port.\n"
    );
    for (agent, file) in agents {
        text += &format!(
            "\n{agent}: bring {} there, readable by its user alone, and\n  plimsoll agent --creds {agent}.toml --config agent.toml\n",
            file.display()
        );
    }
    let next = format!(
        "\nNext: plimsoll fleet up {name} starts the broker, and with hosts.toml agents by ssh.\n\
         (The broker by hand: nats-server --config {})\n",
        config.display()
    );
    text + &next
}

/// Where the agents are now.
pub(super) fn placed(name: &Name, placed: &[Placed]) -> String {
    if placed.is_empty() {
        return format!("fleet {name}: its broker is ready\n");
    }
    let line = |one: &Placed| {
        let Placed { agent, ssh, machine, cpus, pid, roles, watches } = one;
        let does = match roles.contains(&Role::Load) {
            true => format!("{:>9}", show_cpus(*cpus)),
            false => format!("{:>9}", "-"),
        };
        let watches = watches_words(watches);
        format!("  {agent:<16} {:<24} {machine:<10} {does}   process {pid}{watches}\n", one_line(ssh))
    };
    let lines: String = placed.iter().map(line).collect();
    let agents = match placed.len() {
        1 => "1 agent is".to_string(),
        number => format!("{number} agents are"),
    };
    format!(
        "fleet {name}: {agents} ready\n{lines}\nNext: plimsoll run … --fleet {name} --target URL --allow-target HOST; and at the end plimsoll fleet down {name}\n"
    )
}

/// `; watches database, cache`.
fn watches_words(tiers: &[String]) -> String {
    if tiers.is_empty() { String::new() } else { format!("; watches {}", tiers.join(", ")) }
}

/// A line for each agent, and who controls them.
pub(super) fn status(name: &Name, status: &FleetStatus) -> String {
    let agents: String = status.agents.iter().map(|agent| format!("  {}\n", agent_line(agent))).collect();
    let control = match &status.controller {
        None => match status.agents.iter().find_map(driven_run) {
            None => "nobody controls it now".to_string(),
            Some(run) => format!(
                "nobody controls it now, and its agents go on with run {0} until their lease ends: plimsoll run --resume {0}",
                one_line(run)
            ),
        },
        Some((who, None)) => format!("{} controls it, and wants no run now", one_line(who)),
        Some((who, Some(run))) => format!("{} controls it, for run {}", one_line(who), one_line(run)),
    };
    format!("fleet {name} at {}: {control}\n{agents}", status.broker)
}

/// The run whose users it drives.
fn driven_run(agent: &AgentStatus) -> Option<&str> {
    agent.heard.as_ref().filter(|heard| heard.standing == Standing::Running)?.run.as_deref()
}

fn agent_line(agent: &AgentStatus) -> String {
    let name = &agent.agent;
    let Some(heard) = &agent.heard else { return format!("{name:<16} nothing is heard of it") };
    let build = if agent.is_same_build { "" } else { "; it is of another build than this program" };
    let refused =
        heard.refused.as_deref().map(|why| format!("; it believes no controller: {}", one_line(why)));
    let problem = heard.problem.as_deref().map(|why| format!("; {}", one_line(why)));
    let told =
        heard.run.as_deref().map(|run| format!(" (run {}, {} messages told)", one_line(run), heard.told));
    let drives = agent.roles.contains(&Role::Load);
    let does = match (&heard.standing, drives) {
        (Standing::Running, false) => "watches".to_string(),
        (standing, _) => standing_words(standing),
    };
    let cpus = if drives { format!(", {}", show_cpus(heard.cpus.len())) } else { String::new() };
    format!(
        "{name:<16} {does}{}{cpus}{}{build}{}{}",
        told.unwrap_or_default(),
        watches_words(&agent.watches),
        refused.unwrap_or_default(),
        problem.unwrap_or_default()
    )
}

/// What an agent does that stands so.
pub(crate) fn standing_words(standing: &Standing) -> String {
    match standing {
        Standing::Idle => "waits for a run".to_string(),
        Standing::Fetching => "fetches what it is to do".to_string(),
        Standing::Checked | Standing::Arming => "makes itself ready".to_string(),
        Standing::Armed | Standing::Agreed { .. } => "is ready to begin".to_string(),
        Standing::Running => "drives users".to_string(),
        Standing::Ended => "has ended its part".to_string(),
        Standing::Missed => "was told too late to begin".to_string(),
        Standing::Failed { why } => format!("can't: {}", one_line(why)),
    }
}

/// The same for programs.
pub(super) fn status_json(status: &FleetStatus) -> Json {
    let agent = |one: &AgentStatus| {
        let heard = one.heard.as_ref();
        json!({
            "agent": one.agent.as_str(),
            "heard": heard.is_some(),
            "same_build": one.is_same_build,
            "cpus": heard.map(|heard| &heard.cpus),
            "run": heard.and_then(|heard| heard.run.as_deref()),
            "standing": heard.map(|heard| &heard.standing),
            "told": heard.map(|heard| heard.told),
            "roles": one.roles.iter().map(|role| role.word()).collect::<Vec<_>>(),
            "watches": one.watches,
        })
    };
    json!({
        "format": 1,
        "broker": status.broker,
        "controller": status.controller.as_ref().map(|(who, _)| who),
        "run": status.controller.as_ref().and_then(|(_, run)| run.as_deref()),
        "agents": status.agents.iter().map(agent).collect::<Vec<_>>(),
    })
}

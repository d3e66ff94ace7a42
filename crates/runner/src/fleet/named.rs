//! A fleet that was set up before and whose agents wait for runs.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use engine::Endpoint;
use fleet::bus::{Broker, Name};
use fleet::controller::{Controller, Member};
use fleet::want::Claim;
use model::{Plan, Problem, Result, units};

use super::choice::FleetChoice;
use super::folder::{FleetFolder, Held};
use super::leftovers;
use super::placed::PlacedFile;
use super::roles::Roles;
use super::standing::{Beside, Observing, StandingFleet};
use crate::environment::Environment;

/// A controller says something each second: who hears none for so long is the only one.
pub(super) const QUIET: Duration = Duration::from_millis(2500);

/// An agent says something each second.
const HEARD_TIMEOUT: Duration = Duration::from_secs(10);

/// The broker may take so long until it can be reached.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Refuses runs of a plan that such a fleet can't drive, and a fleet that isn't there.
pub(super) fn refuse(name: &Name, plan: &Plan, env: &Environment<'_>) -> Result<()> {
    FleetFolder::of(env.home, name).check_is_there()?;
    if plan.target.is_none() {
        let what = format!(
            "fleet {name} may have agents on other machines, and a stack that is stood up here is not theirs to reach"
        );
        return Err(Problem::recipe(what)
            .key("--fleet")
            .remedy("a server that is there: --target URL --allow-target HOST; or agents on this machine: --fleet local:2")
            .into());
    }
    Ok(())
}

/// Becomes the fleet's controller, and waits for all of its agents.
pub(super) fn set_up(
    name: &Name,
    target: &engine::Target,
    env: &mut Environment<'_>,
) -> Result<StandingFleet> {
    let folder = FleetFolder::of(env.home, name);
    refuse_own_loopback(&folder, target)?;
    let began = Instant::now();
    env.progress.step(&format!("waiting for the agents of fleet {name}"));
    let who = who(&env.settings.origin.command);
    let expected = folder.agents();
    if expected.is_empty() {
        let problem = Problem::environment(format!("fleet {name} has no agents"));
        return Err(problem.remedy(format!("plimsoll fleet up {name} hosts.toml")).into());
    }
    let placed = PlacedFile::read(&folder)?;
    if !expected.iter().any(|name| placed.roles(name).load) {
        return Err(Problem::environment(format!("no agent of fleet {name} drives users: all are there to observe"))
            .key("--fleet")
            .why("a run is what users do")
            .remedy(format!("a [[host]] without `roles`, or with \"load\" among them; then plimsoll fleet up {name} hosts.toml"))
            .into());
    }
    let (held, broker) = become_controller(&folder, &who)?;
    env.interrupt.check()?;
    let claim = Claim::of(held.epoch, &who);
    let controller = Controller::begin(broker, folder.signer()?, claim)?;
    leftovers::give_back(&controller, env);
    let is_missing = |name: &Name, members: &[Member]| !members.iter().any(|member| member.name == *name);
    let is_enough = |members: &[Member]| {
        env.interrupt.count() > 0 || !expected.iter().any(|name| is_missing(name, members))
    };
    let mut members = controller.wait_for(HEARD_TIMEOUT, &is_enough);
    env.interrupt.check()?;
    // One whose file was removed is no part of the fleet any more, even if it is heard.
    members.retain(|member| expected.contains(&member.name));
    let missing: Vec<String> =
        expected.iter().filter(|name| is_missing(name, &members)).map(ToString::to_string).collect();
    if !missing.is_empty() {
        let what = format!(
            "fleet {name}: nothing was heard of {} within {} s",
            missing.join(", "),
            HEARD_TIMEOUT.as_secs()
        );
        let file = folder.agent_file(&expected[0]);
        let kept = file.parent().unwrap_or(&file).display().to_string();
        return Err(Problem::environment(what)
            .why("a run is all of its agents'")
            .remedy(format!(
                "plimsoll fleet status {name}; plimsoll fleet up {name} hosts.toml; an agent that is no part of it any more has no file in {kept}"
            ))
            .into());
    }
    let (members, observers) = by_role(members, |member| placed.roles(&member.name), env.settings.observes);
    let cpus: usize = members.iter().map(|member| member.cpus.len()).sum();
    let took = units::show_seconds(began.elapsed().as_secs_f64());
    let number = members.len();
    let cpus = units::show_cpus(cpus);
    let (agents, are) = if number == 1 { ("agent", "is") } else { ("agents", "are") };
    env.progress.done(&format!("{number} {agents} of fleet {name} {are} ready on {cpus} ({took})"));
    for Observing { member, tiers, .. } in &observers {
        let watched: Vec<String> =
            tiers.iter().map(|tier| format!("{} ({})", tier.tier, tier.by.words())).collect();
        env.progress.note(&format!("{} watches {}", member.name, watched.join(", ")));
    }
    let choice = FleetChoice::Named(name.clone());
    let beside = Beside::Held { _right: held };
    Ok(StandingFleet { choice, members, observers, controller, takes_over: None, beside })
}

/// The right to be the fleet's controller, and where its bus is. Nobody has said anything to its agents by then.
///
/// # Errors
/// Another one is its controller, on this machine or elsewhere; or its bus isn't there.
pub(super) fn become_controller(folder: &FleetFolder, who: &str) -> Result<(Held, Broker)> {
    let held = folder.hold(who)?;
    let listener = folder.listener(CONNECT_TIMEOUT)?;
    let heard = listener.listen(&folder.trusted()?, QUIET, &|heard| heard.beacon.is_some());
    let heard = heard.map_err(|error| unreachable(folder, &error.to_string()))?;
    match heard.beacon {
        Some(other) => Err(folder.taken(&other.who)),
        None => Ok((held, listener.broker)),
    }
}

/// Who drives users, with its weight, and who watches what; some do both, and nobody watches where nothing is to be observed.
fn by_role(
    members: Vec<Member>,
    roles: impl Fn(&Member) -> Roles,
    observes: bool,
) -> (Vec<Member>, Vec<Observing>) {
    let (mut driving, mut observers) = (Vec::new(), Vec::new());
    for member in members {
        let Roles { load, weight, tiers } = roles(&member);
        let member = Member { weight: weight.unwrap_or(member.weight), ..member };
        if observes && !tiers.is_empty() {
            observers.push(Observing { member: member.clone(), tiers, lost: None });
        }
        if load {
            driving.push(member);
        }
    }
    (driving, observers)
}

/// Refuses a server that every load machine would look for on itself.
pub(super) fn refuse_own_loopback(folder: &FleetFolder, target: &engine::Target) -> Result<()> {
    let is_own = match &target.endpoint {
        Endpoint::Unix(_) => true,
        Endpoint::Tcp(address) => address.ip().is_loopback(),
    };
    let listen: std::result::Result<SocketAddr, _> = folder.file()?.listen.parse();
    // Agents that reach a broker on loopback are on this machine themselves.
    if !is_own || listen.is_ok_and(|listen| listen.ip().is_loopback()) {
        return Ok(());
    }
    Err(Problem::recipe("the target is on this machine's loopback, and each load machine has one of its own")
        .key("--target")
        .why("each would put a server of its own under load, or none")
        .remedy("the server's address or name on the network")
        .into())
}

/// That the fleet's bus isn't there.
pub(super) fn unreachable(folder: &FleetFolder, why: &str) -> model::Problems {
    let name = folder.name();
    Problem::environment(format!("fleet {name}: {why}"))
        .why("its agents are spoken with over it alone")
        .remedy(format!("plimsoll fleet up {name} hosts.toml starts it where it listens on this machine"))
        .into()
}

/// This controller, by the command that it was called by, for people.
pub(super) fn who(words: &[String]) -> String {
    let program = words.first().map_or("plimsoll", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    let rest = words.iter().skip(1).take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{program} {rest} (process {} on {machine})", std::process::id())
}

#[cfg(test)]
mod tests {
    use fleet::{WatchedBy, WatchedTier};

    use super::*;

    #[test]
    fn agents_drive_by_their_weight_or_watch_unless_nothing_is_to_be_observed() {
        let member = |name: &str| Member {
            name: Name::of(name).expect("a name"),
            incarnation: 1,
            cpus: vec![0, 1],
            build: String::new(),
            weight: 2,
        };
        let tiers =
            || vec![WatchedTier { tier: "db".to_string(), by: WatchedBy::PidFile("/run/db.pid".into()) }];
        let roles = |member: &Member| match member.name.as_str() {
            "heavy" => Roles { weight: Some(7), ..Roles::default() },
            "db1" => Roles { load: false, tiers: tiers(), ..Roles::default() },
            "both" => Roles { tiers: tiers(), ..Roles::default() },
            _ => Roles::default(),
        };
        let all = ["usual", "heavy", "db1", "both"];
        let found = |observes: bool| {
            let (driving, observers) = by_role(all.map(member).to_vec(), roles, observes);
            let driving: Vec<String> =
                driving.iter().map(|one| format!("{} {}", one.name, one.weight)).collect();
            let observers: Vec<String> = observers.iter().map(|one| one.member.name.to_string()).collect();
            (driving.join(", "), observers.join(", "))
        };
        let driving = "usual 2, heavy 7, both 2".to_string();
        assert_eq!(found(true), (driving.clone(), "db1, both".to_string()));
        assert_eq!(found(false), (driving, String::new()));
    }
}

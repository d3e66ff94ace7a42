//! Placing a fleet: its broker on this machine, and an agent on each machine of a file, by ssh.

use std::path::Path;
use std::time::{Duration, Instant};

use fleet::bus::{Listened, Name};
use fleet::permissions::Role;
use model::{Problem, Problems, Result};
use testbed::ssh::{Facts, RemoteState, SshHost};

use super::build::{build, digest};
use super::down::{end, refuse_controlled};
use super::folder::FleetFolder;
use super::hosts::{self, Host};
use super::named::{CONNECT_TIMEOUT, unreachable, who};
use super::placed::{PlacedAgent, PlacedFile, folder_of};
use super::{broker, init};
use crate::environment::{Environment, Helpers};

/// An agent that was started may take so long to be heard.
const HEARD_TIMEOUT: Duration = Duration::from_secs(20);

/// An agent that is there.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Its name.
    pub agent: Name,
    /// How ssh calls its machine.
    pub ssh: String,
    /// The kind of machine: x86_64.
    pub machine: String,
    /// The number of CPUs on which it generates load.
    pub cpus: usize,
    /// Its process there.
    pub pid: u32,
    /// What it is for.
    pub roles: Vec<Role>,
    /// The tiers that it watches.
    pub watches: Vec<String>,
}

/// A machine that can be reached and can run this program.
struct Reached<'a> {
    host: &'a Host,
    /// A configuration of ssh that isn't the user's own.
    config: Option<&'a Path>,
    ssh: SshHost,
    facts: Facts,
}

/// Starts the broker, where it isn't there, and, where there is a file, an agent on each of its machines, which is started anew where
/// it is there. What has been started is remembered at once, whatever comes after.
///
/// # Errors
/// All that is wrong with the file; machines that can't be reached or are of another kind, before anything is started; an agent
/// that ends or isn't heard.
pub fn up(folder: &FleetFolder, file: Option<&Path>, env: &mut Environment<'_>) -> Result<Vec<Placed>> {
    folder.check_is_there()?;
    let hosts = file.map(hosts::read).transpose()?.unwrap_or_default();
    let beside = file.and_then(Path::parent).unwrap_or(Path::new(""));
    // It is remembered, and used from wherever `down` is called.
    let config = hosts.ssh_config.as_ref().map(|config| std::path::absolute(beside.join(config)));
    let config =
        config.transpose().map_err(|error| Problem::environment(error.to_string()).key("ssh_config"))?;
    let _held = folder.hold(&who(&env.settings.origin.command))?;
    refuse_controlled(folder)?;
    let reached = reach(&hosts.hosts, config.as_deref(), env)?;
    let mut placed = PlacedFile::read(folder)?;
    let agents: Vec<Name> = hosts.hosts.iter().map(|host| host.agent.clone()).collect();
    let config = init::configure(folder, &agents)?;
    broker::start(folder, &mut placed, &config, env)?;
    for other in placed.agents.iter().filter(|known| !agents.iter().any(|name| name.as_str() == known.agent))
    {
        env.progress
            .note(&format!("agent {} on {} was placed before, and is left as it is", other.agent, other.ssh));
    }
    if reached.is_empty() {
        return Ok(Vec::new());
    }
    let result = place_all(folder, &reached, &mut placed, env);
    if result.is_err() {
        let name = folder.name();
        env.progress
            .note(&format!("what was started so far is remembered: `plimsoll fleet down {name}` ends it"));
    }
    result
}

fn place_all(
    folder: &FleetFolder,
    reached: &[Reached<'_>],
    placed: &mut PlacedFile,
    env: &mut Environment<'_>,
) -> Result<Vec<Placed>> {
    for one in reached {
        env.interrupt.check()?;
        start_agent(folder, one, placed, env)?;
    }
    env.progress.step("waiting for the agents to be heard");
    let heard = listen(folder, reached, placed, env)?;
    let row = |one: &Reached<'_>| {
        let heartbeat = &heard.agents.get(one.host.agent.as_str())?.heartbeat;
        Some(Placed {
            agent: one.host.agent.clone(),
            ssh: one.host.ssh.clone(),
            machine: one.facts.machine.clone(),
            cpus: heartbeat.cpus.len(),
            pid: heartbeat.pid,
            roles: one.host.roles.all(),
            watches: one.host.roles.watches(),
        })
    };
    Ok(reached.iter().filter_map(row).collect())
}

/// Asks every machine what it is; all that can't be used are named at once.
fn reach<'a>(
    hosts: &'a [Host],
    config: Option<&'a Path>,
    env: &mut Environment<'_>,
) -> Result<Vec<Reached<'a>>> {
    let own = rustix::system::uname().machine().to_string_lossy().into_owned();
    let (mut reached, mut problems): (Vec<Reached<'_>>, Vec<Problem>) = (Vec::new(), Vec::new());
    for (index, host) in hosts.iter().enumerate() {
        env.interrupt.check()?;
        env.progress.advance(&format!("asking {}", host.ssh), index as f64 / hosts.len() as f64);
        let asked = SshHost::new(&host.ssh, config).and_then(|ssh| Ok((ssh.facts()?, ssh)));
        match asked {
            Err(why) => problems.extend(why.into_vec()),
            Ok((facts, _)) if facts.machine != own => {
                let what = format!("{} is {}, and this program is for {own}", host.ssh, facts.machine);
                problems.push(
                    Problem::environment(what)
                        .why("agents and controller are one build: the generator is the instrument")
                        .remedy("a machine of the same kind"),
                );
            }
            Ok((facts, ssh)) => reached.push(Reached { host, config, ssh, facts }),
        }
    }
    Problems::check(problems)?;
    Ok(reached)
}

/// Puts this program and an agent's credentials on a machine, and starts it.
fn start_agent(
    folder: &FleetFolder,
    one: &Reached<'_>,
    placed: &mut PlacedFile,
    env: &mut Environment<'_>,
) -> Result<()> {
    let Reached { host, config, ssh, facts } = one;
    let there = folder_of(folder, &host.agent)?;
    if let Some(known) = placed.agents.iter().find(|known| known.agent == host.agent.as_str()) {
        env.progress.step(&format!("ending agent {} on {}, which was placed before", known.agent, known.ssh));
        end(known).map_err(|problems| {
            let where_from = folder.placed_file().display().to_string();
            problems.with_first(|first| {
                first.remedy = Some(format!("a machine that is gone for good is taken out of {where_from}"));
            })
        })?;
    }
    let (interrupt, progress) = (env.interrupt, &mut *env.progress);
    let text = format!("copying this program to {}", host.ssh);
    let program = ssh.copy(Path::new("/proc/self/exe"), &digest()?, &mut |sent, total| {
        progress.advance(&text, sent as f64 / total.max(1) as f64);
        interrupt.count() == 0
    })?;
    let credentials = folder.agent(&host.agent)?.text();
    let mut entry = PlacedAgent {
        agent: host.agent.to_string(),
        ssh: host.ssh.clone(),
        ssh_config: config.map(Path::to_path_buf),
        folder: there.clone(),
        program: program.clone(),
        args: Vec::new(),
        process: None,
        roles: host.roles.clone(),
    };
    placed.put(entry.clone());
    placed.write(folder)?;
    let credentials = ssh.put(&format!("{there}/credentials.toml"), credentials.as_bytes())?;
    let spool = Path::new(&credentials).with_file_name("spool").to_string_lossy().into_owned();
    let mut args = vec![Helpers::AGENT.to_string(), "--creds".to_string(), credentials];
    args.extend(["--spool".to_string(), spool]);
    if let Some(cpus) = &host.cpus {
        let list: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        args.extend(["--cpus".to_string(), list.join(",")]);
    }
    // Whoever may place it says what it is for; its machine's operator may say that it isn't.
    args.extend(
        host.roles.all().into_iter().flat_map(|role| ["--role".to_string(), role.word().to_string()]),
    );
    if let Some(config) = &host.config {
        let path = if config.starts_with('/') { config.clone() } else { format!("{}/{config}", facts.home) };
        args.extend(["--config".to_string(), path]);
    }
    env.progress.step(&format!("starting agent {} on {}", host.agent, host.ssh));
    entry.process = Some(ssh.start(&there, &program, &args)?);
    entry.args = args;
    placed.put(entry);
    placed.write(folder)
}

/// Waits until all are heard that were started; what was heard.
fn listen(
    folder: &FleetFolder,
    reached: &[Reached<'_>],
    placed: &PlacedFile,
    env: &Environment<'_>,
) -> Result<Listened> {
    let listener = folder.listener(CONNECT_TIMEOUT)?;
    let build = build()?;
    let pid_of = |name: &str| {
        let known = placed.agents.iter().find(|known| known.agent == name)?;
        Some(known.process.as_ref()?.identity.pid)
    };
    // Another process may have the name: one that was started by hand, say.
    let is_missing = |one: &Reached<'_>, heard: &Listened| {
        let last = heard.agents.get(one.host.agent.as_str()).map(|last| &last.heartbeat);
        last.is_none_or(|last| last.build != build || Some(last.pid) != pid_of(&last.agent))
    };
    let is_enough = |heard: &Listened| !reached.iter().any(|one| is_missing(one, heard));
    let trusted = folder.trusted()?;
    let began = Instant::now();
    let mut heard = Listened::default();
    loop {
        env.interrupt.check()?;
        let more = listener.listen(&trusted, Duration::from_secs(2), &is_enough);
        let more = more.map_err(|error| unreachable(folder, &error.to_string()))?;
        heard.agents.extend(more.agents);
        if is_enough(&heard) {
            return Ok(heard);
        }
        let missing: Vec<&Reached<'_>> = reached.iter().filter(|one| is_missing(one, &heard)).collect();
        let is_over = began.elapsed() > HEARD_TIMEOUT;
        let problems: Vec<Problem> = missing
            .iter()
            .filter_map(|one| why_silent(one, placed, is_over).transpose())
            .collect::<Result<_>>()?;
        Problems::check(problems)?;
    }
}

/// Why an agent isn't heard: nothing as long as it may still come.
fn why_silent(one: &Reached<'_>, placed: &PlacedFile, is_over: bool) -> Result<Option<Problem>> {
    let Reached { host, ssh, .. } = one;
    let known = placed.agents.iter().find(|known| known.agent == host.agent.as_str());
    let Some(process) = known.and_then(|known| known.process.as_ref()) else { return Ok(None) };
    match ssh.state(process)? {
        RemoteState::Ended { last_lines } => {
            let said = last_lines.join("; ");
            let what = format!("agent {} on {} has ended: {said}", host.agent, host.ssh);
            Ok(Some(Problem::environment(what).why("the fleet would lack it")))
        }
        RemoteState::Running if is_over => {
            let what = format!(
                "agent {} on {} runs, and nothing was heard of it within {} s",
                host.agent,
                host.ssh,
                HEARD_TIMEOUT.as_secs()
            );
            let try_this = "does a firewall between it and the broker let its connection through? its log is in its folder there; \
                 does another agent of that name run?";
            Ok(Some(Problem::environment(what).remedy(try_this)))
        }
        RemoteState::Running => Ok(None),
    }
}

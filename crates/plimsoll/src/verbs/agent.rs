//! `plimsoll agent`: a load machine of a fleet.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Args;
use model::{Problem, Result};
use runner::cpus;
use runner::fleet::agent::{self, AgentAsked};
use runner::progress::Progress;

use crate::context::Context;

/// Be a load machine of a fleet: hear what its controller wants, drive a slice of the users, tell what that gave.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll agent --broker nats://127.0.0.1:4222 --fleet lab --controller OABC…
  plimsoll agent --creds load2.toml --config agent.toml --cpus 1,2

An agent listens nowhere. It obeys controllers whose public keys it was given, and drives load to its own machine
alone unless --allow-target or agent.toml says more. agent.toml has `controllers` (public keys), `targets` (names,
addresses, networks such as 10.0.0.0/24), `max_users`, `max_rate` (arrivals a second) and `max_duration`.
It ends its load by itself when nobody has wanted it for 15 s, and goes on until Ctrl-C.")]
pub(crate) struct AgentArgs {
    /// What lets it onto a fleet's bus: the file that `plimsoll fleet init` made for it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["broker", "fleet", "name"])]
    creds: Option<PathBuf>,
    /// A bus on this machine that asks nobody who they are
    #[arg(long, value_name = "nats://HOST:PORT", required_unless_present = "creds", requires = "fleet")]
    broker: Option<String>,
    /// The fleet's name
    #[arg(long, value_name = "NAME", required_unless_present = "creds")]
    fleet: Option<String>,
    /// This agent's name in it instead of the machine's
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The public key of a controller that it obeys; may be given several times
    #[arg(long, value_name = "KEY")]
    controller: Vec<String>,
    /// Allow load on a server that is not on this machine: its name, its address or its network; may be given several times
    #[arg(long, value_name = "HOST|NETWORK")]
    allow_target: Vec<String>,
    /// What this machine's operator lets a fleet do with it
    #[arg(long, value_name = "agent.toml")]
    config: Option<PathBuf>,
    /// The CPUs on which it generates load instead of all, a thread on each
    #[arg(long, value_name = "CPU,…", value_delimiter = ',')]
    cpus: Vec<usize>,
    /// The directory in which it keeps what its controller doesn't have yet
    #[arg(long, value_name = "DIR")]
    spool: Option<PathBuf>,
    /// End with the standard input; for whoever starts it as a helper
    #[arg(long, hide = true)]
    with_input: bool,
}

pub(crate) fn main(args: &AgentArgs, context: &mut Context) -> Result<u8> {
    let allowed = cpus::allowed();
    if let Some(other) = args.cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        let what = format!("CPU {other} is not this process's: it may use {allowed:?}");
        return Err(Problem::recipe(what).key("--cpus").into());
    }
    let known = args.creds.as_deref().map(agent::read_credentials).transpose()?;
    let (name, fleet, broker) = match known {
        Some(known) => (known.name, known.fleet, known.broker),
        None => (
            args.name.clone().unwrap_or_else(machine),
            args.fleet.clone().unwrap_or_default(),
            args.broker.clone().unwrap_or_default(),
        ),
    };
    let asked = AgentAsked {
        credentials: args.creds.clone(),
        broker: broker.clone(),
        fleet: fleet.clone(),
        name: name.clone(),
        controllers: args.controller.clone(),
        targets: args.allow_target.clone(),
        file: args.config.clone(),
        cpus: if args.cpus.is_empty() { allowed } else { args.cpus.clone() },
        spools: args.spool.clone().unwrap_or_else(|| context.home.join("spools").join(&name)),
    };
    let input_ended = Arc::new(AtomicBool::new(false));
    if args.with_input {
        let ended = Arc::clone(&input_ended);
        thread::spawn(move || {
            // However it ends, whoever had it is gone.
            _ = io::stdin().read_to_end(&mut Vec::new());
            ended.store(true, Ordering::Relaxed);
        });
    } else {
        context.console.note(&format!("agent {name} of fleet {fleet} at {broker}; Ctrl-C ends it"));
    }
    let interrupt = context.interrupt.clone();
    agent::run(&asked, &|| interrupt.count() > 0 || input_ended.load(Ordering::Relaxed))?;
    Ok(0)
}

/// The machine's name, as far as it may be an agent's.
fn machine() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

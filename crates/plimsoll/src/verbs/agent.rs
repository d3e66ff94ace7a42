//! `plimsoll agent`: a load machine of a fleet.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Args;
use fleet::agent::AgentNews;
use fleet::permissions::Role;
use model::outside::one_line;
use model::{Problem, Result};
use runner::cpus;
use runner::fleet::agent::{self, AgentAsked};
use runner::fleet::look;
use runner::progress::Progress;

use crate::context::Context;
use crate::verbs::fleet::standing_words;

/// Be a load machine of a fleet: hear what its controller wants, drive a slice of the users, tell what that gave.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll agent --broker nats://127.0.0.1:4222 --fleet lab --controller OABC…
  plimsoll agent --creds load2.toml --config agent.toml --cpus 1,2

An agent listens nowhere. It obeys controllers whose public keys it was given, and drives load to its own machine
alone unless --allow-target or agent.toml says more. agent.toml has `controllers` (public keys), `targets` (names,
addresses, networks such as 10.0.0.0/24), `roles` (`load`, `observe`), `max_users`, `max_rate` (arrivals a second) and
`max_duration`.
It ends its load by itself when nobody has wanted it for 15 s, and goes on until Ctrl-C, or until the file of its
credentials is taken away.")]
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
    /// What it is for instead of load: `load`, to drive users, or `observe`, to watch the servers of this machine; may be given twice
    #[arg(long, value_name = "load|observe", value_parser = Role::read)]
    role: Vec<Role>,
    /// What this machine's operator lets a fleet do with it
    #[arg(long, value_name = "agent.toml")]
    config: Option<PathBuf>,
    /// The CPUs on which it generates load instead of all, a thread on each
    #[arg(long, value_name = "CPU,…", value_delimiter = ',')]
    cpus: Vec<usize>,
    /// The directory in which it keeps what its controller doesn't have yet
    #[arg(long, value_name = "DIR")]
    spool: Option<PathBuf>,
    /// Be no agent: look at what it would have here, as the standard input asks for, print that and end; for `plimsoll fleet doctor`
    #[arg(long, hide = true)]
    look: bool,
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
        roles: args.role.clone(),
        file: args.config.clone(),
        cpus: if args.cpus.is_empty() { allowed } else { args.cpus.clone() },
        spools: args.spool.clone().unwrap_or_else(|| context.home.join("spools").join(&name)),
    };
    if args.look {
        let look = look::answer(io::stdin().lock(), &asked, &context.interrupt)?;
        context.console.result(&look);
        return Ok(0);
    }
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
    // A helper's words would be nobody's.
    let mut news = |news: &AgentNews<'_>| {
        if !args.with_input {
            context.console.note(&words(news));
        }
    };
    let credentials = args.creds.as_deref().map(Credentials::of);
    let is_over = || {
        let is_revoked = credentials.as_ref().is_some_and(Credentials::are_gone);
        interrupt.count() > 0 || input_ended.load(Ordering::Relaxed) || is_revoked
    };
    agent::run(&asked, &mut news, &is_over)?;
    if credentials.is_some_and(|credentials| credentials.are_gone()) {
        context.console.note("its credentials were taken away: it has ended");
    }
    Ok(0)
}

/// The file that lets an agent in. Whoever takes it away ends the agent, also where nobody knows its process any more.
struct Credentials {
    path: PathBuf,
    file: Option<(u64, u64)>,
}

impl Credentials {
    fn of(path: &Path) -> Credentials {
        Credentials { path: path.to_path_buf(), file: file_at(path) }
    }

    /// Whether another file, or none, is there now.
    fn are_gone(&self) -> bool {
        self.file.is_some() && file_at(&self.path) != self.file
    }
}

/// Which file is there.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

fn words(news: &AgentNews<'_>) -> String {
    match news {
        AgentNews::Waiting { why } => format!("waiting for the bus: {}", one_line(why)),
        AgentNews::Connected => "the bus is there; waiting for a run".to_string(),
        AgentNews::Standing { run: None, .. } => "the run is over; waiting for another".to_string(),
        AgentNews::Standing { run: Some(run), standing } => {
            format!("run {}: it {}", one_line(run), standing_words(standing))
        }
    }
}

/// The machine's name, as far as it may be an agent's.
fn machine() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

//! `plimsoll fleet`: load machines whose results are one result, set up, placed, looked at and taken down.

mod findings;
mod health;
mod words;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fleet::bus::Name;
use model::{Problem, Result};
use runner::fleet::down::{self, Left};
use runner::fleet::folder::FleetFolder;
use runner::fleet::health::{HealthAsked, health};
use runner::fleet::init::{InitAsked, init};
use runner::fleet::{status, up};
use runner::progress::Progress;
use runner::server::ServerAccess;

pub(crate) use words::standing_words;

use crate::context::Context;

/// Set up, place, look at and take down load machines that drive users together.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll fleet init lab --listen 10.0.0.5:4222       keys, and a broker on this machine
  plimsoll fleet up lab hosts.toml                     agents on other machines, by ssh
  plimsoll fleet status lab
  plimsoll fleet doctor lab                            clocks, bus, machines, and whether strangers are kept out
  plimsoll fleet doctor lab --target http://shop       also whether its agents reach that server
  plimsoll run dvdstore --fleet lab --target http://shop --allow-target shop
  plimsoll fleet down lab

hosts.toml has a table a machine:
  [[host]]
  ssh = \"load1\"                # as your ssh knows it
  cpus = \"1-3\"                 # where it generates load; all, where it isn't said
  config = \"agent.toml\"        # what that machine's operator allows (plimsoll agent --help), by its path there
  [[host]]
  ssh = \"db1\"
  roles = [\"observe\"]          # a server's host: it drives nobody, and its tiers are watched
  [host.tiers]
  database = { unit = \"mariadb.service\" }         # or cgroup = \"/system.slice/…\", or pid_file = \"/run/…\"

docs/fleet.md has the whole way, the firewall's rule, and what is trusted.")]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a fleet's keys, its broker's certificate and configuration, and what lets each agent in
    Init {
        /// The fleet's name
        #[arg(value_parser = Name::of)]
        name: Name,
        /// Where its broker listens on this machine
        #[arg(long, value_name = "ADDRESS[:PORT]")]
        listen: String,
        /// By which name or address agents find it, where that is another
        #[arg(long, value_name = "HOST")]
        host: Option<String>,
        /// An agent that somebody will start by hand; may be given several times
        #[arg(long, value_name = "NAME")]
        agent: Vec<String>,
    },
    /// Start the broker and, by ssh, an agent on each machine of a file
    Up {
        /// The fleet's name
        #[arg(value_parser = Name::of)]
        name: Name,
        /// The machines: hosts.toml; without it the broker alone is started, for agents that are started by hand
        hosts: Option<PathBuf>,
    },
    /// Show what its agents do
    Status {
        /// The fleet's name
        #[arg(value_parser = Name::of)]
        name: Name,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Look at its clocks, its bus, its machines and its doors, and whether it reaches a server
    Doctor(DoctorArgs),
    /// End its agents and its broker, and take their keys off the machines
    Down {
        /// The fleet's name
        #[arg(value_parser = Name::of)]
        name: Name,
    },
}

/// What of a fleet is looked at.
#[derive(Debug, Args)]
struct DoctorArgs {
    /// The fleet's name
    #[arg(value_parser = Name::of)]
    name: Name,
    /// A server that its agents are to reach: they connect and ask nothing, and only where their agent.toml allows it
    #[arg(long, value_name = "URL")]
    target: Option<String>,
    /// With --target: believe any certificate
    #[arg(long, requires = "target", conflicts_with = "cacert")]
    insecure: bool,
    /// With --target: believe these roots only, a PEM file
    #[arg(long, value_name = "FILE", requires = "target")]
    cacert: Option<PathBuf>,
    /// Leave out how fast each generator is against a server that does nothing, which takes three seconds
    #[arg(long)]
    quick: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &FleetArgs, context: &mut Context) -> Result<u8> {
    match &args.what {
        What::Init { name, listen, host, agent } => {
            let folder = FleetFolder::of(&context.home, name);
            let asked = InitAsked { listen: listen.clone(), host: host.clone(), agents: agent.clone() };
            let made = init(&folder, &asked)?;
            context.console.result(&words::initiated(name, &made));
            Ok(0)
        }
        What::Up { name, hosts } => {
            let folder = FleetFolder::of(&context.home, name);
            let placed = up::up(&folder, hosts.as_deref(), &mut context.environment())?;
            context.console.result(&words::placed(name, &placed));
            Ok(0)
        }
        What::Status { name, json } => {
            let folder = FleetFolder::of(&context.home, name);
            context.console.step("listening");
            let found = status::status(&folder)?;
            if *json {
                context.console.json(&words::status_json(&found))?;
            } else {
                context.console.result(&words::status(name, &found));
            }
            // A script may ask whether all are there.
            Ok(if found.agents.iter().all(|agent| agent.heard.is_some()) { 0 } else { FOUND_SOMETHING })
        }
        What::Doctor(args) => doctor(args, context),
        What::Down { name } => {
            let folder = FleetFolder::of(&context.home, name);
            let left = down::down(&folder, &mut context.environment())?;
            refuse_left(name, &folder, &left)?;
            context.console.result(&format!("fleet {name}: nothing that was started for it runs any more"));
            Ok(0)
        }
    }
}

fn doctor(args: &DoctorArgs, context: &mut Context) -> Result<u8> {
    let DoctorArgs { name, target, insecure, cacert, quick, json } = args;
    let access = ServerAccess { insecure: *insecure, cacert: cacert.clone(), ..ServerAccess::default() };
    let target = target.as_deref().map(|url| access.look_up_root(url)).transpose()?;
    let folder = FleetFolder::of(&context.home, name);
    let found = health(&folder, &HealthAsked { target, is_quick: *quick }, &mut context.environment())?;
    let findings = findings::findings(&found);
    if *json {
        context.console.json(&health::health_json(&found, &findings))?;
    } else {
        context.console.result(&health::health(name, &found, &findings));
    }
    Ok(if findings.is_empty() { 0 } else { FOUND_SOMETHING })
}

/// What a script may ask for is not so.
const FOUND_SOMETHING: u8 = 2;

/// Names what of the fleet may still run.
fn refuse_left(name: &Name, folder: &FleetFolder, left: &[Left]) -> Result<()> {
    let problem = |left: &Left| {
        Problem::environment(format!("{} on {} may still run: {}", left.what, left.place, left.why))
            .why("it is remembered, so that a later `down` finds it")
            .remedy(format!(
                "plimsoll fleet down {name}, once the machine can be reached; one that is gone for good is taken out of {}",
                folder.placed_file().display()
            ))
    };
    model::Problems::check(left.iter().map(problem).collect())
}

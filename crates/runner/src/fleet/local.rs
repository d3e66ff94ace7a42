//! A fleet on this machine alone: a broker and agents, each a process, in a lab of their own.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::Endpoint;
use fleet::bus::{Broker, Name};
use fleet::controller::Controller;
use fleet::signed::Signer;
use fleet::want::Claim;
use model::{Catalogue, Plan, Problem, Result};
use serde::Deserialize;
use testbed::{Helper, Lab, Launch, Needed, Running, program};

use super::choice::FleetChoice;
use super::standing::{Beside, StandingFleet};
use crate::environment::{Environment, Helpers};
use crate::lab::open_lab;

/// The service of the catalogue that is the bus.
const SERVICE: &str = "nats";

/// The fleet's name: nobody else is on its broker.
const FLEET: &str = "local";

/// The broker, or an agent, may take so long to be there.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts that number of agents for runs of `plan` against `target`, on the generator's CPUs; `id` names their lab.
pub(super) fn set_up(
    agents: u32,
    plan: &Plan,
    (target, id): (&engine::Target, &str),
    env: &mut Environment<'_>,
) -> Result<StandingFleet> {
    env.progress.step(&format!("starting {agents} agents and their bus"));
    let began = Instant::now();
    let program = bus(env.catalogue, env.home)?;
    let lab = open_lab(&format!("{id}-fleet"), env)?;
    let cpus = &plan.placement.generator;
    let (bus, broker) = start_bus(&lab, program, cpus)?;
    let seed = Signer::new_seed().map_err(Problem::environment)?;
    let signer = Name::of(FLEET).and_then(|fleet| Signer::of(&seed, fleet)).map_err(Problem::bug)?;
    let key = signer.public_key();
    let mut helping = Vec::new();
    for number in 1..=agents {
        let name = format!("agent-{number}");
        let spools = lab.dir().join(&name);
        let mut args = vec!["--broker", &broker.url, "--fleet", FLEET, "--name", &name, "--controller", &key];
        let (list, spools) = (list(cpus), spools.to_string_lossy().into_owned());
        args.extend(["--cpus", &list, "--spool", &spools, "--with-input"]);
        let address = allowed(target);
        args.extend(address.iter().flat_map(|address| ["--allow-target", address]));
        let args = [Helpers::AGENT].into_iter().chain(args).map(Into::into).collect();
        let program = env.settings.helpers.program.clone();
        helping.push(lab.help(&Helper { name, program, args, cpus: cpus.clone() })?);
    }
    let controller = Controller::begin(broker, signer, Claim::of(1, "the run itself"))?;
    let is_enough = |members: &[_]| members.len() == agents as usize || env.interrupt.count() > 0;
    let members = controller.wait_for(READY_TIMEOUT, &is_enough);
    env.interrupt.check()?;
    if members.len() < agents as usize {
        let what = format!(
            "{} of {agents} agents said nothing within {} s",
            agents as usize - members.len(),
            READY_TIMEOUT.as_secs()
        );
        return Err(Problem::environment(what).remedy("fewer of them: --fleet local:2").into());
    }
    let took = model::units::show_seconds(began.elapsed().as_secs_f64());
    env.progress.done(&format!("{agents} agents are ready on CPU {} ({took})", list(cpus)));
    let beside = Beside::Started { agents: helping, bus, lab };
    let choice = FleetChoice::Local(agents);
    Ok(StandingFleet { choice, members, observers: Vec::new(), controller, takes_over: None, beside })
}

/// Refuses a machine that has no bus for it.
pub(super) fn refuse(env: &Environment<'_>) -> Result<()> {
    bus(env.catalogue, env.home).map(drop)
}

/// The program of the bus.
pub(super) fn bus(catalogue: &Catalogue, home: &Path) -> Result<PathBuf> {
    let service = catalogue.service(SERVICE)?;
    let found = program::of_service(&Needed::whole(&service), None, home).map_err(|problems| {
        problems.with_first(|first| {
            first.remedy = Some(format!("plimsoll doctor --install --stack {SERVICE}"));
        })
    })?;
    Ok(found.path)
}

/// What agents must be allowed where the stack is not on loopback: whoever may drive it here may do so with agents.
fn allowed(target: &engine::Target) -> Option<String> {
    match target.endpoint {
        Endpoint::Tcp(address) if !address.ip().is_loopback() => Some(address.ip().to_string()),
        _ => None,
    }
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// What a broker that chose its port itself writes down.
#[derive(Debug, Deserialize)]
struct Ports {
    nats: Vec<String>,
}

fn start_bus(lab: &Lab, program: PathBuf, cpus: &[usize]) -> Result<(Running, Broker)> {
    let dir = lab.dir().join("bus");
    let failed = |error: std::io::Error| Problem::environment(format!("{}: {error}", dir.display()));
    fs::create_dir_all(&dir).map_err(failed)?;
    if rustix::process::geteuid().is_root() {
        chown(&dir, Some(lab.uid()), None).map_err(failed)?;
    }
    let args = [
        "--addr",
        "127.0.0.1",
        "--port",
        "-1",
        "--jetstream",
        "--store_dir",
        "store",
        "--ports_file_dir",
        ".",
    ];
    let launch = Launch {
        tier: model::record::instrument::BUS.to_string(),
        program,
        args: args.iter().map(Into::into).collect(),
        env: Vec::new(),
        dir: dir.clone(),
        input: None,
        output: dir.join("console.log"),
        cpus: cpus.to_vec(),
    };
    let running = lab.launch(&launch)?;
    let file = dir.join(format!("nats-server_{}.ports", running.identity.pid));
    let began = Instant::now();
    loop {
        if let Some(url) = url_in(&file) {
            return Ok((running, Broker::local(url)));
        }
        if began.elapsed() > READY_TIMEOUT {
            let log = fs::read_to_string(&launch.output).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(3).collect();
            let what =
                format!("the bus was not ready within {} s: {}", READY_TIMEOUT.as_secs(), last.join("; "));
            return Err(Problem::environment(what).into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The broker's address, once all of the file is there.
fn url_in(file: &Path) -> Option<String> {
    let ports: Ports = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    ports.nats.into_iter().next()
}

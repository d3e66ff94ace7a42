//! What the tests start and kill: `fleet-actor agent URL FOLDER NAME CONTROLLER-KEY BUILD`, until its standard input ends, or
//! `fleet-actor guarded-agent CREDENTIALS FOLDER BUILD` with a credentials file, or `fleet-actor controller URL SEED BUNDLE LEASE-S`, which has two agents drive the bundle in that file, and
//! leaves beside it what another one needs to take the run over, as FILE.handover.

use std::error::Error;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use engine::{Audience, Control, Program, RunOptions, Scenario, Second, Source};
use fleet::Credentials;
use fleet::agent::{self, AgentOptions};
use fleet::bundle::Bundle;
use fleet::bus::{Broker, Name};
use fleet::controller::{Controller, Follower, Handover, Job, News};
use fleet::permissions::{Permissions, Role};
use fleet::signed::{Signer, Trusted};
use fleet::want::Claim;
use model::{Distribution, Problem};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["agent", url, folder, name, key, build] => {
            let who = Who { fleet: "lab", name, controllers: &[key.to_string()] };
            be_agent(Broker::local(*url), &who, folder, build)
        }
        ["guarded-agent", file, folder, build] => {
            let read = Credentials::read(file, &std::fs::read_to_string(file)?);
            let credentials = read.map_err(|problems| problems.to_string())?;
            let Credentials { fleet, name, controllers, .. } = &credentials;
            be_agent(credentials.broker()?, &Who { fleet, name, controllers }, folder, build)
        }
        ["controller", url, seed, bundle, lease_s] => be_controller(url, seed, bundle, lease_s),
        _ => Err(
            "fleet-actor agent URL FOLDER NAME CONTROLLER-KEY BUILD, or guarded-agent CREDENTIALS FOLDER BUILD, or controller URL SEED BUNDLE LEASE-S"
                .into(),
        ),
    }
}

/// Who is who on the bus, and whom it obeys.
struct Who<'a> {
    fleet: &'a str,
    name: &'a str,
    controllers: &'a [String],
}

fn be_agent(broker: Broker, who: &Who<'_>, folder: &str, build: &str) -> Result<(), Box<dyn Error>> {
    let fleet = Name::of(who.fleet)?;
    let trusted = Trusted::of(who.controllers, fleet.clone()).map_err(|wrong| wrong.join(", "))?;
    let options = AgentOptions {
        broker,
        fleet,
        name: Name::of(who.name)?,
        trusted,
        permissions: Permissions { roles: Role::ALL.to_vec(), ..Permissions::default() },
        build: build.to_string(),
        cpus: vec![0],
        spools: PathBuf::from(folder),
        max_spool_bytes: 64 << 20,
    };
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    thread::spawn(move || {
        // Its end is what is waited for, in whichever way it comes.
        _ = std::io::stdin().read_to_end(&mut Vec::new());
        over.store(true, Ordering::Relaxed);
    });
    agent::serve(options, &options_of, &mut |_| {}, &|| is_over.load(Ordering::Relaxed))?;
    Ok(())
}

/// What is driven for a bundle of these tests: the only file of it is the session.
fn options_of(bundle: &Bundle) -> Result<RunOptions, String> {
    let text = bundle.files.values().next().ok_or("the bundle has no session")?;
    let source = Source::of("session.lua", &String::from_utf8_lossy(text), "visit");
    let think = Some(Distribution::Fixed { value: 0.02 });
    let scenario = Scenario { timeout_s: 5.0, think, ..Scenario::of(Program::Script(source)) };
    Ok(RunOptions {
        drain_s: bundle.drain_s,
        total_sessions: bundle.plan.load.sessions,
        ..RunOptions::of(scenario, bundle.plan.load.clone(), bundle.target.clone())
    })
}

/// Keeps nothing but what another controller needs.
struct Leaves {
    file: PathBuf,
}

impl Audience for Leaves {
    fn second(&mut self, _second: &Second<'_>) -> model::Result<()> {
        Ok(())
    }
}

impl Follower for Leaves {
    fn hands_over(&mut self, handover: &Handover) -> model::Result<()> {
        let text = serde_json::to_vec(handover).map_err(|error| Problem::bug(error.to_string()))?;
        Ok(std::fs::write(&self.file, text).map_err(|error| Problem::environment(error.to_string()))?)
    }

    fn news(&mut self, _news: &News) {}
}

fn be_controller(url: &str, seed: &str, bundle: &str, lease_s: &str) -> Result<(), Box<dyn Error>> {
    let signer = Signer::of(seed, Name::of("lab")?)?;
    let mut controller = Controller::begin(Broker::local(url), signer, Claim::of(1, "a test"))
        .map_err(|problems| problems.to_string())?;
    let members = controller.wait_for(Duration::from_secs(30), &|members| members.len() == 2);
    let mut leaves = Leaves { file: PathBuf::from(format!("{bundle}.handover")) };
    let bundle = Bundle::read(&std::fs::read(bundle)?)?;
    let job = Job {
        run: Name::of("r-1")?,
        members: &members,
        observers: &[],
        bundle: &bundle,
        lease_s: lease_s.parse()?,
        tolerated: 0,
    };
    let driven = controller.run(&job, &Control::default(), &mut leaves);
    driven.map(drop).map_err(|problems| problems.to_string().into())
}

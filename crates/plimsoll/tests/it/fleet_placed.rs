//! A fleet that is set up, placed over a private sshd, drives users, and is taken down until nothing of it is left.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::null_server::NullServer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::sshd::Machines;
use crate::target::null_kit;
use crate::tool::{Finished, Home, have, wait_for};

/// A fleet of two agents on a machine that ssh reaches, which is this one.
pub(crate) struct Lab {
    pub(crate) home: Home,
    pub(crate) machines: Machines,
    pub(crate) hosts: PathBuf,
    port: u16,
}

impl Lab {
    /// Where there are a bus and an sshd.
    pub(crate) fn set_up() -> Option<Lab> {
        if !have("nats") {
            return None;
        }
        let machines = Machines::start(&["load1", "load2"])?;
        let home = Home::new();
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("it has one").port();
        drop(free);
        let hosts = home.path().join("hosts.toml");
        let text = format!(
            "ssh_config = {:?}\n[[host]]\nssh = \"load1\"\ncpus = \"0\"\n[[host]]\nssh = \"load2\"\n",
            machines.config()
        );
        fs::write(&hosts, text).expect("a file");
        let lab = Lab { home, machines, hosts, port };
        lab.fleet(&format!("init lab --listen 127.0.0.1:{port}")).expect(0);
        Some(lab)
    }

    pub(crate) fn fleet(&self, words: &str) -> Finished {
        self.home.plimsoll(&format!("fleet {words}")).run()
    }

    pub(crate) fn up(&self) -> Finished {
        self.home.plimsoll("fleet up lab").arg(&self.hosts).run()
    }

    fn placed(&self) -> Json {
        let text =
            fs::read_to_string(self.home.path().join("fleets/lab/placed.json")).expect("it was placed");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The agents' process numbers.
    pub(crate) fn agents(&self) -> Vec<u32> {
        let placed = self.placed();
        let agents = placed["agents"].as_array().map(Vec::as_slice).unwrap_or_default();
        agents.iter().filter_map(|agent| agent["process"]["pid"].as_u64()).map(|pid| pid as u32).collect()
    }
}

impl Drop for Lab {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        self.home.plimsoll("fleet down lab").run();
    }
}

/// Whether it runs; one that has ended stays in the table until its parent asks.
fn is_there(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

/// All files below a folder, which need not be there.
fn files_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files_below(&path),
            path => vec![path.display().to_string()],
        })
        .collect()
}

#[test]
fn a_fleet_that_ssh_places_drives_a_run_and_leaves_nothing_when_it_is_taken_down() {
    let Some(lab) = Lab::set_up() else { return };
    lab.up().expect(0).says("2 agents are ready");
    let agents = lab.agents();
    assert!(agents.len() == 2 && agents.iter().all(|pid| is_there(*pid)), "{agents:?}");
    let status = lab.fleet("status lab --json").expect(0).json();
    let heard =
        status["agents"].as_array().expect("agents").iter().filter(|one| one["heard"] == true).count();
    assert!(heard == 2 && status["controller"].is_null(), "{status:#}");
    lab.fleet("doctor lab --quick").says("strangers are kept out").says("clock ahead by");

    let (catalogue, server) = (null_kit(), NullServer::start(None).expect("a loopback port"));
    let words = format!(
        "run null --target http://{} --users 4 --ramp-up 0s --steady 3s --ramp-down 0s --fleet lab --json --catalogue",
        server.address()
    );
    let record = lab.home.plimsoll(&words).arg(catalogue.path()).run().json();
    let driven = record["fleet"]["agents"].as_array().expect("agents");
    assert!(record["fleet"]["fleet"] == "lab" && driven.len() == 2, "{:#}", record["fleet"]);
    assert!(driven.iter().all(|agent| agent["lost"].is_null()), "{driven:#?}");
    let asked = record["operations"][0]["completed"].as_u64().expect("a number");
    assert!(asked > 0 && server.served() >= asked, "{asked} requests of {}", server.served());
    let shown = lab.home.plimsoll("show last").run().stdout;
    assert!(shown.contains("driven by 2 agents of fleet lab"), "{shown}");

    let broker = lab.placed()["broker"]["pid"].as_u64().expect("a broker") as u32;
    lab.fleet("down lab").expect(0).says("nothing that was started for it runs any more");
    assert!(agents.iter().chain([&broker]).all(|pid| !is_there(*pid)), "{agents:?} {broker}");
    let left: Vec<PathBuf> =
        ["load1", "load2"].map(|name| lab.machines.cache(name).join("plimsoll/fleets")).into();
    let found: Vec<String> = left.iter().flat_map(|folder| files_below(folder)).collect();
    assert_eq!(found, [] as [String; 0]);
    lab.fleet("status lab").expect(2).says("can't be reached");
}

/// What is on the broker of fleet `lab` of runs, while it runs: its streams' folders.
pub(crate) fn streams(home: &Home) -> Vec<String> {
    let folder = home.path().join("fleets/lab/jetstream/jetstream/controller/streams");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn trials_of_a_find_leave_no_room_taken_on_the_broker() {
    let Some(lab) = Lab::set_up() else { return };
    lab.up().expect(0);
    let (catalogue, server) = (null_kit(), NullServer::start(None).expect("a loopback port"));
    let words = format!(
        "find null --target http://{} --fleet lab --budget 40s --window 5s --confirm 5s --catalogue",
        server.address()
    );
    let found = lab.home.plimsoll(&words).arg(catalogue.path()).run();
    assert!(found.stderr.contains("trial 1, "), "{found:#?}");
    assert_eq!(streams(&lab.home), [] as [String; 0], "{found:#?}");
}

#[test]
fn agents_are_named_that_are_not_there_and_a_second_controller_is_told_of_the_first() {
    let Some(lab) = Lab::set_up() else { return };
    lab.fleet("status lab").expect(2).says("fleet up lab hosts.toml");
    lab.up().expect(0);
    let (catalogue, server) = (null_kit(), NullServer::start(None).expect("a loopback port"));
    let run = |steady: &str| {
        let words = format!(
            "run null --target http://{} --users 2 --ramp-up 0s --steady {steady} --ramp-down 0s --fleet lab --json --catalogue",
            server.address()
        );
        lab.home.plimsoll(&words).arg(catalogue.path())
    };
    let first = run("60s").start().until_dropped();
    wait_for("the first run's requests", || (server.served() > 10).then_some(()));
    lab.fleet("status lab").expect(0).says("controls it, for run").says("drives users");
    run("1s").run().expect(2).says("controller already: plimsoll run null");
    // A machine that has the fleet's folder hears it, and says who.
    let elsewhere = Home::new();
    let (from, to) = (lab.home.path().join("fleets/lab"), elsewhere.path().join("fleets/lab"));
    fs::create_dir_all(to.join("agents")).expect("a folder");
    for file in ["fleet.toml", "controller.toml", "signing.seed", "agents/load1.toml", "agents/load2.toml"] {
        fs::copy(from.join(file), to.join(file)).expect("a copy");
    }
    let words = format!("run null --target http://{} --users 2 --fleet lab --catalogue", server.address());
    elsewhere.plimsoll(&words).arg(catalogue.path()).run().expect(2).says("plimsoll run null (process");
    lab.fleet("down lab").expect(2).says("has a controller already");
    first.end();

    let victim = lab.agents()[1];
    kill_process(Pid::from_raw(victim as i32).expect("a process"), Signal::KILL).expect("it is ours");
    wait_for("its end", || (!is_there(victim)).then_some(()));
    lab.fleet("status lab").expect(2).says("nothing is heard of it");
    run("1s").run().expect(2).says("nothing was heard of load2");
    lab.up().expect(0).says("2 agents are ready");
}

#[test]
fn what_a_fleet_cannot_be_placed_on_or_driven_with_is_said_before_anything_starts() {
    let Some(lab) = Lab::set_up() else { return };
    lab.home.plimsoll("run static --stack nginx --fleet lab").run().expect(2).says("--target URL");
    lab.home.plimsoll("run static --stack nginx --fleet other").run().expect(2).says("there is lab");
    lab.fleet(&format!("init lab --listen 127.0.0.1:{}", lab.port)).expect(2).says("a fleet lab already");
    let text = fs::read_to_string(&lab.hosts).expect("hosts.toml").replace("load2", "nowhere.invalid");
    fs::write(&lab.hosts, text).expect("a file");
    lab.up().expect(2).says("nowhere.invalid");
    assert!(!lab.home.path().join("fleets/lab/placed.json").exists(), "nothing was started");
    let text = fs::read_to_string(&lab.hosts)
        .expect("hosts.toml")
        .replace("nowhere.invalid", "-oProxyCommand=touch x");
    fs::write(&lab.hosts, text).expect("a file");
    lab.up().expect(2).says("is no destination of ssh");
    let kinds = lab.machines.path("another kind");
    fs::create_dir(&kinds).expect("a folder");
    let uname = kinds.join("uname");
    fs::write(&uname, "#!/bin/sh\n[ \"$1\" != -m ] || { echo riscv64; exit; }\nexec /usr/bin/uname \"$@\"\n")
        .expect("a program");
    fs::set_permissions(&uname, fs::Permissions::from_mode(0o755)).expect("it may be run");
    lab.machines.allow_only(&format!("PATH='{}':$PATH sh -c \\\"$SSH_ORIGINAL_COMMAND\\\"", kinds.display()));
    let text = fs::read_to_string(&lab.hosts).expect("hosts.toml").replace("-oProxyCommand=touch x", "load2");
    fs::write(&lab.hosts, text).expect("a file");
    lab.up().expect(2).says("load2 is riscv64, and this program is for");
    fs::copy(lab.machines.path("user.pub"), lab.machines.path("authorized")).expect("it is itself again");
    // Another's server at the broker's place is not taken for it.
    let other = TcpListener::bind(("127.0.0.1", lab.port)).expect("the port is free");
    lab.up().expect(2).says("somebody listens at");
    drop(other);
}

#[test]
fn an_agent_whose_credentials_others_can_read_does_not_begin() {
    let home = Home::new();
    let free =
        TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("it has one").port();
    home.plimsoll(&format!("fleet init lab --listen 127.0.0.1:{free} --agent load1")).run().expect(0);
    let creds = home.path().join("load1.toml");
    fs::copy(home.path().join("fleets/lab/agents/load1.toml"), &creds).expect("a copy");
    fs::set_permissions(&creds, fs::Permissions::from_mode(0o644)).expect("it is ours");
    home.plimsoll("agent --creds")
        .arg(&creds)
        .run()
        .expect(2)
        .says("other users of this machine can read it");
}

#[test]
fn a_machine_that_is_lost_while_its_agent_starts_is_named_and_its_agent_ends_without_its_credentials() {
    let Some(lab) = Lab::set_up() else { return };
    // Each machine is asked what it is (two calls), and the first one whether it has the program, is sent it, and is given the
    // credentials (three more). The sixth call starts its agent, and its answer never comes.
    let counted = lab.machines.path("calls");
    lab.machines.allow_only(&format!(
        "echo >> '{}'; sh -c \\\"$SSH_ORIGINAL_COMMAND\\\" | if [ $(wc -l < '{0}') -ge 6 ]; then cat > /dev/null; exit 255; else cat; fi",
        counted.display()
    ));
    lab.up().expect(2).says("load1").says("fleet down lab");
    let placed = lab.placed();
    assert!(placed["agents"][0]["process"].is_null(), "nobody knows its number: {placed:#}");
    let credentials = lab.machines.cache("load1");
    let running = || {
        let all = fs::read_dir("/proc").expect("/proc is there").flatten();
        let words = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_it =
            |words: &Vec<u8>| String::from_utf8_lossy(words).contains(&*credentials.to_string_lossy());
        all.map(words).filter(is_it).count()
    };
    wait_for("the agent that nobody knows", || (running() > 0).then_some(()));
    fs::copy(lab.machines.path("user.pub"), lab.machines.path("authorized")).expect("it answers again");
    lab.fleet("down lab").expect(0).says("ends, if it ever began");
    wait_for("its end", || (running() == 0).then_some(()));
}

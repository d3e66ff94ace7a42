//! A fleet one of whose agents is on a server's host and watches its tiers, placed over a private sshd.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use engine::null_server::NullServer;
use serde_json::Value as Json;

use crate::fleet_placed::Lab;
use crate::target::null_kit;
use crate::tool::{Finished, wait_for};

/// A server that is always at work, and the file with its number.
struct Busy {
    process: Child,
    pid_file: PathBuf,
}

impl Busy {
    fn start(lab: &Lab) -> Busy {
        let process = Command::new("/bin/sh").args(["-c", "while :; do :; done"]).spawn();
        let process = process.expect("there is a shell");
        let pid_file = lab.home.path().join("busy.pid");
        fs::write(&pid_file, format!("{}\n", process.id())).expect("a file");
        Busy { process, pid_file }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Writes hosts.toml: `load1` with these lines, and `db1`, which is the second machine, with those.
fn hosts(lab: &Lab, of_load1: &str, of_db1: &str) {
    let config = lab.machines.config();
    let text = format!(
        "ssh_config = {config:?}\n[[host]]\nssh = \"load1\"\n{of_load1}\n[[host]]\nssh = \"load2\"\nname = \"db1\"\n{of_db1}\n"
    );
    fs::write(&lab.hosts, text).expect("a file");
}

fn observes(busy: &Busy) -> String {
    format!("roles = [\"observe\"]\n[host.tiers]\ndatabase = {{ pid_file = {:?} }}", busy.pid_file)
}

/// Has the fleet drive a run against a server of this test.
fn run(lab: &Lab, steady: &str) -> Finished {
    let (catalogue, server) = (null_kit(), NullServer::start(None).expect("a loopback port"));
    let words = format!(
        "run null --target http://{} --users 4 --ramp-up 0s --steady {steady} --ramp-down 0s --fleet lab --json --catalogue",
        server.address()
    );
    lab.home.plimsoll(&words).arg(catalogue.path()).run()
}

#[test]
fn tiers_on_a_server_s_host_are_among_those_of_the_run() {
    let Some(lab) = Lab::set_up() else { return };
    let busy = Busy::start(&lab);
    hosts(&lab, "cpus = \"0\"\nweight = 3", &observes(&busy));
    lab.up().expect(0).says("2 agents are ready").says("watches database");
    let status = lab.fleet("status lab --json").expect(0).json();
    let roles: Vec<&Json> =
        status["agents"].as_array().expect("agents").iter().map(|one| &one["roles"]).collect();
    assert_eq!(roles, [&serde_json::json!(["observe"]), &serde_json::json!(["load"])]);
    lab.fleet("status lab").expect(0).says("; watches database");

    let ran = run(&lab, "4s");
    assert!(ran.stderr.contains("db1 watches database (pid file"), "{ran:?}");
    let record = ran.json();
    let tier = |name: &str| {
        let tiers = record["tiers"].as_array().expect("tiers");
        tiers.iter().find(|tier| tier["tier"] == name).unwrap_or_else(|| panic!("no {name}: {tiers:#?}"))
    };
    let database = tier("database");
    assert!(database["cpu_cores"].as_f64().is_some_and(|cores| cores > 0.05), "{database:#}");
    assert!(database["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{database:#}");
    assert_eq!(database["source"], "/proc on db1");
    tier("generator");
    let signals = record["signals"].as_array().expect("signals");
    let cpu = signals.iter().find(|one| one["tier"] == "database" && one["name"] == "cpu.cores");
    let cpus = fs::read_to_string("/proc/stat").expect("it is there");
    let cpus = cpus.lines().filter(|line| line.starts_with("cpu")).count() - 1;
    let limit = cpu.expect("its CPU is a signal")["limit"].as_f64();
    assert_eq!(limit, Some(cpus as f64), "it may use its host's CPUs");
    assert!(!record["diagnosis"].is_null(), "what holds the stack can be asked");

    let fleet = &record["fleet"];
    let agents: Vec<&Json> =
        fleet["agents"].as_array().expect("agents").iter().map(|one| &one["agent"]).collect();
    assert_eq!(agents, ["load1"], "who watches drives nobody");
    let observer = &fleet["observers"][0];
    assert_eq!((&observer["agent"], &observer["tiers"][0]), (&"db1".into(), &"database".into()), "{fleet:#}");
    assert!(observer["lost"].is_null() && observer["readings"].as_u64() >= Some(5), "{fleet:#}");
    let shown = lab.home.plimsoll("show last").run().stdout;
    for said in ["driven by 1 agent of fleet lab", "db1 watched database"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    lab.home.plimsoll("explain last").run().expect(0);
    let record = lab.home.plimsoll("show last --json").run().json();
    assert_eq!(record["fleet"]["observers"][0]["agent"], "db1", "it is kept");
    lab.fleet("down lab").expect(0);
}

#[test]
fn an_observer_that_is_killed_ends_no_run_and_its_tiers_are_said_to_be_unseen() {
    let Some(lab) = Lab::set_up() else { return };
    let busy = Busy::start(&lab);
    hosts(&lab, "", &observes(&busy));
    lab.up().expect(0);
    let victim = lab.agents()[1];
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&lab, "24s"));
        wait_for("the observer at work", || {
            let status = lab.fleet("status lab --json").json();
            let is_at_work = |one: &Json| one["agent"] == "db1" && one["standing"]["state"] == "running";
            status["agents"].as_array()?.iter().any(is_at_work).then_some(())
        });
        let pid = rustix::process::Pid::from_raw(victim as i32).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
        running.join().expect("it ran")
    });
    let record = ran.json();
    assert_eq!(record["outcome"], "completed", "{:#}", record["verdict"]);
    let unseen = record["unseen"].to_string();
    assert!(unseen.contains("tier database: the observer on db1 was lost at second"), "{unseen}");
    let observer = &record["fleet"]["observers"][0];
    assert_eq!(observer["lost"], "nothing was heard of it for 15 s", "{observer:#}");
    let shown = lab.home.plimsoll("show last").run().stdout;
    assert!(shown.contains("and was lost: nothing was heard of it"), "{shown}");
}

#[test]
fn what_a_fleet_can_not_watch_or_drive_is_said_before_any_load() {
    let Some(lab) = Lab::set_up() else { return };
    let busy = Busy::start(&lab);
    let of_database = observes(&busy);
    hosts(
        &lab,
        "roles = [\"observe\"]\n[host.tiers]\nweb = { unit = \"plimsoll-has-no-such.service\" }",
        &of_database,
    );
    lab.up().expect(0);
    run(&lab, "2s").expect(2).says("no agent of fleet lab drives users");
    hosts(&lab, "", &format!("{of_database}\nweb = {{ unit = \"plimsoll-has-no-such.service\" }}"));
    lab.up().expect(0);
    run(&lab, "2s")
        .expect(2)
        .says("agent db1 can't watch the run: tier web: unit plimsoll-has-no-such.service");
    // The machine's operator has the last word.
    let file = lab.home.path().join("agent.toml");
    fs::write(&file, "roles = [\"load\"]\n").expect("a file");
    hosts(&lab, "", &format!("config = {file:?}\n{of_database}"));
    lab.up().expect(2).says("started for `observe`, which this machine's operator doesn't allow");
}

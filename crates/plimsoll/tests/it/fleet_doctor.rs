//! What a fleet's doctor finds of machines on which agents were placed over a private sshd.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use engine::null_server::NullServer;
use rustix::process::Signal;
use serde_json::Value as Json;

use crate::fleet_placed::Lab;
use crate::target::null_kit;
use crate::tool::{Finished, wait_for};

/// What it can't count on, but for what the hypervisor of the machine at hand takes, of which a test knows nothing.
fn findings(doctor: &Finished) -> Vec<String> {
    let all = doctor.json()["findings"].as_array().expect("findings").clone();
    let code = if all.is_empty() { 0 } else { 2 };
    assert_eq!(doctor.code, Some(code), "{doctor:?}");
    let words = all.iter().map(|one| one.as_str().expect("words").to_string());
    words.filter(|one| !one.contains("the hypervisor takes")).collect()
}

/// What was found of the machine of an agent.
fn machine<'a>(found: &'a Json, agent: &str) -> &'a Json {
    let machines = found["machines"].as_array().expect("machines");
    machines.iter().find(|one| one["agent"] == agent).unwrap_or_else(|| panic!("no {agent}: {found:#}"))
}

/// A server on all addresses of this machine, one of which, 0.0.0.0, is no loopback address.
fn on_all_addresses() -> (TcpListener, String) {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    listener.set_nonblocking(true).expect("it can be asked");
    let port = listener.local_addr().expect("it is bound").port();
    (listener, format!("http://0.0.0.0:{port}"))
}

fn accepted(listener: &TcpListener) -> usize {
    std::iter::from_fn(|| listener.accept().ok()).count()
}

#[test]
fn a_doctor_looks_at_each_machine_and_tells_whether_its_agent_reaches_a_server() {
    let Some(lab) = Lab::set_up() else { return };
    lab.up().expect(0);
    let server = NullServer::start(None).expect("a loopback port");
    let url = format!("http://{}", server.address());
    let doctor = lab.fleet(&format!("doctor lab --json --target {url}"));
    assert_eq!(findings(&doctor), [] as [String; 0]);
    let found = doctor.json();
    assert_eq!((&found["format"], &found["open_doors"]), (&1.into(), &Json::Array(Vec::new())), "{found:#}");
    for agent in ["load1", "load2"] {
        let look = &machine(&found, agent)["look"];
        let way = &look["target"]["ways"][0];
        assert_eq!(
            (&way["state"], &way["address"]),
            (&"connected".into(), &server.address().to_string().into())
        );
        assert_eq!(look["target"]["resolved"][0], "127.0.0.1", "{look:#}");
        let null = &look["null_server"];
        assert_eq!(null["state"], "measured", "{look:#}");
        assert!(null["requests_per_s"].as_f64() > Some(100.0) && null["lag_p99_s"].is_f64(), "{look:#}");
        assert!(look["ports"].as_u64() > Some(0) && look["steal_ratio"].is_f64(), "{look:#}");
    }
    assert_eq!(machine(&found, "load1")["look"]["cpus"], serde_json::json!([0]), "it was given that one");
    for bus in found["bus"].as_array().expect("agents") {
        assert!(bus["to_agent_bytes_per_s"].as_f64() > Some(1e5), "{bus:#}");
        assert!(bus["from_agent_bytes_per_s"].as_f64() > Some(1e5), "{bus:#}");
        // Both have this machine's clock.
        let (low_s, high_s) = (bus["drift"]["low_s"].as_f64(), bus["drift"]["high_s"].as_f64());
        assert!(low_s <= Some(0.0) && high_s >= Some(0.0), "{bus:#}");
        assert!(bus["drift"]["within_s"].as_f64() > Some(3.0), "{bus:#}");
    }
    assert_eq!(server.served(), 0, "the server was asked nothing");

    let quick = lab.fleet(&format!("doctor lab --quick --target {url}"));
    let quick = quick.says("null server: not driven: --quick").says("connects in").says("no drift seen in");
    quick.says("strangers are kept out").says("the bus carries");

    let gone = server.address();
    drop(server);
    let doctor = lab.fleet(&format!("doctor lab --quick --target http://{gone}")).expect(2);
    doctor.says(&format!("load1: {gone} is not reached")).says(&format!("load2: {gone} is not reached"));
    lab.fleet("doctor lab --target ftp://shop").expect(2).says("use http or https");
    // As `run` refuses it, with what it takes.
    let doctor = lab.fleet("doctor lab --target http://127.0.0.1:8080/shop/").expect(2);
    doctor.says("has a path").says("http://127.0.0.1:8080");
    lab.fleet("doctor lab --target http://nowhere.invalid").expect(2).says("failed to find the address");
}

#[test]
fn a_target_that_agent_toml_does_not_allow_is_said_and_nobody_connects_to_it() {
    let Some(lab) = Lab::set_up() else { return };
    let allowing = lab.home.path().join("agent.toml");
    fs::write(&allowing, "targets = [\"0.0.0.0\"]\nmax_duration = \"1s\"\n").expect("a file");
    lab.up().expect(0);
    let (listener, url) = on_all_addresses();
    let doctor = lab.fleet(&format!("doctor lab --quick --target {url}")).expect(2);
    doctor.says("load1: no load may go to 0.0.0.0").says("load2: no load may go to").says("nothing was sent");
    assert_eq!(accepted(&listener), 0);

    // Its operator allows it on one of the machines.
    let text = fs::read_to_string(&lab.hosts).expect("hosts.toml");
    let text = text.replace("cpus = \"0\"", &format!("cpus = \"0\"\nconfig = {allowing:?}"));
    fs::write(&lab.hosts, text).expect("a file");
    lab.up().expect(0);
    let doctor = lab.fleet(&format!("doctor lab --quick --json --target {url}"));
    let found = doctor.json();
    let state = |agent| machine(&found, agent)["look"]["target"]["ways"][0]["state"].clone();
    assert_eq!((state("load1"), state("load2")), ("connected".into(), "not_allowed".into()), "{found:#}");
    assert!(accepted(&listener) > 0);
    assert!(findings(&doctor).iter().all(|one| one.starts_with("load2: no load may go to")), "{found:#}");
}

#[test]
fn a_machine_whose_agent_drives_users_is_not_put_under_load_by_a_doctor() {
    let Some(lab) = Lab::set_up() else { return };
    lab.up().expect(0);
    let (catalogue, server) = (null_kit(), NullServer::start(None).expect("a loopback port"));
    let words = format!(
        "run null --target http://{} --users 6 --ramp-up 0s --steady 60s --ramp-down 0s --fleet lab --json --catalogue",
        server.address()
    );
    let run = lab.home.plimsoll(&words).arg(catalogue.path()).start().until_dropped();
    wait_for("the run's requests", || (server.served() > 10).then_some(()));
    let doctor = lab.fleet("doctor lab --json");
    let found = doctor.json();
    for agent in ["load1", "load2"] {
        let machine = machine(&found, agent);
        let why = machine["not_loaded"].as_str().expect("a reason");
        assert!(why.starts_with("it drives users of run"), "{found:#}");
        assert!(machine["look"]["null_server"].is_null() && machine["look"]["ports"].is_u64(), "{machine:#}");
    }
    for bus in found["bus"].as_array().expect("agents") {
        assert!(bus["to_agent_bytes_per_s"].is_null() && bus["clock"].is_object(), "{bus:#}");
    }
    assert_eq!(findings(&doctor), [] as [String; 0]);
    run.end();
}

/// Has the doctor believe that an agent's program is this script.
fn replace_program(lab: &Lab, agent: usize, script: &str) -> PathBuf {
    let program = lab.home.path().join("program");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it may be run");
    let placed = lab.home.path().join("fleets/lab/placed.json");
    let mut known: Json = serde_json::from_slice(&fs::read(&placed).expect("it was placed")).expect("JSON");
    known["agents"][agent]["program"] = program.to_string_lossy().into();
    fs::write(&placed, known.to_string()).expect("a file");
    program
}

#[test]
fn a_machine_that_answers_rubbish_or_not_at_all_is_named_and_the_others_are_looked_at() {
    let Some(mut lab) = Lab::set_up() else { return };
    lab.up().expect(0);
    let look = |found: &Finished| machine(&found.json(), "load1")["look"].clone();
    replace_program(&lab, 1, "cat > /dev/null; printf 'EVIL \\033[2J {\"version\": 1}'");
    let doctor = lab.fleet("doctor lab --quick --json");
    assert!(look(&doctor)["ports"].is_u64(), "{doctor:?}");
    let found = findings(&doctor);
    assert!(found.len() == 1 && found[0].starts_with("load2: its program doesn't look"), "{found:?}");
    assert!(!doctor.stdout.contains("EVIL") && !doctor.stdout.contains('\u{1b}'), "{doctor:?}");
    replace_program(&lab, 1, "echo '\u{1b}[2J it broke' >&2; exit 9");
    let doctor =
        lab.fleet("doctor lab --quick").expect(2).says("load2: its program doesn't look").says("it broke");
    assert!(!doctor.stdout.contains('\u{1b}'), "{doctor:?}");

    let began = lab.home.path().join("began");
    replace_program(&lab, 1, &format!("echo > '{}'; while :; do echo; sleep 0.1; done", began.display()));
    let doctor = lab.home.plimsoll("fleet doctor lab --quick").start();
    wait_for("the program that never ends", || began.exists().then_some(()));
    // Nobody has its agents meanwhile.
    lab.fleet("down lab").expect(2).says("has a controller already: plimsoll fleet doctor");
    doctor.signal(Signal::INT);
    doctor.wait().expect(105);

    lab.machines.kill_sshd("load2");
    let doctor = lab.fleet("doctor lab --quick --json");
    assert!(look(&doctor)["ports"].is_u64(), "{doctor:?}");
    let found = findings(&doctor);
    assert!(found.len() == 1 && found[0].starts_with("load2: its machine can't be asked"), "{found:?}");
    lab.machines.start_again("load2");
}

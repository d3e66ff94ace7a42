//! Runs whose users agents drive, on a real web server: what they come to is one run, and an agent that is killed is named.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::followed::Followed;
use crate::tool::{Home, have};

const RUN: &str = "run static --stack nginx --users 8 --ramp-up 1s --fleet local:2 --json";

/// Whether the web server and the bus are here.
fn can_run() -> bool {
    have("nginx") && have("nats")
}

fn agents(record: &Json) -> &[Json] {
    record["fleet"]["agents"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn check<'a>(record: &'a Json, id: &str) -> &'a Json {
    let checks = record["validity"].as_array().expect("checks");
    checks.iter().find(|check| check["check"] == id).unwrap_or_else(|| panic!("no {id} in {checks:#?}"))
}

#[test]
fn two_agents_come_to_one_run_and_leave_nothing() {
    if !can_run() {
        return;
    }
    let home = Home::new();
    let record = home.plimsoll(&format!("{RUN} --steady 5s")).run().json();
    let found = agents(&record);
    assert_eq!(found.len(), 2, "{:#}", record["fleet"]);
    for agent in found {
        assert_eq!(agent["users_ratio"], 0.5, "{agent:#}");
        assert!(agent["seconds"].as_u64().is_some_and(|seconds| seconds >= 6), "{agent:#}");
        assert!(agent["cpu_ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{agent:#}");
        assert!(agent["lost"].is_null(), "{agent:#}");
    }
    for id in ["fleet_agents", "fleet_clock", "users", "little", "duration"] {
        assert_eq!(check(&record, id)["ok"], true, "{:#}", check(&record, id));
    }
    let tiers: Vec<&str> =
        record["tiers"].as_array().expect("tiers").iter().filter_map(|tier| tier["tier"].as_str()).collect();
    assert!(tiers.contains(&"agents") && tiers.contains(&"bus"), "{tiers:?}");
    let shown = home.plimsoll("show last").run().stdout;
    for said in ["driven by 2 agents on this machine (local:2)", "agent-1", "agent-2", "began late"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    home.expect_nothing_left();
}

#[test]
fn an_agent_that_is_killed_is_named_and_the_run_is_not_valid() {
    if !can_run() {
        return;
    }
    let home = Home::shared();
    let run = home.plimsoll(&format!("{RUN} --steady 60s --seed 77"));
    let (running, _) = Followed::start(run, "static", 2);
    kill_agent_2(home);
    let ended = running.wait().expect(3);
    let record = ended.json();
    assert_eq!(record["outcome"], "aborted", "{:#}", record["verdict"]);
    let lost: Vec<(&str, &str)> = agents(&record)
        .iter()
        .filter_map(|agent| Some((agent["agent"].as_str()?, agent["lost"].as_str()?)))
        .collect();
    assert_eq!(lost, [("agent-2", "nothing was heard of it for 15 s")]);
    let said = check(&record, "fleet_agents");
    assert!(said["ok"] == false && said["sentence"].to_string().contains("agent-2 was lost"), "{said:#}");
    home.expect_nothing_left();
}

#[test]
fn a_run_that_may_lose_an_agent_goes_on_without_it_and_is_degraded() {
    if !can_run() {
        return;
    }
    let home = Home::shared();
    // Far from what a generator can do, so that nothing but the loss is wrong.
    let run = home.plimsoll(&format!("{RUN} --rate 60/s --steady 30s --seed 78 --tolerate 1 --qos p95<10s"));
    let (running, _) = Followed::start(run, "static", 6);
    kill_agent_2(home);
    let record = running.wait().expect(0).json();
    assert_eq!(record["outcome"], "completed", "{:#}", record["verdict"]);
    let verdict = record["verdict"]["sentence"].as_str().expect("a sentence");
    assert!(verdict.starts_with("valid but DEGRADED, 1 agent lost: passed"), "{verdict}");
    // All of 1,800 until it was lost, and half of them after that.
    let arrivals = check(&record, "arrivals");
    let left = arrivals["limit"].as_f64().expect("what was left");
    assert!(arrivals["ok"] == true && (930.0..1_780.0).contains(&left), "{arrivals:#}");
    let shown = home.plimsoll("show last").run().stdout;
    for said in ["(local:2); agent-2 lost after", "DEGRADED"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let listed = home.plimsoll("runs -n 1").run().stdout;
    assert!(listed.contains("nginx, by 2 agents, 1 lost"), "{listed}");
    home.expect_nothing_left();
}

/// Ends the second agent of the only run with agents.
fn kill_agent_2(home: &Home) {
    let agents_of = |home: &Home| -> Vec<u32> {
        let own = env!("CARGO_BIN_EXE_plimsoll");
        let home = home.path().to_string_lossy().into_owned();
        let processes = std::fs::read_dir("/proc").expect("/proc is there").flatten();
        let is_it = |pid: &u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            words.starts_with(own) && words.contains("--name agent-2") && words.contains(&home)
        };
        processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_it).collect()
    };
    let [victim] = agents_of(home)[..] else { panic!("one agent-2: {:?}", agents_of(home)) };
    kill_process(Pid::from_raw(victim as i32).expect("a process"), Signal::KILL).expect("it is ours");
}

#[test]
fn what_a_fleet_cannot_do_is_refused_before_anything_starts() {
    if !can_run() {
        return;
    }
    let home = Home::shared();
    for (words, said) in [
        (
            "run static --stack nginx --users 8 --fleet local:2 --guests 2",
            "guests share the load by themselves",
        ),
        ("run static --fleet lab", "there is no fleet `lab`"),
        ("run static --fleet local:0", "`0` is no such number"),
        ("run static --tolerate 1", "--fleet"),
        ("run static --stack nginx --fleet local:2 --tolerate 2", "would leave none to go on"),
        ("agent --broker nats://192.0.2.1:4222 --fleet lab --controller nobody", "is not on this machine"),
        ("agent --broker nats://127.0.0.1:4222 --fleet lab", "no controller's key was given"),
        ("agent --broker nats://127.0.0.1:4222 --fleet lab --controller x --cpus 4000", "CPU 4000"),
    ] {
        let refused = home.plimsoll(words).run().expect(2);
        assert!(refused.stderr.contains(said), "{words}: {refused:?}");
    }
}

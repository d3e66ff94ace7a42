//! What a real tier's threads wait for is counted by the kernel, call by call, and adds up.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value as Json;
use testkit::ending::skip;

use crate::record::operation;
use crate::tool::{Home, have, judged, overlay};

const STACK: &str = "apache-prefork-modphp-mariadb";
/// What a page sleeps by itself, waits for a service that is no tier, and for the database; seconds.
const SLEEP_S: f64 = 0.02;
const GATEWAY_S: f64 = 0.05;
const QUERY_S: f64 = 0.03;
/// How long is counted.
const STEADY_S: f64 = 12.0;

const KIT: &str = r#"
format = 1
name = "planted"
version = 1
title = "Pages that wait on purpose"
source = "made for this test"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
front_page = "/index.php"
default_size = "none"
default_stack = "apache-prefork-modphp-mariadb"
state = { drifts = false, why = "nothing is kept", reset = "none" }
sizes = { none = {} }
users = { default = 4, ramp_per_s = 10, think = { distribution = "fixed", value = 0.0 } }
mix = { wait = 1 }
qos = { all = ["p50 < 5s"] }
"#;

const SESSION: &str = "function wait() operation 'Wait' get('/index.php?now=1') end\n";

const APP: &str = r#"<?php
if (isset($_GET['now'])) {
    usleep(20000);
    $gateway = fsockopen("127.0.0.1", GATEWAY);
    fwrite($gateway, "x");
    fread($gateway, 1);
    fclose($gateway);
    $db = new PDO("mysql:unix_socket={{ tiers.db.sockets.mysql }}", "{{ tiers.db.user }}", "");
    $db->query("SELECT SLEEP(0.03)")->fetchAll();
    $journal = fopen("/tmp/plimsoll-test-journal-" . getmypid(), "w");
    fwrite($journal, str_repeat("x", 65536));
    fsync($journal);
    fclose($journal);
    unlink("/tmp/plimsoll-test-journal-" . getmypid());
}
echo 'done';
"#;

/// A service that answers each byte late; its port.
fn slow_gateway() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it has one").port();
    thread::spawn(move || {
        for mut caller in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut byte = [0];
                while caller.read_exact(&mut byte).is_ok() {
                    thread::sleep(Duration::from_secs_f64(GATEWAY_S));
                    _ = caller.write_all(&byte);
                }
            });
        }
    });
    port
}

fn tier<'a>(record: &'a Json, name: &str) -> &'a Json {
    let tiers = record["calls"]["tiers"].as_array().expect("tiers");
    tiers.iter().find(|tier| tier["tier"] == name).unwrap_or_else(|| panic!("no tier {name} in {tiers:?}"))
}

/// Seconds that a tier was blocked in rows that `are` so.
fn blocked_s(record: &Json, name: &str, are: impl Fn(&Json) -> bool) -> f64 {
    let rows = tier(record, name)["rows"].as_array().expect("rows");
    rows.iter().filter(|row| are(row)).filter_map(|row| row["blocked_s"].as_f64()).sum()
}

/// What each tier's threads did, a line a row; the record itself has a screen for each.
fn lines_of(calls: &Json) -> String {
    let rows = |tier: &Json| tier["rows"].as_array().cloned().unwrap_or_default();
    let line = |row: &Json| {
        ["thread", "call", "doing", "object", "blocks", "blocked_s", "max_s"]
            .map(|key| row[key].to_string())
            .join(" ")
    };
    let tier = |tier: &Json| {
        let head = format!("{}: closes to {}", tier["tier"], tier["closes_ratio"]);
        [vec![head], rows(tier).iter().map(line).collect()].concat().join("\n  ")
    };
    let tiers = calls["tiers"].as_array().cloned().unwrap_or_default();
    let told: Vec<String> = tiers.iter().map(tier).collect();
    format!("{}\nlost: {}, waits: {}", told.join("\n"), calls["lost"], calls["waits"])
}

#[test]
fn sleep_sync_a_slow_gateway_and_the_database_are_each_named_with_the_time_that_they_took() {
    if !have(STACK) {
        return;
    }
    let port = slow_gateway();
    let app = APP.replace("GATEWAY", &port.to_string());
    let catalogue = overlay(&[
        ("kits/planted/kit.toml", KIT),
        ("kits/planted/session.lua", SESSION),
        ("kits/planted/app/index.php.j2", &app),
    ]);
    let words =
        format!("run planted --users 4 --ramp-up 1s --steady {STEADY_S}s --ramp-down 0s --json --catalogue");
    let finished = judged(|| Home::shared().plimsoll(&words).arg(catalogue.path()).alone()).expect(0);
    let record = finished.json();
    if record["calls"].is_null() {
        skip(&format!("the kernel counts no calls here: {}", record["unseen"]));
        return;
    }
    let completed = operation(&record, "Wait")["completed"].as_f64().expect("a number");
    // The ledger may begin late; what it has is of the operations since.
    let counted_s = record["calls"]["length_s"].as_f64().expect("its length");
    let completed = completed * counted_s / STEADY_S;
    for name in ["web", "db"] {
        let (of_tier, closes) = (tier(&record, name), "closes_ratio");
        let ratio = of_tier[closes].as_f64().expect("a ratio");
        assert!((ratio - 1.0).abs() <= 0.03, "{name} closes to {ratio}: {of_tier:#}");
        let agrees = of_tier["cpu_agrees_ratio"].as_f64().expect("the tier has a cgroup");
        assert!((agrees - 1.0).abs() <= 0.1, "the CPU time of {name} is {agrees} of its cgroup's");
    }
    let near = |what: &str, seen_s: f64, planted_s: f64| {
        let ratio = seen_s / planted_s;
        let told = || lines_of(&record["calls"]);
        assert!((0.9..1.15).contains(&ratio), "{what}: {seen_s} s instead of {planted_s} s:\n{}", told());
    };
    let slept = blocked_s(&record, "web", |row| row["call"] == "clock_nanosleep");
    near("sleep", slept / completed, SLEEP_S);
    let slept = blocked_s(&record, "db", |row| row["doing"] == "sleeping");
    near("SLEEP of SQL", slept / completed, QUERY_S);
    let waits = record["calls"]["waits"].as_array().expect("waits");
    let waited_s = |to: &str| {
        let edge = waits.iter().find(|edge| edge["from"] == "web" && edge["to"] == to);
        edge.and_then(|edge| edge["s_per_operation"].as_f64())
            .unwrap_or_else(|| panic!("web waits not for {to}: {waits:#?}"))
    };
    near("gateway", waited_s(&format!("127.0.0.1:{port}")), GATEWAY_S);
    near("database", waited_s("db"), QUERY_S);
    let synced_s =
        blocked_s(&record, "web", |row| row["call"] == "fsync" && row["doing"] == "waiting_for_disk");
    assert!(
        synced_s > 0.0,
        "fsync is a disk of the web tier, not of the database: {:#}",
        tier(&record, "web")
    );
    let id = record["id"].as_str().expect("an id");
    let said = Home::shared().plimsoll("explain --calls").arg(id).run().expect(0);
    said.says("web waited for db")
        .says("clock_nanosleep")
        .says("closes to")
        .says("what blocks all the time")
        .says("The longest waits")
        .says("ended by");
    let folded = Home::shared().plimsoll("explain --folded").arg(id).run().expect(0);
    let folded = folded.says("sleeping;clock_nanosleep;").says("nanosleep").says("computing;");
    let line = folded.stdout.lines().next().expect("stacks were sampled");
    assert!(line.rsplit_once(' ').is_some_and(|(_, ms)| ms.parse::<u64>().is_ok()), "{line}");
}

/// In a mount table of its own without the kernel's types, the command that follows.
const WITHOUT_TYPES: &str = "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"";

#[test]
fn without_the_kernels_types_a_run_is_as_good_as_before_and_says_what_it_did_not_see() {
    if !have("nginx") {
        return;
    }
    if !Path::new("/sys/kernel/btf").is_dir() || !rustix::process::geteuid().is_root() {
        skip("it takes root, and a kernel that has types to hide");
        return;
    }
    let words =
        "run static --stack nginx --size quick --users 5 --ramp-up 1s --steady 3s --ramp-down 0s --json";
    let home = Home::shared();
    let tool = home.plimsoll(words).before(|command: &mut Command| {
        let mut inside = Command::new("unshare");
        inside.args(["--mount", "--propagation", "private", "sh", "-c", WITHOUT_TYPES, "sh"]);
        inside.arg(command.get_program()).args(command.get_args());
        inside.env("PLIMSOLL_HOME", home.path()).env_remove("CI").stdin(Stdio::null());
        *command = inside;
    });
    let record = tool.run().json();
    assert!(record["calls"].is_null(), "{:#}", record["calls"]);
    let unseen = record["unseen"].as_array().expect("a list");
    let said: Vec<&str> =
        unseen.iter().filter_map(Json::as_str).filter(|why| why.contains("calls")).collect();
    assert_eq!(said.len(), 1, "{unseen:?}");
    assert!(said[0].contains("the kernel's types"), "{said:?}");
    let watched = record["signals"]
        .as_array()
        .is_some_and(|all| all.iter().any(|one| one["name"] == "threads.running"));
    assert!(watched, "threads are looked at as before: {:#}", record["signals"]);
    let id = record["id"].as_str().expect("an id");
    home.plimsoll("explain --calls").arg(id).run().expect(3).says("the kernel's types");
}

#[test]
fn a_run_without_counting_says_that_it_was_switched_off() {
    if !have("nginx") {
        return;
    }
    let words = "run static --stack nginx --size quick --users 5 --ramp-up 1s --steady 3s --ramp-down 0s --count-calls off --json";
    let record = Home::shared().plimsoll(words).run().json();
    assert!(record["calls"].is_null(), "{:#}", record["calls"]);
    let id = record["id"].as_str().expect("an id");
    let said = Home::shared().plimsoll("explain --calls").arg(id).run().expect(3);
    said.says("The tiers' calls were not counted");
}

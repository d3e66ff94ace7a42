//! A real Apache that stands still for three seconds (SIGSTOP): who waited meanwhile is seen in an open run, in a closed
//! one and in `hit`, and no verdict passes over it.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::followed::Followed;
use crate::tool::{Home, Running, have, judged, wait_for};

const STACK: &str = "apache-prefork-modphp-mariadb";
const FREEZE: Duration = Duration::from_secs(3);

/// Stops every process of the web server, and lets them go on. Whatever becomes of the test, they do.
struct Frozen(Vec<Pid>);

impl Frozen {
    fn web(home: &Home) -> Frozen {
        let servers = home.servers();
        let web = servers.iter().filter(|(_, words)| words.contains("apache2"));
        let pids: Vec<Pid> = web.filter_map(|(pid, _)| Pid::from_raw(*pid as i32)).collect();
        assert!(pids.len() > 1, "Apache's parent and its children: {servers:?}");
        pids.iter().for_each(|pid| _ = kill_process(*pid, Signal::STOP));
        Frozen(pids)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.0.iter().for_each(|pid| _ = kill_process(*pid, Signal::CONT));
    }
}

/// How long the web server really stood still; what is measured is the stop itself, so nothing is waited for but time.
fn freeze(home: &Home) -> f64 {
    let begun = Instant::now();
    let frozen = Frozen::web(home);
    std::thread::sleep(FREEZE);
    drop(frozen);
    begun.elapsed().as_secs_f64()
}

/// The record of a run that was frozen in the middle of its steady state, and for how long.
fn frozen_run(words: &str) -> (Json, f64) {
    let home = Home::shared();
    let run =
        home.plimsoll(&format!("run dvdstore --stack {STACK} {words} --ramp-up 2s --ramp-down 1s --json"));
    let (running, _) = Followed::start(run, "dvdstore", 9);
    let frozen_s = freeze(home);
    (running.wait().json(), frozen_s)
}

fn row<'a>(record: &'a Json, list: &str, key: &str, name: &str) -> &'a Json {
    let rows = record[list].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().find(|row| row[key] == name).unwrap_or_else(|| panic!("no {name} in {rows:#?}"))
}

fn figure(json: &Json, name: &str) -> f64 {
    json[name].as_f64().unwrap_or_else(|| panic!("no {name} in {json:#}"))
}

#[test]
fn arrivals_at_a_frozen_server_are_seen_although_the_kit_abandons_what_they_wait_for() {
    if !have(STACK) {
        return;
    }
    let (record, frozen_s) = frozen_run("--rate 30/s --steady 20s");
    // 90 of 600 arrive meanwhile, and wait for what is left of it: a hundredth of all for all but 0.2 s.
    let untimed = &record["untimed"];
    let (count, share) = (figure(untimed, "count"), figure(untimed, "share_ratio"));
    assert!((450.0..750.0).contains(&count) && (0.05..0.3).contains(&share), "{untimed:#}");
    let around = |found: f64, what: &str| {
        assert!((frozen_s - 0.6..frozen_s + 1.0).contains(&found), "{what}: {found} s of {frozen_s} s");
    };
    around(figure(untimed, "p99_s"), "p99 of the front page");
    let cycle = &row(&record, "operations", "name", "order_cycle")["response"];
    around(figure(cycle, "p99_s"), "p99 of a session from its arrival");
    assert!(figure(cycle, "p95_s") > 1.0, "a seventh of the sessions waited: {cycle:#}");
    let check = row(&record, "validity", "check", "untimed");
    assert_eq!(
        (check["ok"].clone(), check["limit"].clone()),
        (Json::Bool(false), Json::from(2.0)),
        "{check:#}"
    );
    assert_eq!(record["verdict"]["valid"], false, "{:#}", record["verdict"]);
}

#[test]
fn every_user_of_a_closed_run_meets_a_frozen_server() {
    if !have(STACK) {
        return;
    }
    let (record, frozen_s) = frozen_run("--users 20 --steady 15s");
    let rows = record["operations"].as_array().expect("rows");
    let operations: Vec<&Json> =
        rows.iter().filter(|row| row["kind"] == "operation" && row["completed"] != 0).collect();
    let longest_s = operations.iter().map(|row| figure(&row["response"], "max_s")).fold(0.0, f64::max);
    assert!((frozen_s - 0.3..frozen_s + 1.0).contains(&longest_s), "{longest_s} s of {frozen_s} s");
    // Each of 20 users is caught in one of its sessions.
    let session = row(&record, "operations", "name", "order_cycle");
    let sessions = figure(session, "completed");
    let curve = session["response"]["curve"].as_array().expect("a curve");
    let slow = |point: &&Json| point[1].as_f64().is_some_and(|seconds| seconds > 1.5);
    let first = curve.iter().find(slow).and_then(|point| point[0].as_f64()).expect("slow sessions");
    let share = 20.0 / sessions;
    assert!((1.0 - first / 100.0 - share).abs() < 0.5 * share, "{first} % of {sessions} sessions were quick");
}

#[test]
fn every_connection_of_a_hit_meets_a_frozen_server() {
    if !have(STACK) {
        return;
    }
    let home = Home::shared();
    let mut up = home.plimsoll(&format!("up dvdstore --stack {STACK}")).start();
    let address = up.address();
    let _standing = up.until_dropped();
    let hit = format!("hit http://{address}/ds2/index.html -c 20 -d 8s --json");
    let running: Running = home.plimsoll(&hit).start();
    wait_for("it is under way", || {
        let connected =
            std::fs::read_to_string("/proc/net/tcp").is_ok_and(|text| established(&text, &address) >= 20);
        connected.then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    let frozen_s = freeze(home);
    let record = running.wait().json();
    let response = &record["response"];
    let longest_s = figure(response, "max_s");
    assert!((frozen_s - 0.3..frozen_s + 1.0).contains(&longest_s), "{longest_s} s of {frozen_s} s");
    let curve = response["curve"].as_array().expect("a curve");
    let slow = curve.iter().filter(|point| point[1].as_f64().is_some_and(|seconds| seconds > 1.0));
    let first = slow.filter_map(|point| point[0].as_f64()).next();
    let requests = figure(&record, "completed");
    // The curve ends where a sample is a hundred-thousandth of all: of more requests it does not show the twenty.
    if requests < 200_000.0 {
        let beyond = requests * (1.0 - first.expect("slow requests") / 100.0);
        assert!(beyond < 40.0, "{beyond} of {requests} requests were slow, of 20 connections");
    }
}

/// Connections to the address that are established, of the kernel's table.
fn established(table: &str, address: &str) -> usize {
    let port = address.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).expect("a port");
    let remote = format!("0100007F:{port:04X} 01 ");
    table.lines().filter(|line| line.contains(&remote)).count()
}

#[test]
fn a_run_that_nobody_froze_abandons_nothing_that_takes_long() {
    if !have(STACK) {
        return;
    }
    let words =
        format!("run dvdstore --stack {STACK} --rate 15/s --steady 20s --ramp-up 2s --ramp-down 1s --json");
    let record = judged(|| Home::shared().plimsoll(&words)).expect(0).json();
    assert_eq!(row(&record, "validity", "check", "untimed")["ok"], true);
    assert!(figure(&record["untimed"], "count") > 80.0, "{:#}", record["untimed"]);
}

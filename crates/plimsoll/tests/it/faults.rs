//! What goes wrong in the middle: everything measured is kept, nothing is left running, the answer is honest.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value as Json;
use testkit::ending::skip;

use crate::outage::kill;
use crate::tool::{Home, Running, catalogue, have, judged, overlay, wait_for};

const STACK: &str = "apache-prefork-modphp-mariadb";

/// A long run that has kept at least `seconds` seconds.
fn under_way(home: &Home, seconds: usize) -> Running {
    let running = home.plimsoll("run dvdstore --users 3 --ramp-up 1s --steady 300s --ramp-down 0s").start();
    wait_for("the run has kept some seconds", || (kept_seconds(home) >= seconds).then_some(()));
    running
}

/// Seconds of the newest run that is still under way.
fn kept_seconds(home: &Home) -> usize {
    let Ok(runs) = store::Runs::open(home.path()) else { return 0 };
    let Ok(run) = runs.find("last") else { return 0 };
    if !run.under_way() {
        return 0;
    }
    run.seconds().map(|seconds| seconds.count()).unwrap_or(0)
}

/// What is in the folder of data sets, whole or half, but for locks.
fn data_sets(home: &Home) -> usize {
    let entries = fs::read_dir(home.path().join("datasets")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_dir()).count()
}

fn kill_server(home: &Home, program: &str) {
    let servers = home.servers();
    let (pid, _) = servers.iter().find(|(_, words)| words.contains(program)).expect("the server runs");
    kill(*pid);
}

#[test]
fn a_database_killed_mid_run_ends_it_as_invalid_and_it_is_kept() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let running = under_way(&home, 3);
    kill_server(&home, "mariadbd");
    running.wait().expect(3).says("db");
    let record = home.last_run();
    assert_eq!(record["outcome"], "aborted");
    let check =
        record["validity"].as_array().and_then(|list| list.iter().find(|row| row["check"] == "tiers"));
    assert_eq!(check.map(|row| row["ok"].clone()), Some(Json::Bool(false)), "{:#}", record["validity"]);
    home.expect_nothing_left();
}

#[test]
fn ctrl_c_mid_run_keeps_it_and_exits_with_105() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let running = under_way(&home, 3);
    running.signal(Signal::INT);
    running.wait().expect(105);
    let record = home.last_run();
    assert_eq!(record["outcome"], "interrupted");
    assert!(record["operations"].as_array().is_some_and(|rows| !rows.is_empty()));
    home.expect_nothing_left();
}

#[test]
fn sigterm_mid_run_leaves_nothing_running() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let running = under_way(&home, 1);
    running.signal(Signal::TERM);
    running.wait().expect(105);
    home.expect_nothing_left();
}

#[test]
fn kill_9_mid_run_loses_at_most_the_last_second_and_leaves_no_server() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let running = under_way(&home, 4);
    let before = kept_seconds(&home);
    running.signal(Signal::KILL);
    let ended = running.wait();
    assert_eq!(ended.code, None, "killed by a signal");
    wait_for("the keeper has ended every server", || home.servers().is_empty().then_some(()));
    let shown = home.plimsoll("show last").run().expect(0).says("UNFINISHED");
    assert!(shown.stdout.contains("Browse") || shown.stdout.contains("operations"), "{}", shown.stdout);
    let run =
        store::Runs::open(home.path()).and_then(|runs| runs.find("last")).expect("the run can be opened");
    let kept = run.seconds().map(|seconds| seconds.count()).unwrap_or(0);
    assert!(kept >= before, "{kept} seconds are kept of {before}");
    home.plimsoll("clean").run().expect(0);
    home.expect_nothing_left();
}

#[test]
fn an_interrupt_while_data_is_loaded_leaves_no_half_data_set() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let running = home.plimsoll("run dvdstore --size 300mb").start();
    wait_for("the database runs", || {
        home.servers().iter().any(|(_, words)| words.contains("mariadbd")).then_some(())
    });
    running.signal(Signal::INT);
    running.wait().expect(105);
    home.expect_nothing_left();
    let sets = data_sets(&home);
    assert_eq!(sets, 0, "a half data set is left");
}

#[test]
fn a_front_page_that_fails_shows_the_servers_own_words() {
    if !have(STACK) {
        return;
    }
    let page = "<?php\nno_such_function();\n";
    let manifest = catalogue("kits/dvdstore/kit.toml").replace("/ds2/index.html", "/ds2/broken.php");
    let dir = overlay(&[("kits/dvdstore/app/ds2/broken.php", page), ("kits/dvdstore/kit.toml", &manifest)]);
    let told = Home::shared().plimsoll("run dvdstore --catalogue").arg(dir.path()).run().expect(2);
    told.says("status 200").says("no_such_function");
    Home::shared().expect_nothing_left();
}

#[test]
fn a_result_that_can_t_be_written_is_told() {
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full is there");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    let ended = tool.arg("list").env("PLIMSOLL_HOME", Home::shared().path()).stdout(full).output();
    let ended = ended.expect("the binary can be started");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("failed to write the result"), "{said}");
}

#[test]
fn a_port_that_is_taken_is_refused_before_anything_starts() {
    if !have(STACK) {
        return;
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port();
    let home = Home::shared();
    let told = home.plimsoll(&format!("up dvdstore --port {port}")).run().expect(2);
    told.says(&port.to_string());
}

#[test]
fn two_labs_at_once_do_not_collide() {
    if !have(STACK) {
        return;
    }
    let home = Home::shared();
    let words = "run dvdstore --users 2 --ramp-up 1s --steady 5s --ramp-down 0s --json --qos=p50<20s";
    let both = [home.plimsoll(words).start(), home.plimsoll(words).start()];
    for run in both {
        let ended = run.wait();
        // Each may find the machine too busy to be valid; neither may fail otherwise.
        assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
        let wrong = ended.json()["consistency"]
            .as_array()
            .map(|rows| rows.iter().filter(|row| row["ok"] != true).count());
        assert_eq!(wrong, Some(0), "{ended:?}");
    }
    home.expect_nothing_left();
}

#[test]
fn a_disk_that_fills_up_while_loading_leaves_nothing_half_loaded() {
    if !have(STACK) {
        return;
    }
    let home = Home::empty();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1250m,mode=755", "tmpfs"])
        .arg(home.path())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        skip("no right to mount a small file system");
        return;
    }
    // Room for the load's redo log of 1 GiB, not for the rows.
    let told = home.plimsoll("run dvdstore --size 400mb").run();
    let sets = data_sets(&home);
    home.expect_nothing_left();
    let unmounted = Command::new("umount").arg(home.path()).status();
    assert!(unmounted.is_ok_and(|status| status.success()), "the file system is free");
    assert_eq!(sets, 0, "a half data set is left");
    let told = told.expect(2);
    assert!(told.stderr.to_lowercase().contains("space") || told.stderr.contains("full"), "{}", told.stderr);
}

#[test]
fn users_whom_a_full_pool_never_serves_fail_the_run_although_every_answer_was_quick() {
    if !have(STACK) {
        return;
    }
    let words = "run dvdstore --users 12 --ramp-up 1s --steady 12s --ramp-down 0s --json \
                 --set web.MaxRequestWorkers=6 --set web.StartServers=6";
    let told = judged(|| Home::shared().plimsoll(words).arg("--qos=p95 < 2s")).expect(99);
    let record = told.json();
    let target = |index: usize| record["targets"][index].clone();
    assert_eq!(target(0)["pass"], true, "those who are served are served quickly: {}", target(0));
    assert_eq!(target(1)["target"], "waiting over 2.00 s < 5%");
    let share = target(1)["observed"].as_f64().expect("a share");
    assert!((0.1..0.6).contains(&share), "6 of 12 users wait: {share}");
    let sentence = record["verdict"]["sentence"].as_str().expect("a sentence").to_string();
    assert!(sentence.contains("of users had been waiting for longer than 2.00 s"), "{sentence}");
}

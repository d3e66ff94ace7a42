//! Whole runs on each stack.

use serde_json::Value as Json;

use crate::followed::Followed;
use crate::outage::{kill, server};
use crate::tool::{Home, have, judged, overlay};

fn rows<'a>(record: &'a Json, list: &str) -> Vec<&'a Json> {
    record[list].as_array().map(|rows| rows.iter().collect()).unwrap_or_default()
}

fn completed(record: &Json, kind: &str, name: &str) -> u64 {
    let found = rows(record, "operations").into_iter().find(|row| row["kind"] == kind && row["name"] == name);
    found.and_then(|row| row["completed"].as_u64()).unwrap_or(0)
}

fn check_run(stack: &str) {
    if !have(stack) {
        return;
    }
    let home = Home::shared();
    let words =
        format!("run dvdstore --stack {stack} --users 4 --ramp-up 2s --steady 8s --ramp-down 1s --json");
    let record = judged(|| home.plimsoll(&words).arg("--qos=p95 < 5s")).expect(0).json();
    assert_eq!(record["verdict"]["valid"], true, "{:#}", record["validity"]);
    let cycles = completed(&record, "session", "order_cycle");
    let purchases = completed(&record, "operation", "Purchase");
    let browses = completed(&record, "operation", "Browse");
    assert!(cycles > 10, "{cycles} order cycles in 8 s");
    assert!(purchases.abs_diff(cycles) <= 8, "{purchases} purchases in {cycles} order cycles");
    let per_cycle = browses as f64 / cycles as f64;
    assert!((2.0..4.0).contains(&per_cycle), "{per_cycle} searches an order cycle; the mean is 3");
    let wrong: Vec<&Json> =
        rows(&record, "consistency").into_iter().filter(|row| row["ok"] != true).collect();
    assert!(wrong.is_empty() && !rows(&record, "consistency").is_empty(), "{wrong:?}");
    for tier in rows(&record, "tiers") {
        assert!(tier["cpu_cores"].as_f64().is_some_and(|cores| cores > 0.0), "{tier}");
    }
    let names: Vec<&str> =
        rows(&record, "tiers").into_iter().filter_map(|tier| tier["tier"].as_str()).collect();
    assert!(names.contains(&"web") && names.contains(&"db") && names.contains(&"generator"), "{names:?}");
    home.expect_nothing_left();
}

#[test]
fn dvdstore_runs_on_apache_prefork_with_mod_php() {
    check_run("apache-prefork-modphp-mariadb");
}

#[test]
fn dvdstore_runs_on_apache_event_with_php_fpm() {
    check_run("apache-event-fpm-mariadb");
}

#[test]
fn dvdstore_runs_on_lighttpd_with_php_fpm() {
    check_run("lighttpd-fpm-mariadb");
}

#[test]
fn a_missed_target_exits_with_99_and_says_by_how_much() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let words = "run dvdstore --users 2 --ramp-up 1s --steady 6s --ramp-down 0s";
    let told = judged(|| Home::shared().plimsoll(words).arg("--qos=p50 < 1us")).expect(99);
    assert!(told.stdout.contains("p50"), "{}", told.stdout);
    assert!(told.stdout.contains("report.html"), "{}", told.stdout);
}

#[test]
fn a_knob_reaches_the_rendered_file() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let words = "run dvdstore --users 2 --ramp-up 1s --steady 4s --ramp-down 0s --set apache.MaxRequestWorkers=17 --json";
    let record = Home::shared().plimsoll(words).arg("--qos=p50 < 5s").run().json();
    let tiers = rows(&record["setup"], "tiers");
    let web = tiers.iter().find(|tier| tier["tier"] == "web").expect("a web tier");
    let files = web["files"].as_object().expect("files");
    let all: String = files.values().filter_map(Json::as_str).collect();
    let set = all.lines().any(|line| line.split_whitespace().eq(["MaxRequestWorkers", "17"]));
    assert!(set, "{all}");
}

#[test]
fn try_follows_one_user_and_prints_every_request() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let told = Home::shared().plimsoll("try dvdstore --sessions 2").run().expect(0);
    for part in [
        "session order_cycle of user 1",
        "/ds2/dsbrowse.php?",
        "/ds2/dspurchase.php?",
        "Purchase",
        "session ends",
    ] {
        assert!(told.stdout.contains(part), "{part} is missing in:\n{}", told.stdout);
    }
    Home::shared().expect_nothing_left();
}

#[test]
fn an_exception_in_an_operation_is_counted_and_the_run_goes_on() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let session = crate::tool::catalogue("kits/dvdstore/session.lua")
        + "\nlocal as_before = order_cycle\nfunction order_cycle(user)\n  operation 'Broken' get('/ds2/index.html') if chance(0.5) then local x = nil + 1 end\n  as_before(user)\nend\n";
    let dir = overlay(&[("kits/dvdstore/session.lua", &session)]);
    let words = "run dvdstore --users 3 --ramp-up 1s --steady 6s --ramp-down 0s --json --catalogue";
    let told = judged(|| Home::shared().plimsoll(words).arg(dir.path()).arg("--qos=errors < 1%")).expect(99);
    let record = told.json();
    let broken = rows(&record, "operations").into_iter().find(|row| row["name"] == "Broken").expect("a row");
    assert!(broken["errors"]["script"].as_u64().is_some_and(|count| count > 0), "{broken}");
    assert!(completed(&record, "operation", "Purchase") > 0, "the run goes on");
    let line = session.lines().position(|line| line.contains("nil + 1")).expect("the line") + 1;
    let place = format!("session.lua:{line}");
    let evidence = record["evidence"].to_string();
    assert!(evidence.contains(&place), "{place} is missing in {evidence}");
}

#[test]
fn a_run_in_which_every_operation_fails_says_so() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let session = crate::tool::catalogue("kits/dvdstore/session.lua")
        + "\nfunction order_cycle(user) operation 'Lost' get('/no/such/page') end\n";
    let dir = overlay(&[("kits/dvdstore/session.lua", &session)]);
    let words = "run dvdstore --users 3 --ramp-up 1s --steady 4s --ramp-down 0s --catalogue";
    let told = Home::shared().plimsoll(words).arg(dir.path()).run().expect(3);
    told.says("404").says("operations failed");
}

#[test]
fn a_run_in_which_one_operation_never_completes_is_not_valid() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let session = crate::tool::catalogue("kits/dvdstore/session.lua")
        + "\nlocal as_before = order_cycle\nfunction order_cycle(user) as_before(user) operation 'Lost' get('/no/such/page') end\n";
    let dir = overlay(&[("kits/dvdstore/session.lua", &session)]);
    let words = "run dvdstore --users 3 --ramp-up 1s --steady 5s --ramp-down 0s --catalogue";
    let told = Home::shared().plimsoll(words).arg(dir.path()).arg("--qos=Browse p50 < 5s").run().expect(3);
    told.says("Lost never completed");
}

#[test]
fn a_stack_that_dies_in_its_ramp_up_is_diagnosed_by_what_was_seen_of_it() {
    let stack = "lighttpd-fpm-mariadb";
    if !have(stack) {
        return;
    }
    let home = Home::shared();
    let words = format!("run dvdstore --stack {stack} --users 4 --ramp-up 9s --steady 300s --json");
    let (running, followed) = Followed::start(home.plimsoll(&words), "dvdstore", 5);
    kill(server(&followed.run.record().id, "mariadbd"));
    let record = running.wait().expect(3).json();
    let seen: Vec<f64> =
        rows(&record, "ramp_up_seen_s").into_iter().filter_map(serde_json::Value::as_f64).collect();
    assert!(matches!(seen[..], [3.0, to] if (5.0..=9.0).contains(&to)), "{seen:?}");
    let of_database = |signal: &&Json| signal["tier"] == "db" && signal["name"] == "cpu.cores";
    assert!(rows(&record, "signals").iter().any(of_database), "{:#}", record["signals"]);
    let diagnosis = &record["diagnosis"];
    assert_ne!(diagnosis["state"], "no", "{diagnosis:#}");
    let sentence = diagnosis["sentence"].as_str().unwrap_or_default();
    assert!(sentence.starts_with("before the steady state (seconds 3 to "), "{sentence}");
    home.expect_nothing_left();
}

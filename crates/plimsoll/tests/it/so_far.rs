//! What targets and checks say while a run goes on, as its lines of progress have it.

use std::fs;

use engine::null_server::NullServer;
use serde_json::Value as Json;

use crate::target::{null_kit, server_that_says};
use crate::tool::{Finished, Home};

/// The seconds of a run against a server, as they were told, and how it ended.
fn followed(url: &str, steady_s: u32) -> (Vec<Json>, Finished) {
    let (home, kit) = (Home::new(), null_kit());
    let file = home.path().join("progress.jsonl");
    let words = format!(
        "run null --target {url} --users 4 --ramp-up 2s --steady {steady_s}s --ramp-down 0s --json --catalogue"
    );
    let ended = home.plimsoll(&words).arg(kit.path()).arg("--progress-file").arg(&file).run();
    let text = fs::read_to_string(&file).expect("it was written");
    let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).expect(line));
    (lines.filter(|line| line["kind"] == "second").collect(), ended)
}

fn state<'a>(second: &'a Json, check: &str) -> &'a str {
    let checks = second["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = checks.iter().find(|one| one["id"] == check);
    one.and_then(|one| one["state"].as_str()).unwrap_or_else(|| panic!("no check {check}: {second:#}"))
}

#[test]
fn a_run_tells_what_its_targets_and_checks_say_so_far() {
    let server = NullServer::start(None).expect("a loopback port");
    let (seconds, ended) = followed(&format!("http://{}", server.address()), 12);
    let record = ended.json();
    assert!(seconds[0]["targets"].is_null() && seconds[0]["checks"].is_null(), "{:#}", seconds[0]);
    let first = seconds.iter().find(|second| !second["checks"].is_null()).expect("checks are judged");
    assert_eq!((state(first, "tiers"), state(first, "generator_cpu")), ("holds", "unknown"), "{first:#}");
    let last = seconds.last().expect("there are seconds");
    // What is sure by then, whatever else this machine does; the others as the end judges them, or not yet.
    assert_eq!((state(last, "errors_all"), state(last, "samples")), ("holds", "holds"), "{last:#}");
    let ids = |list: &Json, key: &str| -> Vec<String> {
        let ids = list.as_array().into_iter().flatten().filter_map(|one| one[key].as_str());
        ids.map(str::to_string).collect()
    };
    let mut at_the_end = ids(&record["validity"], "check");
    at_the_end.retain(|id| !["duration", "consistency"].contains(&id.as_str()));
    assert_eq!(ids(&last["checks"], "id"), at_the_end, "{last:#}");
    let (target, judged) = (&last["targets"][0], &record["targets"][0]);
    assert_eq!((&target["target"], &target["met"]), (&judged["target"], &Json::from(true)), "{target}");
    assert_eq!((&target["limit"], &target["unit"]), (&judged["limit"], &judged["unit"]), "{target}");
    assert_eq!(target["samples_needed"], judged["samples_needed"], "{target}");
    let samples = |of: &Json| of["samples"].as_u64().expect("a number");
    assert!((100..=samples(judged)).contains(&samples(target)), "{target} {judged}");
}

#[test]
fn a_run_that_will_not_be_valid_says_so_before_its_end() {
    let body = "no";
    let answer = format!(
        "HTTP/1.1 500 Bad\r\nContent-Length: {}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let (seconds, ended) = followed(&server_that_says(answer), 8);
    ended.expect(3);
    let last = seconds.last().expect("there are seconds");
    assert_eq!(state(last, "errors_all"), "fails", "{last:#}");
    assert_eq!(state(last, "samples"), "unknown", "some may still come: {last:#}");
    let target = &last["targets"][0];
    assert!(target["observed"].is_null() && target["met"].is_null() && target["samples"] == 0, "{target}");
}

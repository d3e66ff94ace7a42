//! What makes many runs a laboratory: notes and filters, a queue whose jobs outlive whoever started them, and JSON for programs.

use std::path::Path;
use std::{fs, io};

use engine::null_server::NullServer;
use rustix::process::Signal;
use serde_json::Value as Json;

use crate::tool::{Home, have, wait_for};

const STACK: &str = "nginx";
const RUN: &str = "run static --size quick --stack nginx --users 2 --ramp-up 1s --steady 3s --ramp-down 0s";

fn jobs(home: &Home) -> Vec<Json> {
    let list = home.plimsoll("queue list --json").run().expect(0).json();
    list.as_array().expect("a list").clone()
}

#[test]
fn a_run_is_found_by_what_is_noted_of_it_and_is_not_removed_while_it_is_pinned() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    home.plimsoll(RUN).run();
    home.plimsoll(RUN).run();
    let ids = || -> Vec<String> {
        let runs = home.plimsoll("runs --json").run().expect(0).json();
        runs.as_array()
            .expect("a list")
            .iter()
            .filter_map(|run| run["id"].as_str().map(str::to_string))
            .collect()
    };
    let all = ids();
    home.plimsoll(&format!("note {} --tag night --tag base --pin", all[0]))
        .arg("before the upgrade")
        .run()
        .expect(0)
        .says("#base #night");
    let meant = |filter: &str| {
        let runs = home.plimsoll("runs --json --where").arg(filter).run().expect(0).json();
        runs.as_array().expect("a list").len()
    };
    assert_eq!(meant("tag:night upgrade is:pinned kit:static users<3"), 1);
    assert_eq!((meant("kit:static"), meant("kit:tpcw"), meant("tag:nigh")), (2, 0, 0));
    home.plimsoll("runs").run().expect(0).says("#night");
    home.plimsoll(&format!("clean --run {}", all[0])).run().expect(2).says("pinned");
    home.plimsoll("clean --runs").run().expect(0).says("left alone, since it is pinned");
    assert_eq!(ids(), all[..1], "the other one is gone");
    home.plimsoll(&format!("note {} --unpin --untag night", all[0])).run().expect(0);
    assert_eq!(meant("tag:night"), 0);
    home.plimsoll("clean --runs").run().expect(0);
    assert!(ids().is_empty(), "{:?}", ids());
}

#[test]
fn jobs_are_done_one_after_the_other_and_go_on_when_the_worker_is_killed() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    for _ in 0..3 {
        home.plimsoll(&format!("queue add {RUN}")).run().expect(0);
    }
    home.plimsoll("queue move 3 2").run().expect(0);
    home.plimsoll("queue remove 2").run().expect(0).says("removed job 2");
    let worker = home.plimsoll("queue work").start();
    let process = wait_for("the first job runs", || {
        let jobs = jobs(&home);
        let first = jobs.iter().find(|job| job["id"] == 1)?;
        first["process"]["id"].as_u64().filter(|_| first["state"] == "running")
    });
    worker.signal(Signal::KILL);
    worker.wait();
    let alive =
        || fs::read_to_string(format!("/proc/{process}/cmdline")).is_ok_and(|line| line.contains("static"));
    assert!(alive(), "the job goes on without its worker");
    home.plimsoll("queue remove 1").run().expect(2).says("under way");
    home.plimsoll("queue work").run().expect(0).says("job 3");
    let ended = jobs(&home);
    let states: Vec<(i64, &str)> = ended
        .iter()
        .map(|job| (job["id"].as_i64().expect("a number"), job["state"].as_str().expect("a word")))
        .collect();
    assert_eq!(states, [(1, "ended"), (3, "ended")], "{ended:#?}");
    assert!(
        ended.iter().all(|job| [0, 3, 99].contains(&job["exit_code"].as_i64().unwrap_or(-1))),
        "{ended:#?}"
    );
    assert!(ended[0]["ended"].as_str() <= ended[1]["began"].as_str(), "one after the other: {ended:#?}");
    let runs = home.plimsoll("runs --json").run().expect(0).json();
    assert_eq!(runs.as_array().map(Vec::len), Some(2), "{runs:#}");
    home.plimsoll("queue show 3").run().expect(0).says("Kept in");
    expect_progress(&home.path().join("queue/3/progress.jsonl"));
    let measured = home.path().join("measuring.jsonl");
    expect_progress(&measured);
    assert_eq!(lines_of(&measured)[0]["kind"], "begin", "the job before it is not in there");
    home.expect_nothing_left();
}

fn lines_of(path: &Path) -> Vec<Json> {
    let text = fs::read_to_string(path).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Every line is whole: that measuring begins, steps, each second of the run, and the end.
#[track_caller]
fn expect_progress(path: &Path) {
    let lines = lines_of(path);
    let text = format!("{lines:#?}");
    let of_kind = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
    assert!(!of_kind("step").is_empty(), "{text}");
    assert_eq!(of_kind("begin").len(), 1, "{text}");
    let seconds = of_kind("second");
    assert!(seconds.len() >= 4, "{} seconds", seconds.len());
    assert!(seconds.iter().any(|second| second["all"]["p95_s"].as_f64() > Some(0.0)), "{text}");
    let ratios = seconds.iter().map(|second| second["done_ratio"].as_f64());
    assert!(ratios.flatten().all(|ratio| (0.0..=1.0).contains(&ratio)), "{text}");
    assert!(
        seconds.iter().all(|second| second["run"].as_str().is_some_and(|run| run.contains("static"))),
        "{text}"
    );
    assert_eq!(lines.last().map(|line| &line["kind"]), Some(&Json::from("end")), "{text}");
}

#[test]
fn whoever_measures_says_so_in_a_file_that_is_new_each_time() {
    let home = Home::new();
    let server = NullServer::start(None).expect("a loopback port");
    let path = home.path().join("measuring.jsonl");
    home.plimsoll("list").run().expect(0);
    assert!(!path.exists(), "a list is no measurement");
    let line = format!("hit http://{}/ -c 2 -d 600s", server.address());
    let running = home.plimsoll(&line).start();
    let first = wait_for("measuring begins", || {
        let open = fs::File::open(&path).ok()?;
        (server.served() > 100).then_some(open)
    });
    let begin = lines_of(&path).swap_remove(0);
    let pid = running.pid();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let start = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(19));
    assert_eq!(begin["kind"], "begin");
    assert_eq!(begin["process"]["id"], pid);
    assert_eq!(begin["process"]["start"].to_string(), start.expect("a number"));
    assert!(begin["started"].as_str().is_some_and(|at| at.ends_with('Z')), "{begin}");
    let words: Vec<&str> =
        begin["command"].as_array().expect("words").iter().filter_map(Json::as_str).collect();
    assert_eq!(words[1..].join(" "), line);
    running.signal(Signal::INT);
    running.wait().expect(105);
    home.plimsoll(&format!("hit http://{}/ -n 10", server.address())).run();
    let first = io::read_to_string(first).expect("it can still be read");
    assert!(first.ends_with("\"exit_code\":105}\n"), "{first}");
    let second = lines_of(&path);
    assert_ne!(second[0]["process"]["id"], pid);
    assert_eq!(second.last().expect("a line")["kind"], "end");
    let names = fs::read_dir(home.path()).expect("a directory").flatten().map(|entry| entry.file_name());
    let of_it = names.filter(|name| name.to_string_lossy().starts_with("measuring")).count();
    assert_eq!(of_it, 1, "nothing is left beside it");
}

#[test]
fn a_file_that_can_not_be_made_loses_no_measurement() {
    let home = Home::new();
    let server = NullServer::start(None).expect("a loopback port");
    fs::create_dir_all(home.path().join("measuring.jsonl/in_the_way")).expect("a directory");
    let ended = home.plimsoll(&format!("hit http://{}/ -n 10 --json", server.address())).run();
    assert_eq!(ended.json()["requests"], 10, "{}", ended.stderr);
    ended.says("nobody can follow what is measured");
}

#[test]
fn what_is_no_measurement_is_not_queued() {
    let home = Home::new();
    home.plimsoll("queue add list").run().expect(2).says("is no measurement");
    home.plimsoll("queue add run static --uesrs 3").run().expect(2).says("--users");
    home.plimsoll("queue add run static --set web.nothing=3").run().expect(2).says("nothing");
    home.plimsoll("queue add sweep no-such-study").run().expect(2);
    home.plimsoll("queue move 1 1").run().expect(2).says("there is no job 1");
    home.plimsoll("queue add run static").run().expect(0);
    home.plimsoll("queue pause").run().expect(0);
    home.plimsoll("queue list").run().expect(0).says("paused");
}

#[test]
fn what_there_is_and_what_is_wrong_can_be_read_by_programs() {
    let home = Home::new();
    let listing = home.plimsoll("list --json").run().expect(0).json();
    let names = |kind: &str| -> Vec<&str> {
        let all = listing[kind].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().filter_map(|one| one["name"].as_str()).collect()
    };
    assert!(names("kits").contains(&"static") && names("services").contains(&"nginx"), "{:?}", names("kits"));
    let nginx = home.plimsoll("list nginx --json").run().expect(0).json();
    let knobs = nginx["services"][0]["knobs"].as_array().expect("knobs");
    assert!(knobs.iter().all(|knob| knob["type"].is_string() && knob["help"].is_string()), "{nginx:#}");
    home.plimsoll("list nginks --json").run().expect(2).says("`nginx`");
    let checked = home.plimsoll("check static --json").run().expect(0).json();
    assert!(checked["ok"][0].as_str().is_some_and(|said| said.contains("static")), "{checked:#}");
    let recipe = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
    fs::write(recipe.path(), "format = 1\nkit = \"static\"\nusers = 0\nstak = \"nginx\"\n").expect("a file");
    let checked = home.plimsoll("check --json").arg(recipe.path()).run().expect(2).json();
    let problems = checked["problems"].as_array().expect("a list");
    assert!(problems.iter().any(|one| one["line"] == 4 && one["key"] == "stak"), "{checked:#}");
    let findings = home.plimsoll("doctor --json").run().json();
    let grades = findings.as_array().expect("a list").iter().map(|one| one["grade"].as_str());
    assert!(grades.flatten().all(|grade| ["good", "limited", "hopeless"].contains(&grade)), "{findings:#}");
}

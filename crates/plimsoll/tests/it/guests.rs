//! Guests on the real stack: each has servers, data, limits and a run of its own, they share the users, and what happens to one is said
//! of it.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::tool::{Home, Tool, have, judged, overlay, wait_for};

const STACK: &str = "apache-prefork-modphp-mariadb";
const HALVES: &str = "guests-2-halves";
const LOAD: &str = "--users 5 --ramp-up 1s --ramp-down 0s --param think_time=0.2 --json";

fn run(words: &str) -> Tool {
    Home::shared().plimsoll(&format!("run dvdstore --stack {STACK} --size small {LOAD} {words}"))
}

/// Of a list of the record its objects.
fn list<'a>(record: &'a Json, name: &str) -> &'a [Json] {
    record[name].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn guests_share_the_users_and_each_has_limits_data_and_a_run_of_its_own() {
    if !have(STACK) {
        return;
    }
    let asked = || run(&format!("--topology {HALVES} --steady 5s --qos throughput>1/s"));
    let ended = judged(asked);
    let record = ended.json();
    let guests = list(&record, "guests");
    let users: Vec<u64> = guests.iter().filter_map(|guest| guest["users"].as_u64()).collect();
    assert_eq!(users, [3, 2], "of five users {record:#}");
    let completed = |record: &Json| -> f64 {
        let rows = list(record, "operations").iter().filter(|row| row["kind"] == "operation");
        rows.filter_map(|row| row["completed"].as_f64()).sum()
    };
    let id = record["id"].as_str().expect("an id");
    let own =
        |number: u64| Home::shared().plimsoll(&format!("show {id}/{number} --json")).run().expect(0).json();
    let [one, two] = [own(1), own(2)];
    assert_eq!(completed(&record), completed(&one) + completed(&two), "the whole is their sum");
    let sum: f64 = guests.iter().filter_map(|guest| guest["per_s"].as_f64()).sum();
    let per_s = completed(&record) / 5.0;
    assert!((sum / per_s - 1.0).abs() < 0.01, "{sum} and {per_s} operations/s");
    for (number, guest) in [(1, &one), (2, &two)] {
        assert_eq!(guest["setup"]["guest"]["number"], number);
        assert_eq!(guest["dataset"]["id"], record["dataset"]["id"], "all start from the same data");
        let quota = list(guest, "signals").iter().find(|signal| signal["name"] == "cpu.quota_cores");
        assert!(
            quota.is_some_and(|quota| quota["mean"] == 0.5),
            "its quota, as the kernel has it: {quota:?}"
        );
        let checks = list(guest, "consistency");
        assert!(!checks.is_empty() && checks.iter().all(|check| check["ok"] == true), "{checks:#?}");
    }
    assert_ne!(one["setup"]["seed"], two["setup"]["seed"], "their users draw apart");
    assert!(
        record["verdict"]["sentence"].as_str().is_some_and(|said| said.contains("2 guests")),
        "{record:#}"
    );
    let page = Home::shared().path().join("runs").join(id).join("report.html");
    let page = fs::read_to_string(&page).expect("the report is there").replace("&#x2f;", "/");
    for guest in guests {
        let link = format!("runs/{}/report.html", guest["run"].as_str().expect("its run"));
        assert!(page.contains(&link), "it links to {link}");
    }
    let none = Home::shared().plimsoll(&format!("show {id}/3")).run().expect(2);
    none.says("guest 3");
    Home::shared().expect_nothing_left();
}

#[test]
fn a_guest_whose_database_is_killed_ends_the_run_at_once_and_is_named() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let words = format!("run dvdstore --stack {STACK} --size small --guests 2 {LOAD} --steady 300s");
    let running = home.plimsoll(&words).start();
    let whole = wait_for("the run's directory", || newest(&home.path().join("runs")));
    wait_for("two guests' seconds", || (run_files(&whole.join("runs")) == 2).then_some(()));
    let database = wait_for("the second guest's database", || {
        let of_second = |words: &str| words.contains("mariadbd") && words.contains("-2/");
        home.servers().into_iter().find(|(_, words)| of_second(words)).map(|(pid, _)| pid)
    });
    kill_process(Pid::from_raw(database as i32).expect("a process"), Signal::KILL).expect("it is ours");
    let ended = running.wait();
    assert_eq!(ended.code, Some(3), "{ended:#?}");
    let record = ended.json();
    assert_eq!(record["outcome"], "aborted");
    let said = record["verdict"]["sentence"].as_str().expect("a sentence");
    assert!(said.contains("guest 2"), "{said}");
    let outcomes: Vec<&Json> = list(&record, "guests").iter().map(|guest| &guest["outcome"]).collect();
    assert_eq!(outcomes, ["aborted", "aborted"], "the other one had nobody to be compared with any more");
    home.plimsoll("show last/1").run().expect(0);
    home.expect_nothing_left();
}

/// The only directory in `folder`, once it is there.
fn newest(folder: &std::path::Path) -> Option<std::path::PathBuf> {
    fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(|path| path.is_dir())
}

/// How many runs in `folder` keep seconds.
fn run_files(folder: &std::path::Path) -> usize {
    let runs = fs::read_dir(folder).into_iter().flatten().flatten();
    let seconds = |entry: fs::DirEntry| fs::metadata(entry.path().join("run.sqlite")).ok();
    runs.filter_map(seconds).filter(|about| about.len() > 0).count()
}

#[test]
fn guests_stand_each_with_an_address_and_what_it_took_and_nothing_outlives_the_tool() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let words = format!("up dvdstore --stack {STACK} --size small --guests 3");
    let mut stack = home.plimsoll(&words).start();
    for number in 1..=3 {
        let begin = format!("guest {number}: http://");
        let line = stack.first_line(|line| line.starts_with(&begin).then(|| line.to_string()));
        assert!(line.contains("copy ") && line.contains("start ") && line.contains("on disk"), "{line}");
    }
    let servers = home.servers().len();
    assert!(servers >= 6, "three times two servers, and {servers} are there");
    stack.signal(Signal::KILL);
    stack.wait();
    wait_for("the servers' end", || home.servers().is_empty().then_some(()));
    home.plimsoll("clean").run().expect(0);
    home.expect_nothing_left();
}

#[test]
fn a_trial_of_guests_has_their_sums_and_how_far_they_are_apart() {
    const STUDY: &str = "\
format = 1
name = \"halves\"
title = \"One machine and two halves\"
kit = \"dvdstore\"
size = \"small\"
topologies = [\"bare\", \"guests-2-halves\"]
users = [4]
window = \"4s\"
";
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let dir = overlay(&[("halves.toml", STUDY)]);
    let ended = home.plimsoll("sweep --json").arg(dir.path().join("halves.toml")).run();
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:#?}");
    let record = ended.json();
    let trials = list(&record, "trials");
    // One that the machine's other business made invalid is made again.
    let arms: std::collections::BTreeSet<u64> =
        trials.iter().filter_map(|trial| trial["arm"].as_u64()).collect();
    assert_eq!(arms.len(), 2, "{record:#}");
    for trial in trials.iter().filter(|trial| trial["measured"].is_object()) {
        let arm = &list(&record, "arms")[trial["arm"].as_u64().expect("an arm") as usize];
        let apart = &trial["measured"]["guest_spread_ratio"];
        let guests = arm["levels"]["topology"] == HALVES;
        assert_eq!(apart.is_number(), guests, "{trial:#}");
        let run = home.plimsoll(&format!("show last/{} --json", trial["number"])).run().expect(0).json();
        assert_eq!(list(&run, "guests").len(), if guests { 2 } else { 0 });
        if guests {
            home.plimsoll(&format!("show last/{}/2", trial["number"])).run().expect(0).says("guest 2");
        }
    }
    home.expect_nothing_left();
}

#[test]
fn guests_beyond_the_machine_are_refused_before_anything_starts() {
    let guest = |name: &str, size: &str| {
        let path = format!("topologies/{name}.toml");
        (path, format!("format = 1\nname = \"{name}\"\ntitle = \"T\"\n[[guest]]\n{size}\n"))
    };
    let files = [
        guest("wide", "cpu = 512"),
        guest("large", "count = 64\nmemory = \"900gb\""),
        guest("mixed", "cpu = 0.5\n[[guest]]\ncpu = 0.25"),
        guest("tiny", "cpu = 0.001"),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let catalogue = overlay(&files);
    let home = Home::empty();
    let refused = |words: &str| {
        let words = format!("run dvdstore --stack {STACK} --size small {words} --catalogue");
        home.plimsoll(&words).arg(catalogue.path()).run().expect(2)
    };
    refused("--topology wide").says("a guest with 512 cores").says("guest.cpu");
    refused("--topology mixed --guests 3").says("guests of several sizes");
    refused("--guests 4 --users 3").says("3 users for 4 guests");
    refused("--guests 2 --port 8080").says("port 8080 is one");
    refused("--guests 2 --kill db-1@1s").says("doesn't say in which of the guests");
    refused("--guests 2 --sessions 100").says("a number of sessions instead of a length, with guests");
    refused("--guests 2 --fault foreign-cpu").says("is for one stack, and there are 2 guests");
    refused("--topology guests-2-halves --set db.cgroup.cpu=0.75")
        .says("tier db may take more than its guest");
    refused("--guests 65").says("65");
    refused("--guests 2 --target http://127.0.0.1:1").says("--target");
    if have(STACK) {
        refused("--topology large --users 64").says("64 guests may take").says("guest.memory");
        refused("--topology tiny").says("the CPU time of guest 1 can't be limited to 0.001 cores");
    }
    home.expect_nothing_left();
}

//! The laboratory's page in Debian's Chromium: `web/browser/laboratory.mjs`, `live.mjs`,
//! `journey.mjs` and `users.mjs`. Without Node.js, Chromium or what drives it the test
//! is skipped.

use std::fs;
use std::path::Path;
use std::process::Command;

use model::ProcessIdentity;
use model::progress::{Begin, ProgressLine, SecondProgress, Told, UsersAsked};
use store::Queue;
use testbed::process::Identity;
use testkit::browser::{chromium, scripts};

use crate::page::{Page, RUN, home_with_runs};
use crate::tool::{Home, have};

const STACK: &str = "lighttpd-fpm-mariadb";

#[test]
fn the_laboratory_does_in_a_browser_what_its_users_expect() {
    let (Some(chromium), Some(folder)) = (chromium(), scripts()) else { return };
    let home = home_with_runs();
    // No job is begun: what is queued is looked at and removed.
    home.plimsoll("queue pause").run().expect(0);
    let page = Page::start(&home, "");
    let links =
        [page.link().to_string(), page.another_link(&home, ""), page.another_link(&home, "--read-only")];
    let links = links.join("\n");
    drive(&folder.join("laboratory.mjs"), &chromium, &[("ORIGIN", &page.origin), ("LINKS", &links)]);
    page.end();
}

#[test]
fn studies_are_followed_in_a_browser_as_they_go_on() {
    let (Some(chromium), Some(folder)) = (chromium(), scripts()) else { return };
    let home = Home::new();
    let page = Page::start(&home, "");
    let measuring = home.path().join("measuring.jsonl");
    let measuring = measuring.to_str().expect("a path of letters");
    let values = [("ORIGIN", page.origin.as_str()), ("LINK", page.link()), ("MEASURING", measuring)];
    drive(&folder.join("live.mjs"), &chromium, &values);
    page.end();
}

#[test]
fn somebody_goes_from_a_form_to_a_result_to_a_comparison_and_to_a_find_for_the_night() {
    let (Some(chromium), Some(folder)) = (chromium(), scripts()) else { return };
    if !have(STACK) {
        return;
    }
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let values = [("ORIGIN", page.origin.as_str()), ("LINK", page.link()), ("LAST", RUN), ("STACK", STACK)];
    drive(&folder.join("journey.mjs"), &chromium, &values);
    page.end();
    home.expect_nothing_left();
}

#[test]
fn somebody_changes_the_number_of_users_of_what_goes_on() {
    let (Some(chromium), Some(folder)) = (chromium(), scripts()) else { return };
    let home = Home::new();
    explores(&home);
    let page = Page::start(&home, "");
    drive(&folder.join("users.mjs"), &chromium, &[("ORIGIN", &page.origin), ("LINK", page.link())]);
    page.end();
}

/// A job that explores, as its process would tell it; the process is that of the test.
fn explores(home: &Home) {
    let own = Identity::of(std::process::id()).expect("it runs");
    let process = ProcessIdentity { id: own.pid, start: own.start_ticks };
    let mut queue = Queue::open(home.path()).expect("a queue");
    let command = ["explore", "static", "--users", "5"].map(str::to_string).to_vec();
    let job = queue.add(&command, home.path(), "2026-01-01T00:00:00Z").expect("it is added");
    queue.begin(job, "2026-01-01T00:00:00Z").expect("it waits");
    queue.set_process(job, process).expect("it runs");
    let begin = Begin {
        command: std::iter::once("plimsoll".to_string()).chain(command).collect(),
        process: Some(process),
        started: "2026-01-01T00:00:00Z".to_string(),
    };
    let second = SecondProgress {
        run: RUN.to_string(),
        phase: "5 users asked for, 1 s".to_string(),
        busy_users: 1.4,
        thinking_users: 2.6,
        by_hand: Some(UsersAsked { asked_users: 5, max_users: 50 }),
        ..SecondProgress::default()
    };
    let lines = [Told::Begin(begin), Told::Second(Box::new(second))]
        .map(|told| serde_json::to_string(&ProgressLine { at_s: 1.0, told }).expect("JSON") + "\n");
    let folder = home.path().join(format!("queue/{job}"));
    fs::create_dir_all(&folder).expect("a directory");
    for place in [store::measuring_file(home.path()), folder.join("progress.jsonl")] {
        fs::write(place, lines.concat()).expect("a file");
    }
}

/// Runs the tests of a script.
fn drive(script: &Path, chromium: &Path, values: &[(&str, &str)]) {
    // By hand, one of them: BROWSER_TESTS=keyboard.
    let only = std::env::var("BROWSER_TESTS").map(|words| format!("--test-name-pattern={words}"));
    let output = Command::new("node")
        .arg("--test")
        .args(only)
        .arg(script)
        .envs(values.iter().copied())
        .env("CHROMIUM", chromium)
        .output()
        .expect("node starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(!told.contains("# pass 0"), "no test ran:\n{told}");
}

//! `explore` on a real server: users are asked for by hand, come and go, and the run that is kept is no result.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::page::Page;
use crate::tool::{Home, have, wait_for};

const STACK: &str = "lighttpd";

/// The last second that a progress file tells.
fn last_second(path: &Path) -> Option<Json> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    lines.rfind(|line| line["kind"] == "second")
}

/// Waits for a second in which this number of users is asked for, and there.
fn until_users(path: &Path, users: u32) {
    let mean = f64::from(users);
    wait_for(&format!("{users} users"), || {
        let second = last_second(path)?;
        let there = second["busy_users"].as_f64()? + second["thinking_users"].as_f64()?;
        (second["by_hand"]["asked_users"] == users && (there - mean).abs() < 0.2).then_some(())
    });
}

fn words(progress: &Path) -> String {
    let progress = progress.display();
    format!(
        "--progress-file {progress} explore static --size quick --stack {STACK} --users 5 --max-users 50 --ramp-up 1s --json"
    )
}

#[test]
fn users_are_asked_for_by_hand_and_the_run_is_kept_as_no_result() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let progress = home.path().join("explore.jsonl");
    let (reader, mut typing) = std::io::pipe().expect("a pipe");
    let mut explore = home.plimsoll(&words(&progress)).before(|command| _ = command.stdin(reader)).start();
    let mut say = |line: &str| writeln!(typing, "{line}").expect("it listens");
    until_users(&progress, 5);
    say("20");
    until_users(&progress, 20);
    say("51");
    explore.first_error_line(|line| line.contains("at most 50 (--max-users)").then(String::new));
    say("2");
    until_users(&progress, 2);
    say("q");
    let record = explore.wait().expect(0).json();
    let steps: Vec<Json> = record["load_changes"].as_array().expect("changes").iter().map(step).collect();
    assert_eq!(steps, [json!([5, 20, "terminal"]), json!([20, 2, "terminal"])]);
    assert_eq!((&record["outcome"], &record["diagnosis"]), (&json!("completed"), &Json::Null));
    assert_eq!((&record["verdict"]["valid"], &record["verdict"]["pass"]), (&json!(false), &Json::Null));
    let sentence = record["verdict"]["sentence"].as_str().expect("a sentence");
    assert!(sentence.starts_with("no result: load changed by hand 2 times, 2 to 20 users"), "{sentence}");
    assert_eq!(record["setup"]["load"]["by_hand"]["max_users"], 50);
    shows_it_as_no_result(&home, record["id"].as_str().expect("an id"));
    home.expect_nothing_left();
}

fn step(change: &Json) -> Json {
    json!([change["from"], change["to"], change["by"]])
}

fn shows_it_as_no_result(home: &Home, id: &str) {
    home.plimsoll("show last").run().expect(0).says("NO RESULT").says("5 to 20 users asked for (terminal)");
    home.plimsoll("runs --where verdict:no-result").run().expect(0).says(id).says("no result");
    home.plimsoll("runs --where verdict:not-valid").run().expect(0).says("none of the 1 runs");
    home.plimsoll(&format!("explain {id}")).run().expect(3).says("the load was changed by hand");
}

#[test]
fn ctrl_c_ends_it_well_and_a_file_asks_as_well() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let (progress, wish) = (home.path().join("explore.jsonl"), home.path().join("wish.json"));
    let explore = home.plimsoll(&words(&progress)).arg("--users-file").arg(&wish).start();
    until_users(&progress, 5);
    let new = home.path().join("new.json");
    fs::write(&new, r#"{"users": 3}"#).and_then(|()| fs::rename(&new, &wish)).expect("a file");
    until_users(&progress, 3);
    explore.signal(rustix::process::Signal::INT);
    let record = explore.wait().expect(0).json();
    assert_eq!(
        record["load_changes"].as_array().expect("changes").iter().map(step).collect::<Vec<_>>(),
        [json!([5, 3, "file"])]
    );
    home.expect_nothing_left();
}

#[test]
fn what_is_no_number_of_users_is_refused_before_anything_stands() {
    let home = Home::shared();
    for (words, why) in [
        ("explore static --users 5 --max-users 4", "5 users at first are more than 4"),
        ("explore static --guests 2", "guests share the users"),
        ("queue check explore static --users 0", "at least one user"),
        ("explore static --max-time soon", "steady"),
    ] {
        home.plimsoll(words).run().expect(2).says(why);
    }
    home.plimsoll("queue check explore static --users 5").run().expect(0).says("at most 50 at once");
}

/// A page whose job explores, with 5 users.
struct Exploring {
    page: Page,
    /// `/api/v1/queue/JOB/users`.
    users: String,
    job: u64,
    progress: PathBuf,
}

impl Exploring {
    fn start(home: &Home) -> Exploring {
        let page = Page::start(home, "");
        let runner = page.sign_in(page.link());
        let command = format!("explore static --size quick --stack {STACK} --users 5 --ramp-up 1s");
        let command: Vec<&str> = command.split(' ').collect();
        let (status, job) = runner.api("POST", "/api/v1/queue", &json!({ "command": command }));
        assert_eq!(status, 200, "{job}");
        let job = job["id"].as_u64().expect("a number");
        let early = runner.api("POST", &format!("/api/v1/queue/{job}/users"), &json!({ "users": 9 }));
        assert_eq!(early.0, 400, "its users have not come yet: {early:?}");
        let progress = home.path().join(format!("queue/{job}/progress.jsonl"));
        until_users(&progress, 5);
        Exploring { page, users: format!("/api/v1/queue/{job}/users"), job, progress }
    }
}

#[test]
fn the_page_asks_for_users_of_its_job_and_says_why_not_where_it_does_not() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let Exploring { page, users, job, progress } = Exploring::start(&home);
    let runner = page.sign_in(&page.another_link(&home, ""));
    let reader = page.sign_in(&page.another_link(&home, "--read-only"));
    assert_eq!(reader.api("POST", &users, &json!({ "users": 8 })).0, 403);
    let foreign = [("Content-Type", "application/json"), ("Origin", "http://evil.test")];
    assert_eq!(runner.asks("POST", &users, &foreign, r#"{"users": 8}"#).status, 403);
    for (wrong, why) in [
        (json!({ "users": 0 }), "at least 1"),
        (json!({ "users": 51 }), "at most 50"),
        (json!({ "users": "many" }), "is not what is asked for"),
        (json!({ "users": -3 }), "is not what is asked for"),
    ] {
        let (status, said) = runner.api("POST", &users, &wrong);
        assert!(
            status == 400 && said["problems"][0]["what"].as_str().is_some_and(|what| what.contains(why)),
            "{said}"
        );
    }
    let (status, asked) = runner.api("POST", &users, &json!({ "users": 8 }));
    assert_eq!((status, asked), (200, json!({ "asked_users": 8, "max_users": 50 })));
    until_users(&progress, 8);
    let verb = home.plimsoll(&format!("queue users {job} 6 --json")).run().expect(0);
    let asked = runner.asks("POST", &users, &[], r#"{"users": 6}"#).body;
    assert_eq!(verb.stdout, String::from_utf8_lossy(&asked), "the same to the byte");
    until_users(&progress, 6);
    assert!(
        runner.text("/live").contains("Users by hand") && !reader.text("/live").contains("Users by hand")
    );
    let answer = runner.post(&format!("/jobs/{job}"), "do=users&users=4");
    assert_eq!((answer.status, answer.head["location"].as_str()), (303, "/live"));
    until_users(&progress, 4);
    assert_eq!(runner.api("POST", &format!("/api/v1/queue/{job}/end"), &json!({})).0, 200);
    wait_for("it has ended", || {
        let (_, jobs) = runner.api("GET", "/api/v1/queue", &Json::Null);
        (jobs[0]["state"] == "ended").then(|| assert_eq!(jobs[0]["exit_code"], 0))
    });
    assert_eq!(runner.api("POST", &users, &json!({ "users": 8 })).0, 400, "it is over");
    let changes = home.last_run()["load_changes"].clone();
    let by: Vec<Json> =
        changes.as_array().expect("changes").iter().map(|change| change["by"].clone()).collect();
    assert!(
        by.first() == Some(&json!("page")) && by.last() == Some(&json!("page")) && by.len() >= 3,
        "{by:?}"
    );
    page.end();
    home.expect_nothing_left();
}

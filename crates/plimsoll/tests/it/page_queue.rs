//! Jobs of the page's queue on real servers, which outlive the page; and its JSON, which is the command line's.

use std::fs;
use std::path::Path;

use model::StudyRecord;
use rustix::process::Signal;
use serde_json::{Value as Json, json};
use store::{Runs, Studies};

use crate::page::{OTHER, Page, RUN, STATIC, Visitor, home_with_runs};
use crate::tool::{Home, have, wait_for};

const STACK: &str = "nginx";
const SHORT: [&str; 14] = [
    "run",
    "static",
    "--size",
    "quick",
    "--stack",
    "nginx",
    "--users",
    "2",
    "--ramp-up",
    "1s",
    "--steady",
    "4s",
    "--ramp-down",
    "0s",
];

/// Whoever asks more often than 20 times a second is not answered.
fn unhurried() {
    std::thread::sleep(std::time::Duration::from_millis(100));
}

fn job(visitor: &Visitor, id: i64) -> Json {
    unhurried();
    let (_, jobs) = visitor.api("GET", "/api/v1/queue", &Json::Null);
    let jobs = jobs.as_array().expect("a list").clone();
    jobs.into_iter().find(|job| job["id"] == id).unwrap_or(Json::Null)
}

fn add(visitor: &Visitor, steady: &str) -> i64 {
    let mut words = SHORT;
    words[11] = steady;
    let (status, job) = visitor.api("POST", "/api/v1/queue", &json!({ "command": words }));
    assert_eq!(status, 200, "{job}");
    job["id"].as_i64().expect("a number")
}

/// Waits until a second of the steady state was told, and gives the process that measures.
fn in_steady_state(home: &Home) -> u64 {
    wait_for("the steady state", || {
        let text = fs::read_to_string(home.path().join("measuring.jsonl")).ok()?;
        let begin: Json = serde_json::from_str(text.lines().next()?).ok()?;
        text.contains("steady state").then(|| begin["process"]["id"].as_u64())?
    })
}

/// A page whose job is in its steady state, which lasts a minute.
struct Measuring {
    page: Page,
    runner: Visitor,
    job: i64,
    /// The process that measures.
    process: u64,
}

impl Measuring {
    fn start(home: &Home) -> Measuring {
        let page = Page::start(home, "");
        let runner = page.sign_in(page.link());
        let job = add(&runner, "60s");
        Measuring { page, runner, job, process: in_steady_state(home) }
    }
}

fn is_there(process: u64) -> bool {
    Path::new(&format!("/proc/{process}")).is_dir()
}

/// Kills a job of a test's own.
fn kill(process: u64) {
    let pid = rustix::process::Pid::from_raw(process as i32).expect("a process number");
    rustix::process::kill_process(pid, Signal::KILL).expect("a job of this test's own");
}

#[test]
fn jobs_outlive_the_page_are_followed_when_it_comes_back_and_keep_their_order() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let ids = [add(&runner, "20s"), add(&runner, "2s"), add(&runner, "3s")];
    wait_for("the first one runs", || (job(&runner, ids[0])["state"] == "running").then_some(()));
    let (status, _) = runner.api("PUT", &format!("/api/v1/queue/{}/place", ids[2]), &json!({ "place": 1 }));
    assert_eq!(status, 200);
    let process = in_steady_state(&home);
    page.kill();
    assert!(is_there(process), "it goes on without the page");
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    wait_for("all are done", || (job(&runner, ids[1])["state"] == "ended").then_some(()));
    let ended = |id: i64| job(&runner, id)["ended"].as_str().expect("it ended").to_string();
    // Beside other tests a run may truthfully be not valid; it is over, by itself.
    let codes = ids.map(|id| job(&runner, id)["exit_code"].as_u64());
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 3))), "{codes:?}");
    assert!(ended(ids[0]) <= ended(ids[2]) && ended(ids[2]) <= ended(ids[1]), "their order was kept");
    let (_, runs) = runner.api("GET", "/api/v1/runs", &Json::Null);
    assert_eq!(runs.as_array().map(Vec::len), Some(3));
    assert!(runner.text("/").contains("Done lately"), "what became of them is on the first page");
    page.end();
    home.expect_nothing_left();
}

#[test]
fn a_job_that_is_killed_with_the_page_is_interrupted_and_its_run_can_be_read() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let Measuring { page, job: id, process, .. } = Measuring::start(&home);
    page.kill();
    kill(process);
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    wait_for("what became of it is known", || (job(&runner, id)["state"] == "interrupted").then_some(()));
    let (_, runs) = runner.api("GET", "/api/v1/runs", &Json::Null);
    let run = runs[0]["id"].as_str().expect("it is kept").to_string();
    assert!(runner.text(&format!("/runs/{run}")).contains("Unfinished"));
    page.end();
    home.expect_nothing_left();
}

/// The only study of `home`, as it is kept.
fn study(home: &Home) -> Option<StudyRecord> {
    let study = Studies::open(home.path()).ok()?.find("last").ok()?;
    Some(study.record().clone())
}

#[test]
fn a_study_that_is_killed_with_the_page_goes_on_from_its_page_with_the_trials_that_it_has() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let words = "find static --size quick --stack nginx --window 5s --start 2 --most 64 --budget 10m";
    let command: Vec<&str> = words.split(' ').collect();
    let (status, added) = runner.api("POST", "/api/v1/queue", &json!({ "command": command }));
    assert_eq!(status, 200, "{added}");
    let id = added["id"].as_i64().expect("a number");
    let has_trials = |count: usize| study(&home).filter(|study| study.trials.len() >= count);
    wait_for("a trial is kept", || has_trials(1));
    let process = job(&runner, id)["process"]["id"].as_u64().expect("it runs");
    page.kill();
    kill(process);
    let before = study(&home).expect("it is kept");
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    wait_for("what became of it is known", || (job(&runner, id)["state"] == "interrupted").then_some(()));
    let place = format!("/studies/{}", before.id);
    assert!(runner.text(&place).contains("Go on with it"));
    assert_eq!(runner.post(&format!("{place}/resume"), "").status, 303);
    let after = wait_for("it goes on", || has_trials(before.trials.len() + 1));
    let runs = |study: &StudyRecord| study.trials.iter().map(|trial| trial.run.clone()).collect::<Vec<_>>();
    let kept = runs(&before);
    assert_eq!(runs(&after)[..kept.len()], kept, "what was kept is not measured again");
    assert_eq!(runner.post(&format!("/jobs/{}", id + 1), "do=end").status, 303);
    wait_for("it has ended", || (job(&runner, id + 1)["state"] == "ended").then_some(()));
    page.end();
    home.expect_nothing_left();
}

#[test]
fn the_queue_waits_for_what_a_terminal_measures_and_says_for_what() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let page = Page::start_with_waiting_jobs(&home);
    let runner = page.sign_in(page.link());
    let mut words = SHORT;
    words[11] = "60s";
    let terminal = home.plimsoll(&words.join(" ")).alone().start();
    let process = in_steady_state(&home);
    assert_eq!(process, u64::from(terminal.pid()));
    let id = add(&runner, "2s");
    wait_for("the job was begun", || (job(&runner, id)["state"] == "running").then_some(()));
    let said = format!("waiting for another measurement on this machine: process {process} (");
    wait_for("it is said for what the job waits", || {
        unhurried();
        runner.text("/").contains(&said).then_some(())
    });
    assert!(runner.text("/live").contains("--steady</span> 60s"), "the terminal's is followed");
    terminal.signal(Signal::INT);
    terminal.wait().expect(105);
    wait_for("its turn has come", || (job(&runner, id)["state"] == "ended").then_some(()));
    let runs = Runs::open(home.path()).and_then(|runs| runs.ids()).expect("they are kept");
    assert_eq!(runs.len(), 2, "{runs:?}");
    page.end();
    home.expect_nothing_left();
}

#[test]
fn a_job_is_ended_well_from_the_page_and_what_it_measured_is_kept() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let Measuring { page, runner, job: id, .. } = Measuring::start(&home);
    assert!(runner.text("/").contains("Being measured") && runner.text("/live").contains("End well"));
    assert_eq!(runner.api("DELETE", &format!("/api/v1/queue/{id}"), &Json::Null).0, 400, "it is under way");
    let run =
        home.plimsoll("runs --json").run().expect(0).json()[0]["id"].as_str().expect("an id").to_string();
    let later = runner.get(&format!("/runs/{run}"));
    assert_eq!(later.status, 503, "what costs CPU time is put off while seconds count");
    assert!(String::from_utf8_lossy(&later.body).contains("steady state"), "and it is said until when");
    assert!(
        runner.text(&format!("/runs/{run}?now=1")).contains("Under way"),
        "unless it is wanted all the same"
    );
    let series = format!("/api/v1/runs/{run}/series");
    let (status, later) = runner.api("GET", &series, &Json::Null);
    assert_eq!(status, 503, "{later}");
    let remedy = later["problems"][0]["remedy"].as_str().expect("what to do instead");
    assert!(remedy.ends_with(&format!("{series}?now=1")), "{remedy}");
    assert_eq!(runner.get(&format!("{series}?now=1")).status, 200);
    let reader = page.sign_in(&page.another_link(&home, "--read-only"));
    assert!(!reader.text("/live").contains("End well"));
    assert_eq!(runner.post(&format!("/jobs/{id}"), "do=end").status, 303);
    wait_for("it has ended", || (job(&runner, id)["exit_code"] == 105).then_some(()));
    let (_, runs) = runner.api("GET", "/api/v1/runs", &Json::Null);
    assert_eq!(runs[0]["outcome"], "interrupted");
    page.end();
    home.expect_nothing_left();
}

/// What the kernel says of each thread of a process: which CPUs it may use.
fn cpus_of_threads(process: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).expect("it is there").flatten();
    let status = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    let line = |text: String| {
        text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:").map(str::to_string))
    };
    status.filter_map(line).map(|list| list.trim().to_string()).collect()
}

#[test]
fn every_thread_of_the_page_is_on_the_generators_cpus_and_its_jobs_are_on_all() {
    if !have(STACK) {
        return;
    }
    let own = cpus_of_threads(std::process::id());
    let (home, all) = (Home::new(), own.first().expect("a thread").clone());
    let Measuring { page, runner, job: id, process } = Measuring::start(&home);
    let threads = cpus_of_threads(page.pid());
    assert!(threads.len() >= 3, "{threads:?}");
    if all != "0" {
        assert!(threads.iter().all(|cpus| *cpus != all && !cpus.starts_with('0')), "{threads:?} of {all}");
    }
    assert!(cpus_of_threads(process as u32).contains(&all), "the job's first thread is where it pleases");
    assert_eq!(runner.post(&format!("/jobs/{id}"), "do=end").status, 303);
    wait_for("it has ended", || (job(&runner, id)["state"] == "ended").then_some(()));
    page.end();
}

#[test]
fn every_json_is_the_command_lines_to_the_byte() {
    let home = home_with_runs();
    home.plimsoll("queue add run static --users 2").run().expect(0);
    home.plimsoll("queue pause").run().expect(0);
    home.plimsoll(&format!("note {OTHER} --tag night")).run().expect(0);
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    for (path, words) in [
        ("/api/v1/runs".to_string(), "runs --json".to_string()),
        ("/api/v1/runs?where=tag:night".to_string(), "runs --json --where tag:night".to_string()),
        ("/api/v1/runs?last=2".to_string(), "runs --json -n 2".to_string()),
        ("/api/v1/groups?fold=setup".to_string(), "runs --json --fold setup".to_string()),
        ("/api/v1/groups?fold=study&last=1".to_string(), "runs --json --fold study -n 1".to_string()),
        (format!("/api/v1/runs/{RUN}"), format!("show {RUN} --json")),
        (format!("/api/v1/runs/{STATIC}/series"), format!("show {STATIC} --json --series")),
        (format!("/api/v1/runs/{OTHER}/notes"), format!("note {OTHER} --json")),
        (format!("/api/v1/beside?run={RUN}&run={OTHER}"), format!("show {RUN} {OTHER} --json")),
        ("/api/v1/studies".to_string(), "runs --studies --json".to_string()),
        ("/api/v1/catalogue".to_string(), "list --json".to_string()),
        ("/api/v1/catalogue/mariadb".to_string(), "list mariadb --json".to_string()),
        ("/api/v1/queue".to_string(), "queue list --json".to_string()),
    ] {
        let printed = home.plimsoll(&words).run().expect(0).stdout;
        assert_eq!(runner.text(&path), printed, "{path} and {words}");
    }
    let words = ["run", "dvdstore", "--set", "app.pm.max_children=0", "--users", "0"];
    let answer = runner.asks("POST", "/api/v1/check", &[], &json!({ "command": words }).to_string());
    let printed = home.plimsoll(&format!("queue check --json {}", words.join(" "))).run().expect(2).stdout;
    assert_eq!(String::from_utf8_lossy(&answer.body), printed);
    page.end();
}

#[test]
fn what_the_machine_can_do_is_said_of_all_its_cpus_and_not_of_the_pages() {
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let (status, findings) = runner.api("GET", "/api/v1/machine", &Json::Null);
    assert_eq!(status, 200, "{findings}");
    let printed = home.plimsoll("doctor --json --stack nginx").run().json();
    let cpus = |findings: &Json| {
        let all = findings.as_array().expect("a list").clone();
        all.into_iter().find(|one| one["subject"] == "CPUs").expect("it is said")
    };
    assert_eq!(cpus(&findings), cpus(&printed));
    page.end();
}

#[test]
fn the_forms_command_asks_for_the_same_run_and_its_errors_are_the_checks_sentences() {
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let html =
        runner.text("/new/run?kit=static&stack=nginx&users=2&qos=p95+%3C+2s&set.web.worker_connections=0");
    let checked =
        home.plimsoll("queue check run static --stack nginx --users 2 --set web.worker_connections=0").run();
    let sentence = "0 is out of range; it must be between";
    checked.expect(2).says(sentence);
    assert!(html.contains(&format!("id=\"f-set.web.worker_connections-problem\">{sentence}")), "{html}");
    let command = "plimsoll run static --stack nginx --users 2 --qos &#39;p95 &lt; 2s&#39;";
    assert!(html.replace("&#x27;", "&#39;").contains(command), "{html}");
    page.end();
}

#[test]
fn the_forms_command_pasted_into_a_terminal_makes_the_plan_of_the_queues_job() {
    if !have(STACK) {
        return;
    }
    let home = Home::new();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let fields = "kit=static&stack=nginx&size=quick&users=2&ramp-up=1s&steady=2s&ramp-down=0s&seed=7\
                  &qos=p95+%3C+2s&set.web.worker_connections=512";
    let html = runner.text(&format!("/new/run?{fields}"));
    let command = html.split("<pre id=\"command\" tabindex=\"0\">").nth(1).expect("it is shown");
    let command = command.split("</pre>").next().expect("it ends");
    let command = command.replace("&lt;", "<").replace("&#x27;", "'");
    assert_eq!(runner.post("/new/run", &format!("{fields}&do=queue")).status, 303);
    wait_for("the job is done", || (job(&runner, 1)["state"] == "ended").then_some(()));
    let words = command.strip_prefix("plimsoll ").expect("it is Plimsoll's");
    let (before, quoted) = words.split_once('\'').expect("a target is quoted");
    let (quoted, after) = quoted.split_once('\'').expect("the quote ends");
    let mut pasted = home.plimsoll(before).arg(quoted);
    for word in after.split_whitespace() {
        pasted = pasted.arg(word);
    }
    let ended = pasted.run();
    // Beside other tests a run may truthfully be not valid; its plan is kept.
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:#?}");
    let runs = Runs::open(home.path()).expect("they are kept");
    let plans = runs.ids().expect("they are kept").into_iter().map(|id| {
        let text = fs::read_to_string(runs.directory().join(id).join("plan.json")).expect("its plan");
        serde_json::from_str::<Json>(&text).expect("JSON")
    });
    let plans: Vec<Json> = plans.collect();
    assert_eq!(plans.len(), 2);
    assert_eq!(plans[0], plans[1]);
    page.end();
    home.expect_nothing_left();
}

//! The runs of the page when there are many: folded, asked of the index, changed together.

use serde_json::Value as Json;
use store::Runs;
use testkit::recorded::Specimen;

use crate::page::{OTHER, Page, RUN, STATIC, home_with_runs};
use crate::tool::Home;

const STUDY: &str = "20260102-000000-find-dvdstore-00aa";

/// Three runs that stand alone, a repeat of the first, and two trials of a study.
fn home_with_trials() -> Home {
    let home = home_with_runs();
    keep(&home, "", Specimen::Passed, "20260103-000000-dvdstore-000d");
    let study = format!("studies/{STUDY}");
    keep(&home, &study, Specimen::Passed, "20260102-000100-dvdstore-0001");
    keep(&home, &study, Specimen::Failed, "20260102-000200-dvdstore-0002");
    home
}

fn keep(home: &Home, below: &str, specimen: Specimen, id: &str) {
    let mut recorded = specimen.open().first(9);
    recorded.record.id = id.to_string();
    std::fs::create_dir_all(home.path().join(below)).expect("a directory");
    recorded.keep(&Runs::open(&home.path().join(below)).expect("the home can be made"));
}

fn numbers(folded: &Json) -> Vec<u64> {
    let groups = folded["groups"].as_array().expect("a list");
    groups.iter().map(|group| group["number"].as_u64().expect("a number")).collect()
}

#[test]
fn trials_are_folded_under_their_study_and_repeats_under_their_setup_and_all_are_counted() {
    let home = home_with_trials();
    let folded = |words: &str| home.plimsoll(&format!("runs --json {words}")).run().expect(0).json();
    let by_study = folded("--fold study");
    assert_eq!(numbers(&by_study), [1, 1, 1, 2, 1], "{by_study:#}");
    assert_eq!((&by_study["runs"], &by_study["all"]), (&Json::from(6), &Json::from(6)));
    let study = &by_study["groups"][3];
    assert_eq!(study["study"], STUDY);
    assert_eq!(study["verdicts"], serde_json::json!({ "failed": 1, "passed": 1 }));
    let by_setup = folded("--fold setup");
    assert_eq!(numbers(&by_setup), [1, 1, 2], "runs that stand alone: {by_setup:#}");
    let repeats = &by_setup["groups"][2];
    assert_eq!(repeats["last"]["id"], "20260103-000000-dvdstore-000d");
    let spread = &repeats["worst_p95_s"];
    assert!(spread["min"].as_f64() <= spread["median"].as_f64(), "{spread}");
    assert!(spread["median"].as_f64() <= spread["max"].as_f64(), "{spread}");
    assert_eq!(spread["number"], 2);
    let some = folded("--fold study --where verdict:failed");
    assert_eq!((numbers(&some), &some["all"]), (vec![1, 1], &Json::from(6)), "what is left out is counted");
    let trials = folded(&format!("--where study:{STUDY}"));
    assert_eq!(trials.as_array().map(Vec::len), Some(2));
    assert_eq!(trials[0]["study"], STUDY);
    assert_eq!(folded(&format!("--where like:{RUN}")).as_array().map(Vec::len), Some(2));
    assert_eq!(
        folded("").as_array().map(Vec::len),
        Some(4),
        "a list of runs is one of runs that stand alone"
    );
    let text = home.plimsoll("runs --fold setup --where kit:dvdstore").run().expect(0);
    text.says("3 runs in 2 groups; 1 more are not meant").says("2 20260103-000000-dvdstore-000d");
    home.plimsoll("runs --fold stack").run().expect(2).says("study or setup");
}

#[test]
fn the_page_shows_a_study_as_one_row_that_can_be_opened() {
    let home = home_with_trials();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let html = runner.text("/runs");
    assert!(html.contains("6 runs.") && html.contains("1 of them are folded: 5 rows"), "{html}");
    assert!(html.contains(&format!("href=\"/studies/{STUDY}\"")) && html.contains(">2 trials</a>"), "{html}");
    assert!(!html.contains("20260102-000100-dvdstore-0001"), "a trial is in its study's row");
    let trials = runner.text(&format!("/runs?where=study%3A{STUDY}&fold=none")).replace("&#x2f;", "/");
    assert!(trials.contains("2 runs; 4 more are hidden by the filter"), "{trials}");
    assert!(trials.contains(&format!("/studies/{STUDY}/runs/20260102-000100-dvdstore-0001/report.html")));
    assert!(!trials.contains("value=\"20260102-000100"), "trials are not chosen among runs");
    let setups = runner.text("/runs?fold=setup");
    assert!(
        setups.contains(">2 repeats</a>") && setups.contains("4 runs. 1 of them are folded: 3 rows"),
        "{setups}"
    );
    page.end();
}

#[test]
fn a_page_of_runs_shows_what_was_noted_and_removed_elsewhere_at_once() {
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    assert!(runner.text("/runs").contains("3 runs."));
    home.plimsoll(&format!("note {OTHER} --tag night")).run().expect(0);
    assert!(runner.text("/runs?where=tag:night").contains("1 run; 2 more are hidden"));
    home.plimsoll(&format!("clean --run {STATIC}")).run().expect(0);
    assert!(runner.text("/runs").contains("2 runs."));
    keep(&home, "", Specimen::Failed, "20260104-000000-dvdstore-000e");
    assert!(runner.text("/runs").contains("3 runs."));
    page.end();
}

#[test]
fn several_runs_are_tagged_together_and_removed_together_or_not_at_all() {
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let do_with = |runs: &[&str], what: &str| {
        let runs: String = runs.iter().map(|run| format!("run={run}&")).collect();
        runner.post("/runs", &format!("{runs}{what}"))
    };
    assert_eq!(do_with(&[RUN, OTHER], "do=tag&tag=night&back=/runs").status, 303);
    assert_eq!(runs_with(&home, "tag:night"), 2);
    assert_eq!(do_with(&[RUN], "do=untag&tag=night").status, 303);
    assert_eq!(runs_with(&home, "tag:night"), 1);
    home.plimsoll(&format!("note {OTHER} --pin")).run().expect(0);
    let refused = do_with(&[RUN, OTHER, STATIC], "do=remove&number=3");
    assert_eq!(refused.status, 409);
    let text = String::from_utf8_lossy(&refused.body).into_owned();
    assert!(text.contains(&format!("{OTHER} is pinned")), "{text}");
    assert_eq!(do_with(&[RUN, STATIC], "do=remove&number=3").status, 400, "two are chosen");
    assert_eq!(do_with(&[], "do=remove&number=0").status, 400);
    assert_eq!(runs_with(&home, ""), 3, "nothing was removed");
    assert_eq!(do_with(&[RUN, STATIC], "do=remove&number=2").status, 303);
    assert_eq!(runs_with(&home, ""), 1);
    page.end();
}

fn runs_with(home: &Home, filter: &str) -> usize {
    let runs = home.plimsoll("runs --json --where").arg(filter).run().expect(0).json();
    runs.as_array().expect("a list").len()
}

#[test]
fn the_api_and_the_terminal_change_several_runs_alike() {
    let home = home_with_runs();
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let body = serde_json::json!({ "runs": [RUN, OTHER], "add": ["night", "base"] });
    let answer = runner.asks("POST", "/api/v1/runs/tags", &[], &body.to_string());
    let printed = home.plimsoll(&format!("note {RUN} {OTHER} --json")).run().expect(0).stdout;
    assert_eq!(String::from_utf8_lossy(&answer.body), printed);
    home.plimsoll(&format!("note {RUN} {OTHER} --untag base --pin")).run().expect(0).says("#night");
    home.plimsoll(&format!("note {RUN} {STATIC} --untag night")).run().expect(2).says("it has no tag");
    home.plimsoll(&format!("note {STATIC}")).arg("a word").run().expect(0).says("a word");
    let (status, problems) =
        runner.api("POST", "/api/v1/runs/remove", &serde_json::json!({ "runs": [STATIC, RUN, OTHER] }));
    assert_eq!(status, 409);
    assert_eq!(
        problems["problems"].as_array().map(Vec::len),
        Some(2),
        "each that is pinned is named: {problems:#}"
    );
    let clean = home.plimsoll(&format!("clean --run {STATIC} --run {RUN}")).run();
    clean.expect(2).says("pinned");
    assert_eq!(runs_with(&home, ""), 3);
    let (status, removed) =
        runner.api("POST", "/api/v1/runs/remove", &serde_json::json!({ "runs": [STATIC] }));
    assert_eq!((status, removed[STATIC].as_u64() > Some(1_000)), (200, true), "{removed}");
    let reader = page.sign_in(&page.another_link(&home, "--read-only"));
    assert_eq!(reader.api("POST", "/api/v1/runs/remove", &serde_json::json!({ "runs": [RUN] })).0, 403);
    page.end();
}

#[test]
fn a_note_at_a_second_stands_in_the_report_and_one_run_of_a_setup_is_its_baseline() {
    const REPEAT: &str = "20260103-000000-dvdstore-000d";
    let home = home_with_trials();
    home.plimsoll(&format!("note {REPEAT} --at 4"))
        .arg("the backup <b>begins</b>")
        .run()
        .expect(0)
        .says("at 4 s");
    home.plimsoll(&format!("note {REPEAT} --at 5")).run().expect(2).says("nothing is said of that second");
    home.plimsoll(&format!("show {REPEAT}")).run().expect(0).says("the backup <b>begins</b>");
    home.plimsoll(&format!("note {REPEAT} --baseline")).run().expect(0).says("baseline");
    home.plimsoll(&format!("note {RUN} --baseline"))
        .run()
        .expect(0)
        .says(&format!("{REPEAT} is the baseline no longer"));
    home.plimsoll(&format!("note {STATIC} --baseline")).run().expect(0);
    assert_eq!(runs_with(&home, "is:baseline"), 2, "one of each setup");
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let report = runner.text(&format!("/runs/{REPEAT}"));
    assert!(report.contains("the backup &lt;b&gt;begins") && !report.contains("backup <b>"), "it is text");
    let goes_to = |run: &str| runner.get(&format!("/compare?run={run}")).head.get("location").cloned();
    let against = |run: &str| Some(format!("/compare?run={RUN}&run={run}&base={RUN}"));
    assert_eq!(goes_to(REPEAT), against(REPEAT), "the baseline of its setup");
    assert_eq!(goes_to(OTHER), against(OTHER), "else of its kit");
    assert_eq!(goes_to(RUN), None, "it is the baseline itself");
    assert!(runner.text(&format!("/trend?run={RUN}")).contains("<strong>baseline</strong>"));
    let form = "note=&tags=&baseline=on&second=6&mark=it+ends";
    assert_eq!(runner.post(&format!("/runs/{REPEAT}/notes"), form).status, 303);
    let notes = home.plimsoll(&format!("note {REPEAT} --json")).run().expect(0).json();
    assert_eq!(notes["marks"][1], serde_json::json!({ "second": 6, "text": "it ends" }), "{notes:#}");
    assert_eq!((&notes["baseline"], runs_with(&home, "is:baseline")), (&Json::from(true), 2));
    assert_eq!(runner.post(&format!("/runs/{REPEAT}/notes"), "second=soon&mark=x").status, 400);
    page.end();
}

//! Comparisons on the real stack: the direction is never wrong, and a planted slow-down fails a gate.

use model::catalogue::tier_setting::OwnHost;
use testkit::ending::{Question, not_judged};

use crate::study_progress::{expect_as_kept, studies_of};
use crate::tool::{Finished, Home, catalogue, have, judged, overlay};

const STACK: &str = "apache-prefork-modphp-mariadb";

fn conclusion(finished: &Finished) -> String {
    let record = finished.json();
    let conclusion = &record["question"]["compare"]["conclusion"];
    let name = conclusion.as_str().map(str::to_string);
    name.or_else(|| conclusion.as_object()?.keys().next().cloned())
        .unwrap_or_else(|| panic!("no conclusion in {record:#}"))
}

/// Where the state of the page cache is a setting each trial has the files for itself: two stacks that stand side by side would
/// wait for each other for ever.
#[test]
fn stacks_that_serve_the_same_files_are_compared_one_after_the_other() {
    if !have("nginx") || !have("lighttpd") {
        return;
    }
    let home = Home::new();
    let line = "compare nginx lighttpd --kit static --size quick --users 2 --window 3s --most-blocks 5 --confidence 90% --json";
    let finished = home.plimsoll(line).run();
    assert!(matches!(finished.code, Some(0 | 3)), "{finished:#?}");
    let record = finished.json();
    let in_turn = &record["question"]["compare"]["in_turn"];
    assert!(!in_turn.as_bool().unwrap_or_default(), "{record:#}");
    // Each of the ten trials may look for its steady state for 20 s after its window's length.
    let max_s = record["question"]["compare"]["max_s"].as_f64().expect("its time");
    assert!((230.0..600.0).contains(&max_s), "{max_s} s for five blocks");
    let trials = record["trials"].as_array().expect("a list of trials");
    assert!(trials.len() >= 2, "{record:#}");
    home.expect_nothing_left();
}

#[test]
fn the_same_stack_twice_is_never_called_different() {
    if !have(STACK) {
        return;
    }
    // At 90 % five blocks are the fewest that can say anything. One such comparison in ten may be wrong; that two in a row are
    // happens once in a hundred times.
    let line = "compare default default --kit dvdstore --users 5 --window 3s --most-blocks 5 --confidence 90% --json";
    let different = |finished: &Finished| matches!(conclusion(finished).as_str(), "faster" | "slower");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("progress.jsonl");
    let mut asked = (0..2).map(|_| Home::shared().plimsoll(line).arg("--progress-file").arg(&file).run());
    let finished = asked.find(|finished| {
        eprintln!("{:#}", finished.json()["question"]);
        !different(finished)
    });
    let finished = finished.expect("two comparisons in a row call the same stack different");
    let record = finished.json();
    let studies = studies_of(&file);
    expect_as_kept(&studies, &serde_json::from_value(record.clone()).expect("a study's record"));
    assert_eq!(studies[0].under_way.len(), 2, "both trials of a block take turns: {studies:#?}");
    let trials = record["trials"].as_array().expect("a list of trials");
    let faulty =
        |trial: &serde_json::Value| trial["faults"].as_array().is_some_and(|faults| !faults.is_empty());
    for trial in trials {
        let ratio = trial["interrupted_ratio"].as_f64().unwrap_or(1.0);
        assert!(
            ratio < 0.1,
            "the trials of a block take turns, and few answers are under way then: {trial:#}"
        );
    }
    match finished.code {
        Some(0) => assert!(trials.len() >= 2, "{record:#}"),
        Some(3) => {
            assert!(trials.iter().any(faulty), "without a fault there is an answer: {record:#}");
            not_judged(Question::Other, "too many trials of a comparison were not valid");
        }
        _ => panic!("{finished:#?}"),
    }
    Home::shared().expect_nothing_left();
}

#[test]
fn a_page_that_was_made_slower_is_found_and_fails_the_gate() {
    if !have(STACK) {
        return;
    }
    let path = "kits/dvdstore/app/ds2/dsbrowse.php";
    let slower = catalogue(path).replacen("require", "usleep(2000);\nrequire", 1);
    assert!(slower.contains("usleep"), "the page requires the store's functions");
    let dir = overlay(&[(path, &slower)]);
    let junit = dir.path().join("compare.xml");
    // Two milliseconds on about one: far more than the noise. At 80 % four blocks are the fewest that can say anything.
    let line = "compare default --kit dvdstore --users 3 --window 4s --most-blocks 8 --confidence 80% --gate 3% --json";
    let finished = judged(|| {
        let tool = Home::shared().plimsoll(line).arg(format!("catalogue:{}", dir.path().display()));
        tool.arg("--junit").arg(&junit)
    });
    let finished = finished.expect(99);
    assert_eq!(conclusion(&finished), "slower", "{}", finished.stdout);
    let xml = std::fs::read_to_string(&junit).expect("the JUnit file is written");
    assert!(xml.starts_with("<?xml") && xml.contains("<failure"), "{xml}");
}

#[test]
fn what_can_not_be_compared_is_refused_with_the_reason() {
    let home = Home::shared();
    let refused = |words: &str| home.plimsoll(&format!("compare {words}")).run().expect(2);
    refused("default web.MaxRequestWorkers=4").says("--kit").says("dvdstore, events");
    let refused_kit = |words: &str| refused(&format!("{words} --kit dvdstore"));
    refused_kit("default lighttpd-fpm-mariadbb").says("`lighttpd-fpm-mariadb`");
    refused_kit("default web.MaxRequestWorker=4").says("`MaxRequestWorkers`");
    refused_kit("default db.net.hots=own").says("`net.host`");
    refused_kit("default catalogue:nowhere").says("no such folder");
    refused_kit("default default --gate much --by p95").says("no share between");
    refused("--resume last --gate 3%").says("exclude each other");
    refused_kit("default default --most-blocks 3").says("at least 6 blocks are needed");
    refused_kit("default default --by load-line --users 5").says("where load lines are compared");
    refused_kit("default web.MaxRequestWorkers=4 --target http://127.0.0.1:9").says("somebody else's");
    refused_kit("default default --junit nowhere/compare.xml").says("folder is not there");
    for flags in ["--stack x", "--kit dvdstore", "--insecure", "--users 5"] {
        refused(&format!("20260101 20260102 {flags}")).says("says nothing about stored runs");
    }
}

#[test]
fn an_arm_with_a_network_that_this_machine_can_not_make_is_refused_before_the_first_trial() {
    if testbed::try_host(&OwnHost { delay_us: Some(100), ..OwnHost::default() }).is_ok() {
        // What can be made is not refused.
        return;
    }
    let home = Home::new();
    let line = "compare default db.net.host=own,db.net.delay_us=100 --kit calendar --size quick --users 1 --param \
                database_over=tcp";
    let told = home.plimsoll(line).run().expect(2);
    told.says("tier db can't be on a host of its own as asked").says("try: ");
    let studies = home.plimsoll("runs --studies --json").run().expect(0).json();
    assert_eq!(studies, serde_json::json!([]), "nothing was begun");
}

#[test]
fn stored_runs_are_compared_from_their_seconds_and_only_when_they_can_be() {
    if !have(STACK) {
        return;
    }
    let home = Home::shared();
    let run = |words: &str| {
        let line = format!("run dvdstore --users 5 --ramp-up 1s --steady 12s --ramp-down 0s --json {words}");
        let finished = judged(|| home.plimsoll(&line));
        let record = finished.json();
        let valid = record["verdict"]["valid"] == true;
        (record["id"].as_str().expect("an id").to_string(), valid)
    };
    let ((a, a_valid), (b, b_valid)) = (run(""), run(""));
    let (other, other_valid) = run("--param n_searches=1");
    if a_valid && b_valid {
        let told = home.plimsoll(&format!("compare {a} {b}")).run().expect(0);
        told.says("one run of each, not paired");
    }
    if a_valid && other_valid {
        let told = home.plimsoll(&format!("compare {a} {other}")).run().expect(2);
        told.says("differ in their parameters");
    }
    if !(a_valid && b_valid && other_valid) {
        not_judged(Question::Other, "a run that was to be compared was not valid");
    }
    home.plimsoll(&format!("compare {a} default")).run().expect(2).says("only one is a stored run");
}

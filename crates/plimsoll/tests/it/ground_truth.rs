//! Faults of the catalogue: injected on purpose, named in the result, and found by the diagnosis.

use analysis::score::Judged;
use model::RunRecord;
use model::catalogue::fault_file::Expected;
use testkit::ending::{Question, not_judged};

use crate::tool::{Home, have, judged};

const STACK: &str = "apache-prefork-modphp-mariadb";

#[test]
fn every_fault_of_the_catalogue_can_be_injected_into_its_stack() {
    let home = Home::new();
    let listed = home.plimsoll("faults --list").run().expect(0);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    let controls = lines.iter().filter(|line| line.split_whitespace().nth(1) == Some("nothing")).count();
    assert!(lines.len() - controls >= 18 && controls >= 4, "{}", listed.stdout);
    assert_eq!(lines.iter().filter(|line| line.ends_with("(quick)")).count(), 12, "{}", listed.stdout);
}

#[test]
fn a_fault_that_does_not_exist_is_refused_with_the_nearest() {
    let home = Home::new();
    for words in ["run dvdstore --fault db-hotrow", "faults db-hotrow"] {
        home.plimsoll(words).run().expect(2).says("there is no fault `db-hotrow`").says("`db-hot-row`");
    }
}

#[test]
fn a_run_with_a_fault_says_what_was_done_and_is_no_less_valid() {
    if !have(STACK) {
        return;
    }
    let home = Home::shared();
    let words = "run dvdstore --fault prefork-slow-page --users 4 --ramp-up 1s --steady 3s --ramp-down 0s --qos \
                 p50<3s --json";
    let run = judged(|| home.plimsoll(words)).expect(0).json();
    assert_eq!(run["injected"]["fault"], "prefork-slow-page");
    assert_eq!(run["setup"]["users"], 4, "a flag wins over the fault's own recipe");
    let rows = run["operations"].as_array().expect("rows");
    let browse = rows.iter().find(|row| row["name"] == "Browse").expect("a row");
    let mean_s = browse["response"]["mean_s"].as_f64().expect("a mean");
    assert!(mean_s >= 0.1, "each page sleeps for 100 ms: {mean_s}");
    let shown = home.plimsoll("show").arg(run["id"].as_str().expect("an id")).run().expect(0);
    shown.says("Injected on purpose: A page that sleeps, in Apache (prefork-slow-page)");
}

/// Wrong once may be chance, and a busy machine is truthfully told to be one.
const TRIES: usize = 3;
/// A third of the whole table's runs (`make faults`), in which the same shows.
const SHORT: &str = "--ramp-up 6s --steady 10s --ramp-down 1s";

/// Injects that fault, again where the diagnosis did not see it. The gate runs these alone (`.config/nextest.toml`):
/// anything else that computes would truthfully be the answer.
fn is_judged_right(fault: &str, stack: &str, expected: &Expected) {
    if !have(stack) {
        return;
    }
    let runs: Vec<(bool, String)> = (0..TRIES)
        .map_while(|_| {
            let ended =
                Home::shared().plimsoll(&format!("run dvdstore --fault {fault} {SHORT} --json")).run();
            let run: RunRecord = serde_json::from_value(ended.json()).expect("a run's record");
            let judged = Judged::of(fault, &run.id, expected, run.diagnosis.as_ref());
            let wrong = (run.verdict.valid, format!("{}; {judged:?}", run.verdict.sentence));
            (!judged.among_three).then_some(wrong)
        })
        .collect();
    if runs.len() < TRIES {
        return;
    }
    assert!(!runs.iter().any(|(valid, _)| *valid), "the diagnosis was wrong each time: {runs:#?}");
    not_judged(Question::Truth, &format!("no run with {fault} was valid: {runs:?}"));
}

fn limit(tier: &str, resource: &str) -> Expected {
    Expected::Limit { tier: tier.to_string(), resource: resource.to_string() }
}

#[test]
fn a_missing_index_is_found() {
    is_judged_right("db-missing-index", STACK, &limit("db", "index"));
}

#[test]
fn a_full_pool_of_php_is_found() {
    is_judged_right("event-children", "apache-event-fpm-mariadb", &limit("app", "workers"));
}

#[test]
fn a_web_server_with_too_few_processes_is_found() {
    is_judged_right("prefork-workers", STACK, &limit("web", "workers"));
}

const FPM: &str = "lighttpd-fpm-mariadb";

#[test]
fn a_statement_that_sleeps_is_no_disk() {
    is_judged_right("db-statement-sleep", FPM, &limit("db", "sleep"));
}

#[test]
fn a_table_that_somebody_has_locked_is_found() {
    is_judged_right("db-table-lock", FPM, &limit("db", "table locks"));
}

#[test]
fn a_lock_that_the_application_named_is_found() {
    is_judged_right("db-named-lock", FPM, &limit("db", "named locks"));
}

#[test]
fn a_file_that_pages_lock_in_turn_is_found() {
    is_judged_right("fpm-file-lock", FPM, &limit("app", "locks"));
}

#[test]
fn a_page_that_syncs_a_file_is_found() {
    is_judged_right("fpm-fsync", FPM, &limit("app", "disk"));
}

#[test]
fn a_page_that_sleeps_is_found() {
    is_judged_right("fpm-slow-page", FPM, &limit("app", "sleep"));
}

#[test]
fn programs_that_pages_start_are_found() {
    is_judged_right("prefork-programs", STACK, &limit("web", "programs"));
}

#[test]
fn a_database_held_to_its_quota_is_found() {
    is_judged_right("db-cpu-quota", STACK, &limit("db", "cpu quota"));
}

#[test]
fn a_stack_in_health_is_left_in_peace() {
    is_judged_right("healthy-30", STACK, &Expected::Healthy);
}

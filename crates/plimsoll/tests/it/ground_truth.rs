//! Faults of the catalogue: injected on purpose, named in the result, and found by the diagnosis.

use crate::tool::{Home, have, judged};

const STACK: &str = "apache-prefork-modphp-mariadb";

#[test]
fn every_fault_of_the_catalogue_can_be_injected_into_its_stack() {
    let home = Home::new();
    let listed = home.plimsoll("faults --list").run().expect(0);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    let controls = lines.iter().filter(|line| line.split_whitespace().nth(1) == Some("nothing")).count();
    assert!(lines.len() - controls >= 18 && controls >= 4, "{}", listed.stdout);
    assert_eq!(lines.iter().filter(|line| line.ends_with("(quick)")).count(), 4, "{}", listed.stdout);
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

//! `plimsoll show RUN RUN` over recorded runs.

use store::Runs;
use testkit::recorded::Specimen;

use crate::tool::Home;

const FIRST: &str = "20260101-000000-dvdstore-000a";
const SECOND: &str = "20260101-000100-dvdstore-000b";

/// Keeps a recorded run under that id.
fn keep(home: &Home, specimen: Specimen, id: &str) {
    let mut recorded = specimen.open();
    recorded.record.id = id.to_string();
    recorded.record.setup.seed += id.len() as u64;
    recorded.keep(&Runs::open(home.path()).expect("the home can be made"));
}

#[test]
fn two_runs_are_shown_side_by_side_and_one_as_ever() {
    let home = Home::new();
    keep(&home, Specimen::Passed, FIRST);
    keep(&home, Specimen::Failed, SECOND);
    let shown = home.plimsoll(&format!("show {FIRST} last")).run().expect(0);
    shown.says("What differs").says("70 users").says("B against A").says("p95 of Browse").says("not paired");
    let json = home.plimsoll(&format!("show {FIRST} {SECOND} --json")).run().expect(0).json();
    assert_eq!(json["runs"][1]["id"], SECOND);
    assert_eq!(json["unpaired"], true);
    assert_eq!(json["figures"][0]["figure"], "throughput");
    let changes = json["figures"][0]["changes"].as_array().expect("a list").clone();
    assert!(
        changes[0].is_null() && changes[1]["percent"].as_f64().is_some_and(|one| one < 0.0),
        "{changes:?}"
    );
    let alone = home.plimsoll(&format!("show {FIRST}")).run().expect(0).says("PASSED");
    assert!(!alone.stdout.contains("against"), "{}", alone.stdout);
}

#[test]
fn runs_of_different_kits_and_the_same_run_twice_are_refused() {
    let home = Home::new();
    keep(&home, Specimen::Passed, FIRST);
    keep(&home, Specimen::ByRate, "20260101-000200-static-000c");
    let refused = home.plimsoll(&format!("show {FIRST} last")).run().expect(2);
    refused.says("NOT COMPARABLE").says("dvdstore@1").says("What differs");
    let json = home.plimsoll(&format!("show {FIRST} last --json")).run().expect(2).json();
    assert!(json["not_comparable"].is_string() && json["figures"].as_array().is_some_and(Vec::is_empty));
    home.plimsoll(&format!("show {FIRST} {FIRST}")).run().expect(2).says("is there twice");
    home.plimsoll(&format!("show {FIRST} last --csv x.csv"))
        .run()
        .expect(2)
        .says("series are those of one run");
}

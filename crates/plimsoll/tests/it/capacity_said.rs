//! What `plimsoll capacity` prints and refuses: each field of its JSON is one that is documented, its words are those of the
//! JSON, a run too short for an interval is sure of nothing, and numbers that can't be meant have no answer.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use model::{Interval, OperationInterval};
use serde_json::Value as Json;
use store::Runs;
use testkit::recorded::{Recorded, Specimen};

use crate::capacity::{a_second, keep};
use crate::tool::Home;

/// The fields of the reference page.
fn documented() -> BTreeSet<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/capacity-json.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let names = rows.flat_map(|(names, _)| names.split(", ").map(|name| name.trim_matches('`').to_string()));
    names.collect()
}

fn ask(home: &Home, words: &str, code: i32) -> Json {
    home.plimsoll(&format!("{words} --json")).run().expect(code).json()
}

#[test]
fn what_is_printed_is_what_is_documented_and_said() {
    let home = Home::new();
    let (_, rate) = keep(&home, Specimen::Passed);
    // Far below what the run showed, far above it, and as much.
    for (users, code, conclusion) in
        [(rate / 2.0, 0, "carries"), (rate * 2.0, 3, "too_many"), (rate, 3, "open")]
    {
        let json = ask(&home, &a_second(users), code);
        assert_eq!((&json["conclusion"], &json["format"]), (&conclusion.into(), &1.into()), "{json:#}");
        let fields = json.as_object().expect("an object").keys().cloned();
        assert_eq!(fields.collect::<BTreeSet<String>>(), documented(), "{json:#}");
        let sentence = json["sentence"].as_str().expect("a sentence");
        home.plimsoll(&a_second(users)).run().expect(code).says(sentence).says("(95 % interval)");
        margins_follow(&json, users);
    }
}

/// One minus the needed over the shown, at its value and at both ends, and the users whom that would just be.
#[track_caller]
fn margins_follow(json: &Json, users: f64) {
    let near = |found: Option<f64>, expected: f64| {
        assert!(
            found.is_some_and(|found| (found - expected).abs() < 1e-9 * expected.abs().max(1.0)),
            "{json:#}"
        );
    };
    let needed = json["needed_per_s"].as_f64().expect("a number");
    near(Some(needed), users);
    let shown = &json["shown_interval_per_s"];
    let of = [
        (&json["shown_per_s"], &json["margin_ratio"], &json["users_at_shown"]),
        (&shown[0], &json["margin_interval_ratio"][0], &json["users_interval"][0]),
        (&shown[1], &json["margin_interval_ratio"][1], &json["users_interval"][1]),
    ];
    for (shown, margin, enough) in of {
        let shown = shown.as_f64().expect("a number");
        near(margin.as_f64(), 1.0 - needed / shown);
        near(enough.as_f64(), shown);
    }
}

/// Keeps a recorded run with these seconds instead of its own.
fn keep_with(home: &Home, sample: &Recorded, seconds: impl Iterator<Item = Interval>) {
    let runs = Runs::open(home.path()).expect("the home can be made");
    let mut writer = runs.create(&sample.skeleton()).expect("the run can be created");
    for interval in seconds {
        writer.second(&interval, &sample.names).expect("the second can be kept");
    }
    writer.finish(&sample.record).expect("the run can be finished");
}

#[test]
fn a_run_too_short_for_an_interval_is_sure_of_nothing() {
    let home = Home::new();
    let mut sample = Specimen::Passed.open().first(15);
    sample.record.setup.steady_s = 9.0;
    keep_with(&home, &sample, sample.intervals());
    for users in [1.0, 1e6] {
        let json = ask(&home, &a_second(users), 3);
        assert_eq!(json["conclusion"], "open", "{json:#}");
        for interval in ["shown_interval_per_s", "margin_interval_ratio", "users_interval"] {
            assert!(json[interval].is_null(), "{interval} of {json:#}");
        }
        let told = home.plimsoll(&a_second(users)).run().expect(3);
        told.says("its steady state is too short for one").says("repeat the run with a longer steady state");
    }
}

#[test]
fn nothing_follows_from_a_run_in_which_nothing_completed() {
    let home = Home::new();
    let sample = Specimen::Passed.open();
    let nothing = sample.intervals().map(|interval| {
        let mut nothing = Interval::empty(interval.second);
        nothing.operations.resize_with(sample.names.len(), OperationInterval::empty);
        nothing
    });
    keep_with(&home, &sample, nothing);
    let told = home.plimsoll(&a_second(1.0)).run().expect(3);
    assert!(told.stdout.is_empty(), "no answer: {}", told.stdout);
    told.says(&sample.record.id).says("throughput");
}

#[test]
fn numbers_that_can_not_be_meant_are_refused_each_by_its_name() {
    let home = Home::new();
    keep(&home, Specimen::Passed);
    let right = [("--users", "10"), ("--per-user-per-day", "1"), ("--peak-factor", "1")];
    for (flag, wrong) in [
        ("--users", "0"),
        ("--users", "-5"),
        ("--users", "inf"),
        ("--users", "nan"),
        ("--users", "many"),
        ("--per-user-per-day", "0"),
        ("--per-user-per-day", "-0.1"),
        ("--peak-factor", "0"),
        ("--peak-factor", "-1"),
        ("--peak-factor", "0.99"),
    ] {
        let words = right.map(|(name, value)| format!("{name}={}", if name == flag { wrong } else { value }));
        let told = home.plimsoll(&format!("capacity {}", words.join(" "))).run().expect(2);
        assert!(told.stdout.is_empty(), "no answer: {}", told.stdout);
        told.says(flag).says(if flag == "--peak-factor" { "1 or more" } else { "a number above 0" });
    }
    // As people write them.
    home.plimsoll("capacity --users 1_0 --per-user-per-day 1 --peak-factor 1").run().expect(0);
}

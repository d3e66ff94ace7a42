//! `plimsoll capacity` over kept runs: sure above and below what they showed, silent where nothing follows.

use store::Runs;
use testkit::recorded::Specimen;

use crate::tool::Home;

/// Keeps a recorded run; gives its id and the operations per second of its steady state.
pub(crate) fn keep(home: &Home, specimen: Specimen) -> (String, f64) {
    let recorded = specimen.open();
    recorded.keep(&Runs::open(home.path()).expect("the home can be made"));
    let operations = recorded.record.operations.iter();
    let rates = operations.filter(|row| row.kind == model::OperationKind::Operation).map(|row| row.per_s);
    (recorded.record.id.clone(), rates.sum())
}

/// A number of users of one transaction a second each, all day alike: as many a second.
pub(crate) fn a_second(users: f64) -> String {
    format!("capacity --users {users} --per-user-per-day 86400 --peak-factor 1")
}

#[test]
fn a_population_is_held_against_what_the_run_showed() {
    let home = Home::new();
    let (id, rate) = keep(&home, Specimen::Passed);
    let carried = home.plimsoll(&a_second(rate / 2.0)).run().expect(0);
    carried.says(&id).says("it carries them: the peak leaves 50 % of it").says("95 % interval");
    let short = home.plimsoll(&a_second(rate * 2.0)).run().expect(3);
    short.says("they are too many: the peak needs 2 times what it showed").says("such users are within it");
    home.plimsoll(&a_second(rate)).run().expect(3).says("the peak lies within the interval");
    let by_name = format!("{} --run {} --json", a_second(rate / 4.0), &id[..20]);
    let json = home.plimsoll(&by_name).run().expect(0).json();
    assert_eq!((&json["run"], &json["conclusion"]), (&id.into(), &"carries".into()), "{json:#}");
    let number = |name: &str| json[name].as_f64().unwrap_or_else(|| panic!("{name} in {json:#}"));
    assert!((number("shown_per_s") / rate - 1.0).abs() < 1e-9, "{json:#}");
    assert!((number("needed_per_s") / number("shown_per_s") - 0.25).abs() < 1e-9, "{json:#}");
    assert!((number("margin_ratio") - 0.75).abs() < 1e-9, "{json:#}");
    let ends = json["shown_interval_per_s"].as_array().expect("an interval");
    let ends: Vec<f64> = ends.iter().filter_map(serde_json::Value::as_f64).collect();
    assert!(ends.len() == 2 && ends[0] < rate && rate < ends[1], "{json:#}");
}

#[test]
fn a_run_that_missed_its_targets_carries_nobody_for_sure() {
    let home = Home::new();
    let (_, rate) = keep(&home, Specimen::Failed);
    // Its interval is wide: from a quarter to four times its rate.
    home.plimsoll(&a_second(rate / 10.0)).run().expect(3).says("the run missed its targets");
    home.plimsoll(&a_second(rate * 10.0)).run().expect(3).says("they are too many");
}

#[test]
fn nothing_follows_from_a_run_that_is_not_valid_or_not_there() {
    let home = Home::new();
    home.plimsoll(&a_second(1.0)).run().expect(2);
    let (id, _) = keep(&home, Specimen::Invalid);
    home.plimsoll(&a_second(1.0)).run().expect(3).says(&format!("run {id} is not valid")).says("repeat it");
}

#[test]
fn what_can_not_be_meant_is_refused() {
    let home = Home::new();
    keep(&home, Specimen::Passed);
    let refused = |words: &str| home.plimsoll(&format!("capacity {words}")).run().expect(2);
    refused("--users 0 --per-user-per-day 1 --peak-factor 1").says("a number above 0");
    refused("--users 10 --per-user-per-day 1 --peak-factor 0.5").says("1 or more");
    refused("--users 10 --per-user-per-day 1").says("--peak-factor");
    // Orders per minute are no rate per second.
    refused("--users 10 --per-user-per-day 1 --peak-factor 1 --of opm")
        .says("`opm` is no rate of kit dvdstore");
}

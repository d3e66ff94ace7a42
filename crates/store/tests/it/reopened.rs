//! A run whose writer died, and which another writer goes on with.

use std::fs;
use std::path::Path;

use model::record::{Event, Outcome, Series};
use store::Runs;
use testkit::recorded::{Recorded, Specimen};

use crate::short;

/// A run of nine seconds whose writer has gone.
fn left(home: &Path) -> (Runs, Recorded) {
    let runs = Runs::open(home).expect("the home can be made");
    let sample = short(Specimen::Killed);
    drop(sample.begin(&runs));
    (runs, sample)
}

#[test]
fn a_run_goes_on_where_it_was_left_and_its_last_second_is_kept_anew() {
    let home = tempfile::tempdir().expect("a directory");
    let (runs, sample) = left(home.path());
    let (record, mut writer) = runs.reopen(&sample.record.id).expect("nobody holds it");
    assert_eq!((record.outcome, writer.next_second()), (Outcome::Unfinished, 8));
    let open = runs.find("last").expect("the run is there");
    assert!(open.under_way(), "its new writer lives");
    assert_eq!(open.seconds().expect("seconds").len(), 8);
    for interval in sample.intervals().skip(8) {
        writer.second(&interval, &sample.names).expect("the second can be kept");
    }
    let known = Series { points: vec![(9.5, 0.25)], ..sample.series[0].clone() };
    let new = Series { name: "of the second writer".to_string(), ..known.clone() };
    writer.samples(&[known, new]).expect("samples can be kept");
    writer.finish(&sample.record).expect("the run can be finished");

    let run = runs.find("last").expect("the run is there");
    let seconds = run.seconds().expect("seconds");
    assert_eq!(seconds.names(), sample.names);
    let text = |interval: &model::Interval| format!("{:?}", interval.operations);
    let read: Vec<String> = seconds.map(|one| text(&one.expect("it is whole"))).collect();
    assert_eq!(read, sample.intervals().map(|one| text(&one)).collect::<Vec<_>>());
    let series = run.series().expect("series");
    assert_eq!(series.len(), sample.series.len() + 1);
    assert_eq!(series[0].points.last(), Some(&(9.5, 0.25)));
    assert!(!run.under_way() && run.record().outcome != Outcome::Unfinished);
}

#[test]
fn points_that_are_kept_are_not_kept_again() {
    let home = tempfile::tempdir().expect("a directory");
    let (runs, sample) = left(home.path());
    let (_, mut writer) = runs.reopen(&sample.record.id).expect("nobody holds it");
    let mut again = sample.series.clone();
    again[0].points.push((1e4, 0.25));
    writer.samples(&again).expect("samples can be kept");
    writer.finish(&sample.record).expect("the run can be finished");
    let series = runs.find("last").expect("the run is there").series().expect("series");
    let points = |all: &[Series]| all.iter().map(|one| one.points.len()).sum::<usize>();
    assert_eq!(points(&series), points(&sample.series) + 1, "the new one alone");
}

#[test]
fn an_event_that_is_kept_is_not_kept_again() {
    let home = tempfile::tempdir().expect("a directory");
    let (runs, sample) = left(home.path());
    let event = |second: f64, text: &str| Event { second, kind: "phase".into(), text: text.into() };
    let before = runs.find("last").and_then(|run| run.events()).expect("events").len();
    for _ in 0..2 {
        let (_, writer) = runs.reopen(&sample.record.id).expect("nobody holds it");
        writer_keeps(writer, &[event(3.0, "it begins"), event(4.0, "it begins")]);
    }
    assert_eq!(runs.find("last").and_then(|run| run.events()).expect("events").len(), before + 2);
}

fn writer_keeps(mut writer: store::RunWriter, events: &[Event]) {
    events.iter().for_each(|event| writer.event(event).expect("the event can be kept"));
}

#[test]
fn a_run_that_has_ended_or_is_under_way_is_not_gone_on_with() {
    let home = tempfile::tempdir().expect("a directory");
    let (runs, sample) = left(home.path());
    let refused = |name: &str| runs.reopen(name).map(|_| ()).expect_err(name).to_string();
    assert!(refused("20000101").contains("there is no run"), "{}", refused("20000101"));
    let (_, writer) = runs.reopen("last").expect("nobody holds it");
    assert!(refused("last").contains("is still under way"), "{}", refused("last"));
    writer.finish(&sample.record).expect("the run can be finished");
    assert!(refused("last").contains("has ended"), "{}", refused("last"));
}

#[test]
fn a_run_that_was_left_before_its_first_second_begins_with_it() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let sample = short(Specimen::Passed);
    drop(runs.create(&sample.skeleton()).expect("the run can be created"));
    let (_, mut writer) = runs.reopen("last").expect("nobody holds it");
    assert_eq!(writer.next_second(), 0);
    let first = sample.intervals().next().expect("a second");
    writer.second(&first, &sample.names).expect("the second can be kept");
}

#[test]
fn a_plan_is_read_as_it_was_kept_and_a_damaged_one_is_named() {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let writer = runs.create(&short(Specimen::Passed).skeleton()).expect("the run can be created");
    let run = runs.find("last").expect("the run is there");
    let said = || run.plan().map(|_| ()).expect_err("it is no plan").to_string();
    assert!(said().contains("plan.json") && said().contains("it is missing"), "{}", said());
    let recipe = model::Recipe { kit: "static".to_string(), ..model::Recipe::default() };
    let plan = model::Plan::resolve(&recipe, None, &testkit::catalogue::catalogue(), &[0, 1]);
    let plan = plan.unwrap_or_else(|problems| panic!("{problems}"));
    writer.plan(&plan).expect("it can be kept");
    let read = run.plan().unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(format!("{read:?}"), format!("{plan:?}"));
    fs::write(run.directory().join("plan.json"), r#"{"format": 99, "plan": {}}"#).expect("a file");
    assert!(said().contains("format 99"), "{}", said());
    fs::write(run.directory().join("plan.json"), "{").expect("a file");
    assert!(said().contains("damaged"), "{}", said());
}

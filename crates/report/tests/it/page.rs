//! What a page holds.

use model::{ErrorKind, OperationKind, SignalRegistry};
use store::Runs;
use testkit::recorded::Specimen;

use crate::{Kept, page};

#[test]
fn a_finished_run_shows_the_figures_of_its_record() {
    let kept = Kept::specimen(Specimen::Passed);
    let page = kept.page();
    assert_eq!(page.notes, [""; 0]);
    let rows = kept.recorded.record.operations.iter();
    let results: Vec<_> = rows.filter(|row| row.kind == OperationKind::Operation).collect();
    assert_eq!(page.counts, (results.iter().map(|result| result.completed).sum(), 0));
    let all = page.all.p95_s.expect("a p95");
    let p95s = || results.iter().filter_map(|result| result.response.p95_s);
    let (low, high) = (p95s().fold(f64::MAX, f64::min), p95s().fold(0.0, f64::max));
    assert!((low..=high).contains(&all), "{all} lies outside of {low} to {high}");
}

#[test]
fn an_unfinished_run_shows_what_was_kept_of_it() {
    let page = page(Specimen::Unfinished);
    assert_eq!(page.headline.word, "Unfinished");
    let browse =
        page.record.operations.iter().find(|result| result.name == "Browse").expect("it was measured");
    assert!(browse.completed > 1000 && browse.per_s > 100.0, "{browse:?}");
    assert_eq!(page.timeline.at_s.len(), Specimen::Unfinished.open().intervals().count());
}

#[test]
fn the_course_adds_up_to_what_was_counted() {
    let page = page(Specimen::Killed);
    let timeline = &page.timeline;
    let seconds = Specimen::Killed.open().intervals().count();
    assert_eq!((timeline.step_s, timeline.at_s.len(), timeline.scopes.len()), (1, seconds, 5));
    let ramp_up_s = page.record.setup.ramp_up_s as usize;
    let steady = |values: &[Option<f64>]| values[ramp_up_s..].iter().flatten().sum::<f64>();
    let (completed, failed) = page.counts;
    let drawn = steady(&timeline.scopes[0].per_s);
    assert!((drawn - completed as f64).abs() < 1e-3 * completed as f64, "{drawn} drawn, {completed} counted");
    let drawn: f64 = timeline.errors.iter().map(|column| steady(&column.values)).sum();
    assert_eq!(drawn, failed as f64);
    assert_eq!(timeline.errors.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["status"]);
    let tiers: Vec<&str> = timeline.cpu.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(tiers, ["db", "web", "observers", "generator"]);
    assert!(timeline.cpu.iter().all(|column| column.values.len() == seconds));
}

#[test]
fn each_kind_of_error_has_a_course_of_its_own() {
    let recorded = Specimen::Killed.open();
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    let mut writer = runs.create(&recorded.skeleton()).expect("the run can be created");
    let slot = |word: &str| ErrorKind::ALL.iter().position(|kind| kind.word() == word).expect("a kind");
    let browse = recorded.names.iter().position(|name| name.name == "Browse").expect("an operation");
    for mut interval in recorded.intervals() {
        interval.operations[browse].errors[slot("timeout")] = 2;
        interval.operations[browse].errors[slot("check")] = u64::from(interval.second == 9);
        writer.second(&interval, &recorded.names).expect("the second can be kept");
    }
    drop(writer);
    let run = runs.find("last").expect("the run is there");
    let timeline = report::Page::of(&run, &SignalRegistry::new([], [])).timeline;
    let names: Vec<&str> = timeline.errors.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["timeout", "status", "check"]);
    assert!(
        timeline.errors[0].values.iter().all(|value| *value == Some(2.0)),
        "{:?}",
        timeline.errors[0].values
    );
    let checks: Vec<usize> =
        (0..19).filter(|second| timeline.errors[2].values[*second] == Some(1.0)).collect();
    assert_eq!(checks, [9]);
}

#[test]
fn send_lag_is_drawn_and_so_is_what_other_processes_used_where_it_is_much() {
    let mut kept = Specimen::Invalid.open();
    let seconds = kept.intervals().count();
    let foreign = kept.series.iter_mut().find(|one| one.name == "cpu.foreign_cores").expect("it was watched");
    foreign.points.iter_mut().for_each(|point| point.1 = 0.7);
    let timeline = Kept::of(kept).page().timeline;
    let tiers: Vec<&str> = timeline.cpu.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(tiers, ["db", "web", "observers", "other processes", "generator"]);
    assert_eq!(timeline.cpu[3].values[30], Some(0.7));
    let lag = timeline.lag_p99_s;
    assert_eq!(lag.len(), seconds);
    let worst = lag.iter().flatten().copied().fold(0.0, f64::max);
    assert!(worst > 0.005, "this run was not valid for its lag, the worst second's is {worst} s");
}

#[test]
fn a_long_run_is_merged_into_steps_and_never_thinned() {
    // Nobody has judged it yet: what was counted is counted here.
    let mut recorded = Specimen::ManyOperations.open().with_steady_s(600);
    recorded.record = recorded.skeleton();
    let page = Kept::of(recorded).page();
    let timeline = &page.timeline;
    assert_eq!((timeline.step_s, timeline.at_s.len()), (2, 305), "each step has 100 samples");
    let drawn: f64 = timeline.scopes[0].per_s[3..303].iter().flatten().map(|rate| rate * 2.0).sum();
    let completed = page.counts.0 as f64;
    assert!((drawn - completed).abs() < 1e-3 * completed, "{drawn} drawn, {completed} counted");
}

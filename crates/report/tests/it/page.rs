//! What a page holds.

use testkit::sample::{Ending, Shape};

use crate::{Kept, page};

#[test]
fn a_finished_run_shows_the_figures_of_its_record() {
    let kept = Kept::ending(Ending::Passed);
    let page = kept.page();
    assert_eq!(page.notes, [""; 0]);
    let results = &kept.sample.record.operations[1..5];
    assert_eq!(page.counts, (results.iter().map(|result| result.completed).sum(), 0));
    let all = page.all.p95_s.expect("a p95");
    let p95s = || results.iter().filter_map(|result| result.response.p95_s);
    let (low, high) = (p95s().fold(f64::MAX, f64::min), p95s().fold(0.0, f64::max));
    assert!((low..=high).contains(&all), "{all} lies outside of {low} to {high}");
}

#[test]
fn an_unfinished_run_shows_what_was_kept_of_it() {
    let page = page(Ending::Unfinished);
    assert_eq!(page.headline.word, "Unfinished");
    let browse =
        page.record.operations.iter().find(|result| result.name == "Browse").expect("it was measured");
    assert!(browse.completed > 1000 && browse.per_s > 100.0, "{browse:?}");
    assert_eq!(page.timeline.at_s.len(), 40);
}

#[test]
fn the_course_adds_up_to_what_was_counted() {
    let page = page(Ending::Failed);
    let timeline = &page.timeline;
    assert_eq!((timeline.step_s, timeline.at_s.len(), timeline.scopes.len()), (1, 90, 5));
    let steady = |values: &[Option<f64>]| values[20..80].iter().flatten().sum::<f64>();
    let (completed, failed) = page.counts;
    let drawn = steady(&timeline.scopes[0].per_s);
    assert!((drawn - completed as f64).abs() < 1e-3 * completed as f64, "{drawn} drawn, {completed} counted");
    let drawn: f64 = timeline.errors.iter().map(|column| steady(&column.values)).sum();
    assert_eq!(drawn, failed as f64);
    assert_eq!(
        timeline.errors.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["timeout", "status", "check"]
    );
    let tiers: Vec<&str> = timeline.cpu.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(tiers, ["web", "db", "observers", "generator"]);
    assert!(timeline.cpu.iter().all(|column| column.values.len() == 90));
}

#[test]
fn send_lag_is_drawn_and_so_is_what_other_processes_used_where_it_is_much() {
    let mut kept = testkit::sample::run(Shape::ending(Ending::Invalid));
    let points: Vec<(f64, f64)> = (1..=90).map(|second| (f64::from(second), 0.7)).collect();
    kept.series.push(model::record::Series {
        name: "cpu.foreign_cores".into(),
        tier: None,
        unit: "cores".into(),
        points,
    });
    let timeline = Kept::of(kept).page().timeline;
    let tiers: Vec<&str> = timeline.cpu.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(tiers, ["web", "db", "observers", "other processes", "generator"]);
    assert_eq!(timeline.cpu[3].values[30], Some(0.7));
    let lag = timeline.lag_p99_s;
    assert_eq!(lag.len(), 90);
    let worst = lag.iter().flatten().copied().fold(0.0, f64::max);
    assert!(worst > 0.005, "this run was not valid for its lag, the worst second's is {worst} s");
}

#[test]
fn a_long_run_is_merged_into_steps_and_never_thinned() {
    let page = Kept::new(Shape { operations: 1, steady_s: 300, users: 4, ..Shape::default() }).page();
    let timeline = &page.timeline;
    assert_eq!((timeline.step_s, timeline.at_s.len()), (10, 33), "each step has 100 samples");
    let drawn: f64 = timeline.scopes[0].per_s[2..32].iter().flatten().map(|rate| rate * 10.0).sum();
    let completed = page.counts.0 as f64;
    assert!((drawn - completed).abs() < 1e-3 * completed, "{drawn} drawn, {completed} counted");
}

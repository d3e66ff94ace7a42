//! What a sweep found, by made-up trials.

use model::record::study::{Cell, Figure, FindGoal, LoadLine, Purpose, SweepOrder};

use super::*;
use model::random::Random;

fn windows(repeats: u32, cells: usize) -> Sweep {
    Sweep {
        name: String::new(),
        title: String::new(),
        source: String::new(),
        factors: Vec::new(),
        measurement: Measurement::Window { window_s: 30.0 },
        repeats,
        order: SweepOrder::Random,
        seed: 1,
        cells: vec![Cell::default(); cells],
        form: None,
        signals: Vec::new(),
        published: Vec::new(),
        differs: Vec::new(),
    }
}

fn lines(cells: usize) -> Sweep {
    Sweep { measurement: Measurement::LoadLine(FindGoal::default()), ..windows(1, cells) }
}

fn trial((arm, per_s): (usize, f64)) -> Trial {
    let throughput =
        Figure { name: "throughput".to_string(), operation: None, value: per_s, log_se: None, degrees: None };
    Trial {
        number: 1,
        arm,
        block: 0,
        purpose: Purpose::Measure,
        load: 25.0,
        run: String::new(),
        began_s: 0.0,
        took_s: 40.0,
        fresh: true,
        warm_up_s: Some(3.0),
        window_s: 30.0,
        interrupted_ratio: None,
        measured: Some(Measured { figures: vec![throughput], ..Measured::default() }),
        faults: Vec::new(),
        overloaded: Vec::new(),
        conditions: Default::default(),
    }
}

#[test]
fn cells_are_told_apart_only_where_they_differ_by_more_than_their_repeats() {
    let of = |values: [(usize, f64); 4]| SweepFindings::of(&windows(2, 2), &values.map(trial));
    let apart = of([(0, 200.0), (0, 202.0), (1, 280.0), (1, 282.0)]);
    let range = apart.range.expect("two cells have a result");
    assert_eq!((apart.measured, range.highest.cell, range.lowest.cell), (2, 1, 0));
    assert!(
        (range.highest.mean - 281.0).abs() < 0.01 && (range.lowest.mean - 201.0).abs() < 0.01,
        "{range:?}"
    );
    assert_eq!(range.difference, Difference::Real);
    let spread = apart.repeats.expect("cells have two repeats");
    assert!((spread.deviation_ratio - 0.00612).abs() < 5e-6, "{spread:?}");
    let alike = of([(0, 270.0), (0, 290.0), (1, 275.0), (1, 295.0)]).range.expect("two cells have a result");
    assert_eq!(alike.difference, Difference::Chance);
    assert!(
        (alike.lowest.mean - 279.82).abs() < 0.01 && (alike.highest.mean - 284.82).abs() < 0.01,
        "{alike:?}"
    );
}

#[test]
fn of_cells_that_are_alike_the_extremes_are_named_in_one_sweep_of_twenty_at_most() {
    let mut random = Random::new(1);
    let mut names_extremes = |better: f64| {
        let better = |arm: usize| if arm == 0 { better } else { 1.0 };
        let measured = (0..81).map(|number| number % 27);
        let drawn = measured.map(|arm| (arm, 200.0 * better(arm) * (0.02 * random.normal()).exp()));
        let found = SweepFindings::of(&windows(3, 27), &drawn.map(trial).collect::<Vec<_>>());
        found.range.is_some_and(|range| range.difference == Difference::Real)
    };
    let wrong = (0..400).filter(|_| names_extremes(1.0)).count();
    assert!((1..=20).contains(&wrong), "{wrong} of 400");
    let right = (0..100).filter(|_| names_extremes(1.1)).count();
    assert!(right >= 90, "{right} of 100: a cell that is better by five standard deviations");
}

#[test]
fn what_is_chance_is_not_known_of_cells_measured_once() {
    let once = SweepFindings::of(&windows(1, 2), &[(0, 200.0), (1, 280.0)].map(trial));
    assert_eq!(once.range.map(|range| range.difference), Some(Difference::Unknown));
    assert_eq!(once.repeats, None);
    let line = |load: f64| {
        FindAnswer::LoadLine(LoadLine {
            load,
            low: load,
            high: load,
            wide: false,
            held_by: None,
            held_by_ratio: 1.0,
            slope: 9.0,
            passed: None,
            failed: None,
            contradicted: Vec::new(),
            unjudged: Vec::new(),
            conditions: Default::default(),
            confirming: 0,
            throughput_per_s: None,
            by_average: None,
        })
    };
    let mut of_lines = lines(2);
    for (cell, load) in of_lines.cells.iter_mut().zip([200.0, 280.0]) {
        cell.answers.push(line(load));
    }
    let range = SweepFindings::of(&of_lines, &[]).range.expect("two cells have a line");
    assert_eq!(range.difference, Difference::Unknown, "each line has an interval of its own");
    assert!(
        (range.highest.mean - 280.0).abs() < 1e-9 && (range.lowest.mean - 200.0).abs() < 1e-9,
        "{range:?}"
    );
}

/// A trial of a cell that missed these targets, and met the others.
fn judged(arm: usize, missed: &[&str]) -> Trial {
    let outcome = |text: &str| {
        let target: QosTarget = text.parse().expect("a target");
        let observed = target.limit * if missed.contains(&text) { 1.1 } else { 0.9 };
        TargetOutcome::of(target, Some(observed), 100)
    };
    let mut trial = trial((arm, 200.0));
    let seen = trial.measured.as_mut().expect("it was measured");
    seen.targets = [P95, BROWSE, ERRORS].map(outcome).to_vec();
    trial
}

const P95: &str = "p95 < 2.00 s";
const BROWSE: &str = "Browse p95 < 1.00 s";
const ERRORS: &str = "errors < 0.1%";

#[test]
fn a_sweep_in_which_every_trial_missed_a_target_knows_which_all_of_them_missed() {
    let always = |trials: &[Trial]| {
        let targets = SweepFindings::of(&windows(2, 2), trials).never_met?;
        Some(targets.iter().map(QosTarget::to_string).collect::<Vec<_>>())
    };
    let both = [judged(0, &[P95, ERRORS]), judged(1, &[P95, BROWSE, ERRORS])];
    assert_eq!(always(&both), Some(vec![P95.to_string(), ERRORS.to_string()]));
    assert_eq!(always(&[judged(0, &[P95]), judged(1, &[BROWSE])]), Some(Vec::new()), "each missed another");
    assert_eq!(always(&[judged(0, &[P95, ERRORS]), judged(1, &[])]), None, "one met all");
    let mut invalid = judged(1, &[]);
    invalid.measured = None;
    let with_invalid = [judged(0, &[P95]), invalid];
    assert_eq!(always(&with_invalid), Some(vec![P95.to_string()]));
    assert_eq!(SweepFindings::of(&windows(2, 2), &with_invalid).invalid_cells, 1);
    assert_eq!(SweepFindings::of(&lines(2), &with_invalid).invalid_cells, 0, "a search measures again");
    assert_eq!(never_met(&lines(2), &both), None, "a line is where targets begin to be missed");
    assert_eq!(never_met(&windows(2, 2), &[]), None, "nothing was measured");
}

#[test]
fn repeats_differ_by_their_pooled_standard_deviation() {
    let cells = [vec![100.0, 102.0], vec![50.0], vec![200.0, 204.0]];
    let found = spread(&cells).expect("two cells have two");
    assert_eq!(found.degrees, 2.0);
    let one = (102.0f64 / 100.0).ln() / 2.0f64.sqrt();
    assert!((found.deviation_ratio - one).abs() < 1e-12, "{found:?} {one}");
    assert_eq!(spread(&[vec![1.0], vec![]]), None);
}

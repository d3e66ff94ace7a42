//! Sweeps on a made-up bench.

use experiment::sweep::{next, remaining, so_far};
use experiment::{Bench, Order, Step, pursue};
use model::record::study::{Cell, FindAnswer, FindGoal, Measurement, Sweep, SweepOrder, Trial, WhyNot};

use crate::made_up::MadeUp;

const LOADS: [f64; 4] = [10.0, 20.0, 10.0, 20.0];

fn question(repeats: u32, order: SweepOrder) -> Sweep {
    Sweep {
        name: "s".to_string(),
        title: "S".to_string(),
        source: String::new(),
        factors: Vec::new(),
        measurement: Measurement::Window { window_s: 10.0 },
        repeats,
        order,
        seed: 5,
        cells: (0..4).map(|at| Cell { levels: vec![at / 2, at % 2], ..Cell::default() }).collect(),
        form: None,
        signals: Vec::new(),
        published: Vec::new(),
        differs: Vec::new(),
    }
}

fn bench() -> MadeUp {
    MadeUp::new(&[0.01, 0.02, 0.03, 0.04], 0.01, 1)
}

fn ask(sweep: &Sweep, bench: &mut MadeUp) -> Vec<Trial> {
    let mut trials = Vec::new();
    let cells = pursue(|trials| next(sweep, &LOADS, trials), bench, &mut trials);
    assert_eq!(cells.map(|cells| cells.len()).unwrap_or_else(|problems| panic!("{problems}")), 4);
    trials
}

fn arms(trials: &[Trial], block: u32) -> Vec<usize> {
    trials.iter().filter(|trial| trial.block == block).map(|trial| trial.arm).collect()
}

#[test]
fn every_repeat_holds_each_cell_once_in_an_order_of_its_own() {
    let trials = ask(&question(6, SweepOrder::Random), &mut bench());
    assert_eq!(trials.len(), 24);
    let mut orders = std::collections::BTreeSet::new();
    for block in 0..6 {
        let order = arms(&trials, block);
        orders.insert(order.clone());
        let mut sorted = order;
        sorted.sort();
        assert_eq!(sorted, [0, 1, 2, 3]);
    }
    assert!(orders.len() >= 3, "{orders:?}");
    let blocks: Vec<u32> = trials.iter().map(|trial| trial.block).collect();
    assert!(blocks.is_sorted(), "one repeat after the other: {blocks:?}");
}

#[test]
fn as_written_means_as_written_and_each_cell_has_its_load() {
    let mut bench = bench();
    let trials = ask(&question(2, SweepOrder::AsWritten), &mut bench);
    assert_eq!(trials.iter().map(|trial| trial.arm).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2, 3]);
    assert!(bench.orders.iter().all(|order| order.load == LOADS[order.arm] && order.fresh));
    assert_eq!(bench.orders[0].seed, bench.orders[3].seed, "the cells of a repeat have the same users");
    assert_ne!(bench.orders[0].seed, bench.orders[4].seed);
}

#[test]
fn an_invalid_trial_is_repeated_once_and_then_kept_as_it_is() {
    let once = ask(&question(1, SweepOrder::AsWritten), &mut MadeUp { invalid: [2].into(), ..bench() });
    assert_eq!(once.iter().map(|trial| trial.arm).collect::<Vec<_>>(), [0, 1, 1, 2, 3]);
    let twice = ask(&question(1, SweepOrder::AsWritten), &mut MadeUp { invalid: [2, 3].into(), ..bench() });
    assert_eq!(twice.iter().map(|trial| trial.arm).collect::<Vec<_>>(), [0, 1, 1, 2, 3]);
    assert_eq!(twice.iter().filter(|trial| !trial.valid()).count(), 2);
}

#[test]
fn whatever_was_kept_the_next_trial_is_the_one_that_was_next() {
    let sweep = question(3, SweepOrder::Random);
    let mut bench = MadeUp { invalid: [3].into(), ..bench() };
    let trials = ask(&sweep, &mut bench);
    for (length, order) in bench.orders.iter().enumerate() {
        assert_eq!(next(&sweep, &LOADS, &trials[..length]), Step::Measure(order.clone()), "{length} kept");
    }
    assert_eq!(remaining(&sweep, &LOADS, &[]), (12, 12));
    assert_eq!(remaining(&sweep, &LOADS, &trials), (0, 12));
}

#[test]
fn what_was_measured_before_an_interruption_is_not_measured_again() {
    let sweep = question(2, SweepOrder::Random);
    let mut trials = Vec::new();
    let mut stopped = MadeUp { stop_at: Some(4), ..bench() };
    let ended = pursue(|trials| next(&sweep, &LOADS, trials), &mut stopped, &mut trials);
    assert!(ended.is_err() && trials.len() == 3);
    let mut again = bench();
    pursue(|trials| next(&sweep, &LOADS, trials), &mut again, &mut trials)
        .unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!((trials.len(), again.orders.len()), (8, 5));
}

/// Each arm is a stack with a load line of its own.
struct Lines(Vec<testkit::stack::Stack>);

impl Bench for Lines {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> model::Result<Trial> {
        self.0[order.arm].trial(order, trials)
    }
}

#[test]
fn a_load_line_is_found_for_every_cell_and_repeat_from_its_own_trials() {
    use testkit::stack::{Shape, Stack};
    let sweep = Sweep {
        measurement: Measurement::LoadLine(FindGoal::default().quick()),
        cells: vec![Cell::default(), Cell::default()],
        ..question(2, SweepOrder::Random)
    };
    let stack = |line, seed| {
        let mut stack = Stack::new(line, Shape::Slope(8.0), seed);
        // A stray trial or two may look like two modes; that is no question of the order of cells.
        stack.stray_ratio = 0.0;
        stack
    };
    let mut bench = Lines(vec![stack(150.0, 1), stack(400.0, 2)]);
    let mut trials = Vec::new();
    let cells = pursue(|trials| next(&sweep, &[0.0, 0.0], trials), &mut bench, &mut trials)
        .unwrap_or_else(|problems| panic!("{problems}"));
    for (cell, line) in cells.iter().zip([150.0, 400.0]) {
        assert_eq!(cell.answers.len(), 2, "{cell:#?}");
        for answer in &cell.answers {
            let FindAnswer::LoadLine(found) = answer else { panic!("{answer:#?}") };
            assert!((found.load / line).ln().abs() < 0.25, "{} instead of {line}", found.load);
        }
    }
    assert_eq!(so_far(&sweep, &[0.0, 0.0], &trials), cells, "at the end all answers are known");
    let first = (trials[0].arm, trials[0].block);
    let searched = trials.iter().take_while(|trial| (trial.arm, trial.block) == first).count();
    let cut_short = so_far(&sweep, &[0.0, 0.0], &trials[..searched + 1]);
    let other = 1 - first.0;
    assert_eq!(cut_short[first.0].answers, cells[first.0].answers[..1], "a search that was over is kept");
    assert!(cut_short[other].answers.is_empty(), "of one under way nothing is known");
    let visits: Vec<(usize, u32)> = trials.iter().map(|trial| (trial.arm, trial.block)).collect();
    let mut changes = visits.clone();
    changes.dedup();
    assert_eq!(changes.len(), 4, "a search is not interrupted by another one: {visits:?}");
}

#[test]
fn no_cell_is_searched_above_the_users_that_its_own_data_set_is_for() {
    use testkit::stack::{Shape, Stack};
    let sweep = Sweep {
        measurement: Measurement::LoadLine(FindGoal::default().quick()),
        cells: vec![Cell { most: Some(100.0), ..Cell::default() }, Cell::default()],
        ..question(1, SweepOrder::AsWritten)
    };
    let stack = |line, seed| Stack::new(line, Shape::Slope(8.0), seed);
    let mut bench = Lines(vec![stack(150.0, 1), stack(400.0, 2)]);
    let mut trials = Vec::new();
    let cells = pursue(|trials| next(&sweep, &[0.0, 0.0], trials), &mut bench, &mut trials)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let highest = |arm| {
        let loads = trials.iter().filter(|trial| trial.arm == arm).map(|trial| trial.load);
        loads.fold(0.0, f64::max)
    };
    assert_eq!(highest(0), 100.0);
    assert!(highest(1) > 400.0, "{}", highest(1));
    let [FindAnswer::NoAnswer(none)] = &cells[0].answers[..] else { panic!("{:#?}", cells[0].answers) };
    assert_eq!((none.why, none.load), (WhyNot::NeverFails, Some(100.0)));
}

//! Finds on simulated stacks whose load line is known. `PLIMSOLL_FULL_LENGTH=1 cargo test -p experiment --test it find --
//! --nocapture` prints the table of `docs/method/load-line.md`.

use experiment::{Bench, Order};
use model::record::study::{Conditions, FindGoal, Purpose, Trial};
use testkit::finds::{START, Tally, goal, pursued, root_mean_square, some_line};
use testkit::length::simulations;
use testkit::stack::queue::{Queue, QueueBench};
use testkit::stack::{Habit, Random, Shape, Stack};

fn tally_of(goal: &FindGoal, finds: u64, shape: Shape, habit: Habit) -> Tally {
    let mut tally = Tally::default();
    let mut random = Random::new(7);
    for seed in 0..simulations(finds) {
        let line = some_line(&mut random);
        let mut stack = Stack::new(line, shape, seed).that(habit);
        let (answer, trials) = pursued(&FindGoal { seed, ..goal.clone() }, &mut stack);
        tally.add(line, &answer, &trials);
    }
    tally
}

/// A row of the table of the docs.
#[expect(clippy::print_stdout, reason = "the table of the docs is read off the tests")]
fn shown(name: &str, tally: Tally) -> Tally {
    println!("| {name} | {tally} |");
    tally
}

/// What an honest stack must come to.
fn holds(tally: &Tally, after_ten: f64, covered: std::ops::RangeInclusive<f64>) {
    let error = root_mean_square(&tally.after_ten);
    assert!(error <= after_ten, "after ten trials it is {error} off, not {after_ten}: {tally:?}");
    let share = tally.covered_ratio();
    assert!(covered.contains(&share), "{share} of the intervals hold the truth: {tally:?}");
    assert!(tally.answered_ratio() >= 0.93, "stable stacks are called something else: {:?}", tally.why);
    assert!(tally.longest_s <= 900.0, "it took {} s", tally.longest_s);
}

#[test]
fn sharp_stacks_are_known_to_three_per_cent_after_ten_trials_and_their_intervals_hold() {
    holds(&shown("slope 9", tally_of(&goal(), 250, Shape::Slope(9.0), Habit::Steady)), 0.03, 0.85..=0.97);
    holds(&shown("slope 20", tally_of(&goal(), 100, Shape::Slope(20.0), Habit::Steady)), 0.03, 0.85..=1.0);
}

#[test]
fn gentle_stacks_are_known_to_five_per_cent_after_ten_trials_and_their_intervals_hold() {
    holds(&shown("slope 4", tally_of(&goal(), 300, Shape::Slope(4.0), Habit::Steady)), 0.051, 0.85..=0.95);
}

#[test]
fn slowly_warming_stacks_are_found_as_well_as_warm_ones() {
    let warms = Habit::Warms { by: 1.0, time_s: 75.0 };
    holds(
        &shown("slope 9, slowly warming", tally_of(&goal(), 250, Shape::Slope(9.0), warms)),
        0.03,
        0.85..=0.96,
    );
}

#[test]
fn saturated_stacks_cliffs_and_shares_are_found() {
    holds(&shown("saturated", tally_of(&goal(), 150, Shape::Saturated, Habit::Steady)), 0.06, 0.85..=1.0);
    holds(&shown("cliff", tally_of(&goal(), 150, Shape::CLIFF, Habit::Steady)), 0.03, 0.84..=1.0);
    holds(&shown("share", tally_of(&goal(), 100, Shape::Share, Habit::Steady)), 0.02, 0.85..=1.0);
}

#[test]
fn stacks_of_two_modes_are_called_unstable() {
    for (name, slope, apart, least) in
        [("two modes, 20 % apart", 9.0, 0.2, 0.74), ("two modes, 30 % apart", 9.0, 0.3, 0.82)]
    {
        let tally = shown(
            name,
            tally_of(&goal(), 150, Shape::Slope(slope), Habit::TwoModes { apart, lower_ratio: 0.5 }),
        );
        let named = tally.named_ratio("Unstable");
        assert!(named >= least, "{named} are called unstable: {:?}", tally.why);
    }
}

#[test]
fn stacks_that_change_are_called_drifting() {
    for (name, per_minute, least) in
        [("drift of 3 % a minute", 0.03, 0.88), ("drift of 5 % a minute", 0.05, 0.93)]
    {
        let tally = shown(name, tally_of(&goal(), 150, Shape::Slope(9.0), Habit::Drifts { per_minute }));
        let named = tally.named_ratio("Drifts");
        assert!(named >= least, "{named} are said to drift: {:?}", tally.why);
    }
}

#[test]
fn a_find_in_a_hurry_takes_six_minutes() {
    let tally =
        shown("slope 9, in a hurry", tally_of(&goal().quick(), 150, Shape::Slope(9.0), Habit::Steady));
    assert!(tally.longest_s <= 360.0 && tally.answered_ratio() > 0.9, "{tally:?}");
    assert!(root_mean_square(&tally.at_end) < 0.06 && tally.covered_ratio() > 0.85, "{tally:?}");
}

#[test]
fn a_real_queue_is_found_where_long_runs_put_its_line() {
    for (name, queue) in [
        ("queue, pool of 8", Queue { think_s: 1.0, service_s: 0.05, pool: 8, limit_s: 0.3 }),
        ("queue, pool of 1", Queue { think_s: 0.5, service_s: 0.01, pool: 1, limit_s: 0.3 }),
    ] {
        let truth = (10..1000).find(|users| queue.margin(*users, 3) >= 0.0).expect("it fails at last") as f64;
        let mut tally = Tally::default();
        for seed in 0..20 {
            let goal = FindGoal { seed, ..FindGoal::default() };
            let (answer, trials) = pursued(&goal, &mut QueueBench { queue, spent_s: 0.0 });
            tally.add(truth - 0.5, &answer, &trials);
        }
        let tally = shown(name, tally);
        assert!(
            root_mean_square(&tally.at_end) < 0.03 && tally.answered_ratio() >= 0.9,
            "{truth}: {tally:?}"
        );
    }
}

/// Doubling and halving by passed and failed, one trial each: what is done by hand. The estimate after `most` trials.
fn bisected(stack: &mut Stack, most: usize) -> f64 {
    let mut trials: Vec<Trial> = Vec::new();
    let (mut passed, mut failed): (Option<f64>, Option<f64>) = (None, None);
    for seed in 0..most as u64 {
        let load = match (passed, failed) {
            (Some(passed), Some(failed)) => (passed * failed).sqrt(),
            (Some(passed), None) => passed * 2.0,
            (None, Some(failed)) => failed / 2.0,
            (None, None) => START,
        };
        let purpose = Purpose::Search;
        let conditions = Conditions::default();
        let in_turn_with = None;
        let order = Order {
            arm: 0,
            block: 0,
            purpose,
            load,
            conditions,
            window_s: 30.0,
            fresh: true,
            seed,
            in_turn_with,
        };
        let trial = stack.trial(&order, &trials).expect("a simulated stack never refuses");
        if trial.pass() == Some(true) {
            passed = Some(load)
        } else {
            failed = Some(load)
        }
        trials.push(trial);
    }
    (passed.unwrap_or(START) * failed.unwrap_or(16.0 * START)).sqrt()
}

#[test]
fn ten_trials_by_margins_come_nearer_than_ten_by_bisection() {
    for slope in [9.0, 4.0] {
        let mut random = Random::new(7);
        let mut errors = Vec::new();
        for seed in 0..250 {
            let line = some_line(&mut random);
            errors.push((bisected(&mut Stack::new(line, Shape::Slope(slope), seed), 10) / line).ln());
        }
        let by_bisection = root_mean_square(&errors);
        let by_margins =
            root_mean_square(&tally_of(&goal(), 100, Shape::Slope(slope), Habit::Steady).after_ten);
        println!(
            "slope {slope}: bisection {:.1} %, margins {:.1} %",
            100.0 * by_bisection,
            100.0 * by_margins
        );
        assert!(by_margins < 0.8 * by_bisection, "slope {slope}: {by_margins} and {by_bisection}");
    }
}

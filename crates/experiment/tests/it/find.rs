//! Finds on simulated stacks whose load line is known. `PLIMSOLL_FULL_LENGTH=1 cargo test -p experiment --test it find --
//! --nocapture` prints the table of `docs/method/load-line.md`.

use std::collections::BTreeMap;

use analysis::{JudgedTrials, Line};
use experiment::{Bench, Order, find, pursue};
use model::record::study::{Conditions, FindAnswer, FindGoal, Purpose, Trial};
use testkit::length::simulations;
use testkit::stack::queue::{Queue, QueueBench};
use testkit::stack::{Habit, Random, Shape, Stack};

/// The ramp starts here, and lines lie between this and sixteen times as much.
const START: f64 = 40.0;

fn pursued(goal: &FindGoal, bench: &mut dyn Bench) -> (FindAnswer, Vec<Trial>) {
    let mut trials: Vec<Trial> = Vec::new();
    let spent_s = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
    let answer = pursue(|trials| find::next(goal, trials, spent_s(trials)), bench, &mut trials);
    (answer.expect("a simulated stack never refuses"), trials)
}

fn some_line(random: &mut Random) -> f64 {
    START * (16f64.ln() * random.unit()).exp()
}

fn root_mean_square(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}

/// What many finds on stacks of one kind came to.
#[derive(Debug, Default)]
struct Tally {
    finds: usize,
    /// ln(estimate/truth) after ten trials: ramp, search and confirming, all but the warm-up, whose figures don't count.
    after_ten: Vec<f64>,
    /// ln(answer/truth).
    at_end: Vec<f64>,
    covered: usize,
    half_widths: f64,
    confirmed: usize,
    wide: usize,
    trials: usize,
    spent_s: f64,
    longest_s: f64,
    why: BTreeMap<String, usize>,
}

impl Tally {
    fn of(goal: &FindGoal, finds: u64, shape: Shape, habit: Habit) -> Tally {
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

    fn add(&mut self, line: f64, answer: &FindAnswer, trials: &[Trial]) {
        let spent_s = trials.iter().map(|trial| trial.took_s).sum::<f64>();
        self.finds += 1;
        self.trials += trials.len();
        self.spent_s += spent_s;
        self.longest_s = self.longest_s.max(spent_s);
        assert_eq!(trials[0].purpose, Purpose::WarmUp);
        let ten = Line::of(&JudgedTrials::of(&trials[..trials.len().min(11)]), 0.9, 1);
        self.after_ten.extend(ten.map(|found| (found.load / line).ln()));
        match answer {
            FindAnswer::LoadLine(found) => {
                // The answer is the highest whole number of users below the line.
                self.at_end.push(((found.load + 0.5) / line).ln());
                self.covered += usize::from((found.low..=found.high).contains(&line.floor()));
                self.half_widths += (found.high - found.low) / 2.0 / found.load;
                self.confirmed += usize::from(found.passed.is_some() && found.failed.is_some());
                self.wide += usize::from(found.wide);
            }
            FindAnswer::NoAnswer(no) => *self.why.entry(format!("{:?}", no.why)).or_default() += 1,
        }
    }

    fn covered_ratio(&self) -> f64 {
        self.covered as f64 / self.at_end.len() as f64
    }

    fn answered_ratio(&self) -> f64 {
        self.at_end.len() as f64 / self.finds as f64
    }

    fn named_ratio(&self, why: &str) -> f64 {
        self.why.get(why).copied().unwrap_or_default() as f64 / self.finds as f64
    }

    #[expect(clippy::print_stdout, reason = "the table of the docs is read off the tests")]
    fn show(self, name: &str) -> Tally {
        let answered = self.at_end.len().max(1) as f64;
        println!(
            "{name:24} | {:4.1} % | {:4.1} % | {:3.0} % | {:4.1} % | {:3.0} % | {:3.0} % | {:3.0} % | {:4.1} | {:3.0} s \
             (longest {:3.0}) | {:?}",
            100.0 * root_mean_square(&self.after_ten),
            100.0 * root_mean_square(&self.at_end),
            100.0 * self.covered_ratio(),
            100.0 * self.half_widths / answered,
            100.0 * self.answered_ratio(),
            100.0 * self.confirmed as f64 / answered,
            100.0 * self.wide as f64 / answered,
            self.trials as f64 / self.finds as f64,
            self.spent_s / self.finds as f64,
            self.longest_s,
            self.why
        );
        self
    }

    /// What an honest stack must come to.
    fn holds(self, after_ten: f64, covered: std::ops::RangeInclusive<f64>) -> Tally {
        let error = root_mean_square(&self.after_ten);
        assert!(error <= after_ten, "after ten trials it is {error} off, not {after_ten}: {self:?}");
        let share = self.covered_ratio();
        assert!(covered.contains(&share), "{share} of the intervals hold the truth: {self:?}");
        assert!(self.answered_ratio() >= 0.93, "stable stacks are called something else: {:?}", self.why);
        assert!(self.longest_s <= 900.0, "it took {} s", self.longest_s);
        self
    }
}

fn goal() -> FindGoal {
    FindGoal { start: START, ..FindGoal::default() }
}

#[test]
fn sharp_stacks_are_known_to_three_per_cent_after_ten_trials_and_their_intervals_hold() {
    Tally::of(&goal(), 250, Shape::Slope(9.0), Habit::Steady).show("slope 9").holds(0.03, 0.85..=0.97);
    Tally::of(&goal(), 100, Shape::Slope(20.0), Habit::Steady).show("slope 20").holds(0.03, 0.85..=1.0);
}

#[test]
fn gentle_stacks_are_known_to_five_per_cent_after_ten_trials_and_their_intervals_hold() {
    Tally::of(&goal(), 300, Shape::Slope(4.0), Habit::Steady).show("slope 4").holds(0.051, 0.85..=0.95);
}

#[test]
fn slowly_warming_stacks_are_found_as_well_as_warm_ones() {
    let warms = Habit::Warms { by: 1.0, time_s: 75.0 };
    Tally::of(&goal(), 250, Shape::Slope(9.0), warms)
        .show("slope 9, slowly warming")
        .holds(0.03, 0.85..=0.96);
}

#[test]
fn saturated_stacks_cliffs_and_shares_are_found() {
    Tally::of(&goal(), 150, Shape::Saturated, Habit::Steady).show("saturated").holds(0.06, 0.85..=1.0);
    Tally::of(&goal(), 150, Shape::Cliff, Habit::Steady).show("cliff").holds(0.03, 0.84..=1.0);
    Tally::of(&goal(), 100, Shape::Share, Habit::Steady).show("share").holds(0.02, 0.85..=1.0);
}

#[test]
fn stacks_of_two_modes_are_called_unstable() {
    for (name, slope, apart, least) in
        [("two modes, 20 % apart", 9.0, 0.2, 0.74), ("two modes, 30 % apart", 9.0, 0.3, 0.82)]
    {
        let tally = Tally::of(&goal(), 150, Shape::Slope(slope), Habit::TwoModes { apart }).show(name);
        let named = tally.named_ratio("Unstable");
        assert!(named >= least, "{named} are called unstable: {:?}", tally.why);
    }
}

#[test]
fn stacks_that_change_are_called_drifting() {
    for (name, per_minute, least) in
        [("drift of 3 % a minute", 0.03, 0.88), ("drift of 5 % a minute", 0.05, 0.93)]
    {
        let tally = Tally::of(&goal(), 150, Shape::Slope(9.0), Habit::Drifts { per_minute }).show(name);
        let named = tally.named_ratio("Drifts");
        assert!(named >= least, "{named} are said to drift: {:?}", tally.why);
    }
}

#[test]
fn a_find_in_a_hurry_takes_six_minutes() {
    let tally = Tally::of(&goal().quick(), 150, Shape::Slope(9.0), Habit::Steady).show("slope 9, in a hurry");
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
        let tally = tally.show(name);
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
            root_mean_square(&Tally::of(&goal(), 100, Shape::Slope(slope), Habit::Steady).after_ten);
        println!(
            "slope {slope}: bisection {:.1} %, margins {:.1} %",
            100.0 * by_bisection,
            100.0 * by_margins
        );
        assert!(by_margins < 0.8 * by_bisection, "slope {slope}: {by_margins} and {by_bisection}");
    }
}

//! Finds that change what the stack stands on: data for more users, less of a CPU for the web tier.

use experiment::{Bench, Order, find, pursue};
use model::Result;
use model::record::study::{FindAnswer, FindGoal, LoadLine, Purpose, SizeForUsers, TierCpu, Trial, WhyNot};
use testkit::stack::{Shape, Stack};

use crate::no_answer::broken;

/// A stack whose trials are changed before they are kept.
struct Changed<F>(Stack, F);

impl<F: FnMut(&mut Trial)> Bench for Changed<F> {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        let mut trial = self.0.trial(order, trials)?;
        (self.1)(&mut trial);
        Ok(trial)
    }
}

fn line_and_trials(goal: &FindGoal, line: f64, change: impl FnMut(&mut Trial)) -> (LoadLine, Vec<Trial>) {
    line_of(goal, Stack::new(line, Shape::Slope(9.0), 3), change)
}

fn line_of(goal: &FindGoal, mut stack: Stack, change: impl FnMut(&mut Trial)) -> (LoadLine, Vec<Trial>) {
    stack.stray_ratio = 0.0;
    let mut trials: Vec<Trial> = Vec::new();
    let spent_s = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
    let next = |trials: &[Trial]| find::next(goal, trials, spent_s(trials));
    let answer = pursue(next, &mut Changed(stack, change), &mut trials).expect("the bench never refuses");
    match answer {
        FindAnswer::LoadLine(line) => (line, trials),
        FindAnswer::NoAnswer(none) => panic!("{none:?} after {trials:?}"),
    }
}

fn sizes() -> Vec<SizeForUsers> {
    let size = |(size, users): (&str, f64)| SizeForUsers { size: size.to_string(), users };
    [("small", 100.0), ("medium", 400.0), ("large", 1600.0)].map(size).to_vec()
}

#[test]
fn data_for_more_users_are_asked_for_until_the_line_lies_within_them() {
    let goal = FindGoal { sizes: sizes(), most: 1600.0, start: 50.0, ..FindGoal::default() };
    let (line, trials) = line_and_trials(&goal, 700.0, |_| ());
    assert_eq!(line.conditions.size.as_deref(), Some("large"));
    assert!((line.low..=line.high).contains(&700.0), "{line:?}");
    for trial in &trials {
        let size = trial.conditions.size.as_deref().unwrap_or("small");
        let most = sizes().into_iter().find(|one| one.size == size).map(|one| one.users);
        assert!(most.is_some_and(|most| trial.load <= most), "{} users on {size}", trial.load);
    }
    let changed = trials.windows(2).filter(|pair| pair[0].conditions != pair[1].conditions);
    assert!(changed.clone().count() > 0, "the first data were too few");
    assert!(changed.clone().all(|pair| pair[1].purpose == Purpose::WarmUp), "new data are cold");
}

#[test]
fn data_that_are_enough_stay() {
    let goal = FindGoal { sizes: sizes(), most: 1600.0, ..FindGoal::default() };
    let (line, trials) = line_and_trials(&goal, 60.0, |_| ());
    assert!(line.conditions.are_the_arms() && trials.iter().all(|one| one.conditions.are_the_arms()));
}

#[test]
fn a_server_that_outruns_the_generator_is_held_to_a_share_of_a_cpu() {
    let goal = FindGoal { web_cores: vec![0.1, 0.05], ..FindGoal::default() };
    let full = |trial: &mut Trial| {
        if trial.conditions.web_cores.is_none() && trial.load > 20.0 {
            broken(trial, "generator_cpu");
        }
    };
    let (line, trials) = line_and_trials(&goal, 200.0, full);
    assert_eq!(line.conditions.web_cores, Some(0.1), "less was not needed");
    let free = trials.iter().filter(|trial| trial.conditions.web_cores.is_none() && !trial.valid());
    assert_eq!(free.count(), 1, "that the generator was full is certain after one trial");
}

#[test]
fn a_generator_that_was_late_holds_no_web_tier() {
    let goal = FindGoal { web_cores: vec![0.1], ..FindGoal::default() };
    let mut late = 0;
    let (line, _) = line_and_trials(&goal, 200.0, |trial| {
        if trial.purpose == Purpose::Ramp && late < 1 {
            late += 1;
            broken(trial, "send_lag");
        }
    });
    assert!(line.conditions.are_the_arms(), "{line:?}");
}

#[test]
fn a_generator_that_is_late_at_each_attempt_holds_the_web_tier() {
    let goal = FindGoal { web_cores: vec![0.1], ..FindGoal::default() };
    let (line, trials) = line_and_trials(&goal, 200.0, |trial| {
        if trial.conditions.web_cores.is_none() && trial.load > 20.0 {
            broken(trial, "send_lag");
        }
    });
    assert_eq!(line.conditions.web_cores, Some(0.1));
    assert!((line.low..=line.high).contains(&200.0), "{line:?}");
    let free = trials.iter().filter(|trial| trial.conditions.web_cores.is_none() && !trial.valid());
    assert!(free.count() >= 2, "late once can be the doing of others");
}

#[test]
fn the_ramp_on_larger_data_begins_at_the_line_that_smaller_ones_cut_off() {
    let goal =
        FindGoal { sizes: sizes(), most: 1600.0, start: 50.0, budget_s: 1800.0, ..FindGoal::default() };
    let (line, trials) = line_and_trials(&goal, 390.0, |_| ());
    assert_eq!(line.conditions.size.as_deref(), Some("large"), "{line:?}");
    let on_large = trials.iter().filter(|trial| trial.conditions.size.as_deref() == Some("large"));
    let first = on_large.clone().find(|trial| trial.purpose == Purpose::Ramp).expect("a ramp");
    assert!((330.0..450.0).contains(&first.load), "{} users, where 390 are the line", first.load);
}

#[test]
fn data_are_not_made_for_more_users_when_no_time_is_left_for_a_line_on_them() {
    let goal = FindGoal { sizes: sizes(), most: 1600.0, start: 80.0, budget_s: 200.0, ..FindGoal::default() };
    let mut stack = Stack::new(700.0, Shape::Slope(9.0), 3);
    stack.stray_ratio = 0.0;
    let mut trials: Vec<Trial> = Vec::new();
    let spent_s = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
    let next = |trials: &[Trial]| find::next(&goal, trials, spent_s(trials));
    let answer = pursue(next, &mut stack, &mut trials).expect("the bench never refuses");
    let FindAnswer::NoAnswer(none) = answer else { panic!("{answer:?} in {} s", goal.budget_s) };
    assert_eq!(
        (none.why, none.highest_passed),
        (WhyNot::NeverFails, Some(100.0)),
        "{none:?} after {trials:?}"
    );
}

#[test]
fn what_a_trial_on_a_stack_set_up_anew_denies_the_ramp_does_not_hold_up() {
    // Seen: short windows on a warm stack passed at twice the load at which fresh stacks collapse.
    let (line, _) = line_and_trials(&FindGoal::default(), 40.0, |trial| {
        if trial.purpose == Purpose::Ramp && trial.load <= 80.0 {
            for clause in trial.measured.iter_mut().flat_map(|seen| &mut seen.targets) {
                (clause.margin.log, clause.pass) = (Some(-1.5), true);
            }
        }
    });
    assert!(line.load < 50.0, "fresh stacks carry 40: {line:?}");
}

/// The CPU of the stack would be full with 800 users.
fn busy(trial: &mut Trial) {
    let tier = |tier: &str, cpu_cores: f64| TierCpu { tier: tier.to_string(), cpu_cores };
    let used = trial.load / 800.0;
    let tiers = vec![tier("web", 0.75 * used), tier("db", 0.25 * used), tier("generator", 0.9)];
    trial.measured.iter_mut().for_each(|seen| seen.tiers = tiers.clone());
}

#[test]
fn the_ramp_goes_where_the_cpu_says_and_the_line_is_where_it_was_measured() {
    let goal = FindGoal { stack_cores: Some(1.0), start: 100.0, ..FindGoal::default() };
    let (line, trials) = line_and_trials(&goal, 500.0, busy);
    let first = trials.iter().find(|trial| trial.purpose == Purpose::Ramp).map(|trial| trial.load);
    assert_eq!(first, Some(560.0), "70 % of what the CPU is enough for");
    assert!((line.low..=line.high).contains(&500.0), "what holds it is something else: {line:?}");
}

#[test]
fn data_are_made_once_for_as_many_users_as_the_cpu_is_enough_for() {
    let goal =
        FindGoal { sizes: sizes(), most: 1600.0, stack_cores: Some(1.0), start: 50.0, ..FindGoal::default() };
    let (_, trials) = line_and_trials(&goal, 500.0, busy);
    let changes = trials.windows(2).filter(|pair| pair[0].conditions != pair[1].conditions).count();
    let last = trials.last().and_then(|trial| trial.conditions.size.as_deref());
    assert_eq!((changes, last), (1, Some("large")), "400 users are fewer than 800");
}

#[test]
fn larger_data_are_not_made_where_all_that_there_are_for_may_be_too_much() {
    // The CPU says 0.7 * 800 = 560 users; with all 400 of the data it fails.
    let goal = FindGoal {
        sizes: sizes()[1..].to_vec(),
        most: 1600.0,
        stack_cores: Some(1.0),
        ..FindGoal::default()
    };
    let (line, trials) = line_and_trials(&FindGoal { start: 100.0, ..goal }, 300.0, busy);
    assert!(line.conditions.are_the_arms() && trials.iter().all(|trial| trial.load <= 400.0), "{line:?}");
}

/// The loads of the ramp on a stack whose CPU is full from 50 users on, of whom each waits for all others and rests for `rest_s`.
fn ramp_where_the_cpu_is_full(rest_s: f64) -> (LoadLine, Vec<f64>) {
    let goal = FindGoal { stack_cores: Some(1.0), start: 20.0, ..FindGoal::default() };
    let (line, trials) = line_of(&goal, Stack::new(1000.0, Shape::Saturated, 5), |trial| {
        let tier = TierCpu { tier: "web".to_string(), cpu_cores: (trial.load / 50.0).min(1.0) };
        let response_s = trial.load / 700.0;
        for seen in trial.measured.iter_mut() {
            seen.tiers = vec![tier.clone()];
            let mut mean = seen.figures[0].clone();
            seen.figures[0].value = trial.load / (response_s + rest_s);
            (mean.name, mean.value) = ("mean".to_string(), response_s);
            seen.figures.push(mean);
        }
    });
    let ramp = trials.iter().filter(|trial| trial.purpose == Purpose::Ramp).map(|trial| trial.load);
    (line, ramp.collect())
}

#[test]
fn where_the_cpu_is_full_the_ramp_goes_by_how_much_longer_users_may_wait() {
    let (line, ramp) = ramp_where_the_cpu_is_full(0.0);
    assert_eq!(
        ramp[..3],
        [35.0, 53.0, 212.0],
        "by four, where half of what the limits allow is six times as long"
    );
    assert!(ramp.len() <= 6, "{ramp:?}");
    assert!((line.low..=line.high).contains(&1000.0), "{line:?}");
}

#[test]
fn where_users_rest_for_most_of_their_cycle_a_full_cpu_leaves_little_room() {
    let (_, ramp) = ramp_where_the_cpu_is_full(5.0);
    assert!(
        ramp.windows(2).all(|pair| pair[1] <= 1.55 * pair[0]),
        "four times as many wait for far longer: {ramp:?}"
    );
}

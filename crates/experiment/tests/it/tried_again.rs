//! Trials that say nothing, and how often their load is tried again.

use model::record::study::{FindAnswer, FindGoal, Purpose, Trial, WhyNot};

use crate::no_answer::{answer, broken, no_answer};

#[test]
fn one_broken_trial_in_five_is_measured_again() {
    let mut count = 0;
    let sometimes = |trial: &mut Trial| {
        count += 1;
        if count % 5 == 0 {
            broken(trial, "tiers");
        }
    };
    let (answer, _) = answer(&FindGoal::default(), 200.0, sometimes);
    let FindAnswer::LoadLine(line) = answer else { panic!("{answer:?}") };
    assert!((line.load / 200.0).ln().abs() < 0.08, "{line:?}");
}

#[test]
fn a_generator_that_other_processes_hold_up_for_a_while_is_not_called_the_limit() {
    let mut disturbed = 0;
    let (answer, trials) = answer(&FindGoal::default(), 300.0, |trial| {
        if trial.purpose == Purpose::Ramp && trial.load > 50.0 && disturbed < 3 {
            disturbed += 1;
            broken(trial, "send_lag");
            trial.measured.iter_mut().for_each(|seen| seen.foreign_cores = Some(1.6));
        }
    });
    assert_eq!(disturbed, 3);
    assert!(matches!(answer, FindAnswer::LoadLine(_)), "after {} trials: {answer:?}", trials.len());
}

#[test]
fn a_generator_that_other_processes_always_hold_up_is_not_valid_and_they_are_named() {
    let (none, _) = no_answer(&FindGoal::default(), 300.0, |trial| {
        broken(trial, "send_lag");
        trial.measured.iter_mut().for_each(|seen| seen.foreign_cores = Some(1.6));
    });
    assert_eq!(none.why, WhyNot::NotValid, "{none:?}");
}

#[test]
fn a_load_that_was_driven_once_is_no_limit_of_the_generator() {
    let mut late = 0;
    let (answer, trials) = answer(&FindGoal::default(), 300.0, |trial| {
        // Every other ramp trial is late, and its repetition is not.
        if trial.purpose == Purpose::Ramp && trial.number % 2 == 0 {
            late += 1;
            broken(trial, "send_lag");
        }
    });
    assert!(late > 2, "{late} trials were late");
    assert!(matches!(answer, FindAnswer::LoadLine(_)), "after {} trials: {answer:?}", trials.len());
}

#[test]
fn a_load_whose_trials_said_nothing_twice_is_tried_for_longer_before_the_find_gives_up() {
    let goal = FindGoal::default();
    let mut fewer = 0;
    let (found, trials) = answer(&goal, 200.0, |trial| {
        if trial.purpose == Purpose::Ramp && trial.load > 50.0 && fewer < 2 {
            fewer += 1;
            broken(trial, "little");
        }
    });
    assert!(matches!(found, FindAnswer::LoadLine(_)), "{found:?}");
    let ramp: Vec<(f64, f64)> = trials
        .iter()
        .filter(|trial| trial.purpose == Purpose::Ramp && trial.load > 50.0)
        .map(|trial| (trial.load, trial.window_s))
        .collect();
    assert!(ramp[..3].iter().all(|(load, _)| *load == ramp[0].0), "{ramp:?}");
    assert!(ramp[1].1 < goal.confirm_s && ramp[2].1 >= goal.confirm_s, "{ramp:?}");
}

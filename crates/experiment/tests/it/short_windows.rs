//! Windows that are too short to tell users who wait from those whose operations only take long.

use model::record::study::{FindGoal, Purpose, Trial};

use crate::no_answer::{answer, broken, said_to};

/// Little's law is broken, by nothing but what was under way when the window ended.
fn ends_too_early(trial: &mut Trial) {
    broken(trial, "little");
    said_to(trial, false);
    trial.measured.iter_mut().for_each(|seen| seen.only_under_way = true);
}

#[test]
fn a_window_too_short_to_tell_who_waits_is_asked_again_and_is_no_overload() {
    let (_, trials) = answer(&FindGoal::default().quick(), 200.0, |trial| {
        if trial.purpose == Purpose::Ramp && trial.load == 40.0 && trial.window_s < 30.0 {
            ends_too_early(trial);
        }
    });
    let ramp = trials.iter().filter(|trial| trial.purpose == Purpose::Ramp);
    let ramp: Vec<(f64, f64)> = ramp.map(|trial| (trial.load, trial.window_s)).collect();
    assert_eq!(ramp[1..4], [(40.0, 5.0), (40.0, 30.0), (160.0, 5.0)], "{ramp:?}");
}

#[test]
fn where_one_window_of_the_search_was_too_short_no_other_one_is() {
    let goal = FindGoal { budget_s: 2000.0, ..FindGoal::default().quick() };
    let (_, trials) = answer(&goal, 200.0, |trial| {
        if trial.purpose == Purpose::Search && trial.window_s < 30.0 {
            ends_too_early(trial);
        }
    });
    let search = trials.iter().filter(|trial| trial.purpose == Purpose::Search);
    let windows: Vec<f64> = search.map(|trial| trial.window_s).collect();
    assert!(windows.len() > 2 && windows[0] < 30.0, "{windows:?}");
    assert!(windows[1..].iter().all(|window_s| *window_s >= 30.0), "{windows:?}");
}

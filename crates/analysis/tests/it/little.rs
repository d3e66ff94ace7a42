//! The check of Little's law against closed loops whose bookkeeping is known to be right, or known to lose work.

use analysis::{BalanceOf, Little};

use crate::simulation::{Loop, Service};
use model::random::Random;

fn loops() -> Vec<(&'static str, Loop)> {
    let one = |users, service, think_mean_s| Loop { users, service, think_mean_s, lost_ratio: 0.0 };
    vec![
        ("short sessions, short thinks", one(20, Service::Delay(0.1), 0.25)),
        ("one user", one(1, Service::Delay(0.3), 0.3)),
        ("long sessions", one(10, Service::Delay(3.0), 1.0)),
        ("fixed sessions", one(5, Service::Fixed(1.3), 0.7)),
        ("a queue in front of a saturated server", one(20, Service::Queue(0.05), 0.25)),
        ("a queue in front of a half-used server", one(10, Service::Queue(0.03), 0.5)),
        ("a heavy tail", one(20, Service::Tail(0.1), 0.5)),
        ("no thinking at all", one(8, Service::Queue(0.02), 0.0)),
        ("stalls of a second", one(20, Service::Stalls { mean_s: 0.1, every_s: 8.0, stall_s: 1.0 }, 0.25)),
    ]
}

/// Windows of `length` seconds cut out of runs of ten windows, and how many of them break the law.
fn broken(loop_: &Loop, length: u32, windows: u32, seed: u64) -> u32 {
    each(loop_, length, windows, seed).iter().filter(|little| !little.holds()).count() as u32
}

fn each(loop_: &Loop, length: u32, windows: u32, seed: u64) -> Vec<Little> {
    let mut random = Random::new(seed);
    let mut found = Vec::new();
    for _ in 0..windows / 10 {
        let run = loop_.run(length * 10, &mut random);
        found.extend((0..10).map(|window| 20 + window * length).map(|from| run.little(from, from + length)));
    }
    found
}

#[test]
fn right_bookkeeping_is_doubted_in_less_than_one_window_of_two_hundred() {
    for (index, (name, loop_)) in loops().into_iter().enumerate() {
        for (length, windows) in [(5, 2000), (20, 1000), (60, 1000)] {
            let found = broken(&loop_, length, windows, 7 + index as u64);
            println!("{name}, {length} s: {found} of {windows}");
            assert!(found * 200 < windows, "{name}, windows of {length} s: {found} of {windows} doubted");
        }
    }
}

#[test]
fn five_percent_of_lost_completions_are_caught_in_long_windows() {
    for (index, (name, loop_)) in loops().into_iter().enumerate() {
        let lossy = Loop { lost_ratio: 0.05, ..loop_ };
        let (length, windows) = (600, 20);
        let found = broken(&lossy, length, windows, 70 + index as u64);
        assert!(found >= windows - 1, "{name}: only {found} of {windows} windows of {length} s caught");
    }
}

#[test]
fn a_user_who_never_comes_back_is_noticed() {
    let (name, loop_) = loops().remove(0);
    let mut run = loop_.run(120, &mut Random::new(3));
    run.hang_a_user();
    let found = run.little(20, 140);
    assert!(!found.holds(), "{name}: 120 of {:.0} user-seconds are never counted", found.users.integral_s);
    assert_eq!(found.worst().0, BalanceOf::Sessions);
}

#[test]
fn the_stated_standard_error_is_that_of_many_windows() {
    for (name, loop_) in loops().into_iter().filter(|(_, loop_)| matches!(loop_.service, Service::Delay(_))) {
        let (length, windows) = (30, 1000u32);
        let each = each(&loop_, length, windows, 11);
        let n = f64::from(windows);
        let seen = (each.iter().map(|one| one.sessions.difference_s().powi(2)).sum::<f64>() / n).sqrt();
        let stated = each.iter().map(|one| one.sessions.standard_error_s).sum::<f64>() / n;
        println!("{name}: seen {seen:.3}, stated {stated:.3}");
        assert!((0.9..1.6).contains(&(stated / seen)), "{name}: stated {stated} user-s, seen {seen}");
    }
}

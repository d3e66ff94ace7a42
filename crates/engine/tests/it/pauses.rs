//! Pauses that differ by session, and what is recorded of them: drawn, asked for, kept. All on virtual time.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::catalogue::mix::{Mix, Order};
use model::record::interval::{Interval, Pauses};
use model::record::plan::Load;
use model::{Distribution, Result};

use crate::virtual_net::{MS, Reply, VirtualNet, ok};

struct Sum(Interval);

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.merge(second.interval);
        Ok(())
    }
}

/// Two sessions in turn, `quick` and `slow`; how the answer to each is given.
struct Bench {
    think: Option<Distribution>,
    cycle: Option<Distribution>,
    by_session: BTreeMap<String, Distribution>,
    slow: Reply,
    users: u32,
    seconds: f64,
}

fn fixed(value: f64) -> Distribution {
    Distribution::Fixed { value }
}

fn bench() -> Bench {
    let by_session = BTreeMap::from([("slow".to_string(), fixed(3.0))]);
    let slow = Reply::After(100 * MS, ok(""));
    Bench { think: None, cycle: None, by_session, slow, users: 1, seconds: 40.0 }
}

impl Bench {
    /// What was recorded of pauses after `quick` and `slow`, and when each request came, in milliseconds.
    fn run(&self) -> ([Pauses; 2], Vec<(u64, String)>) {
        let text = "function quick() get('/quick') end function slow() get('/slow') end";
        let names = vec!["quick".to_string(), "slow".to_string()];
        let mix = Mix { names, order: Order::Sequence(vec![0, 1]) };
        let source = Source { mix, ..Source::of("session.lua", text, "") };
        let scenario = Scenario {
            think: self.think,
            cycle: self.cycle,
            by_session: self.by_session.clone(),
            ..Scenario::of(Program::Script(source))
        };
        let load = Load { users: self.users, steady_s: self.seconds, seed: 3, ..Load::default() };
        let target = SocketAddr::from(([127, 0, 0, 1], 80));
        let slow = self.slow.clone();
        let (clock, net, log) = VirtualNet::new(move |_, text| match text.starts_with("GET /slow") {
            true => slow.clone(),
            false => Reply::After(100 * MS, ok("")),
        });
        let mut sum = Sum(Interval::empty(0));
        run_on(&RunOptions::of(scenario, load, target), clock, net, &mut sum).expect("the run works");
        let path = |text: &str| text.split(' ').nth(1).unwrap_or_default().to_string();
        let requests = log.borrow().iter().map(|(at, text)| (*at / MS, path(text))).collect();
        ([sum.0.pauses[0], sum.0.pauses[1]], requests)
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-4 * expected.max(1.0), "{found} instead of {expected}");
}

#[test]
fn a_session_s_own_pause_comes_after_it() {
    let (_, requests) = Bench { think: Some(fixed(1.0)), ..bench() }.run();
    let first: Vec<(u64, &str)> = requests.iter().take(4).map(|(at, path)| (*at, path.as_str())).collect();
    assert_eq!(first, [(0, "/quick"), (1100, "/slow"), (4200, "/quick"), (5300, "/slow")]);
    let (_, requests) = Bench { cycle: Some(fixed(1.0)), ..bench() }.run();
    let first: Vec<u64> = requests.iter().take(4).map(|(at, _)| *at).collect();
    assert_eq!(first, [0, 1000, 4000, 5000], "of cycles it is the time from start to start");
}

#[test]
fn pauses_are_recorded_as_drawn_and_as_kept() {
    let ([quick, slow], requests) = Bench { think: Some(fixed(1.0)), ..bench() }.run();
    let count = |name: &str| requests.iter().filter(|(_, path)| path == name).count() as u64;
    assert_eq!((quick.drawn, slow.drawn), (count("/quick"), count("/slow")));
    close(quick.drawn_sum_s, quick.drawn as f64);
    close(slow.drawn_sum_s, 3.0 * slow.drawn as f64);
    assert_eq!(quick.ended + slow.ended, quick.drawn + slow.drawn - 1, "the last one ends with the run");
    close(quick.asked_sum_s, quick.ended as f64);
    close(quick.took_sum_s, quick.ended as f64);
}

#[test]
fn a_session_that_outlasts_its_cycle_is_recorded_with_its_own_length() {
    let slow = Reply::After(4000 * MS, ok(""));
    let ([quick, slow], _) = Bench { cycle: Some(fixed(1.0)), slow, ..bench() }.run();
    close(quick.took_sum_s, quick.asked_sum_s);
    assert!(slow.ended >= 5, "{slow:?}");
    close(slow.asked_sum_s, 3.0 * slow.ended as f64);
    close(slow.took_sum_s, 4.0 * slow.ended as f64);
}

#[test]
fn what_follows_a_failed_session_is_no_part_of_the_load_that_was_asked_for() {
    let slow = Reply::Close(100 * MS);
    let ([quick, slow], _) = Bench { think: Some(fixed(1.0)), slow, ..bench() }.run();
    assert!(quick.ended > 5, "{quick:?}");
    assert_eq!(slow, Pauses::default());
}

#[test]
fn the_mean_of_what_is_drawn_is_the_distribution_s() {
    let shifted = Distribution::ShiftedExponential { mean: 5.0, min: 3.0, max: 25.0 };
    let plain = Distribution::Exponential { mean: 5.0, min: 0.0, max: 25.0 };
    let by_session = BTreeMap::from([("slow".to_string(), shifted)]);
    let bench = Bench { cycle: Some(plain), by_session, users: 400, seconds: 100.0, ..bench() };
    let (seen, _) = bench.run();
    for (seen, distribution) in seen.iter().zip([plain, shifted]) {
        let n = seen.drawn as f64;
        let error = distribution.spread().0 / n.sqrt();
        let mean = seen.drawn_sum_s / n;
        assert!(n > 3000.0 && (mean - distribution.mean()).abs() < 3.3 * error, "{mean} of {n}");
    }
}

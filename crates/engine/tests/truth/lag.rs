//! The engine's lag is what a queue for its CPU makes of it.

use std::net::SocketAddr;

use engine::run_on;
use model::Distribution;

use crate::lean_net::LeanNet;
use crate::seen::{Seen, expect_no_failure, thinking, users};

/// Sending and receiving take 20 µs of the virtual CPU each, so that 17,500 sessions a second keep it busy for 70 %.
/// Many users who think exponentially start sessions as a Poisson process, and every session brings two pieces of
/// work of fixed length: send lag is the wait in a queue near M/D/1, whose mean is ρ·d / (2·(1 - ρ)) = 23 µs.
#[test]
fn lag_at_70_percent_of_the_cpu_is_the_wait_in_a_queue_and_stays_under_a_millisecond() {
    let (clock, net) = LeanNet::new(5_000_000, 20_000);
    let think = Distribution::Exponential { mean: 0.5, min: 0.0, max: 50.0 };
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 80));
    // 17,500 a second, each after a think of 0.5 s and an answer of 5 ms.
    let mut options = thinking(users(8_838, 5.0, nowhere), think);
    // Slow enough that those who begin and those who come again stay near 70 % together.
    options.load.ramp_up_s = 20.0;
    let mut seen = Seen::default();
    let totals = run_on(&options, clock, net, &mut seen).expect("the run works");
    expect_no_failure(&totals);
    let sessions = seen.operation("Op").completed;
    assert!(
        (240_000..290_000).contains(&sessions),
        "{sessions} sessions while users come for 20 s, and 5 s on"
    );
    let lag = seen.lag();
    assert!((10.0..60.0).contains(&lag.mean()), "the mean lag is {} µs", lag.mean());
    let p999_us = lag.value_at_quantile(0.999);
    assert!((50..1000).contains(&p999_us), "p99.9 of the lag is {p999_us} µs");
}

//! The recorded percentiles are those of the delays that the server made.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use engine::random::Stream;
use engine::run_on;
use model::Distribution;
use testkit::origin::Reply as Answer;

use crate::seen::{Seen, expect_exactly, expect_no_failure, thinking, users};
use crate::virtual_net::{Reply, VirtualNet, ok};
use crate::witness::expect_true_on_sockets;

/// Delays in nanoseconds, one draw each.
type Delays = fn(&mut Stream) -> u64;

fn fixed(_: &mut Stream) -> u64 {
    20_000_000
}

/// Mean 20 ms, cut at 0.4 s.
fn exponential(stream: &mut Stream) -> u64 {
    (Distribution::Exponential { mean: 0.02, min: 0.0, max: 0.4 }.sample(stream.unit()) * 1e9) as u64
}

/// 85 in a hundred take 5 ms, the others 50 ms: no quantile that is judged lies where one becomes the other.
fn bimodal(stream: &mut Stream) -> u64 {
    if stream.unit() < 0.85 { 5_000_000 } else { 50_000_000 }
}

fn exact_on_the_virtual_clock(delays: Delays) {
    let made = Rc::new(RefCell::new(Vec::new()));
    let (noted, mut stream) = (Rc::clone(&made), Stream::new(3, 1));
    let (clock, net, _) = VirtualNet::new(move |_, _| {
        let delay = delays(&mut stream);
        noted.borrow_mut().push(delay);
        Reply::After(delay, ok("known"))
    });
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = thinking(users(50, 30.0, nowhere), Distribution::Uniform { min: 0.0, max: 0.1 });
    let mut seen = Seen::default();
    let totals = run_on(&options, clock, net, &mut seen).expect("the run works");
    expect_no_failure(&totals);
    let made = made.take();
    assert!(made.len() > 10_000, "{} samples are few for p99.9", made.len());
    expect_exactly(&seen.operation("Op").service, made.clone());
    // In the closed model nobody is late but the server.
    expect_exactly(&seen.operation("Op").response, made);
}

#[test]
fn percentiles_of_fixed_delays_are_exact_on_the_virtual_clock() {
    exact_on_the_virtual_clock(fixed);
}

#[test]
fn percentiles_of_exponential_delays_are_exact_on_the_virtual_clock() {
    exact_on_the_virtual_clock(exponential);
}

#[test]
fn percentiles_of_bimodal_delays_are_exact_on_the_virtual_clock() {
    exact_on_the_virtual_clock(bimodal);
}

fn true_on_sockets(delays: Delays) {
    let decide = move || {
        let mut stream = Stream::new(3, 2);
        move || Answer::After(Duration::from_nanos(delays(&mut stream)))
    };
    expect_true_on_sockets(decide);
}

#[test]
fn percentiles_of_fixed_delays_on_sockets_are_those_of_the_server_s_own_time_stamps() {
    true_on_sockets(fixed);
}

#[test]
fn percentiles_of_exponential_delays_on_sockets_are_those_of_the_server_s_own_time_stamps() {
    true_on_sockets(exponential);
}

#[test]
fn percentiles_of_bimodal_delays_on_sockets_are_those_of_the_server_s_own_time_stamps() {
    true_on_sockets(bimodal);
}

//! Coordinated omission: while a server stands still, a closed user sends nothing, and a tool that looks only at the
//! requests that it did send sees one slow answer. Response times from the intended start see all that were to be.
//!
//! The case in the closed model: one user means to start every c; the server takes s, but stands still for H from the
//! arrival of request m on, and answers that one H + s after its arrival. The user works the backlog off one request at
//! a time, so that the j-th request after it ends H + s + j·s after the stop began, and was meant to start j·c after
//! it:
//!
//!   R(m + j) = max(s, H + s - j·(c - s))      and R = s before m
//!
//! The backlog is worked off after J = ⌈H / (c - s)⌉ requests. Of n requests the mean response is
//!
//!   s + (J·H - (c - s)·J·(J - 1)/2) / n
//!
//! while service times are s but for one of H + s, with the mean s + H/n.

use std::net::SocketAddr;
use std::time::Duration;

use engine::run_on;
use testkit::origin::{Origin, Reply as Answer};

use crate::seen::{Seen, cycling, expect_exactly, expect_no_failure, users};
use crate::turn;
use crate::virtual_net::{MS, Reply, VirtualNet, ok};
use crate::witness::{expect_true, witnessed};

const STOP: u64 = 1000 * MS;

/// The response times that theory gives for n requests, in nanoseconds.
fn theory(n: u64, m: u64, cycle: u64, service: u64) -> Vec<u64> {
    let late = |k: u64| (STOP).saturating_sub((k - m) * (cycle - service));
    (0..n).map(|k| if k < m { service } else { service + late(k) }).collect()
}

#[test]
fn in_the_closed_model_with_cycle_time_a_stop_costs_what_theory_says_exactly() {
    let _turn = turn();
    let (n, m, cycle, service) = (100, 20, 100 * MS, 10 * MS);
    let mut requests = 0;
    let (clock, net, _) = VirtualNet::new(move |_, _| {
        requests += 1;
        Reply::After(if requests == m + 1 { STOP + service } else { service }, ok("known"))
    });
    let options = cycling(users(1, 10.0, SocketAddr::from(([127, 0, 0, 1], 80))), 0.1);
    let mut seen = Seen::default();
    let totals = run_on(&options, clock, net, &mut seen).expect("the run works");
    expect_no_failure(&totals);
    let operation = seen.operation("Op");
    let expected = theory(n, m, cycle, service);
    // J = ⌈1000/90⌉ = 12; the mean is 10 + (12·1000 - 90·66)/100 = 70.6 ms.
    assert_eq!(expected.iter().sum::<u64>() / n, 70_600_000);
    expect_exactly(&operation.response, expected);
    // p50 10, p90 110, p95 560, p99 920, p99.9 1010 ms; the service time's p99 is 10 ms.
    assert!(operation.response.equivalent(operation.response.value_at_quantile(0.99), 920_000));
    let mut service_ns = vec![service; n as usize];
    service_ns[0] = STOP + service;
    expect_exactly(&operation.service, service_ns);
    assert_eq!(seen.lag().max(), 1, "the server was late, not the generator: there is no lag above 1 µs");
}

#[test]
fn on_sockets_a_stop_costs_what_the_server_s_own_time_stamps_say() {
    let (m, cycle, service) = (20, 50 * MS, 5 * MS);
    expect_true(|| {
        let mut requests = 0;
        let decide = move |arrival: &testkit::origin::Arrival<'_>| {
            requests += u64::from(arrival.path == "/");
            let stops = arrival.path == "/" && requests == m + 1;
            Answer::After(Duration::from_nanos(if stops { STOP + service } else { service }))
        };
        let origin = Origin::start(decide).expect("a loopback port");
        let run = witnessed(&origin, &cycling(users(1, 4.0, origin.address()), 0.05));
        let exchanges = run.of("/");
        let intended = |k: usize| exchanges[0].arrived + Duration::from_nanos(cycle) * k as u32;
        let ends = exchanges.iter().map(|exchange| exchange.answered.expect("every request was answered"));
        let mut response_ns: Vec<u64> =
            ends.enumerate().map(|(k, end)| end.saturating_sub(intended(k)).as_nanos() as u64).collect();
        response_ns.sort_unstable();
        let operation = run.seen.operation("Op");
        let slow = operation.service.count_between(500_000, 5_000_000);
        assert_eq!(slow, 1, "service times see one slow answer");
        // J = ⌈1000/45⌉ = 23 are late by theory, 12 of them by more than half of the stop; a slow machine makes more, and
        // the server's own stamps say how many.
        let late = operation.response.count_between(500_000, 5_000_000);
        let stamped = response_ns.iter().filter(|ns| **ns >= 500 * MS).count() as u64;
        assert!(late >= 12 && late.abs_diff(stamped) <= 1, "{late} late responses, {stamped} by the server");
        run.compare(&operation.response, &response_ns)
    });
}

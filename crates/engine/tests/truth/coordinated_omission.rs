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
use model::catalogue::load::{Arrivals, Arriving, Pattern};
use testkit::origin::{Origin, Reply as Answer};

use crate::seen::{Seen, cycling, expect_exactly, expect_no_failure, users};
use crate::virtual_net::{MS, Reply, VirtualNet, ok};
use crate::witness::{Begin, expect_true, witnessed};

const STOP: u64 = 1000 * MS;

/// The response times that theory gives for n requests, in nanoseconds.
fn theory(n: u64, m: u64, cycle: u64, service: u64) -> Vec<u64> {
    let late = |k: u64| (STOP).saturating_sub((k - m) * (cycle - service));
    (0..n).map(|k| if k < m { service } else { service + late(k) }).collect()
}

#[test]
fn in_the_closed_model_with_cycle_time_a_stop_costs_what_theory_says_exactly() {
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
        // When each was meant to be sent: by the request that came soonest after its time, since what delays one (the
        // first has to connect) only adds.
        let after = |k: usize| Duration::from_nanos(cycle) * k as u32;
        let before_the_stop = exchanges.iter().take(m as usize).enumerate();
        let begun = before_the_stop.map(|(k, exchange)| exchange.arrived.saturating_sub(after(k))).min();
        let begun = begun.expect("there are requests before the stop");
        let intended = |k: usize| begun + after(k);
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
        run.compare(Begin::Intended, &operation.response, &response_ns)
    });
}

/// Arrivals at 100 a second for 20 s against a server that stands still from 5 s to 6 s; what was seen, and when the
/// server saw each request arrive.
fn arriving(pattern: Pattern, most_users: u32) -> (Seen, Vec<u64>) {
    let service = 10 * MS;
    let (clock, net, log) = VirtualNet::new(move |at, _| {
        let stopped = (5 * STOP..6 * STOP).contains(&at);
        Reply::After(if stopped { 6 * STOP - at + service } else { service }, ok("known"))
    });
    let mut options = users(most_users, 20.0, SocketAddr::from(([127, 0, 0, 1], 80)));
    let arriving = Arriving::Sessions;
    options.load.arrivals = Some(Arrivals { pattern, arriving, from_per_s: 100.0, to_per_s: 100.0 });
    let mut seen = Seen::default();
    let totals = run_on(&options, clock, net, &mut seen).expect("the run works");
    expect_no_failure(&totals);
    let arrivals = log.borrow().iter().map(|(at, _)| *at).collect();
    (seen, arrivals)
}

/// In the open model a stop of H at a rate of r makes r·H arrivals late, the j-th of them by what is left of the stop:
/// uniformly between 0 and H. Of n arrivals the mean response is s + r·H²/2 / n.
#[test]
fn in_the_open_model_every_arrival_of_a_stop_is_late_by_what_is_left_of_it() {
    for pattern in [Pattern::Constant, Pattern::Poisson] {
        let (seen, arrivals) = arriving(pattern, 1000);
        let operation = seen.operation("Op");
        let expected: Vec<u64> = arrivals
            .iter()
            .map(|at| if (5 * STOP..6 * STOP).contains(at) { 6 * STOP - at + 10 * MS } else { 10 * MS })
            .collect();
        expect_exactly(&operation.response, expected);
        // Nobody waits for a user, so that a request starts when it was to: service and response are the same.
        assert_eq!(operation.response, operation.service, "{pattern:?}");
        let n = arrivals.len() as f64;
        let theory_ms = 10.0 + 100.0 * 1000.0 / 2.0 / n;
        let mean_ms = operation.response.mean() / 1e3;
        // The sum over Poisson arrivals of the stop has the variance r·H³/3 (Campbell's theorem): 5.8 s.
        let slack_ms = if pattern == Pattern::Constant { 0.5 } else { 3.29 * 5.77e3 / n };
        assert!(
            (mean_ms - theory_ms).abs() < slack_ms,
            "{pattern:?}: mean {mean_ms} ms, theory {theory_ms} ms"
        );
    }
}

/// With 20 users the 21st arrival of the stop has nobody to begin it. It counts from its intended start all the same:
/// response times are those of as many users as needed, and only service times look well.
#[test]
fn arrivals_that_wait_for_a_user_are_charged_from_their_intended_start() {
    let (free, _) = arriving(Pattern::Constant, 1000);
    let (few, _) = arriving(Pattern::Constant, 20);
    let slow = |times: &model::record::interval::Times| times.count_between(500_000, 60_000_000);
    let (free, few) = (free.operation("Op"), few.operation("Op"));
    // An arrival at t is answered at 6.01 s: those from 5.00 to 5.51 s take half a second or more.
    assert_eq!(slow(&free.response), 52);
    assert!(slow(&few.response) >= slow(&free.response), "{} late responses", slow(&few.response));
    assert_eq!(slow(&few.service), 20, "service times see one slow answer a user");
    assert_eq!(few.response.len(), free.response.len(), "no arrival is dropped");
}

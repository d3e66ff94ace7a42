//! A server that stands still: whoever waits meanwhile is seen, in the open model, in the closed one and in a request
//! that is only repeated, whatever the script does with what it waited for.
//!
//! The server takes s for an answer and stands still from F to F + H: a request that arrives at a in between is answered
//! at F + H + s.

use std::net::SocketAddr;

use engine::scenario::Repeat;
use engine::{Program, RunOptions, Scenario, Source, run_on};
use model::Distribution;
use model::catalogue::load::{Arrivals, Arriving, Lifetime, Load, Pattern};

use crate::seen::{Seen, expect_exactly, expect_no_failure};
use crate::virtual_net::{MS, Reply, VirtualNet, ok};

const SERVICE: u64 = 10 * MS;
const FROM: u64 = 8_000 * MS;
const UNTIL: u64 = 11_000 * MS;

/// What a request waits that arrives at `at`.
fn waits(at: u64) -> u64 {
    if (FROM..UNTIL).contains(&at) { UNTIL - at + SERVICE } else { SERVICE }
}

/// A new user fetches a page that is no part of its operations, then one that is.
const SCRIPT: &str = "function visit(user)
    if not user.known then
        operation 'Connect'
        get('/front')
        abandon()
        user.known = true
    end
    operation 'Op'
    get('/')
end";

/// Runs `program` for 20 s; what was seen.
fn observe(program: Program, load: Load, think: Option<Distribution>) -> Seen {
    let (clock, net, _) = VirtualNet::new(|at, _| Reply::After(waits(at), ok("")));
    let scenario = Scenario { think, timeout_s: 10.0, ..Scenario::of(program) };
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions { drain_s: 20.0, ..RunOptions::of(scenario, load, target) };
    let mut seen = Seen::default();
    let totals = run_on(&options, clock, net, &mut seen).expect("the run works");
    expect_no_failure(&totals);
    seen
}

fn script() -> Program {
    Program::Script(Source::of("session.lua", SCRIPT, "visit"))
}

/// 50 arrivals a second, evenly; at most `users` users.
fn arrivals(users: u32) -> Load {
    let (pattern, arriving) = (Pattern::Constant, Arriving::Sessions);
    let arrivals = Some(Arrivals { pattern, arriving, from_per_s: 50.0, to_per_s: 50.0 });
    Load { users, steady_s: 20.0, seed: 11, arrivals, ..Load::default() }
}

#[test]
fn in_the_open_model_a_session_s_time_begins_at_its_arrival_whatever_it_abandons() {
    let seen = observe(script(), arrivals(1_000), None);
    let at: Vec<u64> = (0..1_000).map(|k| k * 20 * MS).collect();
    let connects: Vec<u64> = at.iter().map(|at| waits(*at)).collect();
    let operations: Vec<u64> = at.iter().map(|at| waits(at + waits(*at))).collect();
    let sessions = connects.iter().zip(&operations).map(|(connect, operation)| connect + operation).collect();
    // 150 of 1,000 arrive meanwhile, and all of them meet it in what the script abandons.
    assert_eq!(connects.iter().filter(|ns| **ns > SERVICE).count(), 150);
    expect_exactly(&seen.operation("Op").response, operations);
    expect_exactly(seen.untimed(), connects);
    let session = seen.session("visit");
    expect_exactly(&session.response, sessions);
    assert!(session.response.value_at_quantile(0.99) > 2_700_000, "p99 follows from the freeze");
    assert_eq!(session.response, session.service, "nobody waited for a user");
}

#[test]
fn an_arrival_that_waits_for_a_user_is_charged_with_it_whatever_it_abandons() {
    // Ten users: the eleventh arrival of the freeze finds none, and begins when the first one is done.
    let seen = observe(script(), arrivals(10), None);
    let (session, operation) = (seen.session("visit"), seen.operation("Op"));
    assert_eq!((session.response.len(), operation.response.len()), (1_000, 1_000));
    let late = |times: &model::record::interval::Times| times.count_between(100_000, 60_000_000);
    assert!(
        late(&operation.service) == 0 && late(&session.service) == 10,
        "ten met it in their service times"
    );
    // The operation that is timed has what its user waited before it began: at least the 140 others, and those who
    // came while the queue that they left was worked off.
    assert!(late(&operation.response) >= 140, "{} late operations", late(&operation.response));
    assert!(late(&session.response) >= 150, "{} late sessions", late(&session.response));
    let longest_s = session.response.max() as f64 / 1e6;
    assert!((2.9..3.1).contains(&longest_s), "the longest waited for {longest_s} s");
}

#[test]
fn what_a_lasting_arrival_abandons_later_counts_too() {
    let script = "function visit() operation 'Try' get('/a') abandon() operation 'Op' get('/') end";
    let load =
        Load { lifetime: Some(Lifetime::Sessions(Distribution::Fixed { value: 2.0 })), ..arrivals(1_000) };
    let program = Program::Script(Source::of("session.lua", script, "visit"));
    let seen = observe(program, load, Some(Distribution::Fixed { value: 0.5 }));
    let begin = |second: u64, k: u64| {
        let at = k * 20 * MS;
        let took = |at: u64| waits(at) + waits(at + waits(at));
        if second == 0 { took(at) } else { took(at + took(at) + 500 * MS) }
    };
    // The ramp-down is none: who would begin a second session after 20 s has left.
    let first: Vec<u64> = (0..1_000).map(|k| begin(0, k)).collect();
    let second = (0..1_000).filter(|k| k * 20 * MS + begin(0, *k) + 500 * MS < 20_000 * MS);
    let all = first.into_iter().chain(second.map(|k| begin(1, k))).collect();
    expect_exactly(&seen.session("visit").response, all);
}

#[test]
fn in_the_closed_model_each_user_meets_a_freeze_once() {
    let load = Load { users: 50, steady_s: 20.0, seed: 11, ..Load::default() };
    let think = Distribution::Uniform { min: 0.0, max: 1.0 };
    let seen = observe(script(), load, Some(think));
    let operation = seen.operation("Op");
    // The freeze lasts three times longer than anybody thinks, so that it meets everybody within its first second.
    assert_eq!(operation.response.count_between(2_000_000, 3_100_000), 50, "every user waited for 2 to 3 s");
    // Each user connects once, at the beginning, when the server was well.
    expect_exactly(seen.untimed(), vec![SERVICE; 50]);
    let session = seen.session("visit");
    assert_eq!(session.response.len(), operation.response.len());
    assert_eq!(session.response, operation.response, "a cycle has no part in what is abandoned");
}

#[test]
fn a_request_that_is_only_repeated_meets_a_freeze_once_for_each_connection() {
    let repeat = Repeat {
        name: "GET /".to_string(),
        method: "GET".to_string(),
        target: "/".to_string(),
        headers: String::new(),
        body: None,
    };
    let load = Load { users: 20, steady_s: 20.0, seed: 11, ..Load::default() };
    let seen = observe(Program::Repeat(repeat), load, None);
    // Every 10 ms each connection asks again, but for the one time that takes 3.01 s: 1,700 requests each.
    let operation = seen.operation("GET /");
    let mut exact = vec![SERVICE; 20 * 1_699];
    exact.extend([3_000 * MS + SERVICE; 20]);
    expect_exactly(&operation.response, exact);
    assert!(seen.untimed().is_empty());
}

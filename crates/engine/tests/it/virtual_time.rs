//! Every claim about time, counts and errors, exact on the virtual clock.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use engine::scenario::{ConnectionPolicy, Resend};
use engine::{Audience, Program, RunOptions, Scenario, Second, Source, Totals, run_on};
use model::record::interval::{ErrorKind, Interval, OperationKind, OperationName};
use model::record::plan::Load;
use model::{Distribution, Result};

use crate::virtual_net::{Log, MS, Reply, VirtualClock, VirtualNet, ok, status};

/// Keeps what all seconds come to: one of them takes megabytes, and a run may have thousands.
#[derive(Default)]
pub(crate) struct Listener {
    whole: Option<Interval>,
    /// Of users who were not idle when the last second ended.
    session_age_s: f64,
    seconds: u32,
    pub(crate) names: Vec<OperationName>,
    pub(crate) evidence: Vec<String>,
}

impl Audience for Listener {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.whole.get_or_insert_with(|| Interval::empty(0)).merge(second.interval);
        self.session_age_s = second.interval.session_age_s;
        self.seconds += 1;
        self.names = second.names.to_vec();
        self.evidence
            .extend(second.evidence.iter().map(|e| format!("{}: {}: {}", e.operation, e.kind, e.message)));
        Ok(())
    }
}

pub(crate) struct Seen {
    pub(crate) listener: Listener,
    pub(crate) totals: Totals,
    pub(crate) whole: Interval,
    pub(crate) log: Log,
}

impl Seen {
    /// What comes of a run.
    pub(crate) fn of(options: &RunOptions, (clock, net, log): (VirtualClock, VirtualNet, Log)) -> Seen {
        let mut listener = Listener::default();
        let totals = run_on(options, clock, net, &mut listener).expect("the run works");
        let whole = listener.whole.take().unwrap_or_else(|| Interval::empty(0));
        Seen { listener, totals, whole, log }
    }

    pub(crate) fn row(&self, kind: OperationKind, name: &str) -> usize {
        let wanted = OperationName { kind, name: name.to_string() };
        let found = self.listener.names.iter().position(|name| *name == wanted);
        found.unwrap_or_else(|| panic!("no {wanted:?} among {:?}", self.listener.names))
    }

    pub(crate) fn errors(&self, name: &str, kind: ErrorKind) -> u64 {
        self.whole.operations[self.row(OperationKind::Operation, name)].errors[kind as usize]
    }

    pub(crate) fn completed(&self, kind: OperationKind, name: &str) -> u64 {
        self.whole.operations[self.row(kind, name)].completed
    }
}

pub(crate) struct Bench {
    pub(crate) script: &'static str,
    pub(crate) users: u32,
    pub(crate) seconds: f64,
    pub(crate) ramp_up_s: f64,
    pub(crate) think: Option<Distribution>,
    pub(crate) cycle: Option<Distribution>,
    pub(crate) max_sessions: Option<u32>,
    pub(crate) timeout_s: f64,
    pub(crate) connections: ConnectionPolicy,
    pub(crate) resend: Resend,
    pub(crate) refuse: bool,
    pub(crate) stall: Option<(u64, u64)>,
}

pub(crate) fn bench(script: &'static str) -> Bench {
    Bench {
        script,
        users: 1,
        seconds: 10.0,
        ramp_up_s: 0.0,
        think: None,
        cycle: None,
        max_sessions: None,
        timeout_s: 5.0,
        connections: ConnectionPolicy::Keep,
        resend: Resend::Safe,
        refuse: false,
        stall: None,
    }
}

impl Bench {
    pub(crate) fn options(&self) -> RunOptions {
        let source = Source {
            size: BTreeMap::from([("customers".to_string(), 20_000.0)]),
            ..Source::of("session.lua", self.script, "visit")
        };
        let scenario = Scenario {
            think: self.think,
            cycle: self.cycle,
            timeout_s: self.timeout_s,
            connections: self.connections,
            resend: self.resend,
            ..Scenario::of(Program::Script(source))
        };
        let load = Load {
            users: self.users,
            ramp_up_s: self.ramp_up_s,
            steady_s: self.seconds,
            seed: 7,
            ..Load::default()
        };
        let target = SocketAddr::from(([127, 0, 0, 1], 80));
        RunOptions {
            max_sessions: self.max_sessions,
            drain_s: 10.0,
            ..RunOptions::of(scenario, load, target)
        }
    }

    pub(crate) fn against(&self, server: impl FnMut(u64, &str) -> Reply + 'static) -> Seen {
        let (clock, net, log) = VirtualNet::new(server);
        let net = if self.refuse { net.refusing() } else { net };
        let net = match self.stall {
            Some((from_ns, until_ns)) => net.stalling(from_ns, until_ns),
            None => net,
        };
        Seen::of(&self.options(), (clock, net, log))
    }
}

#[test]
fn response_times_are_exact_and_users_think_between_sessions() {
    let seen =
        Bench { think: Some(Distribution::Fixed { value: 0.9 }), ..bench("function visit() get('/a') end") }
            .against(|_, _| Reply::After(100 * MS, ok("")));
    let row = seen.row(OperationKind::Operation, "visit");
    let visit = &seen.whole.operations[row];
    assert_eq!(visit.completed, 10, "one session a second for ten seconds");
    assert!(visit.response.equivalent(visit.response.min(), 100_000), "min {} µs", visit.response.min());
    assert!(visit.response.equivalent(visit.response.max(), 100_000), "max {} µs", visit.response.max());
    assert!((visit.response.mean() - 100_000.0).abs() < 100.0, "mean {} µs", visit.response.mean());
    let arrivals: Vec<u64> = seen.log.borrow().iter().map(|(at, _)| at / MS).collect();
    assert_eq!(arrivals, (0..10).map(|second| second * 1000).collect::<Vec<_>>());
}

#[test]
fn a_late_cycle_is_charged_to_the_server_from_its_intended_start() {
    // Each cycle should start every 100 ms; the third answer takes 1 s, so the next ten start late.
    let mut requests = 0;
    let seen = Bench {
        cycle: Some(Distribution::Fixed { value: 0.1 }),
        seconds: 4.0,
        ..bench("function visit() get('/a') end")
    }
    .against(move |_, _| {
        requests += 1;
        Reply::After(if requests == 3 { 1000 * MS } else { 10 * MS }, ok(""))
    });
    let visit = &seen.whole.operations[seen.row(OperationKind::Operation, "visit")];
    assert!((visit.service.max() as f64 / 1e6 - 1.0).abs() < 0.01);
    let late = visit.service.count_between(0, 20_000);
    let prompt = visit.response.count_between(0, 20_000);
    // After the stall the backlog of 9 intended starts shrinks by 90 ms a cycle: ten are late (910 ms … 100 ms).
    assert_eq!(visit.completed - prompt, 1 + 10, "late from the intended start");
    assert_eq!(late, visit.completed - 1, "only the stall itself has a long service time");
}

#[test]
fn users_ramp_up_evenly() {
    let seen = Bench {
        users: 5,
        ramp_up_s: 5.0,
        max_sessions: Some(1),
        think: Some(Distribution::Fixed { value: 0.5 }),
        ..bench("function visit() get('/a') end")
    }
    .against(|_, _| Reply::After(MS, ok("")));
    let arrivals: Vec<u64> = seen.log.borrow().iter().map(|(at, _)| at / MS).collect();
    assert_eq!(arrivals, [0, 1000, 2000, 3000, 4000]);
}

#[test]
fn two_runs_draw_the_same_requests() {
    let script =
        "function visit() get('/a', { n = random(1, size.customers), w = letters(6), u = unique() }) end";
    let run = || {
        let seen = Bench {
            users: 3,
            think: Some(Distribution::Exponential { mean: 0.3, min: 0.0, max: 3.0 }),
            ..bench(script)
        }
        .against(|_, _| Reply::After(20 * MS, ok("")));
        seen.log.borrow().clone()
    };
    let (first, second) = (run(), run());
    assert!(first.len() > 50, "{} requests", first.len());
    assert_eq!(first, second);
    let uniques: std::collections::BTreeSet<String> =
        first.iter().map(|(_, text)| text.split("u=").nth(1).expect("u")[..4].to_string()).collect();
    assert_eq!(uniques.len(), first.len(), "a unique number was given twice");
}

#[test]
fn little_s_law_holds_to_the_nanosecond() {
    let seen = Bench {
        users: 50,
        seconds: 20.0,
        think: Some(Distribution::Uniform { min: 0.0, max: 0.5 }),
        ..bench("function visit() operation 'A' get('/a') operation 'B' get('/b') think(0.1) end")
    }
    .against(|at, _| Reply::After(5 * MS + at % (30 * MS), ok("")));
    let whole = &seen.whole;
    let integrals = whole.busy_user_s + whole.thinking_user_s;
    // Whole durations of everything that ended; what the end of the run cut short is not among them.
    let counted = whole.session_sum_s + whole.think_sum_s;
    let mean_think = 0.25;
    assert!(whole.sessions_ended > 1000);
    assert!(integrals >= counted - 1e-6, "{integrals} against {counted}");
    assert!(integrals - counted < 50.0 * 2.0 * mean_think, "{integrals} against {counted}");
    assert_eq!(seen.listener.session_age_s, 0.0, "everyone has gone");
}

#[test]
fn every_failure_is_counted_by_its_kind_and_the_user_lives_on() {
    let script = "function visit() operation 'Op' get('/a') end";
    let thinking = Some(Distribution::Fixed { value: 1.0 });
    let run = |refuse, server: fn(u64, &str) -> Reply| {
        Bench { think: thinking, refuse, timeout_s: 0.5, ..bench(script) }.against(server)
    };
    let cases: [(ErrorKind, Seen); 5] = [
        (ErrorKind::Connect, run(true, |_, _| Reply::Never)),
        (ErrorKind::Timeout, run(false, |_, _| Reply::Never)),
        (ErrorKind::Status, run(false, |_, _| Reply::After(MS, status(503, "busy")))),
        (ErrorKind::Protocol, run(false, |_, _| Reply::After(MS, b"SSH-2.0\r\n\r\n".to_vec()))),
        (ErrorKind::Protocol, run(false, |_, _| Reply::Close(MS))),
    ];
    for (kind, seen) in cases {
        let errors = seen.errors("Op", kind);
        assert!(errors >= 6, "{kind:?}: {errors} errors in ten seconds; the user must live on");
        assert_eq!(seen.completed(OperationKind::Operation, "Op"), 0, "{kind:?}");
        let row = seen.row(OperationKind::Operation, "Op");
        assert_eq!(seen.totals.failed[row], errors, "{kind:?}: every failure is counted once");
        assert_eq!(seen.listener.evidence.len(), 3, "{kind:?}: a few samples are kept");
    }
}

#[test]
fn an_exception_in_an_operation_is_a_script_error_with_its_line() {
    let script =
        "function visit()\n  operation 'Good' get('/a')\n  operation 'Bad'\n  local x = nil + 1\nend";
    let seen = Bench { think: Some(Distribution::Fixed { value: 1.0 }), ..bench(script) }
        .against(|_, _| Reply::After(MS, ok("")));
    assert_eq!(seen.completed(OperationKind::Operation, "Good"), 10);
    assert_eq!(seen.errors("Bad", ErrorKind::Script), 10);
    assert!(seen.listener.evidence[0].contains("session.lua:4:"), "{:?}", seen.listener.evidence);
}

#[test]
fn fail_and_check_count_as_the_session_says() {
    let script = "function visit()
        operation 'Checked' local page = get('/a') check(page:has('hello'), 'says hello')
        operation 'Failed' page = get('/a') if not page:has('hello') then fail('no hello') end
        operation 'Never' get('/never')
    end";
    let seen = Bench { think: Some(Distribution::Fixed { value: 1.0 }), ..bench(script) }
        .against(|_, _| Reply::After(MS, ok("nothing")));
    assert_eq!(seen.errors("Checked", ErrorKind::Check), 10);
    assert_eq!(seen.errors("Failed", ErrorKind::Check), 10);
    assert!(!seen.log.borrow().iter().any(|(_, text)| text.contains("/never")));
    assert!(seen.listener.evidence.iter().any(|text| text == "Checked: check: check failed: says hello"));
    assert!(seen.listener.evidence.iter().any(|text| text == "Failed: check: no hello"));
}

#[test]
fn a_script_without_end_is_stopped_and_counted() {
    let seen = Bench {
        think: Some(Distribution::Fixed { value: 1.0 }),
        seconds: 1.0,
        ..bench("function visit() operation 'Loop' while true do end end")
    }
    .against(|_, _| Reply::Never);
    assert_eq!(seen.errors("Loop", ErrorKind::Script), 1);
    assert!(seen.listener.evidence[0].contains("loop without end"), "{:?}", seen.listener.evidence);
}

#[test]
fn a_connection_closed_in_good_faith_is_opened_again_and_the_request_repeated() {
    let mut requests = 0;
    let seen = Bench {
        think: Some(Distribution::Fixed { value: 1.0 }),
        ..bench("function visit() operation 'Op' get('/a') end")
    }
    .against(move |_, _| {
        requests += 1;
        if requests == 2 { Reply::Close(MS) } else { Reply::After(MS, ok("")) }
    });
    assert_eq!(seen.completed(OperationKind::Operation, "Op"), 10);
    let row = seen.row(OperationKind::Operation, "Op");
    assert_eq!(seen.totals.unanswered[row], 1, "the first try's outcome stays unknown");
    assert_eq!(seen.totals.connects, 2);
    assert_eq!(seen.log.borrow().len(), 11);
}

#[test]
fn an_idle_connection_that_the_server_closes_is_no_error() {
    let seen = Bench {
        think: Some(Distribution::Fixed { value: 1.0 }),
        ..bench("function visit() operation 'Op' get('/a') end")
    }
    .against(|_, _| Reply::AfterThenClose(MS, ok("")));
    assert_eq!(seen.completed(OperationKind::Operation, "Op"), 10);
    assert_eq!(seen.totals.failed.iter().sum::<u64>(), 0);
    assert_eq!(seen.totals.connects, 10);
}

#[test]
fn cookies_and_forms_go_where_they_belong() {
    let script = "function visit() post('/login', { name = 'a b', ['item[]'] = { 1, 2 } }) get('/x', { { 'z', 1 }, { 'a', 2 } }) end";
    let seen = Bench { max_sessions: Some(1), ..bench(script) }.against(|_, _| {
        Reply::After(MS, b"HTTP/1.1 200 OK\r\nSet-Cookie: id=7; Path=/\r\nContent-Length: 0\r\n\r\n".to_vec())
    });
    let log = seen.log.borrow();
    assert!(log[0].1.ends_with("\r\n\r\nitem%5B%5D=1&item%5B%5D=2&name=a+b"), "{}", log[0].1);
    assert!(log[1].1.starts_with("GET /x?z=1&a=2 HTTP/1.1\r\n"), "{}", log[1].1);
    assert!(log[1].1.contains("\r\nCookie: id=7\r\n"), "{}", log[1].1);
}

#[test]
fn an_operation_cut_off_by_the_end_stays_of_unknown_outcome() {
    let seen =
        Bench { seconds: 1.0, timeout_s: 100.0, ..bench("function visit() operation 'Op' get('/a') end") }
            .against(|_, _| Reply::Never);
    let row = seen.row(OperationKind::Operation, "Op");
    assert_eq!(seen.totals.unanswered[row], 1);
    assert_eq!(seen.totals.failed.iter().sum::<u64>(), 0);
}

#[test]
fn an_abandoned_operation_is_not_timed() {
    let script = "function visit() operation 'Try' get('/a') abandon() operation 'Try' get('/a') end";
    let seen = Bench { think: Some(Distribution::Fixed { value: 1.0 }), ..bench(script) }
        .against(|_, _| Reply::After(100 * MS, ok("")));
    assert_eq!(
        seen.completed(OperationKind::Operation, "Try"),
        seen.completed(OperationKind::Session, "visit")
    );
    let session = &seen.whole.operations[seen.row(OperationKind::Session, "visit")];
    assert!((session.response.mean() - 100_000.0).abs() < 200.0, "{}", session.response.mean());
}

#[test]
fn evidence_quotes_the_request_that_failed_and_not_another_user_s() {
    // Two users: the first one's request is never answered, the second one's are; the first times out afterwards.
    let script = "function visit(user) operation 'Op' get('/' .. user.number) end";
    let seen = Bench {
        users: 2,
        ramp_up_s: 0.2,
        timeout_s: 0.5,
        think: Some(Distribution::Fixed { value: 0.05 }),
        ..bench(script)
    }
    .against(|_, text| if text.starts_with("GET /1 ") { Reply::Never } else { Reply::After(MS, ok("")) });
    let requests: Vec<&Option<String>> =
        seen.totals.evidence.iter().map(|evidence| &evidence.request).collect();
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|request| request.as_deref() == Some("GET /1")), "{requests:?}");
}

#[test]
fn abandoning_an_operation_does_not_hide_its_failure() {
    let script = "function visit() operation 'Try' get('/a') check(false, 'never') abandon() operation 'Next' get('/b') end";
    let seen = Bench { think: Some(Distribution::Fixed { value: 1.0 }), ..bench(script) }
        .against(|_, _| Reply::After(MS, ok("")));
    assert_eq!(seen.completed(OperationKind::Operation, "Next"), 10);
    assert_eq!(seen.errors("Try", ErrorKind::Check), 10);
}

#[test]
fn a_failure_that_outlasts_its_cycle_is_charged_to_the_server_too() {
    // Each cycle should start every 100 ms; the third request times out after 1 s, so the next ones start late.
    let mut requests = 0;
    let seen = Bench {
        cycle: Some(Distribution::Fixed { value: 0.1 }),
        seconds: 4.0,
        timeout_s: 1.0,
        ..bench("function visit() get('/a') end")
    }
    .against(move |_, _| {
        requests += 1;
        if requests == 3 { Reply::Never } else { Reply::After(10 * MS, ok("")) }
    });
    assert_eq!(seen.errors("visit", ErrorKind::Timeout), 1);
    let visit = &seen.whole.operations[seen.row(OperationKind::Operation, "visit")];
    let prompt = visit.response.count_between(0, 20_000);
    // After the time-out, and the pause of 50 ms after it, the backlog shrinks by 90 ms a cycle from 960 ms.
    assert_eq!(visit.completed - prompt, 11, "late from the intended start");
}

#[test]
fn a_stall_of_the_generator_counts_by_its_share_of_the_time() {
    // One second in ten is slept through: its 100 probes are late by 1 s, 0.99 s, …, each as many sends' worth as the
    // 42 that 10 ms hold otherwise.
    let seen = Bench {
        users: 50,
        think: Some(Distribution::Fixed { value: 0.01 }),
        stall: Some((5_000 * MS, 6_000 * MS)),
        ..bench("function visit() get('/a') get('/b') end")
    }
    .against(|_, _| Reply::After(MS, ok("")));
    let lag_s = |quantile: f64| seen.whole.lag.value_at_quantile(quantile) as f64 / 1e6;
    let late = seen.whole.lag.count_between(5_000, 2_000_000) as f64 / seen.whole.lag.len() as f64;
    assert!((0.08..0.12).contains(&late), "a share of {late} of the samples is late");
    assert!(lag_s(0.99) > 0.8, "the longest hundredth of all lags is {} s", lag_s(0.99));
    assert!(lag_s(1.0) > 0.99, "the longest lag is {} s", lag_s(1.0));
    assert!(lag_s(0.5) < 0.001, "the median is undisturbed, not {} s", lag_s(0.5));
}

#[test]
fn a_refused_connection_leaves_no_outcome_in_doubt() {
    let seen = Bench {
        think: Some(Distribution::Fixed { value: 1.0 }),
        refuse: true,
        ..bench("function visit() get('/a') end")
    }
    .against(|_, _| Reply::Never);
    assert_eq!(seen.totals.unanswered.iter().sum::<u64>(), 0);
}

#[test]
fn a_session_without_a_request_is_none_and_does_not_spin() {
    let seen =
        Bench { seconds: 1.0, ..bench("function visit() count('visits') end") }.against(|_, _| Reply::Never);
    assert_eq!(seen.completed(OperationKind::Session, "visit"), 0);
    let visits = seen.totals.counters["visits"];
    assert!((15..=21).contains(&visits), "{visits} visits in a second, one each 50 ms");
}

#[test]
fn users_who_think_do_not_hold_the_end_up() {
    let seen = Bench {
        think: Some(Distribution::Fixed { value: 8.0 }),
        seconds: 10.0,
        ..bench("function visit() get('/a') end")
    }
    .against(|_, _| Reply::After(MS, ok("")));
    assert_eq!(seen.listener.seconds, 11, "ten seconds and the one in which the last user leaves");
}

#[test]
fn a_session_can_t_write_headers_that_servers_would_read_differently() {
    for headers in
        ["{ ['Content-Length'] = '5' }", "{ ['a b'] = 'c' }", "{ a = 'b\\r\\nc: d' }", "{ [''] = 'x' }"]
    {
        let script: &'static str = Box::leak(
            format!("function visit() operation 'Op' get('/a', nil, {{ headers = {headers} }}) end").into(),
        );
        let seen = Bench { max_sessions: Some(1), ..bench(script) }.against(|_, _| Reply::After(MS, ok("")));
        assert_eq!(seen.errors("Op", ErrorKind::Script), 1, "{headers}");
        assert!(seen.log.borrow().is_empty(), "{headers}: nothing was sent");
    }
}

#[test]
fn sessions_in_all_are_dealt_out_evenly_and_end_the_run() {
    let bench = Bench { users: 7, ..bench("function visit(user) get('/' .. user.number) end") };
    let options = RunOptions { total_sessions: Some(24), ..bench.options() };
    let (clock, net, log) = VirtualNet::new(|_, _| Reply::After(MS, ok("")));
    run_on(&options, clock, net, &mut Listener::default()).expect("the run works");
    let log = log.borrow();
    let of = |user: u32| log.iter().filter(|(_, text)| text.starts_with(&format!("GET /{user} "))).count();
    assert_eq!((1..=7).map(of).collect::<Vec<_>>(), [4, 4, 4, 3, 3, 3, 3]);
}

#[test]
fn a_broken_script_is_refused_before_anything_starts() {
    let options = bench("function visit() get('/a' end").options();
    let (clock, net, _) = VirtualNet::new(|_, _| Reply::Never);
    let problems = run_on(&options, clock, net, &mut Listener::default()).expect_err("a syntax error");
    assert!(problems.to_string().starts_with("session.lua:1: "), "{problems}");
    let options = bench("function visits() end").options();
    let (clock, net, _) = VirtualNet::new(|_, _| Reply::Never);
    let problems = run_on(&options, clock, net, &mut Listener::default()).expect_err("a missing function");
    assert!(problems.to_string().contains("`visit`"), "{problems}");
}

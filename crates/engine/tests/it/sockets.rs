//! The engine on real sockets.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use engine::null_server::NullServer;
use engine::{
    Audience, Control, Endpoint, Program, RunOptions, Scenario, Second, Source, Stop, Target, Totals, run,
};
use model::record::interval::Interval;
use model::record::plan::Load;
use model::{Distribution, Result};

struct Sum(Interval, Option<(u32, Control)>);

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.merge(second.interval);
        if let Some((at, control)) = &self.1
            && second.interval.second == *at
        {
            control.ask(Stop::Gently);
        }
        Ok(())
    }
}

fn options(server: &NullServer, steady_s: f64) -> RunOptions {
    with_script(server, steady_s, "function visit() operation 'Op' get('/') end")
}

fn with_script(server: &NullServer, steady_s: f64, text: &str) -> RunOptions {
    let scenario = Scenario {
        think: Some(Distribution::Fixed { value: 0.01 }),
        timeout_s: 5.0,
        ..Scenario::of(Program::Script(Source::of("session.lua", text, "visit")))
    };
    let load = Load { users: 40, ramp_up_s: 0.2, steady_s, ..Load::default() };
    RunOptions { cpus: vec![0, 1], drain_s: 5.0, ..RunOptions::of(scenario, load, server.address()) }
}

/// Requests for `/` that were answered.
fn requests(totals: &Totals) -> u64 {
    let rows = totals.names.iter().zip(&totals.completed);
    rows.filter(|(name, _)| name.name == "/").map(|(_, count)| *count).sum()
}

#[test]
fn engine_and_server_agree_on_how_many_requests_there_were() {
    let server = NullServer::start(None).expect("a loopback port");
    let mut sum = Sum(Interval::empty(0), None);
    let totals = run(&options(&server, 1.5), &Control::default(), &mut sum).expect("the run works");
    assert_eq!(requests(&totals), server.served());
    assert!(requests(&totals) > 500, "{} requests", requests(&totals));
    assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    assert_eq!(totals.connects, 40, "connections are kept");
    assert!(sum.0.generator_cpu_s > 0.0);
}

#[test]
fn a_gentle_stop_ends_the_run_early_and_loses_nothing() {
    let server = NullServer::start(None).expect("a loopback port");
    let control = Control::default();
    let mut sum = Sum(Interval::empty(0), Some((0, control.clone())));
    let totals = run(&options(&server, 600.0), &control, &mut sum).expect("the run works");
    assert_eq!(requests(&totals), server.served());
    assert_eq!(totals.unanswered.iter().sum::<u64>(), 0);
}

#[test]
fn an_answer_that_ends_with_its_connection_is_complete_at_once() {
    let null = NullServer::start(None).expect("a loopback port");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            let mut request = [0; 1024];
            // The answer and its end reach the engine together.
            if peer.read(&mut request).is_ok() {
                _ = peer.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it");
            }
        }
    });
    let options = RunOptions { target: target.into(), max_sessions: Some(5), ..options(&null, 2.0) };
    let mut sum = Sum(Interval::empty(0), None);
    let totals = run(&options, &Control::default(), &mut sum).expect("the run works");
    assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    assert_eq!(totals.connects, 40 * 5, "each answer ended its connection");
}

#[test]
fn a_large_body_that_is_dropped_over_a_unix_socket_is_read_to_its_end_at_once() {
    let null = NullServer::start(None).expect("a loopback port");
    let path = std::env::temp_dir().join(format!("plimsoll-{}-dropped.sock", std::process::id()));
    _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).expect("a socket file");
    std::thread::spawn(move || {
        let mut answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".to_vec();
        answer.resize(answer.len() + 100_000, b'x');
        let Ok((mut peer, _)) = listener.accept() else { return };
        let mut request = [0; 1024];
        // All of an answer is queued by the time that the engine has read its head: nothing comes behind it.
        while peer.read(&mut request).is_ok_and(|length| length > 0) {
            _ = peer.write_all(&answer);
        }
    });
    let text = "function visit() operation 'Op' local page = get('/', nil, { discard = true }) \
        check(page.bytes == 100000, page.bytes) end";
    let target = Target { endpoint: Endpoint::Unix(path.clone()), ..null.address().into() };
    let mut options = RunOptions { target, max_sessions: Some(20), ..with_script(&null, 5.0, text) };
    options.load.users = 1;
    let mut sum = Sum(Interval::empty(0), None);
    let totals = run(&options, &Control::default(), &mut sum).expect("the run works");
    std::fs::remove_file(&path).expect("the socket file was there");
    assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    assert_eq!((requests(&totals), totals.connects), (20, 1));
}

#[test]
fn what_is_left_of_a_request_answered_early_does_not_run_into_the_next_one() {
    let null = NullServer::start(None).expect("a loopback port");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let mut refused = Vec::new();
        for mut peer in listener.incoming().flatten() {
            let mut request = [0; 1024];
            let length = peer.read(&mut request).unwrap_or(0);
            if request[..length].starts_with(b"POST") {
                // Refused after the first bytes; the rest is never read, so that it can't be sent either.
                _ = peer.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
                refused.push(peer);
            } else {
                _ = peer.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            }
        }
    });
    let text = "local big = string.rep('x', 20000000) \
        function visit() post('/up', { a = big }, { expect = 413 }) operation 'Next' get('/next') end";
    let mut options =
        RunOptions { target: target.into(), max_sessions: Some(2), ..with_script(&null, 5.0, text) };
    options.load.users = 1;
    let mut sum = Sum(Interval::empty(0), None);
    let totals = run(&options, &Control::default(), &mut sum).expect("the run works");
    assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    let next = totals.names.iter().position(|name| name.name == "Next").expect("a row");
    assert_eq!(totals.completed[next], 2);
}

#[test]
fn a_script_that_no_thread_can_compile_ends_the_run_with_the_reason() {
    let server = NullServer::start(None).expect("a loopback port");
    let options = with_script(&server, 60.0, "function visit( end");
    let mut sum = Sum(Interval::empty(0), None);
    let problems = run(&options, &Control::default(), &mut sum).expect_err("the script is broken");
    assert!(problems.to_string().starts_with("session.lua:1: "), "{problems}");
    assert_eq!(problems.iter().count(), 1, "said once, not once a thread: {problems}");
}

#[test]
fn timers_fire_within_a_fraction_of_a_millisecond() {
    let server = NullServer::start(None).expect("a loopback port");
    let mut options = options(&server, 1.5);
    options.load.users = 5;
    let median_us = |options: &RunOptions| {
        let mut sum = Sum(Interval::empty(0), None);
        run(options, &Control::default(), &mut sum).expect("the run works");
        sum.0.lag.value_at_quantile(0.5)
    };
    // A wait that is rounded up to whole milliseconds is 500 µs late in the middle; the best of three tries says what
    // the machine allows when nobody else wants it.
    let best = (0..3).map(|_| median_us(&options)).min();
    assert!(best.is_some_and(|best| best < 400), "the median timer is {best:?} µs late");
}

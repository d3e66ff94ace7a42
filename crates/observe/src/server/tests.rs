use std::io::{Read, Write};
use std::net::TcpListener;

use model::catalogue::server_job::{Asked, StatusJob, StatusPlace};
use model::catalogue::service::{self, CounterKind};

use super::*;

fn job(port: u16, every_s: f64) -> ServerJob {
    ServerJob {
        tier: "web".into(),
        statuses: vec![StatusJob {
            name: "status".into(),
            reader: service::Reader::Lines,
            asked: vec![Asked { at: StatusPlace::Port(port), path: "/status?auto".into() }],
            user: None,
            every_s,
            threads: None,
        }],
        counters: vec![CounterJob {
            name: "workers.busy".into(),
            status: "status".into(),
            of: vec!["BusyWorkers".into()],
            kind: CounterKind::Gauge,
            unit: "workers".into(),
            times: 1.0,
            limit: Some(150.0),
            merge: service::Merge::Sum,
            each: false,
        }],
    }
}

fn value(series: &[Series], name: &str) -> Option<(f64, f64)> {
    series.iter().find(|one| one.name == name).and_then(|one| one.points.last().copied())
}

/// Samples until there is one that fits; the run's clock is the number of the sample.
fn sampled(servers: &mut Servers, fits: impl Fn(&[Series]) -> bool) -> Vec<Series> {
    let start = Instant::now();
    loop {
        let samples = servers.sample(1000.0 + start.elapsed().as_secs_f64());
        if fits(&samples) {
            return samples;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "no such sample in 20 s; the last: {samples:?}");
        std::thread::yield_now();
    }
}

/// Answers as often as there are answers, then keeps connections open in silence.
fn server(answers: &'static [&'static str]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let mut stream = stream;
            let Some(answer) = answers.get(number) else {
                silent.push(stream);
                continue;
            };
            let mut request = [0; 1024];
            let read = stream.read(&mut request).unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..read]).into_owned();
            assert!(text.starts_with("GET /status?auto HTTP/1.1\r\n") && text.contains("Connection: close"));
            _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n\r\nBusyWorkers: {answer}\n").as_bytes());
        }
    });
    port
}

#[test]
fn a_status_that_falls_silent_gives_no_stale_value_but_says_so() {
    // Long enough between two readings for a machine that has other things to do.
    let mut servers = Servers::start(&[job(server(&["7"]), 2.0)]);
    let first = sampled(&mut servers, |samples| value(samples, "workers.busy").is_some());
    let (read_s, busy) = value(&first, "workers.busy").expect("it was waited for");
    assert_eq!(busy, 7.0);
    let (told_s, unanswered) = value(&first, "status.unanswered").expect("it goes with it");
    assert_eq!(unanswered, 0.0);
    assert!(read_s > 999.0 && read_s <= told_s, "a point has the time of its reading: {first:?}");
    let next = sampled(&mut servers, |samples| !samples.is_empty());
    assert_eq!(value(&next, "status.unanswered").map(|(_, value)| value), Some(1.0), "{next:?}");
    assert_eq!(value(&next, "workers.busy"), None, "{next:?}");
}

#[test]
fn a_sample_never_waits_for_a_server() {
    let mut servers = Servers::start(&[job(server(&[]), 3.0)]);
    let start = Instant::now();
    (0..1000).for_each(|_| _ = servers.sample(0.0));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_server_that_is_gone_is_unanswered() {
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let mut servers = Servers::start(&[job(port, 0.1)]);
    let samples = sampled(&mut servers, |samples| !samples.is_empty());
    assert_eq!(value(&samples, "status.unanswered").map(|(_, value)| value), Some(1.0), "{samples:?}");
}

//! Each server of files serves a tiny kit's pages byte for byte, on connections that are kept and that are not, tells
//! about itself, and needs nothing of PHP.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use model::{Catalogue, Plan};
use observe::Servers;

use crate::bench::Bench;
use crate::tiny::{manifest, overlay, plan_of};

const STACKS: [&str; 7] =
    ["apache-prefork", "apache-worker", "apache-event", "lighttpd", "nginx", "nginx-aio", "h2o"];

/// A kit of nothing but files.
pub(crate) fn kit() -> String {
    manifest("pages", &["web+files"], "/index.html", "lighttpd")
}

/// Larger than any buffer of a server, and no two parts of it alike.
const LARGE_BYTES: usize = 921_600;

/// Bytes of which no two parts are alike.
fn page_bytes(count: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn with_pages(catalogue: &mut Catalogue) {
    catalogue.overlay(overlay(&[
        ("kits/pages/kit.toml", &kit()),
        ("kits/pages/session.lua", "function visit(user) end\n"),
        ("kits/pages/app/index.html", "the front page\n"),
    ]));
    let large = Cow::Owned(page_bytes(LARGE_BYTES));
    catalogue.overlay([("kits/pages/app/dir00001/class3_8".to_string(), large)].into());
    catalogue.overlay([("kits/pages/app/empty.html".to_string(), Cow::Owned(Vec::new()))].into());
}

pub(crate) fn plan(catalogue: &Catalogue, stack: &str) -> Plan {
    plan_of("pages", catalogue, stack, &[])
}

/// Asks for a path and reads one answer by its length: (status line, body).
fn ask(stream: &mut TcpStream, path: &str, connection: &str) -> (String, Vec<u8>) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let (mut answer, mut part) = (Vec::new(), [0; 64 * 1024]);
    loop {
        if let Some(at) = answer.windows(4).position(|end| end == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&answer[..at]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.expect("a length").trim().parse().expect("a number");
            if answer.len() >= at + 4 + length {
                let status = head.lines().next().unwrap_or_default().to_string();
                return (status, answer[at + 4..at + 4 + length].to_vec());
            }
        }
        let read = stream.read(&mut part).expect("an answer");
        assert!(read > 0, "the connection was closed within an answer");
        answer.extend_from_slice(&part[..read]);
    }
}

fn serves(stack: &str) {
    let Some(mut bench) = Bench::with(&format!("files-{stack}"), stack, with_pages, plan) else { return };
    let plan = plan(&bench.catalogue, stack);
    let running = bench.start(&plan).unwrap_or_else(|problems| panic!("{stack}: {problems}"));
    let web = running.tier("web").expect("a tier");
    assert_eq!(web.version.warning, None, "{stack}");
    let address = *web.addresses.first().expect("an address");
    let connect = || {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        stream
    };
    let pages: [(&str, Vec<u8>); 3] = [
        ("/index.html", b"the front page\n".to_vec()),
        ("/dir00001/class3_8", page_bytes(LARGE_BYTES)),
        ("/empty.html", Vec::new()),
    ];
    let mut kept = connect();
    for (path, bytes) in pages.iter().chain(&pages) {
        for stream in [&mut kept, &mut connect()] {
            let (status, body) = ask(stream, path, "keep-alive");
            assert!(status.starts_with("http/1.1 200"), "{stack} {path}: {status}");
            assert!(body == *bytes, "{stack} {path}: {} bytes, and not those of the file", body.len());
        }
    }
    let mut closing = connect();
    assert!(ask(&mut closing, "/index.html", "close").0.starts_with("http/1.1 200"), "{stack}");
    assert_eq!(closing.read(&mut [0]).expect("an end"), 0, "{stack} closes when it is asked to");
    assert!(ask(&mut kept, "/none", "keep-alive").0.starts_with("http/1.1 404"), "{stack}");
    tells_of_it(stack, &running);
    let log = std::fs::read_to_string(&running.tiers()[0].logs[0]).unwrap_or_default();
    assert!(!log.to_lowercase().contains("warn"), "{stack} takes its configuration as it is: {log}");
    let mut running = running;
    let stopped = running.stop().unwrap_or_else(|problems| panic!("{problems}"));
    assert!(stopped.iter().all(|one| one.clean), "{stack} stops by itself: {stopped:?}");
}

/// The limit of its workers or connections has room for 1,024 clients and the observer, and every counter has a value.
fn tells_of_it(stack: &str, running: &testbed::Stack) {
    let job = running.tiers()[0].job.clone();
    let limited = |name: &str| job.counters.iter().find(|counter| counter.name == name)?.limit;
    let limit = limited("connections.busy").or(limited("workers.busy")).expect("a limit");
    // Of event's workers only those with a request are busy.
    let wanted = if stack == "apache-event" { 512.0 } else { 1024.0 };
    assert!(limit >= wanted, "{stack}: {limit}");
    let mut servers = Servers::start(std::slice::from_ref(&job));
    let (begun, mut seen) = (Instant::now(), std::collections::BTreeSet::new());
    while !job.counters.iter().all(|counter| seen.contains(&counter.name)) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{stack} told only {seen:?}");
        seen.extend(servers.sample(begun.elapsed().as_secs_f64()).into_iter().map(|series| series.name));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_server_of_files_serves_them_byte_for_byte() {
    STACKS.into_iter().for_each(serves);
}

#[test]
fn a_server_of_files_needs_no_package_of_php() {
    let mut catalogue = crate::tiny::catalogue();
    with_pages(&mut catalogue);
    for stack in STACKS {
        let plan = plan(&catalogue, stack);
        let needed = testbed::Needed::by_plan(&plan).expect("right modules");
        let line = testbed::packages::apt_line(&needed, &[]);
        assert!(!line.contains("php"), "{stack}: {line}");
    }
}

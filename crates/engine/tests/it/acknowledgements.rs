//! How the generator's side acknowledges, as a server sees it that waits for that before it sends on.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::{Audience, Control, Program, RunOptions, Scenario, Second, Source, run};
use model::record::interval::{Interval, OperationKind, Times};
use model::record::plan::Load;
use model::{Acknowledge, Result};
use testkit::ending::skip;

/// Nearer to the kernel's 40 ms than to anything that loopback takes.
const DELAYED_US: u64 = 30_000;
const SESSIONS: u32 = 40;
const THINK_S: f64 = 0.002;
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
const BODY: &[u8] = b"body";

struct Sum(Interval);

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.merge(second.interval);
        Ok(())
    }
}

/// A server that writes each answer in two pieces and does not switch off Nagle's algorithm: the second piece, smaller
/// than a segment, waits until the first is acknowledged (RFC 896). It serves one connection to its end.
fn two_pieces() -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let serving = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().expect("the engine connects");
        while answered(&mut peer) {}
    });
    (address, serving)
}

fn answered(peer: &mut TcpStream) -> bool {
    let mut request = [0; 1024];
    let asked = peer.read(&mut request).is_ok_and(|length| length > 0);
    asked && peer.write_all(HEAD).is_ok() && peer.write_all(BODY).is_ok()
}

/// How many answers are late at a plain socket that leaves acknowledging to the kernel, in the same exchange.
fn late_by_the_kernel_alone() -> u64 {
    let (address, serving) = two_pieces();
    let mut socket = TcpStream::connect(address).expect("the server listens");
    let mut answer = [0; HEAD.len() + BODY.len()];
    let mut late = 0;
    for _ in 0..SESSIONS {
        let begun = Instant::now();
        socket.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("the server reads");
        socket.read_exact(&mut answer).expect("the server answers");
        late += u64::from(begun.elapsed() >= Duration::from_micros(DELAYED_US));
        std::thread::sleep(Duration::from_secs_f64(THINK_S));
    }
    drop(socket);
    serving.join().expect("the server ends with its connection");
    late
}

fn response_times(acknowledge: Acknowledge) -> Times {
    let (address, serving) = two_pieces();
    let text = "function visit() operation 'Op' get('/') end";
    let scenario = Scenario {
        acknowledge,
        think: Some(model::Distribution::Fixed { value: THINK_S }),
        ..Scenario::of(Program::Script(Source::of("session.lua", text, "visit")))
    };
    let load = Load { users: 1, steady_s: 20.0, ..Load::default() };
    let options = RunOptions { max_sessions: Some(SESSIONS), ..RunOptions::of(scenario, load, address) };
    let mut sum = Sum(Interval::empty(0));
    let totals = run(&options, &Control::default(), &mut sum).expect("the run works");
    serving.join().expect("the server ends with its connection");
    let row = totals.names.iter().position(|name| name.kind == OperationKind::Operation).expect("a row");
    assert_eq!(totals.completed[row], u64::from(SESSIONS), "{:?}", totals.evidence);
    sum.0.operations.swap_remove(row).service
}

#[test]
fn a_server_that_waits_for_acknowledgements_is_slow_unless_they_come_at_once() {
    let late = |times: &Times| times.count_between(DELAYED_US, u64::MAX);
    let at_once = late(&response_times(Acknowledge::AtOnce));
    // One of forty may be late for another reason on a busy machine; all of them would be by the delay.
    assert!(at_once <= 2, "{at_once} of {SESSIONS} answers waited although all was acknowledged at once");
    if late_by_the_kernel_alone() <= u64::from(SESSIONS) / 4 {
        skip("this machine's kernel does not delay acknowledgements");
        return;
    }
    let delayed = late(&response_times(Acknowledge::Delayed));
    assert!(delayed > u64::from(SESSIONS) / 4, "only {delayed} of {SESSIONS} answers waited");
}

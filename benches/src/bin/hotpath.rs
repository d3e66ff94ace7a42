//! A fixed number of requests through the engine on a transport in memory and a virtual clock: no socket, no kernel,
//! no wall clock, so that the instructions of it are the same from run to run. `hotpath repeat|new_heads|session VISITS`.

use std::cell::Cell;
use std::io;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use engine::clock::Clock;
use engine::scenario::Repeat;
use engine::transport::{Ready, Transport};
use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::Result;
use model::record::plan::Load;

#[path = "../answers.rs"]
mod answers;

const USERS: u32 = 100;
/// Virtual time between a batch of requests and its answers.
const ROUND_TRIP_NS: u64 = 100_000;

#[derive(Clone, Default)]
struct VirtualClock(Rc<Cell<u64>>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    /// Nobody takes turns here.
    fn leave_out(&self, length: Duration) {
        self.0.set(self.0.get() - length.as_nanos() as u64);
    }
}

/// A server's heads differ from second to second by their dates: as if it gave that number of answers in each.
const ANSWERS_A_SECOND: usize = 500;
/// Each head differs from those of the last minute.
const ONE_A_SECOND: usize = 1;

struct Canned {
    /// What requests begin with.
    request: Vec<u8>,
    /// The answer in each second of a minute.
    by_second: Vec<Rc<[u8]>>,
}

/// Answers each request with the next wait.
struct Memory {
    clock: VirtualClock,
    /// The last one is for all requests that no other is for.
    answers: Vec<Canned>,
    answered: usize,
    answers_a_second: usize,
    inbox: Vec<Option<Rc<[u8]>>>,
    ready: Vec<Ready>,
}

impl Memory {
    fn new(clock: VirtualClock, answers_a_second: usize) -> Memory {
        let answer = |body: &str, cookie: Option<&str>| -> Vec<Rc<[u8]>> {
            let cookie = cookie.map(|cookie| format!("Set-Cookie: {cookie}\r\n")).unwrap_or_default();
            let at_second = |second| {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 06:00:{second:02} GMT\r\n\
                     Content-Type: text/html\r\nConnection: keep-alive\r\n"
                );
                format!("{head}{cookie}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes().into()
            };
            (0..60).map(at_second).collect()
        };
        let mut table = Vec::new();
        for canned in &answers::ANSWERS {
            for method in ["GET", "POST"] {
                let request = format!("{method} {}", canned.path).into_bytes();
                let by_second = answer(&answers::body(canned), canned.cookie);
                table.push(Canned { request, by_second });
            }
        }
        table.push(Canned { request: Vec::new(), by_second: answer("hello\n", None) });
        Memory { clock, answers: table, answered: 0, answers_a_second, inbox: Vec::new(), ready: Vec::new() }
    }

    fn event(slot: u32, readable: bool) -> Ready {
        Ready { slot, readable, writable: !readable, ended: false }
    }
}

impl Transport for Memory {
    fn connect(&mut self, slot: u32) -> io::Result<()> {
        let slots = self.inbox.len().max(slot as usize + 1);
        self.inbox.resize(slots, None);
        self.ready.push(Memory::event(slot, false));
        Ok(())
    }

    fn finish_connect(&mut self, _slot: u32) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> io::Result<usize> {
        let answer = self.answers.iter().find(|canned| bytes.starts_with(&canned.request));
        let second = self.answered / self.answers_a_second % 60;
        self.answered += 1;
        self.inbox[slot as usize] = answer.map(|canned| Rc::clone(&canned.by_second[second]));
        self.ready.push(Memory::event(slot, true));
        Ok(bytes.len())
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> io::Result<usize> {
        let answer = self.inbox[slot as usize].take().ok_or(io::ErrorKind::WouldBlock)?;
        buffer[..answer.len()].copy_from_slice(&answer);
        Ok(answer.len())
    }

    fn close(&mut self, slot: u32) {
        self.inbox[slot as usize] = None;
        self.ready.retain(|ready| ready.slot != slot);
    }

    fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()> {
        let next_ns = self.clock.now_ns() + ROUND_TRIP_NS;
        let idle = self.ready.is_empty();
        self.clock.0.set(if idle { until_ns.max(self.clock.now_ns()) } else { next_ns });
        ready.append(&mut self.ready);
        Ok(())
    }
}

struct Nobody;

impl Audience for Nobody {
    fn second(&mut self, _second: &Second<'_>) -> Result<()> {
        Ok(())
    }
}

/// What users do, and how many answers there are in a second.
fn program(name: &str) -> Option<(Program, usize)> {
    let repeat = Repeat {
        name: "hit".to_string(),
        method: "GET".to_string(),
        target: "/".to_string(),
        headers: String::new(),
        body: None,
    };
    let text = include_str!("../../catalogue/kits/flow/session.lua");
    match name {
        "repeat" => Some((Program::Repeat(repeat), ANSWERS_A_SECOND)),
        "new_heads" => Some((Program::Repeat(repeat), ONE_A_SECOND)),
        "session" => Some((Program::Script(Source::of("session.lua", text, "visit")), ANSWERS_A_SECOND)),
        _ => None,
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let (name, visits) = (words.get(1).map(String::as_str), words.get(2).and_then(|word| word.parse().ok()));
    let (Some((program, answers_a_second)), Some(visits)) = (name.and_then(program), visits) else {
        eprintln!("usage: hotpath repeat|new_heads|session VISITS");
        return ExitCode::from(2);
    };
    let load = Load { users: USERS, steady_s: 1e6, ..Load::default() };
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 80));
    let options =
        RunOptions { total_sessions: Some(visits), ..RunOptions::of(Scenario::of(program), load, address) };
    let clock = VirtualClock::default();
    let totals = match run_on(&options, clock.clone(), Memory::new(clock, answers_a_second), &mut Nobody) {
        Ok(totals) => totals,
        Err(problems) => {
            eprintln!("{problems}");
            return ExitCode::FAILURE;
        }
    };
    let requests = totals.names.iter().zip(&totals.completed);
    let requests = requests.filter(|(name, _)| name.kind == model::OperationKind::Request);
    println!("{}", requests.map(|(_, completed)| completed).sum::<u64>());
    if totals.failed.iter().any(|failed| *failed > 0) {
        eprintln!("operations failed: {:?}", totals.evidence);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

//! A virtual clock and a virtual server behind the engine's transport: time passes only when the engine waits.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use engine::clock::Clock;
use engine::transport::{Ready, Transport};

pub(crate) const MS: u64 = 1_000_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct VirtualClock(Rc<Cell<u64>>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    /// Nobody takes turns in virtual time.
    fn leave_out(&self, length: Duration) {
        self.0.set(self.0.get() - length.as_nanos() as u64);
    }
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Sends these bytes after that number of nanoseconds.
    After(u64, Vec<u8>),
    /// Closes the connection after that number of nanoseconds without a byte.
    Close(u64),
    /// Sends these bytes, then closes.
    AfterThenClose(u64, Vec<u8>),
    /// Sends each of these pieces after that number of nanoseconds.
    Pieces(Vec<(u64, Vec<u8>)>),
    /// Never answers.
    Never,
}

pub(crate) fn ok(body: &str) -> Vec<u8> {
    status(200, body)
}

pub(crate) fn status(code: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {code} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Connected,
    Refused,
    Bytes(Vec<u8>),
    Closed,
}

#[derive(Debug, Default)]
struct Link {
    generation: u64,
    open: bool,
    refused: bool,
    /// What came of a request that is not whole.
    request: String,
    inbox: VecDeque<u8>,
    ended: bool,
}

/// Whether all of a request has come, which may be sent in pieces.
fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// (when in ns, order of making, slot, the slot's generation, what)
type Event = (u64, u64, u32, u64, Happening);

type Server = Box<dyn FnMut(u64, &str) -> Reply>;

/// Requests as the server saw them: (arrival in ns, first line and all).
pub(crate) type Log = Rc<std::cell::RefCell<Vec<(u64, String)>>>;

pub(crate) struct VirtualNet {
    clock: VirtualClock,
    server: Server,
    refuse: bool,
    /// The engine sleeps through (from, until) once.
    stall: Option<(u64, u64)>,
    links: HashMap<u32, Link>,
    queue: BinaryHeap<Reverse<Event>>,
    order: u64,
    log: Log,
}

impl VirtualNet {
    /// `server` is given the arrival time in nanoseconds and the request's text.
    pub(crate) fn new(server: impl FnMut(u64, &str) -> Reply + 'static) -> (VirtualClock, VirtualNet, Log) {
        let (clock, log) = (VirtualClock::default(), Log::default());
        let net = VirtualNet {
            clock: clock.clone(),
            server: Box::new(server),
            refuse: false,
            stall: None,
            links: HashMap::new(),
            queue: BinaryHeap::new(),
            order: 0,
            log: Rc::clone(&log),
        };
        (clock, net, log)
    }

    pub(crate) fn refusing(mut self) -> VirtualNet {
        self.refuse = true;
        self
    }

    pub(crate) fn stalling(mut self, from_ns: u64, until_ns: u64) -> VirtualNet {
        self.stall = Some((from_ns, until_ns));
        self
    }

    fn later(&mut self, after_ns: u64, slot: u32, happening: Happening) {
        self.order += 1;
        let generation = self.links[&slot].generation;
        let at = self.clock.0.get() + after_ns;
        self.queue.push(Reverse((at, self.order, slot, generation, happening)));
    }
}

impl Transport for VirtualNet {
    fn connect(&mut self, slot: u32) -> io::Result<()> {
        let generation = self.links.get(&slot).map_or(0, |link| link.generation);
        self.links.insert(slot, Link { generation, ..Link::default() });
        let happening = if self.refuse { Happening::Refused } else { Happening::Connected };
        self.later(0, slot, happening);
        Ok(())
    }

    fn finish_connect(&mut self, slot: u32) -> io::Result<()> {
        if self.links[&slot].refused { Err(io::ErrorKind::ConnectionRefused.into()) } else { Ok(()) }
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> io::Result<usize> {
        assert!(self.links[&slot].open, "the engine sends on a closed connection");
        if self.links[&slot].ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let link = self.links.get_mut(&slot).expect("the slot was connected");
        link.request.push_str(&String::from_utf8_lossy(bytes));
        if !is_whole(&link.request) {
            return Ok(bytes.len());
        }
        let text = std::mem::take(&mut link.request);
        let now = self.clock.0.get();
        let reply = (self.server)(now, &text);
        self.log.borrow_mut().push((now, text));
        match reply {
            Reply::After(after, answer) => self.later(after, slot, Happening::Bytes(answer)),
            Reply::Close(after) => self.later(after, slot, Happening::Closed),
            Reply::AfterThenClose(after, answer) => {
                self.later(after, slot, Happening::Bytes(answer));
                self.later(after, slot, Happening::Closed);
            }
            Reply::Pieces(pieces) => {
                pieces
                    .into_iter()
                    .for_each(|(after, bytes)| self.later(after, slot, Happening::Bytes(bytes)));
            }
            Reply::Never => {}
        }
        Ok(bytes.len())
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> io::Result<usize> {
        let link = self.links.get_mut(&slot).expect("the slot was connected");
        let length = link.inbox.len().min(buffer.len());
        if length == 0 {
            return if link.ended { Ok(0) } else { Err(io::ErrorKind::WouldBlock.into()) };
        }
        link.inbox.drain(..length).zip(buffer.iter_mut()).for_each(|(byte, place)| *place = byte);
        Ok(length)
    }

    fn close(&mut self, slot: u32) {
        let link = self.links.get_mut(&slot).expect("the slot was connected");
        *link = Link { generation: link.generation + 1, ..Link::default() };
    }

    fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()> {
        if let Some((_, until)) = self.stall.take_if(|(from, _)| *from <= until_ns) {
            self.clock.0.set(until);
        }
        let Some(Reverse((at, ..))) = self.queue.peek().filter(|Reverse((at, ..))| *at <= until_ns) else {
            assert!(until_ns < u64::MAX, "the engine waits for ever");
            self.clock.0.set(self.clock.0.get().max(until_ns));
            return Ok(());
        };
        let at = *at;
        self.clock.0.set(self.clock.0.get().max(at));
        while self.queue.peek().is_some_and(|Reverse((next, ..))| *next <= at) {
            let Some(Reverse((_, _, slot, generation, happening))) = self.queue.pop() else { break };
            let Some(link) = self.links.get_mut(&slot).filter(|link| link.generation == generation) else {
                continue;
            };
            let (mut readable, mut writable, mut ended) = (false, false, false);
            match happening {
                Happening::Connected => (link.open, writable) = (true, true),
                Happening::Refused => (link.refused, writable) = (true, true),
                Happening::Bytes(bytes) => {
                    link.inbox.extend(bytes);
                    readable = true;
                }
                Happening::Closed => (link.ended, readable, ended) = (true, true, true),
            }
            ready.push(Ready { slot, readable, writable, ended });
        }
        Ok(())
    }
}

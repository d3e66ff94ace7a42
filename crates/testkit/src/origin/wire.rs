//! The server's loop: sockets that are ready, answers that are due, nothing else.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, SocketFlags, sockopt};

use super::{Arrival, Ledger, Reply, line};

const LISTENER: u64 = u64::MAX;
/// The loop looks at least this often whether it is to stop.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nknown\n";

pub(super) type Decide = Box<dyn FnMut(&Arrival<'_>) -> Reply + Send>;

struct Peer {
    socket: OwnedFd,
    /// What has come of the request under way.
    unread: Vec<u8>,
    /// When its first byte was read.
    began: Duration,
}

/// What is to be done when its time comes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Duration,
    /// The order in which the function decided, where two fall due together.
    order: u64,
    connection: u64,
    /// The request's place in the ledger.
    exchange: usize,
    bytes: Vec<u8>,
    /// How many of the bytes have been written, when they are dripped; and the time between two.
    dripped: Option<(usize, Duration)>,
    closes: bool,
}

pub(super) struct Server {
    start: Instant,
    epoll: OwnedFd,
    listener: TcpListener,
    decide: Decide,
    ledger: Arc<Mutex<Ledger>>,
    peers: HashMap<u64, Peer>,
    due: BinaryHeap<Reverse<Due>>,
    order: u64,
}

impl Server {
    pub(super) fn new(
        listener: TcpListener,
        decide: Decide,
        ledger: Arc<Mutex<Ledger>>,
    ) -> io::Result<Server> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Server {
            start: Instant::now(),
            epoll,
            listener,
            decide,
            ledger,
            peers: HashMap::new(),
            due: BinaryHeap::new(),
            order: 0,
        })
    }

    /// Writes what is due, waits for the next thing to do, and reads what has come.
    pub(super) fn turn(&mut self, events: &mut Vec<Event>) -> io::Result<()> {
        let wait = self.write_what_is_due().min(LONGEST_WAIT);
        let timeout = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in events.drain(..) {
            match event.data.u64() {
                LISTENER => self.accept(),
                connection => self.read(connection),
            }
        }
        Ok(())
    }

    /// Gives how long it is until the next answer is due.
    fn write_what_is_due(&mut self) -> Duration {
        loop {
            let now = self.start.elapsed();
            match self.due.peek() {
                None => return LONGEST_WAIT,
                Some(Reverse(next)) if next.at > now => return next.at - now,
                Some(_) => {}
            }
            if let Some(Reverse(due)) = self.due.pop() {
                self.write(due);
            }
        }
    }

    fn write(&mut self, mut due: Due) {
        let Some(peer) = self.peers.get(&due.connection) else { return };
        let now = self.start.elapsed();
        if !due.bytes.is_empty() {
            let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            ledger.exchanges[due.exchange].answered.get_or_insert(now);
        }
        let written = match due.dripped {
            None => send_all(&peer.socket, &due.bytes),
            Some((sent, _)) => send_all(&peer.socket, &due.bytes[sent..=sent]),
        };
        if let Some((sent, pause)) = due.dripped
            && written.is_ok()
            && sent + 1 < due.bytes.len()
        {
            due.dripped = Some((sent + 1, pause));
            due.at += pause;
            return self.due.push(Reverse(due));
        }
        if due.closes || written.is_err() {
            self.peers.remove(&due.connection);
        }
    }

    fn accept(&mut self) {
        while let Ok(socket) = net::accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)
        {
            let _ = sockopt::set_tcp_nodelay(&socket, true);
            let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            let number = ledger.connections;
            ledger.connections += 1;
            drop(ledger);
            if epoll::add(&self.epoll, &socket, EventData::new_u64(number), EventFlags::IN).is_ok() {
                self.peers.insert(number, Peer { socket, unread: Vec::new(), began: Duration::ZERO });
            }
        }
    }

    fn read(&mut self, connection: u64) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        let mut buffer = [0; 64 * 1024];
        let length = match net::recv(&peer.socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((length, _)) if length > 0 => length,
            Err(Errno::AGAIN | Errno::INTR) => return,
            _ => {
                self.peers.remove(&connection);
                return;
            }
        };
        let now = self.start.elapsed();
        if peer.unread.is_empty() {
            peer.began = now;
        }
        peer.unread.extend_from_slice(&buffer[..length]);
        let mut complete = Vec::new();
        while let Some(head) = line::head(&peer.unread).filter(|head| head.whole_bytes <= peer.unread.len()) {
            peer.unread.drain(..head.whole_bytes);
            complete.push((head, std::mem::replace(&mut peer.began, now)));
        }
        for (head, began) in complete {
            self.take(connection, &head, began);
        }
    }

    /// A request is complete: it is noted, and the function decides.
    fn take(&mut self, connection: u64, head: &line::Head, arrived: Duration) {
        let (method, path) = (head.method.as_str(), head.path.as_str());
        let number = self.order;
        self.order += 1;
        let reply = (self.decide)(&Arrival { number, at: arrived, connection, method, path });
        let (asked, bytes, drips, closes) = match reply {
            Reply::After(after) => (after, PAGE.to_vec(), false, false),
            Reply::Bytes(after, bytes) => (after, bytes, false, false),
            Reply::Drip(every, bytes) => (every, bytes, true, false),
            Reply::Close(after) => (after, Vec::new(), false, true),
            Reply::BytesThenClose(after, bytes) => (after, bytes, false, true),
            Reply::Never => (Duration::MAX, Vec::new(), false, false),
        };
        let exchange = {
            let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            let path = ledger.path(path);
            ledger.exchanges.push(super::Exchange { connection, path, arrived, asked, answered: None });
            ledger.exchanges.len() - 1
        };
        let dripped = (drips && !bytes.is_empty()).then_some((0, asked));
        if let Some(at) = arrived.checked_add(asked) {
            self.due.push(Reverse(Due { at, order: number, connection, exchange, bytes, dripped, closes }));
        }
    }
}

/// What the server sends fits into the socket's buffer unless a test does not read; then the connection ends.
fn send_all(socket: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match net::send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

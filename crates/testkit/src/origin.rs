//! A server whose delays are known: a function given by the test decides when and how each request is answered, and
//! the server keeps its own time stamps and counts. It runs on one thread of this process, on a loopback address of this
//! process's own and a port that the kernel chooses, and ends when dropped.
//!
//! It answers each request on its own, as if it had a processor for each: requests wait for nobody but the function.
//! Requests that are pipelined on one connection are answered in the order in which their answers fall due.

mod line;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::{self, AddressFamily, SocketAddrV4, SocketFlags, SocketType};

/// The end of a header, and of what a request may say before its body.
pub(crate) const BLANK_LINE: &[u8] = b"\r\n\r\n";

/// A request as it reaches the server.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// How many requests came before it, over all connections.
    pub number: u64,
    /// Since the server's start: the moment at which its first byte was read.
    pub at: Duration,
    /// Which connection it came on, in the order in which they were accepted.
    pub connection: u64,
    /// `GET`, `POST`.
    pub method: &'a str,
    /// Its target: path and query.
    pub path: &'a str,
}

/// What becomes of a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A small page with status 200 after so long.
    After(Duration),
    /// These bytes, whatever they are, after so long.
    Bytes(Duration, Vec<u8>),
    /// These bytes, one at a time, so long before each.
    Drip(Duration, Vec<u8>),
    /// The end of the connection after so long, without a byte.
    Close(Duration),
    /// These bytes after so long, then the end of the connection.
    BytesThenClose(Duration, Vec<u8>),
    /// Nothing, ever.
    Never,
}

/// A request with the server's own time stamps, both since the server's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Which connection it came on.
    pub connection: u64,
    /// Its target: path and query.
    pub path: Arc<str>,
    /// When its first byte was read.
    pub arrived: Duration,
    /// How long the function asked the server to wait.
    pub asked: Duration,
    /// When its answer, or the first byte of it, was about to be written; absent while there is none.
    pub answered: Option<Duration>,
}

impl Exchange {
    /// What the server knows of the response time, if it has answered.
    pub fn took(&self) -> Option<Duration> {
        self.answered.map(|answered| answered.saturating_sub(self.arrived))
    }

    /// How much later than asked for the answer went out: the server's own lateness.
    pub fn late(&self) -> Option<Duration> {
        self.took().map(|took| took.saturating_sub(self.asked))
    }
}

/// What the server has seen so far.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Every request, in the order of arrival.
    pub exchanges: Vec<Exchange>,
    /// Connections accepted.
    pub connections: u64,
    paths: BTreeMap<Arc<str>, ()>,
}

impl Ledger {
    /// Every path is kept once: a run of a million requests asks for a few of them.
    fn path(&mut self, path: &str) -> Arc<str> {
        if let Some((known, ())) = self.paths.get_key_value(path) {
            return Arc::clone(known);
        }
        let fresh: Arc<str> = path.into();
        self.paths.insert(Arc::clone(&fresh), ());
        fresh
    }
}

/// A running server.
#[derive(Debug)]
pub struct Origin {
    address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Origin {
    /// Starts one; `decide` is asked for each request as it arrives.
    pub fn start(decide: impl FnMut(&Arrival<'_>) -> Reply + Send + 'static) -> io::Result<Origin> {
        let listener = TcpListener::bind((own_loopback(), 0))?;
        let address = listener.local_addr()?;
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let mut server = wire::Server::new(listener, Box::new(decide), Arc::clone(&ledger))?;
        let stopped = Arc::clone(&stop);
        let body = move || {
            settle();
            let mut events = Vec::with_capacity(256);
            while !stopped.load(Ordering::Relaxed) {
                // A server that can't wait any more answers nobody, and the test's counts say so.
                if server.turn(&mut events).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("origin".to_string()).spawn(body)?;
        Ok(Origin { address, ledger, stop, thread: Some(thread) })
    }

    /// Starts one that answers every request after the same time.
    pub fn fixed(delay: Duration) -> io::Result<Origin> {
        Origin::start(move |_| Reply::After(delay))
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has seen so far; it does nothing while the guard is held.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A loopback port on which every connection is refused for as long as this lives: nobody else can be given it.
#[derive(Debug)]
pub struct Refusing {
    address: SocketAddr,
    _socket: OwnedFd,
}

impl Refusing {
    /// Takes a port.
    pub fn start() -> io::Result<Refusing> {
        let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address = net::getsockname(&socket)?.try_into()?;
        Ok(Refusing { address, _socket: socket })
    }

    /// Where nobody listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A loopback address that no other process has. On 127.0.0.1 the kernel may choose a port that another test has just given
/// back and that somebody still asks there: a stranger's request would be in the ledger.
fn own_loopback() -> Ipv4Addr {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    // Linux numbers processes with at most 22 bits, so that this stays below 127.128.0.0.
    Ipv4Addr::new(127, 64 + high, middle, low)
}

/// The server's thread goes before others and wakes as exactly as this process may ask for: a known delay that is not
/// kept would have to be excused.
fn settle() {
    let own = rustix::thread::gettid();
    let _ = rustix::process::setpriority_process(Some(own), -20);
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    // The generator takes the first CPU; where there are more, the server takes the last one.
    if let Ok(allowed) = rustix::thread::sched_getaffinity(None)
        && let Some(last) = (0..rustix::thread::CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu))
    {
        let mut set = rustix::thread::CpuSet::new();
        set.set(last);
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
}

#[cfg(test)]
mod tests;

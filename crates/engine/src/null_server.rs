//! A server that does nothing: it measures what the generator itself can do (`plimsoll doctor`).

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{Timespec, Timespec as Timeout};
use rustix::net::{self, RecvFlags, SendFlags, SocketFlags, sockopt};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Type: text/plain\r\n\r\nnull!\n";
const LISTENER: u64 = u64::MAX;

/// A running null server on a loopback port of its own; it ends when dropped.
#[derive(Debug)]
pub struct NullServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    served: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl NullServer {
    /// Starts it, on the given CPU if one is named.
    pub fn start(cpu: Option<usize>) -> io::Result<NullServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, counter) = (Arc::clone(&stop), Arc::clone(&served));
        let body = move || {
            if let Some(cpu) = cpu {
                let mut set = rustix::thread::CpuSet::new();
                set.set(cpu);
                let _ = rustix::thread::sched_setaffinity(None, &set);
            }
            // Without an epoll nothing is served, and the caller's run reports that nobody answers.
            let _ = serve(&listener, &stopped, &counter);
        };
        let thread = std::thread::Builder::new().name("null-server".to_string()).spawn(body)?;
        Ok(NullServer { address, stop, served, thread: Some(thread) })
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests answered so far.
    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, stop: &AtomicBool, served: &AtomicU64) -> io::Result<()> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    let mut sockets: Vec<Option<Peer>> = Vec::new();
    let mut events: Vec<Event> = Vec::with_capacity(256);
    let timeout: Timeout = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !stop.load(Ordering::Relaxed) {
        events.clear();
        match epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let number = event.data.u64();
            if number == LISTENER {
                accept(&epoll, listener, &mut sockets);
            } else if let Some(slot) = sockets.get_mut(number as usize) {
                match slot.as_mut().map(|peer| peer.answer()) {
                    Some(Ok(answered)) => _ = served.fetch_add(answered, Ordering::Relaxed),
                    _ => *slot = None,
                }
            }
        }
    }
    Ok(())
}

fn accept(epoll: &OwnedFd, listener: &TcpListener, sockets: &mut Vec<Option<Peer>>) {
    while let Ok(socket) = net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        let free = sockets.iter().position(Option::is_none).unwrap_or_else(|| {
            sockets.push(None);
            sockets.len() - 1
        });
        let _ = sockopt::set_tcp_nodelay(&socket, true);
        if epoll::add(epoll, &socket, EventData::new_u64(free as u64), EventFlags::IN).is_ok() {
            sockets[free] = Some(Peer { socket, newlines: 0 });
        }
    }
}

struct Peer {
    socket: OwnedFd,
    /// How much of an empty line has come at the end of the bytes so far.
    newlines: u8,
}

impl Peer {
    /// Answers every request whose head is complete; an error or the end of the stream closes the connection.
    fn answer(&mut self) -> io::Result<u64> {
        let mut buffer = [0; 16 * 1024];
        let length = net::recv(&self.socket, &mut buffer[..], RecvFlags::empty())?.0;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut answered = 0;
        for byte in &buffer[..length] {
            self.newlines = match (byte, self.newlines) {
                (b'\n', 0) => 1,
                (b'\n', _) => {
                    net::send(&self.socket, ANSWER, SendFlags::NOSIGNAL)?;
                    answered += 1;
                    0
                }
                (b'\r', seen) => seen,
                _ => 0,
            };
        }
        Ok(answered)
    }
}

//! Real sockets, edge-triggered: one `epoll_ctl` a connection, one write and one read a request.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

use super::{Ready, Transport};
use crate::clock::{Clock, MonotonicClock};
use crate::target::{Endpoint, Target};

/// Events taken from the kernel at once.
const BATCH: usize = 256;

#[derive(Debug, Default)]
struct Slot {
    socket: Option<OwnedFd>,
    generation: u32,
}

/// Non-blocking TCP connections to one address.
pub struct EpollTransport {
    epoll: OwnedFd,
    target: SocketAddr,
    clock: MonotonicClock,
    slots: Vec<Slot>,
    events: Vec<Event>,
}

impl EpollTransport {
    /// Connections to `target`; `clock` is the one that `until_ns` of [`Transport::wait`] is read on.
    pub fn new(target: &Target, clock: MonotonicClock) -> io::Result<EpollTransport> {
        let Endpoint::Tcp(target) = target.endpoint else {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        };
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(EpollTransport { epoll, target, clock, slots: Vec::new(), events: Vec::with_capacity(BATCH) })
    }

    fn socket(&self, slot: u32) -> io::Result<&OwnedFd> {
        let socket = self.slots.get(slot as usize).and_then(|slot| slot.socket.as_ref());
        socket.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))
    }
}

impl Transport for EpollTransport {
    fn connect(&mut self, slot: u32) -> io::Result<()> {
        let family = if self.target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        match net::connect(&socket, &self.target) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let index = slot as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, Slot::default);
        }
        let entry = &mut self.slots[index];
        let data = EventData::new_u64(u64::from(entry.generation) << 32 | u64::from(slot));
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &socket, data, interest)?;
        entry.socket = Some(socket);
        Ok(())
    }

    fn finish_connect(&mut self, slot: u32) -> io::Result<()> {
        sockopt::socket_error(self.socket(slot)?)?.map_err(io::Error::from)
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match net::send(self.socket(slot)?.as_fd(), bytes, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                result => return Ok(result?),
            }
        }
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match net::recv(self.socket(slot)?.as_fd(), &mut *buffer, RecvFlags::empty()) {
                Err(Errno::INTR) => {}
                result => return Ok(result?.0),
            }
        }
    }

    fn close(&mut self, slot: u32) {
        if let Some(entry) = self.slots.get_mut(slot as usize) {
            entry.socket = None;
            entry.generation = entry.generation.wrapping_add(1);
        }
    }

    fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()> {
        let wait_ns = until_ns.saturating_sub(self.clock.now_ns());
        let timeout =
            Timespec { tv_sec: (wait_ns / 1_000_000_000) as i64, tv_nsec: (wait_ns % 1_000_000_000) as _ };
        self.events.clear();
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let data = event.data.u64();
            let slot = data as u32;
            let current =
                self.slots.get(slot as usize).is_some_and(|entry| entry.generation == (data >> 32) as u32);
            if current {
                let flags = event.flags;
                let closed = EventFlags::HUP | EventFlags::ERR | EventFlags::RDHUP;
                ready.push(Ready {
                    slot,
                    readable: flags.intersects(EventFlags::IN | closed),
                    writable: flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP),
                    ended: flags.intersects(closed),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Instant;

    fn transport(target: SocketAddr) -> EpollTransport {
        let clock = MonotonicClock::default();
        clock.start_at(Instant::now());
        EpollTransport::new(&target.into(), clock).expect("epoll is there")
    }

    fn wait_for(transport: &mut EpollTransport, want: impl Fn(&Ready) -> bool) -> Vec<Ready> {
        let mut ready = Vec::new();
        while !ready.iter().any(&want) {
            let until = transport.clock.now_ns() + 5_000_000_000;
            transport.wait(until, &mut ready).expect("waiting works");
            assert!(transport.clock.now_ns() < until, "nothing came within 5 s: {ready:?}");
        }
        ready
    }

    #[test]
    fn bytes_go_there_and_back() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut transport = transport(listener.local_addr().expect("an address"));
        transport.connect(0).expect("connecting starts");
        let (mut peer, _) = listener.accept().expect("a connection");
        wait_for(&mut transport, |ready| ready.writable);
        transport.finish_connect(0).expect("it is connected");
        assert_eq!(transport.send(0, b"ping").ok(), Some(4));
        let mut got = [0; 4];
        peer.read_exact(&mut got).expect("the bytes arrive");
        peer.write_all(b"pong!").expect("the answer goes out");
        wait_for(&mut transport, |ready| ready.readable);
        let mut buffer = [0; 64];
        assert_eq!(transport.receive(0, &mut buffer).ok(), Some(5));
        drop(peer);
        wait_for(&mut transport, |ready| ready.readable);
        assert_eq!(transport.receive(0, &mut buffer).ok(), Some(0));
    }

    #[test]
    fn a_refused_connection_is_told_and_not_hung() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let target = listener.local_addr().expect("an address");
        drop(listener);
        let mut transport = transport(target);
        if transport.connect(0).is_ok() {
            wait_for(&mut transport, |ready| ready.writable);
            assert!(transport.finish_connect(0).is_err());
        }
    }

    #[test]
    fn a_closed_slot_gets_no_event_of_its_former_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut transport = transport(listener.local_addr().expect("an address"));
        transport.connect(0).expect("connecting starts");
        let (peer, _) = listener.accept().expect("a connection");
        wait_for(&mut transport, |ready| ready.writable);
        transport.close(0);
        drop(peer);
        let mut ready = Vec::new();
        let until = transport.clock.now_ns() + 20_000_000;
        transport.wait(until, &mut ready).expect("waiting works");
        assert_eq!(ready, []);
    }
}

//! Real sockets, edge-triggered: one `epoll_ctl` a connection, one send and one receive a request.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, sockopt};

use super::socket::{Dialler, discard_tcp};
use super::{Ready, Transport, discard_through};
use model::Acknowledge;

use crate::clock::{Clock, MonotonicClock};
use crate::target::Target;

/// Events taken from the kernel at once.
const BATCH: usize = 256;
/// What a unix socket throws away with one call of the kernel; TCP needs no buffer for that.
const SCRATCH_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
struct Slot {
    socket: Option<OwnedFd>,
    generation: u32,
    /// An event said that something is wrong with it: only then is the kernel asked what.
    suspect: bool,
}

/// Non-blocking connections to one target, over TCP or a unix socket.
pub struct EpollTransport {
    epoll: OwnedFd,
    dialler: Dialler,
    clock: MonotonicClock,
    slots: Vec<Slot>,
    events: Vec<Event>,
    /// Empty for TCP.
    scratch: Vec<u8>,
    /// What is received is acknowledged as soon as it has been.
    at_once: bool,
}

impl EpollTransport {
    /// Connections to `target`; `clock` is the one that `until_ns` of [`Transport::wait`] is read on. An error when the
    /// kernel has no epoll to give, a socket's path is too long, or a source address can't be connected from.
    pub fn new(target: &Target, clock: MonotonicClock) -> io::Result<EpollTransport> {
        let dialler = Dialler::new(target)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let scratch = vec![0; if dialler.is_tcp() { 0 } else { SCRATCH_BYTES }];
        let events = Vec::with_capacity(BATCH);
        Ok(EpollTransport { epoll, dialler, clock, slots: Vec::new(), events, scratch, at_once: false })
    }

    /// Acknowledges what is received in that way; a unix socket has nothing to acknowledge.
    pub fn acknowledging(self, how: Acknowledge) -> EpollTransport {
        let at_once = how == Acknowledge::AtOnce && self.dialler.is_tcp();
        EpollTransport { at_once, ..self }
    }

    /// The kernel's wish for quick acknowledgements passes after some of them (tcp(7), TCP_QUICKACK): it is renewed
    /// with each piece that was received, which sends what is owed. A refusal changes no byte, so it is no error.
    fn acknowledge(&self, socket: &OwnedFd) {
        if self.at_once {
            _ = sockopt::set_tcp_quickack(socket, true);
        }
    }

    fn socket(&self, slot: u32) -> io::Result<&OwnedFd> {
        let socket = self.slots.get(slot as usize).and_then(|slot| slot.socket.as_ref());
        socket.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))
    }
}

impl Transport for EpollTransport {
    fn connect(&mut self, slot: u32) -> io::Result<()> {
        let socket = self.dialler.dial()?;
        let index = slot as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, Slot::default);
        }
        let entry = &mut self.slots[index];
        let data = EventData::new_u64(u64::from(entry.generation) << 32 | u64::from(slot));
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &socket, data, interest)?;
        entry.suspect = false;
        entry.socket = Some(socket);
        Ok(())
    }

    fn finish_connect(&mut self, slot: u32) -> io::Result<()> {
        let socket = self.socket(slot)?;
        if self.slots[slot as usize].suspect {
            sockopt::socket_error(socket)??;
        }
        Ok(())
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
        let socket = self.socket(slot)?;
        loop {
            match net::recv(socket.as_fd(), &mut *buffer, RecvFlags::empty()) {
                Err(Errno::INTR) => {}
                result => {
                    let received = result?.0;
                    self.acknowledge(socket);
                    return Ok(received);
                }
            }
        }
    }

    fn discard(&mut self, slot: u32, max: usize) -> io::Result<usize> {
        if self.dialler.is_tcp() {
            let socket = self.socket(slot)?;
            return discard_tcp(socket, max).inspect(|_| self.acknowledge(socket));
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let dropped = discard_through(&mut scratch, max, |buffer| self.receive(slot, buffer));
        self.scratch = scratch;
        dropped
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
            let current = self.slots.get_mut(slot as usize);
            let Some(entry) = current.filter(|entry| entry.generation == (data >> 32) as u32) else {
                continue;
            };
            let flags = event.flags;
            let broken = EventFlags::HUP | EventFlags::ERR;
            let ended = flags.intersects(broken | EventFlags::RDHUP);
            entry.suspect |= flags.intersects(broken);
            ready.push(Ready {
                slot,
                readable: ended || flags.contains(EventFlags::IN),
                writable: flags.intersects(broken | EventFlags::OUT),
                ended,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

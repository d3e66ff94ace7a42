//! A virtual server for very many connections: it answers every request after the same time and keeps 8 bytes for a
//! connection and 24 for a request under way, so that what the engine itself keeps is what is measured. Sending and
//! receiving may be given a cost, by which the virtual clock moves on as a busy CPU's would.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use engine::clock::Clock;
use engine::transport::{Ready, Transport};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nknown\n";

#[derive(Debug, Clone, Default)]
pub(crate) struct LeanClock(Rc<Cell<u64>>);

impl Clock for LeanClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    /// Nobody takes turns in virtual time.
    fn leave_out(&self, length: Duration) {
        self.0.set(self.0.get() - length.as_nanos() as u64);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Link {
    generation: u32,
    connecting: bool,
    answered: bool,
}

pub(crate) struct LeanNet {
    clock: LeanClock,
    delay_ns: u64,
    cost_ns: u64,
    links: Vec<Link>,
    /// (when, order, slot, generation)
    queue: BinaryHeap<Reverse<(u64, u32, u32, u32)>>,
    order: u32,
}

impl LeanNet {
    /// Answers take `delay_ns`; each send and each receive keeps the CPU busy for `cost_ns`.
    pub(crate) fn new(delay_ns: u64, cost_ns: u64) -> (LeanClock, LeanNet) {
        let clock = LeanClock::default();
        let net = LeanNet {
            clock: clock.clone(),
            delay_ns,
            cost_ns,
            links: Vec::new(),
            queue: BinaryHeap::new(),
            order: 0,
        };
        (clock, net)
    }

    fn later(&mut self, after_ns: u64, slot: u32) {
        self.order = self.order.wrapping_add(1);
        let generation = self.links[slot as usize].generation;
        self.queue.push(Reverse((self.clock.now_ns() + after_ns, self.order, slot, generation)));
    }

    fn work(&self) {
        self.clock.0.set(self.clock.0.get() + self.cost_ns);
    }
}

impl Transport for LeanNet {
    fn connect(&mut self, slot: u32) -> io::Result<()> {
        if self.links.len() <= slot as usize {
            self.links.resize_with(slot as usize + 1, Link::default);
        }
        self.links[slot as usize].connecting = true;
        self.later(0, slot);
        Ok(())
    }

    fn finish_connect(&mut self, _slot: u32) -> io::Result<()> {
        Ok(())
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> io::Result<usize> {
        self.work();
        self.later(self.delay_ns, slot);
        Ok(bytes.len())
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> io::Result<usize> {
        if !std::mem::take(&mut self.links[slot as usize].answered) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.work();
        buffer[..ANSWER.len()].copy_from_slice(ANSWER);
        Ok(ANSWER.len())
    }

    fn close(&mut self, slot: u32) {
        let link = &mut self.links[slot as usize];
        *link = Link { generation: link.generation.wrapping_add(1), ..Link::default() };
    }

    fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()> {
        let now_ns = self.clock.now_ns();
        let next_ns = self.queue.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        self.clock.0.set(now_ns.max(until_ns.min(next_ns)));
        while let Some(Reverse((at, _, slot, generation))) = self.queue.peek().copied() {
            if at > self.clock.now_ns() {
                break;
            }
            self.queue.pop();
            let link = &mut self.links[slot as usize];
            if link.generation == generation {
                let connected = std::mem::take(&mut link.connecting);
                link.answered = !connected;
                ready.push(Ready { slot, readable: !connected, writable: connected, ended: false });
            }
        }
        Ok(())
    }
}

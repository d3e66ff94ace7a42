//! A connection: the bytes that have come, and what goes out.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::{Errno, Result};
use rustix::net::SendFlags;

use crate::events::Interest;
use crate::finder::{Data, Part};
use crate::request::Request;

/// What it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    Read,
    Find,
    /// For a helper or a program.
    Wait,
    Send,
    /// The last answer has been sent; what still comes is dropped, so that the client can read it.
    Drain,
}

pub struct Connection {
    pub id: u64,
    pub socket: Rc<OwnedFd>,
    pub interest: Interest,
    pub doing: Doing,
    pub input: Vec<u8>,
    pub request: Option<Request>,
    pub out: Vec<u8>,
    pub out_at: usize,
    pub sending: Option<Sending>,
    pub keep: bool,
    /// When bytes last went or came.
    pub moved: Instant,
}

/// A file that is sent.
pub struct Sending {
    pub path: Arc<[u8]>,
    pub data: Rc<Data>,
    pub at: u64,
    /// The part that may be sent without waiting.
    pub part: Part,
    /// Where that part begins.
    pub from: u64,
}

impl Sending {
    pub fn new(path: Arc<[u8]>, data: Rc<Data>) -> Sending {
        Sending { path, data, at: 0, part: Part::Until(0), from: 0 }
    }

    /// Where the part ends.
    pub fn until(&self) -> u64 {
        match &self.part {
            Part::Until(end) => *end,
            Part::Bytes(bytes) => self.from + bytes.len() as u64,
        }
    }

    pub fn has_ended(&self) -> bool {
        self.at >= self.data.size
    }
}

impl Connection {
    pub fn new(id: u64, socket: Rc<OwnedFd>) -> Connection {
        Connection {
            id,
            socket,
            interest: Interest::Read,
            doing: Doing::Read,
            input: Vec::new(),
            request: None,
            out: Vec::new(),
            out_at: 0,
            sending: None,
            keep: true,
            moved: Instant::now(),
        }
    }

    /// Sends the rest of the head.
    pub fn flush(&mut self) -> Result<()> {
        while self.out_at < self.out.len() {
            let more = if self.sending.is_some() { SendFlags::MORE } else { SendFlags::empty() };
            self.out_at +=
                rustix::net::send(&self.socket, &self.out[self.out_at..], SendFlags::NOSIGNAL | more)?;
            self.moved = Instant::now();
        }
        Ok(())
    }

    /// Sends some of the part that is in memory.
    pub fn transfer(&mut self) -> Result<()> {
        let Some(sending) = &mut self.sending else { return Ok(()) };
        let len = (sending.until().min(sending.data.size) - sending.at) as usize;
        let number = match (&sending.part, &sending.data.map, &sending.data.file) {
            (Part::Bytes(bytes), ..) => {
                let rest = &bytes[(sending.at - sending.from) as usize..];
                rustix::net::send(&self.socket, &rest[..len], SendFlags::NOSIGNAL)?
            }
            (_, Some(map), _) => map
                .send(&self.socket, sending.at as usize, len)
                .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?,
            (_, None, Some(file)) => {
                let mut offset = sending.at;
                rustix::fs::sendfile(&self.socket, file, Some(&mut offset), len)?
            }
            (_, None, None) => return Err(Errno::STALE),
        };
        if number == 0 {
            // The file has shrunk.
            return Err(Errno::STALE);
        }
        sending.at += number as u64;
        self.moved = Instant::now();
        Ok(())
    }
}

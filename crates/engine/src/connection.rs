//! A connection of a user: what is being sent on it, and which answer is being read from it.

use crate::recorder::Row;
use crate::script::page::PageSlot;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The slot is free.
    Closed,
    /// The TCP handshake is under way; the request waits.
    Connecting,
    /// Open, nothing outstanding.
    Idle,
    /// A request is out, or going out.
    Waiting,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) phase: Phase,
    /// Its user, by number on this thread.
    pub(crate) user: u32,
    /// The request's bytes, kept until its answer begins, for a repeat on a new connection.
    pub(crate) out: Vec<u8>,
    /// How many of them have gone out.
    pub(crate) sent: usize,
    /// Whether an earlier request was answered on it: only then may the server have closed it in good faith.
    pub(crate) used: bool,
    /// The server has ended its side: what has come can be read, but no further request goes out on it.
    pub(crate) ended: bool,
    /// The answer under way.
    pub(crate) page: Option<PageSlot>,
    /// The request's row.
    pub(crate) row: Row,
    /// The status that the session expects; 0 means any below 400.
    pub(crate) expected_status: u16,
    /// Whether it answers HEAD.
    pub(crate) head: bool,
    /// When the request was issued, connecting included.
    pub(crate) issued_ns: u64,
}

impl Connection {
    pub(crate) fn new() -> Connection {
        Connection {
            phase: Phase::Closed,
            user: 0,
            out: Vec::new(),
            sent: 0,
            used: false,
            ended: false,
            page: None,
            row: 0,
            expected_status: 0,
            head: false,
            issued_ns: 0,
        }
    }
}

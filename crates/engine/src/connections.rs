//! A thread's connections: whose they are, what is under way on them, and the bytes that go out and come in.
//!
//! The principal type is [`Connections`], a list for each user. What goes wrong comes back as [`Trouble`]; what that, or
//! an answer, means for the user is the worker's to say. Not here: sockets (`transport`), and what requests say.

mod connection;
mod receive;
mod secure;
mod trouble;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use model::ConnectionPolicy;
use model::record::interval::ErrorKind;

pub(crate) use connection::Exchange;
pub(crate) use receive::Answered;
pub(crate) use trouble::{Cause, Progress, Trouble};

use crate::recorder::Recorder;
use crate::scenario::Resend;
use crate::script::page::{NO_PAGE, Pages};
use crate::tls::{TlsChannel, TlsFault, TlsSetup};
use crate::transport::{Ready, Transport};
use connection::{Connection, NONE, Phase};

/// One read takes at most this much.
const RECEIVE_BYTES: usize = 256 * 1024;
/// The memory of a request larger than this is given back.
const MAX_SPARE_BYTES: usize = 64 * 1024;
/// When answers to a user's requests are overdue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// One is: on this connection.
    Passed(u32),
    /// Not before then; `u64::MAX` when none is waited for.
    At(u64),
}

/// The connections of one thread, by slot number; each belongs to a user while it is open.
pub(crate) struct Connections<T> {
    transport: T,
    tls: Option<TlsSetup>,
    policy: ConnectionPolicy,
    /// What answers are read into.
    pages: Rc<RefCell<Pages>>,
    slots: Vec<Connection>,
    /// The first connection of each user; the others follow by [`Connection::next`].
    first: Vec<u32>,
    free: Vec<u32>,
    /// Free from the next wait on: events that the last one told may still name them.
    closed: Vec<u32>,
    #[expect(clippy::vec_box, reason = "a connection holds its exchange by pointer: idle ones are small")]
    spare: Vec<Box<Exchange>>,
    buffer: Box<[u8]>,
    /// What the last encrypted bytes said.
    plain: Vec<u8>,
}

impl<T: Transport> Connections<T> {
    /// No connection yet, for a number of `users`; encrypted where `tls` says how.
    pub(crate) fn new(
        transport: T,
        tls: Option<TlsSetup>,
        policy: ConnectionPolicy,
        users: usize,
        pages: Rc<RefCell<Pages>>,
    ) -> Connections<T> {
        Connections {
            transport,
            tls,
            policy,
            pages,
            slots: Vec::new(),
            first: vec![NONE; users],
            free: Vec::new(),
            closed: Vec::new(),
            spare: Vec::new(),
            buffer: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            plain: Vec::new(),
        }
    }

    /// Waits until something happens, or `until_ns`; appends what did.
    pub(crate) fn wait(&mut self, until_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.free.append(&mut self.closed);
        self.transport.wait(until_ns, ready)
    }

    /// Memory for a request.
    pub(crate) fn spare_exchange(&mut self) -> Box<Exchange> {
        self.spare.pop().unwrap_or_default()
    }

    /// Keeps an exchange's memory for the next request; its page is given back.
    pub(crate) fn recycle(&mut self, mut exchange: Box<Exchange>) {
        let page = std::mem::replace(&mut exchange.page, NO_PAGE);
        self.pages.borrow_mut().release(page);
        if exchange.out.capacity() + exchange.draft.body.capacity() <= MAX_SPARE_BYTES {
            self.spare.push(exchange);
        }
    }

    /// Sends a request of a user's `operation` (by the session's count) on an idle connection of its own, or a new one.
    pub(crate) fn send(
        &mut self,
        (user, operation): (u32, u32),
        mut exchange: Box<Exchange>,
        now_ns: u64,
        recorder: &mut Recorder,
    ) -> Progress {
        exchange.issued_ns = now_ns;
        if self.policy == ConnectionPolicy::PerOperation {
            self.close_idle(user, |connection| connection.operation != operation, recorder);
        }
        let slot = self.idle_of(user).unwrap_or_else(|| self.claim(user));
        self.dispatch(slot, operation, exchange, now_ns, recorder)
    }

    /// The same on a new connection, for a request that an earlier one lost: it was issued when it was.
    pub(crate) fn send_again(
        &mut self,
        (user, operation): (u32, u32),
        mut exchange: Box<Exchange>,
        now_ns: u64,
        recorder: &mut Recorder,
    ) -> Progress {
        exchange.sent = 0;
        let slot = self.claim(user);
        self.dispatch(slot, operation, exchange, now_ns, recorder)
    }

    fn dispatch(
        &mut self,
        slot: u32,
        operation: u32,
        exchange: Box<Exchange>,
        now_ns: u64,
        recorder: &mut Recorder,
    ) -> Progress {
        let connection = &mut self.slots[slot as usize];
        connection.operation = operation;
        connection.exchange = Some(exchange);
        if connection.phase == Phase::Idle {
            connection.phase = Phase::Waiting;
            return self.push_out(slot);
        }
        connection.phase = Phase::Connecting;
        connection.used = false;
        connection.ended = false;
        connection.begun_ns = now_ns;
        self.transport.connect(slot).map_err(|error| Trouble::unconnected(slot, &error, recorder))
    }

    /// Does what an event leaves room for: the connection is made, what waits goes out. `open` begins the user's TLS.
    pub(crate) fn go_on(
        &mut self,
        event: &Ready,
        now_ns: u64,
        recorder: &mut Recorder,
        open: impl FnOnce(u32, &TlsSetup) -> Result<TlsChannel, TlsFault>,
    ) -> Progress {
        let slot = event.slot;
        let connection = &mut self.slots[slot as usize];
        connection.ended |= event.ended;
        match connection.phase {
            _ if !event.writable => Ok(()),
            Phase::Connecting => {
                self.transport
                    .finish_connect(slot)
                    .map_err(|error| Trouble::unconnected(slot, &error, recorder))?;
                recorder.connected(now_ns.saturating_sub(connection.begun_ns));
                if let Some(setup) = &self.tls {
                    let opened = open(connection.user, setup);
                    return self.begin_handshake(slot, opened, now_ns);
                }
                connection.phase = Phase::Waiting;
                self.push_out(slot)
            }
            Phase::Securing | Phase::Waiting => self.push_out(slot),
            Phase::Closed | Phase::Idle => Ok(()),
        }
    }

    /// Sends the connection's request as far as there is room.
    fn push_out(&mut self, slot: u32) -> Progress {
        if self.tls.is_some() {
            return self.push_out_secure(slot);
        }
        loop {
            let connection = &mut self.slots[slot as usize];
            let bytes = connection.unsent();
            if connection.phase != Phase::Waiting || bytes.is_empty() {
                return Ok(());
            }
            match self.transport.send(slot, bytes) {
                Ok(sent) => {
                    if let Some(exchange) = &mut connection.exchange {
                        exchange.sent += sent;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(Trouble::lost(slot, format!("failed to send: {error}"))),
            }
        }
    }

    /// The connection was kept from an earlier request, and not a byte of the answer to this one has come.
    pub(crate) fn is_unanswered(&self, slot: u32) -> bool {
        let connection = &self.slots[slot as usize];
        let waits = connection.phase == Phase::Waiting && connection.used;
        waits && connection.exchange.as_ref().is_some_and(|exchange| exchange.first_byte_ns.is_none())
    }

    /// The connection broke. Closes it and gives its user, operation and request where that may be sent again: it had
    /// been used before and not a byte of the answer has come, so the server may have closed it in good faith before it
    /// saw the request (RFC 9110 section 9.2.2), which is a GET or HEAD, or one that the scenario resends.
    pub(crate) fn take_unanswered(
        &mut self,
        slot: u32,
        resend: Resend,
        recorder: &mut Recorder,
    ) -> Option<((u32, u32), Box<Exchange>)> {
        let unanswered = self.is_unanswered(slot);
        let connection = &mut self.slots[slot as usize];
        let exchange = connection
            .exchange
            .take_if(|exchange| unanswered && (resend == Resend::All || exchange.draft.is_safe()))?;
        let whose = (connection.user, connection.operation);
        self.close(slot, recorder);
        Some((whose, exchange))
    }

    /// What is under way on the connection has failed: closes it, and gives its user with the exchange; nothing when
    /// it is closed already.
    pub(crate) fn take_failed(
        &mut self,
        slot: u32,
        recorder: &mut Recorder,
    ) -> Option<(u32, Option<Box<Exchange>>)> {
        let connection = &mut self.slots[slot as usize];
        if connection.phase == Phase::Closed {
            return None;
        }
        let (user, exchange) = (connection.user, connection.exchange.take());
        self.close(slot, recorder);
        Some((user, exchange))
    }

    /// The kind of failure that the loss of the connection is.
    pub(crate) fn loss_kind(&self, slot: u32) -> ErrorKind {
        match self.slots[slot as usize].phase {
            Phase::Securing => ErrorKind::Connect,
            _ => ErrorKind::Protocol,
        }
    }

    /// Which answer to a user's requests is overdue now, or when one will be.
    pub(crate) fn deadline(&self, user: u32, now_ns: u64, timeout_ns: u64) -> Deadline {
        let mut earliest_ns = u64::MAX;
        for (slot, connection) in self.of(user) {
            if let Some(exchange) = &connection.exchange {
                let deadline_ns = exchange.issued_ns + timeout_ns;
                if deadline_ns <= now_ns {
                    return Deadline::Passed(slot);
                }
                earliest_ns = earliest_ns.min(deadline_ns);
            }
        }
        Deadline::At(earliest_ns)
    }

    /// A user's operation is over: where connections live for one operation, it has none.
    pub(crate) fn operation_ended(&mut self, user: u32, recorder: &mut Recorder) {
        if self.policy == ConnectionPolicy::PerOperation {
            self.close_idle(user, |_| true, recorder);
        }
    }

    /// A user's session is over, and with it what is under way.
    pub(crate) fn session_ended(&mut self, user: u32, recorder: &mut Recorder) {
        self.operation_ended(user, recorder);
        if self.policy == ConnectionPolicy::PerSession {
            self.close_all(user, recorder);
        }
    }

    /// Closes all of a user's connections on which a request is under way.
    pub(crate) fn give_up(&mut self, user: u32, recorder: &mut Recorder) {
        self.close_where(user, |connection| connection.exchange.is_some(), recorder);
    }

    /// Closes all of a user's connections.
    pub(crate) fn close_all(&mut self, user: u32, recorder: &mut Recorder) {
        self.close_where(user, |_| true, recorder);
    }

    fn close_idle(&mut self, user: u32, which: impl Fn(&Connection) -> bool, recorder: &mut Recorder) {
        let idle = |connection: &Connection| connection.phase == Phase::Idle && which(connection);
        self.close_where(user, idle, recorder);
    }

    fn close_where(&mut self, user: u32, which: impl Fn(&Connection) -> bool, recorder: &mut Recorder) {
        let mut slot = self.first[user as usize];
        while slot != NONE {
            let connection = &self.slots[slot as usize];
            let next = connection.next;
            if which(connection) {
                self.close(slot, recorder);
            }
            slot = next;
        }
    }

    /// A user's connections, the latest first.
    fn of(&self, user: u32) -> impl Iterator<Item = (u32, &Connection)> {
        let mut next = self.first[user as usize];
        std::iter::from_fn(move || {
            let slot = next;
            let connection = (slot != NONE).then(|| &self.slots[slot as usize])?;
            next = connection.next;
            Some((slot, connection))
        })
    }

    fn idle_of(&self, user: u32) -> Option<u32> {
        let usable = |connection: &Connection| connection.phase == Phase::Idle && !connection.ended;
        self.of(user).find(|(_, connection)| usable(connection)).map(|(slot, _)| slot)
    }

    fn claim(&mut self, user: u32) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Connection::new());
            self.slots.len() as u32 - 1
        });
        let connection = &mut self.slots[slot as usize];
        connection.user = user;
        connection.next = std::mem::replace(&mut self.first[user as usize], slot);
        slot
    }

    /// Closes a connection, whatever is under way on it.
    fn close(&mut self, slot: u32, recorder: &mut Recorder) {
        if self.slots[slot as usize].phase == Phase::Closed {
            return;
        }
        self.say_goodbye(slot);
        self.transport.close(slot);
        let connection = &mut self.slots[slot as usize];
        connection.phase = Phase::Closed;
        connection.used = false;
        let (user, next) = (connection.user, std::mem::replace(&mut connection.next, NONE));
        let exchange = connection.exchange.take();
        self.closed.push(slot);
        self.unlink(user, slot, next);
        if let Some(exchange) = exchange {
            if exchange.sent > 0 {
                // Given up on the way: whether the server saw it is unknown.
                recorder.unanswered(exchange.draft.row);
            }
            self.recycle(exchange);
        }
    }

    fn unlink(&mut self, user: u32, slot: u32, next: u32) {
        let first = &mut self.first[user as usize];
        if *first == slot {
            *first = next;
            return;
        }
        let mut before = *first;
        while before != NONE {
            let connection = &mut self.slots[before as usize];
            if connection.next == slot {
                connection.next = next;
                return;
            }
            before = connection.next;
        }
    }
}

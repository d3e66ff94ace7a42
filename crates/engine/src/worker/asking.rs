//! Requests of a worker's users on their way out: which connection, which bytes, when.

use std::io;

use model::interval::ErrorKind;

use super::{Doing, Worker};
use crate::clock::Clock;
use crate::connection::{Connection, Exchange, NO_CONNECTION, Phase};
use crate::scenario::ConnectionPolicy;
use crate::script::page::NO_PAGE;
use crate::transport::{ConnectFault, Transport};

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Sends the host's draft.
    pub(super) fn send_request(&mut self, user: u32) {
        let mut exchange = self.spare_exchanges.pop().unwrap_or_default();
        std::mem::swap(&mut exchange.draft, &mut self.host.borrow_mut().draft);
        exchange.index = 0;
        let Some(presence) = &mut self.users[user as usize].presence else { return };
        presence.batch.begin(&mut presence.visit, 1);
        self.begin_waiting(user);
        self.issue(user, exchange);
    }

    /// Sends the host's drafts over at most so many connections.
    pub(super) fn send_requests(&mut self, user: u32, most_connections: u16) {
        let mut drafts = std::mem::take(&mut self.host.borrow_mut().drafts);
        let Some(presence) = &mut self.users[user as usize].presence else { return };
        presence.batch.begin(&mut presence.visit, drafts.len());
        drafts.reverse();
        presence.batch.drafts = drafts;
        presence.batch.parallel = true;
        self.begin_waiting(user);
        for _ in 0..most_connections {
            self.issue_next(user);
        }
        let state = &mut self.users[user as usize];
        if state.presence.as_ref().is_some_and(|presence| presence.batch.is_complete()) {
            // Not at once: a script that goes on like that would never come back here.
            state.doing = Doing::Served;
            self.wheel.set(user, self.now_ns);
        }
    }

    fn begin_waiting(&mut self, user: u32) {
        let now_ns = self.now_ns;
        let state = &mut self.users[user as usize];
        state.doing = Doing::Waiting;
        if let Some(presence) = &mut state.presence {
            presence.visit.request_issued(now_ns);
        }
        self.wheel.set(user, now_ns + self.timeout_ns);
    }

    /// Sends the next request of a user's batch, if one is left.
    pub(super) fn issue_next(&mut self, user: u32) {
        let Some(presence) = &mut self.users[user as usize].presence else { return };
        let Some(draft) = presence.batch.drafts.pop() else { return };
        let mut exchange = self.spare_exchanges.pop().unwrap_or_default();
        exchange.index = (presence.visit.pages.len() - presence.batch.drafts.len() - 1) as u16;
        exchange.draft = draft;
        self.issue(user, exchange);
    }

    fn issue(&mut self, user: u32, mut exchange: Box<Exchange>) {
        exchange.issued_ns = self.now_ns;
        if let Some(presence) = &mut self.users[user as usize].presence {
            presence.batch.outstanding += 1;
        }
        let slot = self.connection_for(user);
        self.write_request(user, &mut exchange);
        exchange.page = self.claim_page(&exchange);
        self.connections[slot as usize].exchange = Some(exchange);
        self.dispatch(slot);
    }

    fn claim_page(&self, exchange: &Exchange) -> u32 {
        let host = self.host.borrow();
        host.pages.borrow_mut().claim(&exchange.out, exchange.draft.answer())
    }

    /// Writes the request anew, with the user's cookies as they are now.
    pub(super) fn write_request(&mut self, user: u32, exchange: &mut Exchange) {
        let presence = self.users[user as usize].presence.as_mut();
        let belongings = presence.and_then(|presence| presence.visit.belongings.as_deref_mut());
        let jar = belongings.map(|belongings| &belongings.jar);
        exchange.sent = 0;
        exchange.first_byte_ns = None;
        self.preamble.write(&mut exchange.out, &exchange.draft, jar, |_| {});
    }

    /// Gets the connection's request on its way.
    pub(super) fn dispatch(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        if connection.phase == Phase::Idle {
            connection.phase = Phase::Waiting;
            return self.push_out(slot);
        }
        connection.phase = Phase::Connecting;
        connection.used = false;
        connection.ended = false;
        connection.begun_ns = self.now_ns;
        if let Err(error) = self.transport.connect(slot) {
            self.connect_failed(slot, &error);
        }
    }

    fn connect_failed(&mut self, slot: u32, error: &io::Error) {
        let fault = ConnectFault::of(error);
        if fault.is_the_generators() {
            self.host.borrow_mut().recorder.wire().exhausted += 1;
        }
        let message = match fault.words() {
            Some(words) => format!("failed to connect: {words} ({error})"),
            None => format!("failed to connect: {error}"),
        };
        self.fail_exchange(slot, ErrorKind::Connect, &message);
    }

    /// The transport says that a connection that was being made can be written to.
    pub(super) fn connected(&mut self, slot: u32) {
        if let Err(error) = self.transport.finish_connect(slot) {
            return self.connect_failed(slot, &error);
        }
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Waiting;
        let took_ns = self.now_ns.saturating_sub(connection.begun_ns);
        self.host.borrow_mut().recorder.connected(took_ns);
        self.push_out(slot);
    }

    pub(super) fn push_out(&mut self, slot: u32) {
        loop {
            let connection = &mut self.connections[slot as usize];
            let bytes = connection.unsent();
            if connection.phase != Phase::Waiting || bytes.is_empty() {
                return;
            }
            match self.transport.send(slot, bytes) {
                Ok(sent) => {
                    if let Some(exchange) = &mut connection.exchange {
                        exchange.sent += sent;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.lost(slot, &format!("failed to send: {error}")),
            }
        }
    }

    /// An idle connection of the user, or a new one.
    fn connection_for(&mut self, user: u32) -> u32 {
        let visit = self.users[user as usize].presence.as_ref().map(|presence| &presence.visit);
        let operation = visit.map_or(0, |visit| visit.operations());
        if self.scenario.connections == ConnectionPolicy::PerOperation {
            self.close_idle(user, |connection| connection.operation != operation);
        }
        let mut slot = self.users[user as usize].connections;
        while slot != NO_CONNECTION && self.connections[slot as usize].phase != Phase::Idle {
            slot = self.connections[slot as usize].next;
        }
        if slot == NO_CONNECTION {
            slot = self.claim_connection(user);
        }
        self.connections[slot as usize].operation = operation;
        slot
    }

    fn claim_connection(&mut self, user: u32) -> u32 {
        let slot = self.free_connections.pop().unwrap_or_else(|| {
            self.connections.push(Connection::new());
            self.connections.len() as u32 - 1
        });
        let first = std::mem::replace(&mut self.users[user as usize].connections, slot);
        let connection = &mut self.connections[slot as usize];
        connection.user = user;
        connection.next = first;
        slot
    }

    /// Between operations, users whose connections live for one operation have none.
    pub(super) fn between_operations(&mut self, user: u32) {
        if self.scenario.connections == ConnectionPolicy::PerOperation {
            self.close_idle(user, |_| true);
        }
    }

    fn close_idle(&mut self, user: u32, which: impl Fn(&Connection) -> bool) {
        let mut slot = self.users[user as usize].connections;
        while slot != NO_CONNECTION {
            let connection = &self.connections[slot as usize];
            let next = connection.next;
            if connection.phase == Phase::Idle && which(connection) {
                self.close_connection(slot);
            }
            slot = next;
        }
    }

    /// Closes a connection, whatever is under way on it, and gives its exchange back.
    pub(super) fn close_connection(&mut self, slot: u32) {
        self.transport.close(slot);
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Closed;
        connection.used = false;
        let (user, next) = (connection.user, std::mem::replace(&mut connection.next, NO_CONNECTION));
        let exchange = connection.exchange.take();
        self.closed_connections.push(slot);
        self.unlink(user, slot, next);
        if let Some(exchange) = exchange {
            self.recycle(exchange);
        }
    }

    fn unlink(&mut self, user: u32, slot: u32, next: u32) {
        let first = &mut self.users[user as usize].connections;
        if *first == slot {
            *first = next;
            return;
        }
        let mut before = *first;
        while before != NO_CONNECTION {
            let connection = &mut self.connections[before as usize];
            if connection.next == slot {
                connection.next = next;
                return;
            }
            before = connection.next;
        }
    }

    /// Closes all of a user's connections.
    pub(super) fn close_connections(&mut self, user: u32) {
        while self.users[user as usize].connections != NO_CONNECTION {
            self.close_connection(self.users[user as usize].connections);
        }
    }

    /// Keeps an exchange's memory for the next request.
    pub(super) fn recycle(&mut self, mut exchange: Box<Exchange>) {
        let page = std::mem::replace(&mut exchange.page, NO_PAGE);
        self.host.borrow().pages.borrow_mut().release(page);
        if exchange.out.capacity() + exchange.draft.body.capacity() <= MOST_KEPT_BYTES {
            self.spare_exchanges.push(exchange);
        }
    }
}

/// The memory of a request larger than this is given back.
const MOST_KEPT_BYTES: usize = 64 * 1024;

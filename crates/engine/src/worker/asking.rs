//! Requests of a worker's users on their way out: which connection, which bytes, when.

use std::io;

use model::interval::ErrorKind;

use super::{Doing, Worker};
use crate::clock::Clock;
use crate::connection::{Connection, Exchange, NO_CONNECTION, Phase};
use crate::http::cache::Found;
use crate::http::request::Draft;
use crate::scenario::ConnectionPolicy;
use crate::script::page::NO_PAGE;
use crate::transport::{ConnectFault, Transport};
use crate::user_state::UserState;

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Sends the request that the session asked for.
    pub(super) fn send_request(&mut self, user: u32) {
        let mut exchange = self.spare_exchanges.pop().unwrap_or_default();
        self.program.swap_draft(&mut exchange.draft);
        exchange.index = 0;
        let Some(presence) = &mut self.users[user as usize].presence else { return };
        presence.batch.begin(&mut presence.session, 1);
        self.begin_waiting(user);
        self.issue(user, exchange);
    }

    /// Sends the requests that the session asked for over at most that number of connections.
    pub(super) fn send_requests(&mut self, user: u32, max_connections: u16) {
        let mut drafts = self.program.take_drafts();
        let Some(presence) = &mut self.users[user as usize].presence else { return };
        presence.batch.begin(&mut presence.session, drafts.len());
        drafts.reverse();
        presence.batch.drafts = drafts;
        presence.batch.parallel = true;
        self.begin_waiting(user);
        for _ in 0..max_connections {
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
            presence.session.request_issued(now_ns, &mut self.recorder);
        }
        self.wheel.set(user, now_ns + self.timeout_ns);
    }

    /// Sends the next request of a user's batch, if one is left. What the user's cache has is not asked for.
    pub(super) fn issue_next(&mut self, user: u32) {
        while let Some(presence) = &mut self.users[user as usize].presence
            && let Some(draft) = presence.batch.drafts.pop()
        {
            let index = presence.session.pages.len() - presence.batch.drafts.len() - 1;
            let mut exchange = self.spare_exchanges.pop().unwrap_or_default();
            exchange.index = index as u16;
            exchange.draft = draft;
            if !self.is_fresh(user, &exchange.draft) {
                return self.issue(user, exchange);
            }
            exchange.write_line();
            let page = self.pages.borrow_mut().claim_cached(&exchange.out);
            self.recorder.wire().cache_hits += 1;
            if let Some(presence) = &mut self.users[user as usize].presence {
                presence.session.pages[index] = page;
            }
            self.recycle(exchange);
        }
    }

    /// Whether the user's cache makes a request unnecessary.
    fn is_fresh(&mut self, user: u32, draft: &Draft) -> bool {
        let now_s = self.now_s();
        let presence = self.users[user as usize].presence.as_mut().filter(|_| draft.cached);
        let user_state = presence.and_then(|presence| presence.session.user_state.as_deref_mut());
        user_state.is_some_and(|user_state| user_state.cache.look(&draft.target, now_s) == Found::Fresh)
    }

    fn issue(&mut self, user: u32, mut exchange: Box<Exchange>) {
        exchange.redirected = 0;
        exchange.challenged = 0;
        if let Some(presence) = &mut self.users[user as usize].presence {
            presence.batch.outstanding += 1;
        }
        self.write_request(user, &mut exchange);
        let answer = exchange.draft.answer();
        exchange.page = self.pages.borrow_mut().claim(&exchange.out, answer);
        self.put_on_a_connection(user, exchange);
    }

    /// Sends an exchange's draft, which its last answer asked for.
    pub(super) fn issue_again(&mut self, user: u32, mut exchange: Box<Exchange>) {
        self.write_request(user, &mut exchange);
        let answer = exchange.draft.answer();
        self.pages.borrow_mut().begin_again(exchange.page, &exchange.out, answer);
        self.put_on_a_connection(user, exchange);
    }

    fn put_on_a_connection(&mut self, user: u32, mut exchange: Box<Exchange>) {
        exchange.issued_ns = self.now_ns;
        let slot = self.connection_for(user);
        self.connections[slot as usize].exchange = Some(exchange);
        self.dispatch(slot);
    }

    /// Writes the request anew, with what goes with it of the user's own as it is now.
    fn write_request(&mut self, user: u32, exchange: &mut Exchange) {
        exchange.sent = 0;
        exchange.first_byte_ns = None;
        let now_s = self.now_s();
        let Exchange { out, draft, proof, .. } = exchange;
        let presence = self.users[user as usize].presence.as_mut();
        let user_state = presence.and_then(|presence| presence.session.user_state.as_deref_mut());
        let Some(UserState { jar, cache, login, .. }) = user_state else {
            return self.preamble.write(out, draft, None, |_| {});
        };
        if !draft.is_safe() {
            cache.forget(&draft.target);
        }
        self.preamble.write(out, draft, Some((jar, now_s)), |out| {
            if let Some(login) = login {
                *proof = login.write_header(&draft.method, &draft.target, out);
            }
            if draft.cached {
                cache.write_conditions(&draft.target, out);
            }
        });
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
            self.recorder.wire().exhausted += 1;
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
        let took_ns = self.now_ns.saturating_sub(connection.begun_ns);
        self.recorder.connected(took_ns);
        if self.tls.is_some() {
            return self.begin_handshake(slot);
        }
        connection.phase = Phase::Waiting;
        self.push_out(slot);
    }

    pub(super) fn push_out(&mut self, slot: u32) {
        if self.tls.is_some() {
            return self.push_out_secure(slot);
        }
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
        let session = self.users[user as usize].presence.as_ref().map(|presence| &presence.session);
        let operation = session.map_or(0, |session| session.operations());
        if self.scenario.connections == ConnectionPolicy::PerOperation {
            self.close_idle(user, |connection| connection.operation != operation);
        }
        let mut slot = self.users[user as usize].connections;
        let usable = |connection: &Connection| connection.phase == Phase::Idle && !connection.ended;
        while slot != NO_CONNECTION && !usable(&self.connections[slot as usize]) {
            slot = self.connections[slot as usize].next;
        }
        if slot == NO_CONNECTION {
            slot = self.claim_connection(user);
        }
        self.connections[slot as usize].operation = operation;
        slot
    }

    pub(super) fn claim_connection(&mut self, user: u32) -> u32 {
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
        if self.connections[slot as usize].phase == Phase::Closed {
            return;
        }
        self.say_goodbye(slot);
        self.transport.close(slot);
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Closed;
        connection.used = false;
        let (user, next) = (connection.user, std::mem::replace(&mut connection.next, NO_CONNECTION));
        let exchange = connection.exchange.take();
        self.closed_connections.push(slot);
        self.unlink(user, slot, next);
        if let Some(exchange) = exchange {
            if exchange.sent > 0 {
                // Given up on the way: whether the server saw it is unknown.
                self.recorder.unanswered(exchange.draft.row);
            }
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
        let mut slot = self.users[user as usize].connections;
        while slot != NO_CONNECTION {
            let next = self.connections[slot as usize].next;
            self.close_connection(slot);
            slot = next;
        }
    }

    /// Keeps an exchange's memory for the next request.
    pub(super) fn recycle(&mut self, mut exchange: Box<Exchange>) {
        let page = std::mem::replace(&mut exchange.page, NO_PAGE);
        self.pages.borrow_mut().release(page);
        if exchange.out.capacity() + exchange.draft.body.capacity() <= MAX_KEPT_BYTES {
            self.spare_exchanges.push(exchange);
        }
    }
}

/// The memory of a request larger than this is given back.
const MAX_KEPT_BYTES: usize = 64 * 1024;

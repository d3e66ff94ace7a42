//! Answers to a worker's users: from the bytes that came to what the session gets to see.

use std::io;

use model::interval::ErrorKind;

use super::follow::FollowUp;
use super::{Doing, Worker};
use crate::clock::Clock;
use crate::connection::{Exchange, NO_CONNECTION, Phase};
use crate::http::response::Fault;
use crate::recorder::Row;
use crate::scenario::{ConnectionPolicy, Resend};
use crate::script::page::NO_PAGE;
use crate::tls::TlsFault;
use crate::trace::Step;
use crate::transport::{Ready, Transport};

/// An answer whose body nobody looks at is read this far, to see its head; the rest is dropped unseen.
const HEAD_BYTES: usize = 4096;
/// So much is dropped at once.
const MAX_DROPPED_BYTES: usize = 16 << 20;

impl<C: Clock, T: Transport> Worker<C, T> {
    pub(super) fn connection_ready(&mut self, event: Ready) {
        let slot = event.slot;
        self.now();
        self.connections[slot as usize].ended |= event.ended;
        if event.writable {
            match self.connections[slot as usize].phase {
                Phase::Connecting => self.connected(slot),
                Phase::Securing | Phase::Waiting => self.push_out(slot),
                Phase::Closed | Phase::Idle => {}
            }
        }
        // A repeated request may just have begun to connect anew: the old connection's bytes are not its own.
        if event.readable && self.connections[slot as usize].phase != Phase::Connecting {
            self.take_in(slot);
        }
    }

    fn take_in(&mut self, slot: u32) {
        loop {
            if self.connections[slot as usize].phase == Phase::Closed {
                return;
            }
            let (taken, asked) = self.take(slot);
            match taken {
                Ok(0) => return self.end_of_stream(slot),
                Ok(length) => {
                    // The peer's end may hide behind the bytes, and no other event would tell.
                    let more = length == asked || self.connections[slot as usize].ended;
                    if !more || !self.waits_for_bytes(slot) {
                        return;
                    }
                    self.now();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.lost(slot, &format!("failed to receive: {error}")),
            }
        }
    }

    /// Takes bytes from the connection, those that nobody looks at unseen; how many came, and how many were asked for.
    fn take(&mut self, slot: u32) -> (io::Result<usize>, usize) {
        let connection = &self.connections[slot as usize];
        let (droppable, more, discards) = match &connection.exchange {
            Some(exchange) if connection.secure.is_none() => {
                let mut pages = self.pages.borrow_mut();
                let response = pages.response(exchange.page);
                let droppable = usize::try_from(response.droppable()).unwrap_or(MAX_DROPPED_BYTES);
                (droppable, usize::from(response.ends_with_droppable()), exchange.draft.discard)
            }
            _ => (0, 0, false),
        };
        if droppable > 0 {
            // At the answer's end one more than there should be: what a server sends beyond it must not pass for the next
            // answer, and a read that gave less than asked for needs no second one. After a chunk its end is to come.
            let asked = droppable.saturating_add(more).min(MAX_DROPPED_BYTES);
            let taken = self.transport.discard(slot, asked);
            if let Ok(length @ 1..) = taken {
                self.bytes_dropped(slot, length);
            }
            return (taken, asked);
        }
        let asked = if discards { HEAD_BYTES } else { self.receive_buffer.len() };
        let taken = self.transport.receive(slot, &mut self.receive_buffer[..asked]);
        if let Ok(length @ 1..) = taken {
            // Lent out while the answer is fed: whatever it leads to receives nothing by itself.
            let buffer = std::mem::take(&mut self.receive_buffer);
            self.bytes_came(slot, &buffer[..length]);
            self.receive_buffer = buffer;
        }
        (taken, asked)
    }

    /// Whether the connection's answer goes on.
    fn waits_for_bytes(&self, slot: u32) -> bool {
        let connection = &self.connections[slot as usize];
        connection.phase == Phase::Idle || connection.exchange.is_some()
    }

    fn bytes_came(&mut self, slot: u32, bytes: &[u8]) {
        if self.connections[slot as usize].secure.is_none() {
            return self.answer_came(slot, bytes);
        }
        let mut plain = std::mem::take(&mut self.plain);
        self.decrypt(slot, bytes, &mut plain);
        if !plain.is_empty() {
            self.answer_came(slot, &plain);
        }
        self.plain = plain;
    }

    fn answer_came(&mut self, slot: u32, bytes: &[u8]) {
        let now_ns = self.now_ns;
        let connection = &mut self.connections[slot as usize];
        let (Phase::Waiting, Some(exchange)) = (connection.phase, &mut connection.exchange) else {
            // Bytes that nobody asked for: the connection can't be trusted any more.
            return self.forget_idle(slot);
        };
        exchange.first_byte_ns.get_or_insert(now_ns);
        let page = exchange.page;
        let fed = self.pages.borrow_mut().response(page).feed(bytes);
        self.fed(slot, fed);
    }

    fn bytes_dropped(&mut self, slot: u32, length: usize) {
        let Some(page) = self.connections[slot as usize].page() else { return };
        let fed = self.pages.borrow_mut().response(page).dropped(length as u64);
        self.fed(slot, fed);
    }

    fn fed(&mut self, slot: u32, fed: Result<bool, Fault>) {
        match fed {
            Ok(true) => self.answered(slot),
            Ok(false) => {}
            Err(fault) => self.fail_exchange(slot, ErrorKind::Protocol, fault.words()),
        }
    }

    fn end_of_stream(&mut self, slot: u32) {
        if let Some(secure) = &self.connections[slot as usize].secure
            && let Err(fault) = secure.channel.end_of_stream()
            && self.connections[slot as usize].phase != Phase::Idle
        {
            return self.cut_off(slot, &fault);
        }
        let connection = &self.connections[slot as usize];
        match (connection.phase, connection.page()) {
            (Phase::Idle, _) => self.forget_idle(slot),
            (Phase::Waiting, Some(page)) => {
                let ended = self.pages.borrow_mut().response(page).end_of_stream();
                match ended {
                    Ok(()) => self.answered(slot),
                    Err(fault) => self.lost(slot, fault.words()),
                }
            }
            (Phase::Connecting | Phase::Securing, _) => {
                self.fail_exchange(slot, ErrorKind::Connect, "closed while connecting")
            }
            _ => {}
        }
    }

    /// The stream ended without TLS's word that it should.
    fn cut_off(&mut self, slot: u32, fault: &TlsFault) {
        match self.connections[slot as usize].phase {
            Phase::Securing => self.broken(slot, fault),
            _ => self.lost(slot, &format!("TLS: {fault}")),
        }
    }

    /// The connection broke. When it had been used before and not a byte of the answer has come, the server may have
    /// closed it in good faith before it saw the request: a GET or HEAD (RFC 9110 section 9.2.2), or whatever the
    /// scenario resends, is repeated once on a new connection, and the first try's outcome stays unknown.
    pub(super) fn lost(&mut self, slot: u32, message: &str) {
        let connection = &mut self.connections[slot as usize];
        let unanswered = connection.phase == Phase::Waiting && connection.used;
        let all = self.scenario.resend == Resend::All;
        let again = |exchange: &mut Box<Exchange>| {
            unanswered && (all || exchange.draft.is_safe()) && exchange.first_byte_ns.is_none()
        };
        let Some(mut exchange) = connection.exchange.take_if(again) else {
            let securing = connection.phase == Phase::Securing;
            let kind = if securing { ErrorKind::Connect } else { ErrorKind::Protocol };
            return self.fail_exchange(slot, kind, message);
        };
        exchange.sent = 0;
        let (user, operation) = (connection.user, connection.operation);
        self.close_connection(slot);
        let presence = self.users[user as usize].presence.as_ref();
        if let Some(row) = presence.and_then(|presence| presence.session.operation_row()) {
            self.recorder.unanswered(row);
        }
        // Not the same slot: the wait that told of this end may tell more of it.
        let fresh = self.claim_connection(user);
        self.connections[fresh as usize].operation = operation;
        self.connections[fresh as usize].exchange = Some(exchange);
        self.dispatch(fresh);
    }

    /// The answer is complete.
    fn answered(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let Some(mut exchange) = connection.exchange.take() else { return };
        connection.phase = Phase::Idle;
        connection.used = true;
        let (user, ended) = (connection.user, connection.ended);
        let (status, closes) = {
            let mut pages = self.pages.borrow_mut();
            let response = pages.response(exchange.page);
            (response.status(), response.closes())
        };
        let took_ns = self.now_ns.saturating_sub(exchange.issued_ns);
        self.store_cookies(user, &exchange.draft.target, exchange.page);
        self.trace_answer(user, &exchange, took_ns);
        let row = exchange.draft.row;
        let follow_up = self.follow_up(user, &mut exchange, status);
        let wanted = exchange.draft.wanted;
        let fits = wanted.fits(status);
        let refused = matches!(follow_up, FollowUp::Refuse(_));
        self.record_answer(row, &exchange, (fits && !refused) || follow_up == FollowUp::Send);
        self.note_in_cache(user, &exchange, status);
        // A server may answer before it has the whole request; what is left of it must not run into the next one.
        let secure = self.connections[slot as usize].secure.as_ref();
        let flushed = secure.is_none_or(|secure| secure.flushed());
        let over = closes || ended || !(exchange.sent_whole() && flushed);
        if over || self.scenario.connections == ConnectionPolicy::PerRequest {
            self.close_connection(slot);
        }
        match follow_up {
            FollowUp::Send => self.issue_again(user, exchange),
            FollowUp::Refuse(why) => {
                self.show(user, exchange, false);
                self.fail_batch(user, ErrorKind::Status, &why);
            }
            FollowUp::None if fits => {
                self.show(user, exchange, true);
                self.issue_next(user);
                self.settle_batch(user);
            }
            FollowUp::None => {
                self.show(user, exchange, false);
                let message = format!("status {status}, expected {}", wanted.words());
                self.fail_batch(user, ErrorKind::Status, &message);
            }
        }
    }

    fn record_answer(&mut self, row: Row, exchange: &Exchange, fits: bool) {
        let now_ns = self.now_ns;
        let took_ns = now_ns.saturating_sub(exchange.issued_ns);
        let first_byte_ns = exchange.first_byte_ns.unwrap_or(now_ns);
        let bytes = self.pages.borrow_mut().response(exchange.page).received_bytes();
        let recorder = &mut *self.recorder;
        if fits {
            recorder.completed(row, took_ns, took_ns);
        } else {
            recorder.failed(row, ErrorKind::Status);
        }
        recorder.bytes(row, bytes);
        let waited_ns = first_byte_ns.saturating_sub(exchange.issued_ns);
        recorder.answered(waited_ns, now_ns.saturating_sub(first_byte_ns));
    }

    /// The session gets to see the answer; one that does not fit becomes the last one, of which evidence is made.
    fn show(&mut self, user: u32, mut exchange: Box<Exchange>, fits: bool) {
        let now_ns = self.now_ns;
        if let Some(presence) = &mut self.users[user as usize].presence {
            presence.session.answered(now_ns);
            presence.batch.outstanding -= 1;
            let (index, last) = (usize::from(exchange.index), presence.session.pages.len() - 1);
            presence.session.pages[index] = std::mem::replace(&mut exchange.page, NO_PAGE);
            if !fits {
                presence.session.pages.swap(index, last);
            }
        }
        self.recycle(exchange);
    }

    fn note_in_cache(&mut self, user: u32, exchange: &Exchange, status: u16) {
        if !exchange.draft.cached || exchange.draft.method != b"GET" {
            return;
        }
        let now_s = self.now_s();
        let Some(presence) = &mut self.users[user as usize].presence else { return };
        let user_state = presence.session.user_state.get_or_insert_default();
        self.recorder.wire().not_modified += u64::from(status == 304);
        let mut pages = self.pages.borrow_mut();
        let headers = pages.response(exchange.page).headers();
        user_state.cache.note(&exchange.draft.target, status, headers, now_s);
    }

    /// Lets the session go on when all that it waits for has come.
    pub(super) fn settle_batch(&mut self, user: u32) {
        let Some(presence) = &self.users[user as usize].presence else { return };
        if presence.batch.is_complete() && self.users[user as usize].doing == Doing::Waiting {
            self.wheel.cancel(user);
            self.deliver(user);
        }
    }

    fn store_cookies(&mut self, user: u32, target: &[u8], page: u32) {
        let now_s = self.now_s();
        let mut pages = self.pages.borrow_mut();
        let response = pages.response(page);
        let mut cookies = response.set_cookies().peekable();
        if cookies.peek().is_none() {
            return;
        }
        let request = self.preamble.seen_by_cookies(target, now_s);
        if let Some(presence) = &mut self.users[user as usize].presence {
            let jar = &mut presence.session.user_state.get_or_insert_default().jar;
            cookies.for_each(|cookie| jar.store(cookie, &request));
        }
    }

    fn trace_answer(&mut self, user: u32, exchange: &Exchange, took_ns: u64) {
        let number = self.global_index(user) + 1;
        let (users, pages) = (&self.users, &self.pages);
        self.recorder.trace(self.now_ns, number, || {
            let presence = users[user as usize].presence.as_ref();
            let beside = presence.is_some_and(|presence| presence.batch.parallel);
            let mut pages = pages.borrow_mut();
            let request = pages.request_line(exchange.page);
            let response = pages.response(exchange.page);
            Step::Request {
                request,
                status: response.status(),
                took_ns,
                bytes: response.received_bytes(),
                sent_bytes: exchange.draft.body_bytes() as u64,
                beside,
                body: crate::script::page::excerpt(response),
            }
        });
    }

    /// The user's timer has fired while it waits: the oldest request may have run out of time.
    pub(super) fn time_out(&mut self, user: u32) {
        let now_ns = self.now();
        let mut slot = self.users[user as usize].connections;
        let mut earliest_ns = u64::MAX;
        while slot != NO_CONNECTION {
            let connection = &self.connections[slot as usize];
            if let Some(exchange) = &connection.exchange {
                let deadline_ns = exchange.issued_ns + self.timeout_ns;
                if deadline_ns <= now_ns {
                    let message = format!("no complete answer within {} s", self.scenario.timeout_s);
                    return self.fail_exchange(slot, ErrorKind::Timeout, &message);
                }
                earliest_ns = earliest_ns.min(deadline_ns);
            }
            slot = connection.next;
        }
        self.wheel.set(user, earliest_ns.min(now_ns + self.timeout_ns));
    }

    /// The request failed: its connection is closed, its operation and session fail.
    pub(super) fn fail_exchange(&mut self, slot: u32, kind: ErrorKind, message: &str) {
        let connection = &mut self.connections[slot as usize];
        if connection.phase == Phase::Closed {
            return;
        }
        let user = connection.user;
        let exchange = connection.exchange.take();
        self.close_connection(slot);
        if let Some(mut exchange) = exchange {
            self.recorder.failed(exchange.draft.row, kind);
            // What had come of the answer is evidence: the session holds it until the session has ended.
            if let Some(presence) = &mut self.users[user as usize].presence {
                presence.session.pages.push(std::mem::replace(&mut exchange.page, NO_PAGE));
            }
            self.recycle(exchange);
        }
        self.fail_batch(user, kind, message);
    }

    /// One request of those that the session waits for has failed: the others are given up, and so is the session.
    fn fail_batch(&mut self, user: u32, kind: ErrorKind, message: &str) {
        self.wheel.cancel(user);
        let mut slot = self.users[user as usize].connections;
        while slot != NO_CONNECTION {
            let connection = &self.connections[slot as usize];
            let next = connection.next;
            if connection.exchange.is_some() {
                self.close_connection(slot);
            }
            slot = next;
        }
        self.fail_session(user, kind, message);
    }

    /// The server closed a connection on which nothing was outstanding.
    fn forget_idle(&mut self, slot: u32) {
        if self.connections[slot as usize].phase == Phase::Idle {
            self.close_connection(slot);
        }
    }
}

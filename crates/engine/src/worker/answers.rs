//! Answers to a worker's users: from an event on a connection to what the session gets to see.

use model::record::interval::ErrorKind;

use super::Worker;
use super::follow::FollowUp;
use crate::clock::Clock;
use crate::connections::{Answered, Cause, Deadline, Exchange, Progress, Trouble};
use crate::recorder::Row;
use crate::script::page::NO_PAGE;
use crate::trace::Step;
use crate::transport::{Ready, Transport};
use crate::users::Doing;

/// What to say of a request that was lost with a connection that the server may have closed as idle.
const KEPT_CONNECTION: &str = "; it was kept from an earlier request, and the server may have closed it as idle just then: browsers \
                               send such a request again, users do with `[users] resend = \"all\"` in kit.toml";

impl<C: Clock, T: Transport> Worker<C, T> {
    pub(super) fn connection_ready(&mut self, event: &Ready) {
        let now_ns = self.now();
        let users = &mut self.users;
        let open = |user: u32, setup: &_| users[user].open_tls(setup);
        let went = self.connections.go_on(event, now_ns, &mut self.recorder, open);
        self.settle(went);
        if event.readable && self.connections.is_readable(event.slot) {
            self.take_in(event.slot);
        }
    }

    fn take_in(&mut self, slot: u32) {
        loop {
            match self.connections.receive(slot, self.now_ns, &mut self.recorder) {
                Ok(received) => {
                    if received.answered {
                        self.answered(slot);
                    }
                    if !received.more || !self.connections.expects_bytes(slot) {
                        return;
                    }
                    self.now();
                }
                Err(trouble) => return self.mend(*trouble),
            }
        }
    }

    /// A step on a connection has been taken; what is wrong is dealt with.
    pub(super) fn settle(&mut self, progress: Progress) {
        if let Err(trouble) = progress {
            self.mend(*trouble);
        }
    }

    /// Sends the request again where it may be; else the exchange fails.
    #[cold]
    fn mend(&mut self, trouble: Trouble) {
        let Trouble { slot, cause, message } = trouble;
        match cause {
            Cause::Failed(kind) => self.fail_exchange(slot, kind, &message),
            Cause::Lost => match self.connections.take_unanswered(slot, self.resend, &mut self.recorder) {
                Some((whose, exchange)) => {
                    // The first try's outcome stays unknown.
                    let session = self.users[whose.0].session();
                    if let Some(row) = session.and_then(|session| session.operation_row()) {
                        self.recorder.unanswered(row);
                    }
                    let sent = self.connections.send_again(whose, exchange, self.now_ns, &mut self.recorder);
                    self.settle(sent);
                }
                None => {
                    let hint = if self.connections.is_unanswered(slot) { KEPT_CONNECTION } else { "" };
                    self.fail_exchange(slot, self.connections.loss_kind(slot), &format!("{message}{hint}"));
                }
            },
        }
    }

    /// The answer is complete.
    fn answered(&mut self, slot: u32) {
        let Some(answered) = self.connections.take_answered(slot, &mut self.recorder) else { return };
        let Answered { user, mut exchange, status } = answered;
        let took_ns = self.now_ns.saturating_sub(exchange.issued_ns);
        self.store_cookies(user, &exchange);
        self.trace_answer(user, &exchange, took_ns);
        let row = exchange.draft.row;
        let follow_up = self.follow_up(user, &mut exchange, status);
        let wanted = exchange.draft.wanted;
        let fits = wanted.fits(status);
        let refused = matches!(follow_up, FollowUp::Refuse(_));
        let fitting = (fits && !refused) || follow_up == FollowUp::Send;
        self.record_answer(row, &exchange, status, fitting);
        self.note_in_cache(user, &exchange, status);
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

    fn record_answer(&mut self, row: Row, exchange: &Exchange, status: u16, fits: bool) {
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
        recorder.answered(status, waited_ns, now_ns.saturating_sub(first_byte_ns));
    }

    /// The session gets to see the answer; one that does not fit becomes the last one, of which evidence is made.
    fn show(&mut self, user: u32, mut exchange: Box<Exchange>, fits: bool) {
        if let Some(presence) = &mut self.users[user].presence {
            presence.session.answered(self.now_ns);
            presence.batch.outstanding -= 1;
            let (index, last) = (usize::from(exchange.index), presence.session.pages.len() - 1);
            presence.session.pages[index] = std::mem::replace(&mut exchange.page, NO_PAGE);
            if !fits {
                presence.session.pages.swap(index, last);
            }
        }
        self.connections.recycle(exchange);
    }

    fn note_in_cache(&mut self, user: u32, exchange: &Exchange, status: u16) {
        if !exchange.draft.cached || exchange.draft.method != b"GET" {
            return;
        }
        let now_s = self.now_s();
        let Some(presence) = &mut self.users[user].presence else { return };
        let state = presence.session.user_state.get_or_insert_default();
        self.recorder.wire().not_modified += u64::from(status == 304);
        let mut pages = self.pages.borrow_mut();
        let headers = pages.response(exchange.page).headers();
        state.cache.note(&exchange.draft.target, status, headers, now_s, self.heuristic_freshness);
    }

    /// Lets the session go on when all that it waits for has come.
    fn settle_batch(&mut self, user: u32) {
        let Some(presence) = &self.users[user].presence else { return };
        if presence.batch.is_complete() && self.users[user].doing == Doing::Waiting {
            self.users.cancel_timer(user);
            if self.resting {
                self.users.serve(user, self.now_ns);
            } else {
                self.deliver(user);
            }
        }
    }

    fn store_cookies(&mut self, user: u32, exchange: &Exchange) {
        let now_s = self.now_s();
        let mut pages = self.pages.borrow_mut();
        let mut cookies = pages.response(exchange.page).set_cookies().peekable();
        if cookies.peek().is_none() {
            return;
        }
        let request = self.preamble.seen_by_cookies(&exchange.draft.target, now_s);
        if let Some(presence) = &mut self.users[user].presence {
            let jar = &mut presence.session.user_state.get_or_insert_default().jar;
            cookies.for_each(|cookie| jar.store(cookie, &request));
        }
    }

    fn trace_answer(&mut self, user: u32, exchange: &Exchange, took_ns: u64) {
        let number = self.users.global_index(user) + 1;
        let (users, pages) = (&self.users, &self.pages);
        self.recorder.trace(self.now_ns, number, || {
            let presence = users[user].presence.as_ref();
            let mut pages = pages.borrow_mut();
            let request = pages.request_line(exchange.page);
            let response = pages.response(exchange.page);
            Step::Request {
                request,
                status: response.status(),
                took_ns,
                bytes: response.received_bytes(),
                sent_bytes: exchange.draft.body_bytes() as u64,
                beside: presence.is_some_and(|presence| presence.batch.parallel),
                body: crate::script::page::excerpt(response),
            }
        });
    }

    /// The user's timer has fired while it waits: the oldest request may have run out of time.
    pub(super) fn time_out(&mut self, user: u32) {
        let now_ns = self.now();
        match self.connections.deadline(user, now_ns, self.timeout_ns) {
            Deadline::Passed(slot) => {
                let message = format!("no complete answer within {} s", self.timeout_ns as f64 / 1e9);
                self.fail_exchange(slot, ErrorKind::Timeout, &message);
            }
            Deadline::At(at_ns) => self.users.set_timer(user, at_ns.min(now_ns + self.timeout_ns)),
        }
    }

    /// The request failed: its connection is closed, its operation and session fail.
    fn fail_exchange(&mut self, slot: u32, kind: ErrorKind, message: &str) {
        let Some((user, exchange)) = self.connections.take_failed(slot, &mut self.recorder) else { return };
        if let Some(mut exchange) = exchange {
            self.recorder.failed(exchange.draft.row, kind);
            // What had come of the answer is evidence: the session holds it until it has ended.
            if let Some(presence) = &mut self.users[user].presence {
                presence.session.pages.push(std::mem::replace(&mut exchange.page, NO_PAGE));
            }
            self.connections.recycle(exchange);
        }
        self.fail_batch(user, kind, message);
    }

    /// One request of those that the session waits for has failed: the others are given up, and so is the session.
    fn fail_batch(&mut self, user: u32, kind: ErrorKind, message: &str) {
        self.users.cancel_timer(user);
        self.connections.give_up(user, &mut self.recorder);
        self.fail_session(user, kind, message);
    }
}

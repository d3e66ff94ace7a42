//! Requests of a worker's users on their way out: what the session asked for, and what goes with it of the user's own.

use super::Worker;
use crate::clock::Clock;
use crate::connections::Exchange;
use crate::http::cache::Found;
use crate::http::request::Draft;
use crate::transport::Transport;
use crate::user_state::UserState;
use crate::users::Doing;

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Sends the request that the session asked for.
    pub(super) fn send_request(&mut self, user: u32) {
        let mut exchange = self.connections.spare_exchange();
        self.program.swap_draft(&mut exchange.draft);
        exchange.index = 0;
        let Some(presence) = &mut self.users[user].presence else { return };
        presence.batch.begin(&mut presence.session, 1);
        self.begin_waiting(user);
        self.issue(user, exchange);
    }

    /// Sends the requests that the session asked for over at most that number of connections.
    pub(super) fn send_requests(&mut self, user: u32, max_connections: u16) {
        let mut drafts = self.program.take_drafts();
        let Some(presence) = &mut self.users[user].presence else { return };
        presence.batch.begin(&mut presence.session, drafts.len());
        drafts.reverse();
        presence.batch.drafts = drafts;
        presence.batch.parallel = true;
        self.begin_waiting(user);
        for _ in 0..max_connections {
            self.issue_next(user);
        }
        if self.users[user].presence.as_ref().is_some_and(|presence| presence.batch.is_complete()) {
            // Not at once: a script that goes on like that would never come back here.
            self.users.serve(user, self.now_ns);
        }
    }

    fn begin_waiting(&mut self, user: u32) {
        let state = &mut self.users[user];
        state.doing = Doing::Waiting;
        if let Some(presence) = &mut state.presence {
            presence.session.request_issued(self.now_ns, &mut self.recorder);
        }
        self.users.set_timer(user, self.now_ns + self.timeout_ns);
    }

    /// Sends the next request of a user's batch, if one is left. What the user's cache has is not asked for.
    pub(super) fn issue_next(&mut self, user: u32) {
        while let Some(presence) = &mut self.users[user].presence
            && let Some(draft) = presence.batch.drafts.pop()
        {
            let index = presence.session.pages.len() - presence.batch.drafts.len() - 1;
            let mut exchange = self.connections.spare_exchange();
            exchange.index = index as u16;
            exchange.draft = draft;
            if !self.is_fresh(user, &exchange.draft) {
                return self.issue(user, exchange);
            }
            exchange.write_line();
            let page = self.pages.borrow_mut().claim_cached(&exchange.out);
            self.recorder.wire().cache_hits += 1;
            if let Some(presence) = &mut self.users[user].presence {
                presence.session.pages[index] = page;
            }
            self.connections.recycle(exchange);
        }
    }

    /// Whether the user's cache makes a request unnecessary.
    fn is_fresh(&mut self, user: u32, draft: &Draft) -> bool {
        let now_s = self.now_s();
        let state = self.users[user].user_state_mut().filter(|_| draft.cached);
        state.is_some_and(|state| state.cache.look(&draft.target, now_s) == Found::Fresh)
    }

    fn issue(&mut self, user: u32, mut exchange: Box<Exchange>) {
        exchange.redirected = 0;
        exchange.challenged = 0;
        if let Some(presence) = &mut self.users[user].presence {
            presence.batch.outstanding += 1;
        }
        self.write_request(user, &mut exchange);
        let answer = exchange.draft.answer();
        exchange.page = self.pages.borrow_mut().claim(&exchange.out, answer);
        self.send(user, exchange);
    }

    /// Sends an exchange's draft, which its last answer asked for.
    pub(super) fn issue_again(&mut self, user: u32, mut exchange: Box<Exchange>) {
        self.write_request(user, &mut exchange);
        let answer = exchange.draft.answer();
        self.pages.borrow_mut().begin_again(exchange.page, &exchange.out, answer);
        self.send(user, exchange);
    }

    fn send(&mut self, user: u32, exchange: Box<Exchange>) {
        let operation = self.users[user].session().map_or(0, |session| session.operations());
        let sent = self.connections.send((user, operation), exchange, self.now_ns, &mut self.recorder);
        self.settle(sent);
    }

    /// Writes the request anew, with what goes with it of the user's own as it is now.
    fn write_request(&mut self, user: u32, exchange: &mut Exchange) {
        exchange.sent = 0;
        exchange.first_byte_ns = None;
        let now_s = self.now_s();
        let Exchange { out, draft, proof, .. } = exchange;
        let Some(UserState { jar, cache, login, .. }) = self.users[user].user_state_mut() else {
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
}

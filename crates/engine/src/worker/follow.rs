//! Answers that ask for another request before the session gets to see one: redirects, and challenges to prove who the
//! user is.

use model::OperationKind;

use super::Worker;
use crate::clock::Clock;
use crate::connections::Exchange;
use crate::http::redirect::{Change, Place};
use crate::http::request::path_of;
use crate::random::Stream;
use crate::transport::Transport;

/// A server may ask for credentials, and once more when its nonce has grown old meanwhile.
const MAX_CHALLENGES: u8 = 2;

/// What an answer asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FollowUp {
    /// Nothing: the session gets to see it.
    None,
    /// The exchange's draft is to be sent, as changed.
    Send,
    /// Something that can't be done: why.
    Refuse(String),
}

impl<C: Clock, T: Transport> Worker<C, T> {
    /// What the answer with `status` asks for; changes the exchange's draft accordingly.
    pub(super) fn follow_up(&mut self, user: u32, exchange: &mut Exchange, status: u16) -> FollowUp {
        match status {
            // A session that expects this very status wants to see it.
            _ if exchange.draft.wanted.names(status) => FollowUp::None,
            401 => self.meet_challenge(user, exchange),
            300..=399 if exchange.draft.redirects > 0 => self.redirect(exchange, status),
            _ => FollowUp::None,
        }
    }

    fn meet_challenge(&mut self, user: u32, exchange: &mut Exchange) -> FollowUp {
        if exchange.challenged == MAX_CHALLENGES {
            return FollowUp::None;
        }
        exchange.challenged += 1;
        let nonce = Stream::new(self.now_ns, u64::from(self.users.global_index(user))).bits();
        let state = self.users[user].user_state_mut();
        let Some(login) = state.and_then(|state| state.login.as_deref_mut()) else { return FollowUp::None };
        // Another request may have agreed on something new while this one was under way.
        let worth_it = exchange.proof < login.agreements() || {
            let mut pages = self.pages.borrow_mut();
            login.meet(pages.response(exchange.page).header("www-authenticate"), nonce)
        };
        self.recorder.wire().challenges += u64::from(worth_it);
        if worth_it { FollowUp::Send } else { FollowUp::None }
    }

    fn redirect(&mut self, exchange: &mut Exchange, status: u16) -> FollowUp {
        let Some(origin) = &self.origin else { return FollowUp::None };
        // What was sent is not needed any more: its memory takes the new target.
        let Exchange { out: target, draft, redirected, .. } = exchange;
        let next = {
            let mut pages = self.pages.borrow_mut();
            let location = pages.response(exchange.page).location();
            origin.follow((&draft.method, &draft.target), status, location, target)
        };
        match next {
            Ok(None) => FollowUp::None,
            Err(bad) => FollowUp::Refuse(bad.to_string()),
            Ok(Some(next)) if next.place == Place::Elsewhere => FollowUp::Refuse(format!(
                "redirected to {}, which is not the server under load",
                String::from_utf8_lossy(target)
            )),
            Ok(Some(_)) if *redirected == draft.redirects => {
                FollowUp::Refuse(format!("more than {} redirects", draft.redirects))
            }
            Ok(Some(next)) => {
                *redirected += 1;
                self.recorder.wire().redirects += 1;
                std::mem::swap(&mut draft.target, target);
                if next.change == Change::ToGet {
                    draft.become_get();
                }
                if !draft.named {
                    draft.row = self.recorder.row(OperationKind::Request, path_of(&draft.target));
                }
                FollowUp::Send
            }
        }
    }
}

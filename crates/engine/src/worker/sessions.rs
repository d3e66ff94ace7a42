//! Sessions of a worker's users: from the intended start to the pause after the end.

use model::interval::ErrorKind;

use super::batch::Batch;
use super::{Doing, Presence, Worker};
use crate::active_session::ActiveSession;
use crate::clock::Clock;
use crate::program::Outcome;
use crate::scenario::ConnectionPolicy;
use crate::script::host::{Action, Turn};
use crate::script::page::Pages;
use crate::script::session::Input;
use crate::trace::Step;
use crate::transport::Transport;

/// A user whose session failed or made no request waits at least this long before the next one, so that a server that
/// refuses everything, or a script that does nothing, does not turn the generator into a busy loop.
const PAUSE_AFTER_FAILURE_NS: u64 = 50_000_000;

impl<C: Clock, T: Transport> Worker<C, T> {
    pub(super) fn begin_session(&mut self, user: u32, due_ns: u64, thinking_since_ns: Option<u64>) {
        let now_ns = self.now();
        let index = self.global_index(user);
        let state = &self.users[user as usize];
        let sated = self.assignment.sated(index, state.sessions);
        let leaves = self.stopping || sated || now_ns >= state.leave_ns;
        let over = thinking_since_ns.is_some() && self.is_life_over(&self.users[user as usize], now_ns);
        let open = self.assignment.load.arrivals.is_some();
        if leaves || (over && open) {
            if let Some(since_ns) = thinking_since_ns {
                self.recorder.think_given_up(now_ns, since_ns);
            }
            return match (open, sated) {
                (true, _) => self.make_room(user),
                (false, true) => self.leave(user),
                (false, false) => self.vacate(user, now_ns),
            };
        }
        if over {
            self.renew_in_turn(user, now_ns);
        }
        let state = &mut self.users[user as usize];
        let choice = self.chooser.next(state.mix_state, &mut state.stream);
        let number = choice.session;
        state.mix_state = choice.state;
        // Traces go by the place, which is one user's at a time.
        let mut session = ActiveSession::new(index + 1, self.session_rows[number], state.intended_ns, now_ns);
        session.number = number as u16;
        let pause = state.pause.take().filter(|_| thinking_since_ns.is_some());
        session.user_state = state.user_state.take();
        session.uniques = state.uniques;
        session.life_began_ns = state.life_began_ns;
        session.arriving = self.assignment.load.arrivals.is_some();
        // Which place an arrival finds free depends on how many threads there are; its own number does not.
        session.draw_index = if session.arriving { state.person } else { index };
        let session = self.boxed(session);
        let state = &mut self.users[user as usize];
        state.sessions += 1;
        let person = state.person.wrapping_add(1);
        let (recorder, late_ns) = (&mut *self.recorder, now_ns.saturating_sub(due_ns));
        recorder.session_started(now_ns, thinking_since_ns);
        pause.into_iter().for_each(|pause| pause.end(late_ns, recorder));
        recorder.lag(late_ns);
        choice.cell.into_iter().for_each(|cell| recorder.chosen(cell));
        recorder.trace(now_ns, index + 1, || Step::Session(self.session_names[number].clone()));
        let turn = Turn { session, recorder: self.recorder.lend(), now_ns };
        let (turn, thread, outcome) = self.program.start(turn, number, (user, person), &mut state.stream);
        let Turn { session, recorder, .. } = turn;
        self.recorder.put_back(recorder);
        state.presence = Some(Box::new(Presence { session, thread, batch: Batch::default() }));
        self.time_has_passed();
        self.proceed(user, outcome);
    }

    /// The user's answer is complete: the script goes on.
    pub(super) fn deliver(&mut self, user: u32) {
        let Some(presence) = &self.users[user as usize].presence else { return };
        let slots = &presence.session.pages;
        let input = match slots.first() {
            _ if presence.batch.parallel => {
                Input::Pages(slots.iter().map(|slot| Pages::page(&self.pages, *slot)).collect())
            }
            Some(slot) => Input::Page(Pages::page(&self.pages, *slot)),
            None => return,
        };
        self.resume(user, input);
    }

    pub(super) fn wake(&mut self, user: u32, due_ns: u64) {
        let late_ns = self.now().saturating_sub(due_ns);
        self.recorder.lag(late_ns);
        self.resume(user, Input::Wake);
    }

    fn resume(&mut self, user: u32, input: Input) {
        let state = &mut self.users[user as usize];
        let Some(mut presence) = state.presence.take() else { return };
        let turn = Turn { session: presence.session, recorder: self.recorder.lend(), now_ns: self.now_ns };
        let (turn, outcome) = self.program.resume(turn, presence.thread.as_ref(), input, &mut state.stream);
        self.recorder.put_back(turn.recorder);
        presence.session = turn.session;
        state.presence = Some(presence);
        self.time_has_passed();
        self.proceed(user, outcome);
    }

    /// Does what the script asked for.
    fn proceed(&mut self, user: u32, outcome: Outcome) {
        self.be_forgotten(user);
        match outcome {
            Outcome::Waits(Action::Request) => self.send_request(user),
            Outcome::Waits(Action::Parallel(connections)) => self.send_requests(user, connections),
            Outcome::Waits(Action::Pause(nanos)) => {
                self.between_operations(user);
                self.users[user as usize].doing = Doing::Pausing;
                self.wheel.set(user, self.now_ns + nanos);
            }
            Outcome::Ended => self.end_session(user),
            Outcome::Raised(message) => {
                if self.failed_on_purpose(user) {
                    self.end_session(user);
                } else {
                    // A page that can't be read is the server's doing, not the script's.
                    let spoiled = self.pages.borrow().take_spoiled();
                    let kind = if spoiled { ErrorKind::Protocol } else { ErrorKind::Script };
                    self.fail_session(user, kind, &message);
                }
            }
        }
    }

    /// After `forget()` nothing of the user's connections is left; between two requests none of them is in use.
    fn be_forgotten(&mut self, user: u32) {
        let presence = self.users[user as usize].presence.as_mut();
        if presence.is_some_and(|presence| std::mem::take(&mut presence.session.forgets)) {
            self.close_connections(user);
        }
    }

    /// `fail("why")` raises an error after it has counted one; any other error is the script's own.
    fn failed_on_purpose(&self, user: u32) -> bool {
        let presence = self.users[user as usize].presence.as_ref();
        presence.is_some_and(|presence| presence.session.failed_on_purpose)
    }

    /// Fails the open operation and with it the session.
    pub(super) fn fail_session(&mut self, user: u32, kind: ErrorKind, message: &str) {
        if let Some(presence) = &mut self.users[user as usize].presence {
            let mut pages = self.pages.borrow_mut();
            presence.session.fail(kind, message, self.now_ns, &mut self.recorder, &mut pages);
        }
        self.end_session(user);
    }

    /// In a box of a session that is over, where there is one: most sessions allocate none.
    fn boxed(&mut self, session: ActiveSession) -> Box<ActiveSession> {
        match self.spare_sessions.pop() {
            Some(mut spare) => {
                *spare = session;
                spare
            }
            None => Box::new(session),
        }
    }

    /// The session is over: records it and lets the user think.
    pub(super) fn end_session(&mut self, user: u32) {
        let Some(presence) = self.users[user as usize].presence.take() else { return };
        let Presence { mut session, thread, .. } = *presence;
        self.close_session(user, &mut session, thread);
        if self.ends_stay(user, self.now_ns) {
            self.make_room(user);
        } else {
            self.think(user, &session);
        }
        self.spare_sessions.push(session);
    }

    fn close_session(&mut self, user: u32, session: &mut ActiveSession, thread: Option<mlua::Thread>) {
        let now_ns = self.now_ns;
        let failed = session.failure.is_some();
        let recorder = &mut *self.recorder;
        session.finish(now_ns, recorder);
        recorder.session_ended(now_ns, session.started_ns);
        recorder.trace(now_ns, session.user_number, || Step::End(!failed));
        let mut pages = self.pages.borrow_mut();
        session.pages.drain(..).for_each(|slot| pages.release(slot));
        drop(pages);
        thread.into_iter().for_each(|thread| self.program.give_back(thread));
        self.between_operations(user);
        if self.scenario.connections == ConnectionPolicy::PerSession {
            self.close_connections(user);
        }
        let state = &mut self.users[user as usize];
        state.user_state = session.user_state.take();
        state.uniques = session.uniques;
        state.operations = state.operations.wrapping_add(session.operations());
    }

    /// Draws the pause after a session.
    fn think(&mut self, user: u32, session: &ActiveSession) {
        let now_ns = self.now_ns;
        let (failed, idle) = (session.failure.is_some(), session.is_idle());
        self.recorder.think_started(now_ns);
        let state = &mut self.users[user as usize];
        state.doing = Doing::Thinking(Some(now_ns));
        let next_ns = match self.pace.draw(session, now_ns, &mut state.stream) {
            Some((pause, next_ns)) => {
                if !(failed || idle) {
                    pause.begin(&mut self.recorder);
                    state.pause = Some(pause);
                }
                next_ns
            }
            None => now_ns,
        };
        let start_ns = if failed || idle { next_ns.max(now_ns + PAUSE_AFTER_FAILURE_NS) } else { next_ns };
        // A cycle's next start stays where it was intended: what a failure delays is charged to the server.
        state.intended_ns = if self.pace.is_by_cycles() { next_ns } else { start_ns };
        // A start that the server has made impossible in time is not the generator's lag.
        self.wheel.set(user, start_ns.max(now_ns));
    }

    pub(super) fn cut_all(&mut self) {
        let now_ns = self.now();
        self.close_gate();
        for user in 0..self.users.len() as u32 {
            let state = &mut self.users[user as usize];
            if let Some(mut presence) = state.presence.take() {
                presence.session.cut(&mut self.recorder);
                self.recorder.session_cut(now_ns, presence.session.started_ns);
            } else if let Doing::Thinking(Some(since_ns)) = state.doing {
                self.recorder.think_given_up(now_ns, since_ns);
            }
            self.leave(user);
        }
    }

    /// Users between sessions leave: nobody is to begin another one.
    pub(super) fn send_thinkers_home(&mut self, now_ns: u64) {
        self.close_gate();
        for user in 0..self.users.len() as u32 {
            if let Doing::Thinking(since_ns) = self.users[user as usize].doing {
                if let Some(since_ns) = since_ns {
                    self.recorder.think_given_up(now_ns, since_ns);
                }
                self.leave(user);
            }
        }
    }

    pub(super) fn leave(&mut self, user: u32) {
        let state = &mut self.users[user as usize];
        if state.doing == Doing::Gone {
            return;
        }
        state.doing = Doing::Gone;
        self.wheel.cancel(user);
        self.present -= 1;
        self.close_connections(user);
    }

    /// A user's number over all threads, 0-based.
    pub(super) fn global_index(&self, user: u32) -> u32 {
        user * self.assignment.workers as u32 + self.assignment.worker as u32
    }
}

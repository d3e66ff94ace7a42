//! Sessions of a worker's users: from the intended start to the pause after the end.

use model::OperationKind;
use model::catalogue::population::Populations;
use model::record::interval::ErrorKind;

use super::Worker;
use crate::active_session::ActiveSession;
use crate::clock::Clock;
use crate::control::Control;
use crate::mix::Crowd;
use crate::recorder::{Recorder, Row};
use crate::scenario::Scenario;
use crate::script::host::{Action, Turn};
use crate::script::page::Pages;
use crate::script::session::{Input, Outcome};
use crate::trace::Step;
use crate::transport::Transport;
use crate::users::{Admission, Batch, Change, Doing, Pace, Presence};

/// A user whose session failed or made no request waits at least this long before the next one, so that a server that
/// refuses everything, or a script that does nothing, does not turn the generator into a busy loop.
const PAUSE_AFTER_FAILURE_NS: u64 = 50_000_000;

/// The sessions that users draw from, and the pauses after them.
pub(super) struct Sessions {
    crowd: Crowd,
    pace: Pace,
    /// By the sessions' numbers, as are the rows.
    names: Vec<String>,
    rows: Vec<Row>,
    #[expect(clippy::vec_box, reason = "a user holds it by pointer: those between sessions are small")]
    spare: Vec<Box<Presence>>,
}

impl Sessions {
    /// Those of a scenario; the recorder makes room for them.
    pub(super) fn new(scenario: &Scenario, recorder: &mut Recorder) -> Sessions {
        let populations = scenario.populations();
        recorder.expect_choices(populations.cells());
        recorder.expect_pauses(populations.sessions().count());
        let row = |name: &String| recorder.row(OperationKind::Session, name.as_bytes());
        Sessions {
            pace: Pace::of(&populations),
            rows: populations.sessions().map(row).collect(),
            names: names(&populations),
            crowd: Crowd::new(populations),
            spare: Vec::new(),
        }
    }

    /// In the memory of a session that is over, where there is one: most sessions allocate none.
    fn presence(&mut self, session: ActiveSession) -> Box<Presence> {
        match self.spare.pop() {
            Some(mut spare) => {
                *spare.session = session;
                spare
            }
            None => Box::new(Presence { session: Box::new(session), thread: None, batch: Batch::default() }),
        }
    }
}

/// What traces call the sessions: where users are not all alike with the population, `edit (editors)`.
fn names(populations: &Populations) -> Vec<String> {
    let mut names = Vec::new();
    for population in populations.iter() {
        let of = if population.name.is_empty() { String::new() } else { format!(" ({})", population.name) };
        names.extend(population.sessions.iter().map(|session| format!("{session}{of}")));
    }
    names
}

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Lets everyone in who is due and finds a place.
    pub(super) fn admit(&mut self) {
        loop {
            let now_ns = self.now();
            match self.users.admit(now_ns) {
                Admission::Enters { place, due_ns, waited, change } => {
                    self.clear_up(place, change);
                    self.recorder.arrived(waited);
                    self.begin_session(place, due_ns, None);
                }
                Admission::Waits => return,
                Admission::Over => return self.close_gate(now_ns),
            }
        }
    }

    /// No more arrivals: those that still wait are counted.
    fn close_gate(&mut self, now_ns: u64) {
        let count = self.users.close_gate(now_ns);
        self.recorder.turned_away(count);
    }

    /// What a user that has gone leaves behind is done away with.
    fn clear_up(&mut self, user: u32, change: Change) {
        if change != Change::None {
            self.connections.close_all(user, &mut self.recorder);
        }
        if change == Change::Renewed {
            self.program.forget(user);
        }
    }

    /// Lets users come or leave until there are as many as are asked for by hand.
    pub(super) fn change_users(&mut self, control: &Control) {
        let Some(users) = control.users() else { return };
        for place in self.users.ask_for(users, self.now_ns) {
            self.clear_up(place, Change::Renewed);
        }
    }

    pub(super) fn begin_session(&mut self, user: u32, due_ns: u64, thinking_since_ns: Option<u64>) {
        let now_ns = self.now();
        let (begins, change) = self.users.begin_due(user, now_ns, thinking_since_ns.is_some());
        self.clear_up(user, change);
        if !begins {
            if let Some(since_ns) = thinking_since_ns {
                self.recorder.think_given_up(now_ns, since_ns);
            }
            return;
        }
        let (index, arriving) = (self.users.global_index(user), self.users.are_arriving());
        let state = &mut self.users[user];
        // Which place an arrival finds free depends on how many threads there are; its own number does not.
        let draw_index = if arriving { state.person } else { index };
        let choice = self.sessions.crowd.next(draw_index, state.mix_state, &mut state.stream);
        state.mix_state = choice.state;
        // Traces go by the place, which is one user's at a time.
        let row = self.sessions.rows[choice.session];
        let mut session = ActiveSession::new(index + 1, row, state.intended_ns, now_ns);
        session.number = choice.session as u16;
        session.user_state = state.user_state.take();
        session.uniques = state.uniques;
        session.life_began_ns = state.life_began_ns;
        session.arriving = arriving;
        session.draw_index = draw_index;
        let mut presence = self.sessions.presence(session);
        state.sessions += 1;
        let (recorder, late_ns) = (&mut *self.recorder, now_ns.saturating_sub(due_ns));
        recorder.session_started(now_ns, thinking_since_ns);
        let pause = state.pause.take().filter(|_| thinking_since_ns.is_some());
        pause.into_iter().for_each(|pause| pause.end(late_ns, recorder));
        recorder.lag(late_ns);
        choice.cells().for_each(|cell| recorder.chosen(cell));
        recorder.trace(now_ns, index + 1, || Step::Session(self.sessions.names[choice.session].clone()));
        let turn = Turn::new(presence.session, self.recorder.lend(), now_ns);
        let numbers = (user, state.person.wrapping_add(1));
        let (turn, thread, outcome) = self.program.start(turn, choice.session, numbers, &mut state.stream);
        let Turn { session, recorder, action, .. } = turn;
        self.recorder.put_back(recorder);
        (presence.session, presence.thread) = (session, thread);
        state.presence = Some(presence);
        self.time_has_passed();
        self.proceed(user, outcome, action);
    }

    /// The user's answer is complete: the script goes on.
    pub(super) fn deliver(&mut self, user: u32) {
        let Some(presence) = &self.users[user].presence else { return };
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
        let state = &mut self.users[user];
        let Some(mut presence) = state.presence.take() else { return };
        let turn = Turn::new(presence.session, self.recorder.lend(), self.now_ns);
        let (turn, outcome) = self.program.resume(turn, presence.thread.as_ref(), input, &mut state.stream);
        let Turn { session, recorder, action, .. } = turn;
        self.recorder.put_back(recorder);
        presence.session = session;
        state.presence = Some(presence);
        self.time_has_passed();
        self.proceed(user, outcome, action);
    }

    /// Does what the script asked for.
    fn proceed(&mut self, user: u32, outcome: Outcome, action: Option<Action>) {
        self.be_forgotten(user);
        match (outcome, action) {
            (Outcome::Waits, Some(Action::Request)) => self.send_request(user),
            (Outcome::Waits, Some(Action::Parallel(connections))) => self.send_requests(user, connections),
            (Outcome::Waits, Some(Action::Pause(nanos))) => {
                self.connections.operation_ended(user, &mut self.recorder);
                self.users[user].doing = Doing::Pausing;
                self.users.set_timer(user, self.now_ns + nanos);
            }
            (Outcome::Waits, None) => {
                self.fail_session(user, ErrorKind::Script, "the script yielded without a request");
            }
            (Outcome::Ended, _) => self.end_session(user),
            (Outcome::Raised(message), _) => {
                // `fail("why")` raises an error after it has counted one; any other error is the script's own.
                if self.users[user].session().is_some_and(|session| session.failed_on_purpose) {
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
        let presence = self.users[user].presence.as_mut();
        if presence.is_some_and(|presence| std::mem::take(&mut presence.session.forgets)) {
            self.connections.close_all(user, &mut self.recorder);
        }
    }

    /// Fails the open operation and with it the session.
    pub(super) fn fail_session(&mut self, user: u32, kind: ErrorKind, message: &str) {
        if let Some(presence) = &mut self.users[user].presence {
            let mut pages = self.pages.borrow_mut();
            presence.session.fail(kind, message, self.now_ns, &mut self.recorder, &mut pages);
        }
        self.end_session(user);
    }

    /// The session is over: records it and lets the user think.
    fn end_session(&mut self, user: u32) {
        let Some(mut presence) = self.users[user].presence.take() else { return };
        self.close_session(user, &mut presence.session);
        presence.thread.take().into_iter().for_each(|thread| self.program.give_back(thread));
        presence.batch = Batch::default();
        let (thinks, change) = self.users.end_session(user, self.now_ns);
        self.clear_up(user, change);
        if thinks {
            self.think(user, &presence.session);
        }
        self.sessions.spare.push(presence);
    }

    fn close_session(&mut self, user: u32, session: &mut ActiveSession) {
        let (now_ns, recorder) = (self.now_ns, &mut *self.recorder);
        session.finish(now_ns, recorder);
        recorder.session_ended(now_ns, session.started_ns);
        recorder.trace(now_ns, session.user_number, || Step::End(session.failure.is_none()));
        let mut pages = self.pages.borrow_mut();
        session.pages.drain(..).for_each(|slot| pages.release(slot));
        drop(pages);
        self.connections.session_ended(user, recorder);
        let state = &mut self.users[user];
        state.user_state = session.user_state.take();
        state.uniques = session.uniques;
        state.operations = state.operations.wrapping_add(session.operations());
    }

    /// Draws the pause after a session.
    fn think(&mut self, user: u32, session: &ActiveSession) {
        let now_ns = self.now_ns;
        let pace = &self.sessions.pace;
        let pauses = session.failure.is_none() && !session.is_idle();
        self.recorder.think_started(now_ns);
        let state = &mut self.users[user];
        state.doing = Doing::Thinking(Some(now_ns));
        let next_ns = match pace.draw(session, now_ns, &mut state.stream) {
            Some((pause, next_ns)) => {
                if pauses {
                    pause.begin(&mut self.recorder);
                    state.pause = Some(pause);
                }
                next_ns
            }
            None => now_ns,
        };
        let start_ns = if pauses { next_ns } else { next_ns.max(now_ns + PAUSE_AFTER_FAILURE_NS) };
        // A cycle's next start stays where it was intended: what a failure delays is charged to the server.
        state.intended_ns = if pace.is_by_cycles(session.number) { next_ns } else { start_ns };
        // A start that the server has made impossible in time is not the generator's lag.
        self.users.set_timer(user, start_ns.max(now_ns));
    }

    /// The end of the drain: sessions that are under way are cut off.
    pub(super) fn cut_all(&mut self) {
        let now_ns = self.now();
        self.close_gate(now_ns);
        for user in 0..self.users.places() {
            let state = &mut self.users[user];
            if let Some(mut presence) = state.presence.take() {
                presence.session.cut(&mut self.recorder);
                self.recorder.session_cut(now_ns, presence.session.started_ns);
            } else if let Doing::Thinking(Some(since_ns)) = state.doing {
                self.recorder.think_given_up(now_ns, since_ns);
            }
            let change = self.users.leave(user);
            self.clear_up(user, change);
        }
    }

    /// Users between sessions leave: nobody is to begin another one.
    pub(super) fn send_thinkers_home(&mut self, now_ns: u64) {
        self.close_gate(now_ns);
        for user in 0..self.users.places() {
            if let Doing::Thinking(since_ns) = self.users[user].doing {
                if let Some(since_ns) = since_ns {
                    self.recorder.think_given_up(now_ns, since_ns);
                }
                let change = self.users.leave(user);
                self.clear_up(user, change);
            }
        }
    }
}

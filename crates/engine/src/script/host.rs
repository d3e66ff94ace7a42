//! What a session's calls act on while its script runs. A worker lends its recorder and the session for the script's
//! turn, and gets them back with what the script wants next.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use model::record::interval::{ErrorKind, OperationKind};

use super::page::Pages;
use super::parts::Files;
use super::promises::{Promises, State};
use super::stack::Fault;
use crate::active_session::ActiveSession;
use crate::http::request::{Draft, Wanted, path_of};
use crate::recorder::Recorder;
use crate::trace::Step;
use crate::user_state::{Login, Scheme};

/// What the script asked for before it yielded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Action {
    /// The request in [`Host::draft`] is to be sent.
    Request,
    /// The requests in [`Host::drafts`] are to be sent over at most this number of connections at once.
    Parallel(u16),
    /// A pause of this number of nanoseconds.
    Pause(u64),
}

/// What a request call gives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arguments<'a> {
    pub(crate) method: &'a [u8],
    pub(crate) target: &'a [u8],
    /// The row's name; the path when absent.
    pub(crate) name: Option<&'a [u8]>,
    /// Header lines, each with its line end.
    pub(crate) headers: &'a [u8],
    /// Content type, or nothing when `headers` has it, and body.
    pub(crate) body: Option<(&'a [u8], &'a [u8])>,
    /// The rest of the body, in pieces that are not copied.
    pub(crate) segments: &'a [Arc<[u8]>],
    /// What the session takes for the right answer.
    pub(crate) wanted: Wanted,
    /// The maximum number of redirects that are followed.
    pub(crate) redirects: u8,
    /// The body of the answer is not kept.
    pub(crate) discard: bool,
    /// The user's cache may answer it.
    pub(crate) cached: bool,
}

/// What a worker lends to a script for its turn.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) session: Box<ActiveSession>,
    pub(crate) recorder: Box<Recorder>,
    /// When the event happened that the script goes on with.
    pub(crate) now_ns: u64,
    /// What the script wants before it goes on.
    pub(crate) action: Option<Action>,
}

impl Turn {
    /// The beginning of a turn.
    pub(crate) fn new(session: Box<ActiveSession>, recorder: Box<Recorder>, now_ns: u64) -> Turn {
        Turn { session, recorder, now_ns, action: None }
    }

    /// Notes a step of the user when somebody listens.
    fn trace(&mut self, step: impl FnOnce() -> Step) {
        self.recorder.trace(self.now_ns, self.session.user_number, step);
    }
}

/// What a session's calls act on.
#[derive(Debug)]
pub(crate) struct Host {
    /// Absent while no script has its turn: at the top level of one, too.
    pub(crate) turn: Option<Turn>,
    pub(crate) draft: Draft,
    /// In the order in which their pages are given back.
    pub(crate) drafts: Vec<Draft>,
    pub(crate) pages: Rc<RefCell<Pages>>,
    users: u64,
    /// Among how many unique numbers and rows are dealt out.
    pub(crate) people: u64,
    /// The kit's files that requests may send.
    pub(crate) files: Files,
    /// What users were promised, for the check after the run.
    pub(crate) promises: Promises,
    /// Buffers for the request under construction, used again.
    pub(crate) target: Vec<u8>,
    pub(crate) form: Vec<u8>,
}

impl Host {
    /// For the calls of a thread's scripts, which may look at `pages`. `users` is the number of users over all threads,
    /// `people` the number of those who may come.
    pub(crate) fn new(users: u32, people: u64, pages: Rc<RefCell<Pages>>) -> Host {
        Host {
            turn: None,
            draft: Draft::default(),
            drafts: Vec::new(),
            pages,
            users: u64::from(users.max(1)),
            people: people.max(1),
            files: Files::new(),
            promises: Promises::default(),
            target: Vec::new(),
            form: Vec::new(),
        }
    }

    /// How many users there are at most, over all threads.
    pub(crate) fn users(&self) -> u64 {
        self.users
    }

    /// The turn under way, for a `call` that means nothing without a user: at a script's top level it is refused.
    pub(crate) fn turn(&mut self, call: &str) -> Result<&mut Turn, Fault> {
        let refused =
            || Fault::new(format!("{call} is for a user: call it in a session, not at the top level"));
        self.turn.as_mut().ok_or_else(refused)
    }

    /// Seconds from the beginning of the user's life to the event that the script goes on with.
    pub(crate) fn elapsed_s(&mut self) -> Result<f64, Fault> {
        let Turn { session, now_ns, .. } = self.turn("elapsed()")?;
        Ok(now_ns.saturating_sub(session.life_began_ns) as f64 / 1e9)
    }

    /// A number that no other call of any user in this run is given: a user counts from its own number in steps of
    /// the number of users that may come.
    pub(crate) fn unique(&mut self) -> Result<u64, Fault> {
        let people = self.people;
        let session = &mut self.turn("unique()")?.session;
        session.uniques += 1;
        Ok(u64::from(session.draw_index) + 1 + people * u64::from(session.uniques - 1))
    }

    /// Begins an operation.
    pub(crate) fn operation(&mut self, name: &[u8]) {
        let Some(turn) = &mut self.turn else { return };
        turn.trace(|| Step::Operation(String::from_utf8_lossy(name).into_owned()));
        let Turn { session, recorder, now_ns, .. } = turn;
        let row = recorder.row(OperationKind::Operation, name);
        session.open(row, *now_ns, recorder);
    }

    /// A request is wanted. One outside of an operation opens one named after the session.
    pub(crate) fn request(&mut self, arguments: &Arguments<'_>) {
        let Some(turn) = &mut self.turn else { return };
        leave_pages(turn, &self.pages);
        write_draft(turn, &mut self.draft, arguments);
        turn.action = Some(Action::Request);
    }

    /// One more request of those that [`Self::parallel`] sends.
    pub(crate) fn request_beside(&mut self, arguments: &Arguments<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let mut draft = Draft::default();
        write_draft(turn, &mut draft, arguments);
        self.drafts.push(draft);
    }

    /// The requests noted by [`Self::request_beside`] are wanted, over at most this number of connections at once.
    pub(crate) fn parallel(&mut self, connections: u16) {
        let Some(turn) = &mut self.turn else { return };
        leave_pages(turn, &self.pages);
        turn.action = Some(Action::Parallel(connections.max(1)));
    }

    /// The user proves who it is from now on.
    pub(crate) fn log_in(&mut self, name: &str, password: &str, scheme: Scheme) -> Result<(), &'static str> {
        let login = Login::new(name, password, scheme)?;
        if let Some(turn) = &mut self.turn {
            turn.session.user_state.get_or_insert_default().login = Some(Box::new(login));
        }
        Ok(())
    }

    /// The server is to take the user for somebody it has never seen.
    pub(crate) fn forget(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.session.user_state = None;
        turn.session.forgets = true;
        turn.trace(|| Step::Forget);
    }

    /// A pause within the session: it ends the open operation.
    pub(crate) fn pause(&mut self, nanos: u64) {
        let Some(turn) = &mut self.turn else { return };
        turn.session.close(&mut turn.recorder);
        turn.trace(|| Step::Think(nanos));
        turn.action = Some(Action::Pause(nanos));
    }

    /// Takes the open operation out of its row.
    pub(crate) fn abandon(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.session.abandon(&mut turn.recorder);
        }
    }

    /// The open operation has failed a check; `on_purpose` where the script ends its session by it.
    pub(crate) fn fail(&mut self, message: &str, on_purpose: bool) {
        let Some(Turn { session, recorder, now_ns, .. }) = &mut self.turn else { return };
        session.fail(ErrorKind::Check, message, *now_ns, recorder, &mut self.pages.borrow_mut());
        session.failed_on_purpose |= on_purpose;
    }

    /// Adds to one of the session's own counters.
    pub(crate) fn count(&mut self, name: &str, n: u64) -> Result<(), Fault> {
        let turn = self.turn("count(name)")?;
        turn.trace(|| Step::Count(name.to_string(), n));
        turn.recorder.count(name, n);
        Ok(())
    }

    /// A user was promised something. What there is no room for is counted, so that a check can say how much it missed.
    pub(crate) fn promise(&mut self, key: &str, state: State<'_>) -> Result<(), Fault> {
        if self.promises.note(key, state) { Ok(()) } else { self.count(Promises::BEYOND, 1) }
    }
}

fn write_draft(turn: &mut Turn, draft: &mut Draft, arguments: &Arguments<'_>) {
    let Turn { session, recorder, now_ns, .. } = turn;
    session.ensure_operation(*now_ns, recorder);
    draft.clear();
    draft.method.extend_from_slice(arguments.method);
    draft.target.extend_from_slice(arguments.target);
    draft.headers.extend_from_slice(arguments.headers);
    if let Some((content_type, body)) = arguments.body {
        draft.has_body = true;
        draft.content_type.extend_from_slice(content_type);
        draft.body.extend_from_slice(body);
    }
    draft.segments.extend_from_slice(arguments.segments);
    draft.named = arguments.name.is_some();
    draft.row = recorder.row(OperationKind::Request, arguments.name.unwrap_or(path_of(arguments.target)));
    draft.wanted = arguments.wanted;
    draft.redirects = arguments.redirects;
    draft.discard = arguments.discard;
    draft.cached = arguments.cached;
}

/// The pages of the session's last request end here.
fn leave_pages(turn: &mut Turn, pages: &RefCell<Pages>) {
    let mut pages = pages.borrow_mut();
    turn.session.pages.drain(..).for_each(|slot| pages.release(slot));
}

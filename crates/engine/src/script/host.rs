//! What a session's calls act on while its script runs. A worker puts a session in, resumes the script, and finds out
//! what the script wants next.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use model::interval::{ErrorKind, OperationKind};
use model::record::Evidence;

use super::page::{NO_PAGE, PageSlot, Pages};
use super::parts::Files;
use super::told::{State, Told};
use crate::active_session::ActiveSession;
use crate::http::request::{Draft, Wanted, path_of};
use crate::recorder::Recorder;
use crate::trace::{Step, Trace};
use crate::user_state::{Login, Scheme};

/// What the script asked for before it yielded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Action {
    /// Nothing: it ended, or yielded on its own.
    None,
    /// The request in [`Host::draft`] is to be sent.
    Request,
    /// The requests in [`Host::drafts`] are to be sent over at most so many connections at once.
    Parallel(u16),
    /// A pause of so many nanoseconds.
    Pause(u64),
}

/// What a request call gives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked<'a> {
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
    /// So many redirects are followed.
    pub(crate) redirects: u8,
    /// The body of the answer is not kept.
    pub(crate) discard: bool,
    /// The user's cache may answer it.
    pub(crate) cached: bool,
}

/// What a session's calls act on.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) now_ns: u64,
    pub(crate) session: Option<Box<ActiveSession>>,
    pub(crate) action: Action,
    pub(crate) draft: Draft,
    /// In the order in which their pages are given back.
    pub(crate) drafts: Vec<Draft>,
    pub(crate) recorder: Recorder,
    pub(crate) pages: Rc<RefCell<Pages>>,
    /// `None` when nobody listens.
    pub(crate) traces: Option<Vec<Trace>>,
    users: u64,
    /// Among how many unique numbers and rows are dealt out.
    pub(crate) people: u64,
    /// The kit's files that requests may send.
    pub(crate) files: Files,
    /// What users were promised, for the check after the run.
    pub(crate) told: Told,
    /// Buffers for the request under construction, used again.
    pub(crate) target: Vec<u8>,
    pub(crate) form: Vec<u8>,
}

impl Host {
    pub(crate) fn new(users: u32, people: u64, tracing: bool) -> Host {
        Host {
            now_ns: 0,
            session: None,
            action: Action::None,
            draft: Draft::default(),
            drafts: Vec::new(),
            recorder: Recorder::new(),
            pages: Rc::default(),
            traces: tracing.then(Vec::new),
            users: u64::from(users.max(1)),
            people: people.max(1),
            files: Files::new(),
            told: Told::default(),
            target: Vec::new(),
            form: Vec::new(),
        }
    }

    /// How many users there are at most, over all threads.
    pub(crate) fn users(&self) -> u64 {
        self.users
    }

    /// Seconds from the beginning of the user's life to the event that the script goes on with; absent where there is no
    /// user.
    pub(crate) fn elapsed_s(&self) -> Option<f64> {
        let session = self.session.as_ref()?;
        Some(self.now_ns.saturating_sub(session.life_began_ns) as f64 / 1e9)
    }

    /// A number that no other call of any user in this run is given: a user counts from its own number in steps of
    /// the number of users that may come.
    pub(crate) fn unique(&mut self) -> u64 {
        let Some(session) = &mut self.session else { return 0 };
        session.uniques += 1;
        u64::from(session.draw_index) + 1 + self.people * u64::from(session.uniques - 1)
    }

    /// Begins an operation.
    pub(crate) fn operation(&mut self, name: &[u8]) {
        let row = self.recorder.row(OperationKind::Operation, name);
        self.trace(|| Step::Operation(String::from_utf8_lossy(name).into_owned()));
        if let Some(session) = &mut self.session {
            session.open(row, self.now_ns, &mut self.recorder);
        }
    }

    /// A request is wanted. One outside of an operation opens one named after the session.
    pub(crate) fn request(&mut self, asked: &Asked<'_>) {
        self.leave_pages();
        let mut draft = std::mem::take(&mut self.draft);
        self.write_draft(&mut draft, asked);
        self.draft = draft;
        self.action = Action::Request;
    }

    /// One more request of those that [`Self::parallel`] sends.
    pub(crate) fn request_beside(&mut self, asked: &Asked<'_>) {
        let mut draft = Draft::default();
        self.write_draft(&mut draft, asked);
        self.drafts.push(draft);
    }

    /// The requests noted by [`Self::request_beside`] are wanted, over at most so many connections at once.
    pub(crate) fn parallel(&mut self, connections: u16) {
        self.leave_pages();
        self.action = Action::Parallel(connections.max(1));
    }

    fn write_draft(&mut self, draft: &mut Draft, asked: &Asked<'_>) {
        self.ensure_operation();
        draft.clear();
        draft.method.extend_from_slice(asked.method);
        draft.target.extend_from_slice(asked.target);
        draft.headers.extend_from_slice(asked.headers);
        if let Some((content_type, body)) = asked.body {
            draft.has_body = true;
            draft.content_type.extend_from_slice(content_type);
            draft.body.extend_from_slice(body);
        }
        draft.segments.extend_from_slice(asked.segments);
        draft.named = asked.name.is_some();
        draft.row = self.recorder.row(OperationKind::Request, asked.name.unwrap_or(path_of(asked.target)));
        draft.wanted = asked.wanted;
        draft.redirects = asked.redirects;
        draft.discard = asked.discard;
        draft.cached = asked.cached;
    }

    /// The pages of the session's last request end here.
    fn leave_pages(&mut self) {
        let Some(session) = &mut self.session else { return };
        let mut pages = self.pages.borrow_mut();
        session.pages.drain(..).for_each(|slot| pages.release(slot));
    }

    /// The user proves who it is from now on.
    pub(crate) fn log_in(&mut self, name: &str, password: &str, scheme: Scheme) -> Result<(), &'static str> {
        let login = Login::new(name, password, scheme)?;
        if let Some(session) = &mut self.session {
            session.user_state.get_or_insert_default().login = Some(Box::new(login));
        }
        Ok(())
    }

    /// The server is to take the user for somebody it has never seen.
    pub(crate) fn forget(&mut self) {
        if let Some(session) = &mut self.session {
            session.user_state = None;
            session.forgets = true;
        }
        self.trace(|| Step::Forget);
    }

    /// A pause within the session: it ends the open operation.
    pub(crate) fn pause(&mut self, nanos: u64) {
        if let Some(session) = &mut self.session {
            session.close(&mut self.recorder);
        }
        self.trace(|| Step::Think(nanos));
        self.action = Action::Pause(nanos);
    }

    /// The open operation has failed: counted once, with a sample of what was seen.
    pub(crate) fn fail(&mut self, kind: ErrorKind, message: &str) {
        self.ensure_operation();
        let Some(session) = &mut self.session else { return };
        session.fail(kind);
        if let Some(traces) = &mut self.traces {
            let step = Step::Error(format!("{}: {message}", kind.word()));
            traces.push(Trace { at_ns: self.now_ns, user: session.user_number, step });
        }
        let Some(row) = session.operation_row() else { return };
        if !self.recorder.wants_evidence(row, kind) {
            return;
        }
        let mut pages = self.pages.borrow_mut();
        let answered = |slot: &PageSlot| pages.response(*slot).started();
        let page = session.pages.last().copied().filter(|slot| *slot != NO_PAGE);
        let answer = page.filter(answered).map(|slot| super::page::excerpt(pages.response(slot)));
        let request = page.map(|slot| pages.request_line(slot));
        drop(pages);
        let evidence = Evidence {
            operation: self.recorder.name(row).to_string(),
            kind: kind.word().to_string(),
            message: message.to_string(),
            request,
            answer,
            second: (self.now_ns / 1_000_000_000) as u32,
        };
        self.recorder.evidence(evidence);
    }

    /// Adds to one of the session's own counters.
    pub(crate) fn count(&mut self, name: &str, n: u64) {
        self.trace(|| Step::Count(name.to_string(), n));
        self.recorder.count(name, n);
    }

    /// A user was promised something. What there is no room for is counted, so that a check can say how much it missed.
    pub(crate) fn tell(&mut self, key: &str, state: State<'_>) {
        if !self.told.note(key, state) {
            self.count(Told::BEYOND, 1);
        }
    }

    /// Notes a step when somebody listens.
    pub(crate) fn trace(&mut self, step: impl FnOnce() -> Step) {
        if let (Some(traces), Some(session)) = (&mut self.traces, &self.session) {
            traces.push(Trace { at_ns: self.now_ns, user: session.user_number, step: step() });
        }
    }

    fn ensure_operation(&mut self) {
        let Some(session) = &mut self.session else { return };
        if session.operation_row().is_none() {
            let name = self.recorder.name(session.session_row).to_string();
            let row = self.recorder.row(OperationKind::Operation, name.as_bytes());
            session.open(row, self.now_ns, &mut self.recorder);
        }
    }
}

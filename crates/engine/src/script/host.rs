//! What a session's calls act on while its script runs. A worker puts a visit in, resumes the script, and finds out
//! what the script wants next.

use std::cell::RefCell;
use std::rc::Rc;

use model::interval::{ErrorKind, OperationKind};
use model::record::Evidence;

use super::page::{PageSlot, Pages};
use crate::http::request::{Parts, Preamble, path_of};
use crate::recorder::{Recorder, Row};
use crate::trace::{Step, Trace};
use crate::visit::Visit;

/// What the script asked for before it yielded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Action {
    /// Nothing: it ended, or yielded on its own.
    None,
    /// The request in [`Host::draft`] is to be sent.
    Request,
    /// A pause of so many nanoseconds.
    Pause(u64),
}

/// A request ready to be sent.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The request's bytes.
    pub(crate) bytes: Vec<u8>,
    /// Its row.
    pub(crate) row: Row,
    /// The status that the session expects; 0 means any below 400.
    pub(crate) expected_status: u16,
    /// Whether it is a HEAD request.
    pub(crate) head: bool,
}

/// What a request call gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a [u8],
    pub(crate) target: &'a [u8],
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) headers: &'a [u8],
    pub(crate) body: Option<(&'a [u8], &'a [u8])>,
    pub(crate) expected_status: u16,
}

/// What a session's calls act on.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) now_ns: u64,
    pub(crate) visit: Option<Box<Visit>>,
    pub(crate) action: Action,
    pub(crate) draft: Draft,
    pub(crate) recorder: Recorder,
    pub(crate) pages: Rc<RefCell<Pages>>,
    /// `None` when nobody listens.
    pub(crate) traces: Option<Vec<Trace>>,
    preamble: Preamble,
    users: u64,
    /// Buffers for the request under construction, used again.
    pub(crate) target: Vec<u8>,
    pub(crate) form: Vec<u8>,
}

impl Host {
    pub(crate) fn new(preamble: Preamble, users: u32, tracing: bool) -> Host {
        Host {
            now_ns: 0,
            visit: None,
            action: Action::None,
            draft: Draft::default(),
            recorder: Recorder::new(),
            pages: Rc::default(),
            traces: tracing.then(Vec::new),
            preamble,
            users: u64::from(users.max(1)),
            target: Vec::new(),
            form: Vec::new(),
        }
    }

    /// A number that no other call of any user in this run is given: a user counts from its own number in steps of
    /// the number of users.
    pub(crate) fn unique(&mut self) -> u64 {
        let Some(visit) = &mut self.visit else { return 0 };
        visit.uniques += 1;
        u64::from(visit.user_number) + self.users * u64::from(visit.uniques - 1)
    }

    /// Begins an operation.
    pub(crate) fn operation(&mut self, name: &[u8]) {
        let row = self.recorder.row(OperationKind::Operation, name);
        self.trace(|| Step::Operation(String::from_utf8_lossy(name).into_owned()));
        if let Some(visit) = &mut self.visit {
            visit.open(row, self.now_ns, &mut self.recorder);
        }
    }

    /// A request is wanted: writes its bytes. A request outside of an operation opens one named after the session.
    pub(crate) fn request(&mut self, asked: &Asked<'_>) {
        self.ensure_operation();
        let Some(visit) = &mut self.visit else { return };
        if let Some(slot) = visit.page.take() {
            self.pages.borrow_mut().release(slot);
        }
        let name = asked.name.unwrap_or(path_of(asked.target));
        self.draft.row = self.recorder.row(OperationKind::Request, name);
        self.draft.expected_status = asked.expected_status;
        self.draft.head = asked.method == b"HEAD";
        let parts = Parts {
            method: asked.method,
            target: asked.target,
            extra: asked.headers,
            cookies: visit.jar.as_deref(),
            body: asked.body,
        };
        self.preamble.write(&mut self.draft.bytes, &parts);
        self.action = Action::Request;
    }

    /// A pause within the session: it ends the open operation.
    pub(crate) fn pause(&mut self, nanos: u64) {
        if let Some(visit) = &mut self.visit {
            visit.close(&mut self.recorder);
        }
        self.trace(|| Step::Think(nanos));
        self.action = Action::Pause(nanos);
    }

    /// The open operation has failed: counted once, with a sample of what was seen.
    pub(crate) fn fail(&mut self, kind: ErrorKind, message: &str) {
        self.ensure_operation();
        let Some(visit) = &mut self.visit else { return };
        visit.fail(kind);
        if let Some(traces) = &mut self.traces {
            let step = Step::Error(format!("{}: {message}", kind.word()));
            traces.push(Trace { at_ns: self.now_ns, user: visit.user_number, step });
        }
        let Some(row) = visit.operation_row() else { return };
        if !self.recorder.wants_evidence(row, kind) {
            return;
        }
        let mut pages = self.pages.borrow_mut();
        let answered = |slot: &PageSlot| pages.response(*slot).started();
        let answer = visit.page.filter(answered).map(|slot| super::page::excerpt(pages.response(slot)));
        let request = visit.page.map(|slot| pages.request_line(slot));
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

    /// Notes a step when somebody listens.
    pub(crate) fn trace(&mut self, step: impl FnOnce() -> Step) {
        if let (Some(traces), Some(visit)) = (&mut self.traces, &self.visit) {
            traces.push(Trace { at_ns: self.now_ns, user: visit.user_number, step: step() });
        }
    }

    fn ensure_operation(&mut self) {
        let Some(visit) = &mut self.visit else { return };
        if visit.operation_row().is_none() {
            let name = self.recorder.name(visit.session_row).to_string();
            let row = self.recorder.row(OperationKind::Operation, name.as_bytes());
            visit.open(row, self.now_ns, &mut self.recorder);
        }
    }
}

//! An active session: one session of one user, from its intended start to its end, with the operation that is open.

use model::record::Evidence;
use model::record::interval::{ErrorKind, OperationKind};
use smallvec::SmallVec;

use crate::recorder::{Recorder, Row};
use crate::script::page::{PageSlot, Pages, excerpt};
use crate::trace::Step;
use crate::user_state::UserState;

/// The operation that is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenOperation {
    pub(crate) row: Row,
    opened_ns: u64,
    started_ns: Option<u64>,
    ended_ns: u64,
    failure: Option<ErrorKind>,
}

impl OpenOperation {
    /// Without how late its session began.
    fn response_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.opened_ns)
    }
}

/// One session of one user while it lasts.
#[derive(Debug)]
pub(crate) struct ActiveSession {
    /// The user's number, 1-based, over all threads.
    pub(crate) user_number: u32,
    /// By which unique numbers and rows are dealt out to the user, 0-based: nobody else's who may come.
    pub(crate) draw_index: u32,
    /// The session's row.
    pub(crate) session_row: Row,
    /// The session's number in the mix.
    pub(crate) number: u16,
    /// When it should have started.
    pub(crate) intended_ns: u64,
    /// When it did.
    pub(crate) started_ns: u64,
    /// The script called `fail`: the error that ends it is no fault of the script.
    pub(crate) failed_on_purpose: bool,
    /// The script called `forget`: its connections are to be closed.
    pub(crate) forgets: bool,
    /// The first failure of any of its operations.
    pub(crate) failure: Option<ErrorKind>,
    /// The answers that the script may look at.
    pub(crate) pages: SmallVec<[PageSlot; 2]>,
    /// What the user carries from one session to the next.
    pub(crate) user_state: Option<Box<UserState>>,
    /// How many unique numbers the user has drawn.
    pub(crate) uniques: u32,
    /// When its user's life began.
    pub(crate) life_began_ns: u64,
    /// Users arrive by themselves: the session's time begins at its intended start, whatever the script abandons.
    pub(crate) arriving: bool,
    operation: Option<OpenOperation>,
    /// How many operations have been opened.
    operations: u32,
    /// A request has been made.
    requested: bool,
    /// How late it began, until an operation is recorded that is charged with it.
    late_ns: u64,
    /// The same until an abandoned operation is charged with it: the first one that users waited in.
    untimed_late_ns: u64,
    response_sum_ns: u64,
    service_sum_ns: u64,
}

impl ActiveSession {
    pub(crate) fn new(user_number: u32, session_row: Row, intended_ns: u64, now_ns: u64) -> ActiveSession {
        ActiveSession {
            user_number,
            draw_index: user_number.saturating_sub(1),
            session_row,
            number: 0,
            intended_ns,
            started_ns: now_ns,
            failed_on_purpose: false,
            forgets: false,
            failure: None,
            pages: SmallVec::new(),
            user_state: None,
            uniques: 0,
            life_began_ns: 0,
            arriving: false,
            operation: None,
            operations: 0,
            requested: false,
            late_ns: now_ns.saturating_sub(intended_ns),
            untimed_late_ns: now_ns.saturating_sub(intended_ns),
            response_sum_ns: 0,
            service_sum_ns: 0,
        }
    }

    /// Opens an operation; the one before it ends.
    pub(crate) fn open(&mut self, row: Row, now_ns: u64, recorder: &mut Recorder) {
        self.close(recorder);
        self.operations += 1;
        self.operation =
            Some(OpenOperation { row, opened_ns: now_ns, started_ns: None, ended_ns: now_ns, failure: None });
    }

    /// How many operations have been opened: tells one from the next.
    pub(crate) fn operations(&self) -> u32 {
        self.operations
    }

    /// The row of the open operation.
    pub(crate) fn operation_row(&self) -> Option<Row> {
        self.operation.map(|operation| operation.row)
    }

    /// Whether it has made no request.
    pub(crate) fn is_idle(&self) -> bool {
        !self.requested
    }

    /// A request of the open operation is on its way, connecting included.
    pub(crate) fn request_issued(&mut self, now_ns: u64, recorder: &mut Recorder) {
        self.requested = true;
        if let Some(operation @ OpenOperation { started_ns: None, .. }) = &mut self.operation {
            operation.started_ns = Some(now_ns);
            recorder.operation_started(now_ns);
        }
    }

    /// An answer to the open operation is complete.
    pub(crate) fn answered(&mut self, now_ns: u64) {
        if let Some(operation) = &mut self.operation {
            operation.ended_ns = now_ns;
        }
    }

    /// Where no operation is open, opens one named after the session.
    pub(crate) fn ensure_operation(&mut self, now_ns: u64, recorder: &mut Recorder) {
        if self.operation.is_none() {
            let name = recorder.name(self.session_row).to_string();
            let row = recorder.row(OperationKind::Operation, name.as_bytes());
            self.open(row, now_ns, recorder);
        }
    }

    /// The open operation has failed: the first kind of failure counts. A sample of what the session saw is recorded
    /// while few are.
    pub(crate) fn fail(
        &mut self,
        kind: ErrorKind,
        message: &str,
        now_ns: u64,
        recorder: &mut Recorder,
        pages: &mut Pages,
    ) {
        self.ensure_operation(now_ns, recorder);
        self.failure.get_or_insert(kind);
        let page = pages.in_question(&self.pages);
        let answer = page.filter(|slot| pages.response(*slot).started());
        recorder.trace(now_ns, self.user_number, || Step::Error {
            message: format!("{}: {message}", kind.word()),
            answer: answer.map(|slot| excerpt(pages.response(slot))),
        });
        let Some(operation) = &mut self.operation else { return };
        operation.failure.get_or_insert(kind);
        let row = operation.row;
        if !recorder.wants_evidence(row, kind) {
            return;
        }
        let evidence = Evidence {
            operation: recorder.name(row).to_string(),
            kind: kind.word().to_string(),
            message: message.to_string(),
            request: page.map(|slot| pages.request_line(slot)),
            answer: answer.map(|slot| excerpt(pages.response(slot))),
            second: (now_ns / 1_000_000_000) as u32,
        };
        recorder.evidence(evidence);
    }

    /// Takes the open operation out of its row: its time is recorded apart, unless it has failed. Where users arrive by
    /// themselves, the session's own time has it all the same: it is what the user waited.
    pub(crate) fn abandon(&mut self, recorder: &mut Recorder) {
        if self.operation.is_none_or(|operation| operation.failure.is_some()) {
            return;
        }
        let Some(operation) = self.take(recorder) else { return };
        let Some(started_ns) = operation.started_ns else { return };
        recorder.untimed(operation.response_ns() + std::mem::take(&mut self.untimed_late_ns));
        if self.arriving {
            // Without the late start, with which the next operation is charged.
            self.response_sum_ns += operation.response_ns();
            self.service_sum_ns += operation.ended_ns.saturating_sub(started_ns);
        }
    }

    /// The open operation is over, whatever becomes of it.
    fn take(&mut self, recorder: &mut Recorder) -> Option<OpenOperation> {
        let operation = self.operation.take()?;
        operation.started_ns.into_iter().for_each(|started_ns| recorder.operation_over(started_ns));
        Some(operation)
    }

    /// How late the session began, for the one operation that is charged with it.
    fn charge_late_start(&mut self) -> u64 {
        self.untimed_late_ns = 0;
        std::mem::take(&mut self.late_ns)
    }

    /// Ends the open operation and records it. An operation that made no request is none, unless it failed. The first
    /// one that is recorded is charged with how late the session began: nobody else would be, and the user has waited.
    pub(crate) fn close(&mut self, recorder: &mut Recorder) {
        let Some(operation) = self.take(recorder) else { return };
        match (operation.failure, operation.started_ns) {
            (Some(kind), started_ns) => {
                self.charge_late_start();
                recorder.failed(operation.row, kind);
                if started_ns.is_some() && kind != ErrorKind::Connect {
                    recorder.unanswered(operation.row);
                }
            }
            (None, Some(started_ns)) => {
                let response_ns = operation.response_ns() + self.charge_late_start();
                let service_ns = operation.ended_ns.saturating_sub(started_ns);
                recorder.completed(operation.row, response_ns, service_ns);
                self.response_sum_ns += response_ns;
                self.service_sum_ns += service_ns;
            }
            (None, None) => {}
        }
    }

    /// The end of the run cuts the session off: its open operation's outcome stays unknown.
    pub(crate) fn cut(&mut self, recorder: &mut Recorder) {
        if let Some(OpenOperation { row, started_ns: Some(_), .. }) = self.take(recorder) {
            recorder.unanswered(row);
        }
    }

    /// Records the session itself: the sum of its operations. One that made no request is none, unless it failed.
    pub(crate) fn finish(&mut self, now_ns: u64, recorder: &mut Recorder) {
        self.close(recorder);
        if self.arriving {
            // All that it did was abandoned: no operation was charged with its late start.
            self.response_sum_ns += self.late_ns;
        }
        match self.failure {
            Some(kind) => recorder.failed(self.session_row, kind),
            None if self.is_idle() => {}
            None => {
                recorder.completed(self.session_row, self.response_sum_ns, self.service_sum_ns);
                recorder.session_completed(self.session_row, now_ns, self.response_sum_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_start_is_charged_to_one_abandoned_operation_and_to_one_that_is_recorded() {
        const MS: u64 = 1_000_000;
        let mut recorder = Recorder::new(false);
        let row = recorder.row(OperationKind::Operation, b"Op");
        let row_of_session = recorder.row(OperationKind::Session, b"visit");
        // It was to begin 100 ms ago, and each of its operations takes 10 ms.
        let mut session = ActiveSession::new(1, row_of_session, 0, 100 * MS);
        for (number, abandons) in [true, true, false, false, true].into_iter().enumerate() {
            let now_ns = (100 + 10 * number as u64) * MS;
            session.open(row, now_ns, &mut recorder);
            session.request_issued(now_ns, &mut recorder);
            session.answered(now_ns + 10 * MS);
            if abandons {
                session.abandon(&mut recorder);
            }
        }
        session.finish(150 * MS, &mut recorder);
        let second = recorder.end_second().interval;
        let ms = |times: &model::record::interval::Times| -> Vec<u64> {
            times
                .iter_recorded()
                .flat_map(|one| vec![one.value_iterated_to() / 1000; one.count_at_value() as usize])
                .collect()
        };
        assert_eq!(ms(&second.untimed), [10, 10, 110]);
        assert_eq!(ms(&second.operations[usize::from(row)].response), [10, 110]);
    }
}

//! What one thread of the generator saw, second by second: counts, histograms, and the time integrals that Little's
//! law is checked with. Nothing here allocates once every name has been seen.

mod population;
mod row_key;

use model::record::Evidence;
use model::record::interval::{
    ErrorKind, Interval, LAST_SESSIONS, OperationInterval, OperationKind, OperationName, Pauses, SessionEnd,
    Wire, record_ns, record_ns_times,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::trace::{Step, Trace};
use crate::under_way::{self, UnderWay};
use population::Population;
use row_key::RowKey;

/// Row numbers of operations.
pub(crate) type Row = u16;

const SECOND_NS: u64 = 1_000_000_000;
/// Names of a kind beyond this many share one row, so that a session that makes up names can't fill the memory.
const MAX_ROWS: usize = 500;
/// Samples of evidence kept for each operation and kind of error.
const MAX_EVIDENCE: u32 = 3;
const SURPLUS_NAME: &str = "(other names)";

/// What a thread hands over at the end of each second.
#[derive(Debug)]
pub(crate) struct SecondReport {
    /// The second, by the thread's own row numbers.
    pub(crate) interval: Interval,
    /// Names of rows that are new since the last report, in the order of their numbers.
    pub(crate) new_names: Vec<OperationName>,
    /// Samples of errors.
    pub(crate) evidence: Vec<Evidence>,
    /// For each row, operations of unknown outcome in this second.
    pub(crate) unanswered: Vec<u64>,
    /// Answers of this second by status, in no particular order.
    pub(crate) statuses: Vec<(u16, u64)>,
}

/// The record of one thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    rows: FxHashMap<(OperationKind, Box<[u8]>), Row>,
    new_names: Vec<OperationName>,
    row_names: Vec<OperationName>,
    rows_by_kind: [usize; 3],
    counter_names: FxHashSet<Box<str>>,
    interval: Interval,
    spare: Vec<Interval>,
    unanswered: Vec<u64>,
    /// The few that a server gives.
    statuses: Vec<(u16, u64)>,
    evidence: Vec<Evidence>,
    evidence_kept: FxHashMap<(Row, ErrorKind), u32>,
    sends_since_probe: u64,
    usual_sends: u64,
    boundary_ns: u64,
    busy: Population,
    thinking: Population,
    under_way: UnderWay,
    waiting_over_s: f64,
    /// Absent when nobody listens.
    traces: Option<Vec<Trace>>,
}

impl Recorder {
    /// An empty record; with `tracing`, of every user's every step, too.
    pub(crate) fn new(tracing: bool) -> Recorder {
        Recorder {
            rows: FxHashMap::default(),
            new_names: Vec::new(),
            row_names: Vec::new(),
            rows_by_kind: [0; 3],
            counter_names: FxHashSet::default(),
            interval: Interval::empty(0),
            spare: Vec::new(),
            unanswered: Vec::new(),
            statuses: Vec::new(),
            evidence: Vec::new(),
            evidence_kept: FxHashMap::default(),
            sends_since_probe: 0,
            usual_sends: 0,
            boundary_ns: SECOND_NS,
            busy: Population::default(),
            thinking: Population::default(),
            under_way: UnderWay::none(),
            waiting_over_s: under_way::MAX_AGE_S,
            traces: tracing.then(Vec::new),
        }
    }

    /// The row of a name; a new one when it was never seen.
    pub(crate) fn row(&mut self, kind: OperationKind, name: &[u8]) -> Row {
        if let Some(row) = self.rows.get(&(kind, name) as &dyn RowKey) {
            return *row;
        }
        let full = self.rows_by_kind[kind as usize] >= MAX_ROWS;
        let name = if full { SURPLUS_NAME.as_bytes() } else { name };
        if let Some(row) = self.rows.get(&(kind, name) as &dyn RowKey) {
            return *row;
        }
        self.rows_by_kind[kind as usize] += 1;
        let row = self.row_names.len() as Row;
        let text = OperationName { kind, name: String::from_utf8_lossy(name).into_owned() };
        self.rows.insert((kind, name.into()), row);
        self.new_names.push(text.clone());
        self.row_names.push(text);
        self.interval.operations.push(OperationInterval::empty());
        self.unanswered.push(0);
        row
    }

    /// The name of a row.
    pub(crate) fn name(&self, row: Row) -> &str {
        &self.row_names[usize::from(row)].name
    }

    /// A completed session, operation or request.
    pub(crate) fn completed(&mut self, row: Row, response_ns: u64, service_ns: u64) {
        let operation = &mut self.interval.operations[usize::from(row)];
        operation.completed += 1;
        record_ns(&mut operation.response, response_ns);
        record_ns(&mut operation.service, service_ns);
    }

    /// Bytes that came with a request.
    pub(crate) fn bytes(&mut self, row: Row, bytes: u64) {
        self.interval.operations[usize::from(row)].bytes += bytes;
    }

    /// A failed session, operation or request.
    pub(crate) fn failed(&mut self, row: Row, kind: ErrorKind) {
        self.interval.operations[usize::from(row)].errors[kind as usize] += 1;
    }

    /// An operation's first request was issued.
    pub(crate) fn operation_started(&mut self, now_ns: u64) {
        self.under_way.enter(now_ns);
    }

    /// An operation that had started then is over, whatever became of it.
    pub(crate) fn operation_over(&mut self, started_ns: u64) {
        self.under_way.leave(started_ns);
    }

    /// An operation that the script abandoned: its time is in no row.
    pub(crate) fn untimed(&mut self, response_ns: u64) {
        record_ns(&mut self.interval.untimed, response_ns);
    }

    /// An operation whose outcome at the server is unknown.
    pub(crate) fn unanswered(&mut self, row: Row) {
        self.unanswered[usize::from(row)] += 1;
    }

    /// Whether a sample of this kind of error is still wanted: making one costs a copy of the answer.
    pub(crate) fn wants_evidence(&mut self, row: Row, kind: ErrorKind) -> bool {
        let kept = self.evidence_kept.entry((row, kind)).or_insert(0);
        *kept += 1;
        *kept <= MAX_EVIDENCE
    }

    /// A sample of an error.
    pub(crate) fn evidence(&mut self, evidence: Evidence) {
        self.evidence.push(evidence);
    }

    /// Notes a step of a user (1-based) when somebody listens.
    #[inline]
    pub(crate) fn trace(&mut self, at_ns: u64, user: u32, step: impl FnOnce() -> Step) {
        if let Some(traces) = &mut self.traces {
            traces.push(Trace { at_ns, user, step: step() });
        }
    }

    /// The steps noted since the last call; nothing when there are none.
    pub(crate) fn take_traces(&mut self) -> Option<Vec<Trace>> {
        self.traces.as_mut().filter(|traces| !traces.is_empty()).map(std::mem::take)
    }

    /// How late a send was.
    pub(crate) fn lag(&mut self, nanos: u64) {
        record_ns(&mut self.interval.lag, nanos);
        self.sends_since_probe += 1;
    }

    /// How late a probe was, of which there is one every `period_ns`. One that a stall swallowed stands for the sends
    /// that a period usually holds: a stall weighs by its share of the time, however many sends are beside it.
    pub(crate) fn probe(&mut self, late_ns: u64, period_ns: u64) {
        let times = if late_ns < period_ns {
            let sends = std::mem::take(&mut self.sends_since_probe);
            self.usual_sends = (3 * self.usual_sends + sends).div_ceil(4);
            1
        } else {
            self.usual_sends.max(1)
        };
        record_ns_times(&mut self.interval.lag, late_ns, times);
    }

    /// A connection was opened.
    pub(crate) fn connected(&mut self, took_ns: u64) {
        self.interval.connects += 1;
        record_ns(&mut self.interval.phases.connect, took_ns);
    }

    /// A TLS handshake was completed.
    pub(crate) fn handshaken(&mut self, took_ns: u64, resumed: bool) {
        self.interval.wire.handshakes += 1;
        self.interval.wire.resumptions += u64::from(resumed);
        record_ns(&mut self.interval.phases.tls, took_ns);
    }

    /// An answer is complete: its first byte came `first_byte_ns` after the request's issue, its last one `transfer_ns`
    /// after that.
    pub(crate) fn answered(&mut self, status: u16, first_byte_ns: u64, transfer_ns: u64) {
        match self.statuses.iter_mut().find(|(known, _)| *known == status) {
            Some((_, count)) => *count += 1,
            None => self.statuses.push((status, 1)),
        }
        record_ns(&mut self.interval.phases.first_byte, first_byte_ns);
        record_ns(&mut self.interval.phases.transfer, transfer_ns);
    }

    /// Counts on the wire, for the second under way.
    pub(crate) fn wire(&mut self) -> &mut Wire {
        &mut self.interval.wire
    }

    /// Adds to one of the session's own counters.
    pub(crate) fn count(&mut self, name: &str, n: u64) {
        if let Some(sum) = self.interval.counters.get_mut(name) {
            *sum += n;
            return;
        }
        let full = self.counter_names.len() >= MAX_ROWS;
        let name = if full && !self.counter_names.contains(name) { SURPLUS_NAME } else { name };
        if let Some(sum) = self.interval.counters.get_mut(name) {
            *sum += n;
            return;
        }
        self.counter_names.insert(name.into());
        self.interval.counters.insert(name.to_string(), n);
    }

    /// A user started a session after thinking since `since_ns` (absent for the first one).
    pub(crate) fn session_started(&mut self, now_ns: u64, thinking_since_ns: Option<u64>) {
        if let Some(since_ns) = thinking_since_ns {
            self.thinking.leave(now_ns, since_ns);
            self.interval.think_ended(now_ns.saturating_sub(since_ns) as f64 / 1e9);
        }
        self.busy.enter(now_ns);
    }

    /// An arrival of the open model began; `waited` when no user had been free.
    pub(crate) fn arrived(&mut self, waited: bool) {
        self.interval.arrivals += 1;
        self.interval.arrivals_waited += u64::from(waited);
    }

    /// A number of arrivals never began, because no user was free.
    pub(crate) fn turned_away(&mut self, count: u64) {
        self.interval.arrivals_waited += count;
    }

    /// Counts at the end of each second the users who have been waiting for longer than `over_s`, which is rounded up
    /// to a tenth of a second: ages are known to that.
    pub(crate) fn watch_waiting(&mut self, over_s: f64) {
        self.waiting_over_s = over_s;
    }

    /// Makes room for the cells in which draws from the mix are counted.
    pub(crate) fn expect_choices(&mut self, cells: usize) {
        self.interval.choices.resize(cells, 0);
    }

    /// A session was drawn from the mix: the cell in which that counts.
    pub(crate) fn chosen(&mut self, cell: usize) {
        self.interval.choices[cell] += 1;
    }

    /// Makes room for the pauses after a number of `sessions`.
    pub(crate) fn expect_pauses(&mut self, sessions: usize) {
        self.interval.pauses.resize(sessions, Pauses::default());
    }

    /// A pause after a session of that number in the mix was drawn.
    pub(crate) fn pause_drawn(&mut self, session: u16, drawn_s: f64) {
        let pauses = &mut self.interval.pauses[usize::from(session)];
        pauses.drawn += 1;
        pauses.drawn_sum_s += drawn_s;
    }

    /// A pause after a session of that number ended: as drawn, and as it was.
    pub(crate) fn pause_ended(&mut self, session: u16, asked_s: f64, took_s: f64) {
        let pauses = &mut self.interval.pauses[usize::from(session)];
        pauses.ended += 1;
        pauses.asked_sum_s += asked_s;
        pauses.took_sum_s += took_s;
    }

    /// A user's session ended, however it ended.
    pub(crate) fn session_ended(&mut self, now_ns: u64, started_ns: u64) {
        self.busy.leave(now_ns, started_ns);
        self.interval.session_ended(now_ns.saturating_sub(started_ns) as f64 / 1e9);
    }

    /// A session completed: for the largest of the last 100.
    pub(crate) fn session_completed(&mut self, row: Row, ended_ns: u64, took_ns: u64) {
        let last = &mut self.interval.last_sessions;
        if last.len() >= 2 * LAST_SESSIONS {
            last.drain(..LAST_SESSIONS);
        }
        last.push(SessionEnd { operation: usize::from(row), ended_ns, took_ns });
    }

    /// A user begins to think.
    pub(crate) fn think_started(&mut self, now_ns: u64) {
        self.thinking.enter(now_ns);
    }

    /// A user leaves while thinking.
    pub(crate) fn think_given_up(&mut self, now_ns: u64, since_ns: u64) {
        self.thinking.leave(now_ns, since_ns);
    }

    /// A session that the end of the run cut off: neither completed nor failed.
    pub(crate) fn session_cut(&mut self, now_ns: u64, started_ns: u64) {
        self.busy.leave(now_ns, started_ns);
    }

    /// When the second under way ends.
    pub(crate) fn boundary_ns(&self) -> u64 {
        self.boundary_ns
    }

    /// Ends the second under way at its boundary and gives its report; the next second begins. The caller does this
    /// before it records anything later than the boundary.
    pub(crate) fn end_second(&mut self) -> SecondReport {
        let at_ns = self.boundary_ns;
        self.boundary_ns += SECOND_NS;
        for population in [&mut self.busy, &mut self.thinking] {
            population.integrate(at_ns);
        }
        let second = self.interval.second;
        let mut next = self.spare.pop().unwrap_or_else(|| Interval::empty(0));
        next.second = second + 1;
        next.operations.resize_with(self.row_names.len(), OperationInterval::empty);
        next.choices.resize(self.interval.choices.len(), 0);
        next.pauses.resize(self.interval.pauses.len(), Pauses::default());
        let mut interval = std::mem::replace(&mut self.interval, next);
        interval.busy_user_s = self.busy.take_integral_s();
        interval.thinking_user_s = self.thinking.take_integral_s();
        interval.session_age_s = self.busy.age_s(at_ns);
        interval.think_age_s = self.thinking.age_s(at_ns);
        interval.waiting_users = self.under_way.end_second(self.waiting_over_s);
        let fresh = vec![0; self.unanswered.len()];
        let statuses = self.statuses.clone();
        self.statuses.iter_mut().for_each(|(_, count)| *count = 0);
        SecondReport {
            interval,
            new_names: std::mem::take(&mut self.new_names),
            evidence: std::mem::take(&mut self.evidence),
            unanswered: std::mem::replace(&mut self.unanswered, fresh),
            statuses,
        }
    }

    /// Takes a cleared interval back, so that its histograms are used again.
    pub(crate) fn recycle(&mut self, interval: Interval) {
        if self.spare.len() < 4 {
            self.spare.push(interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn time_integrals_are_clipped_to_their_second() {
        let mut recorder = Recorder::new(false);
        recorder.session_started(400_000_000, None);
        let first = recorder.end_second().interval;
        assert!((first.busy_user_s - 0.6).abs() < 1e-12);
        assert!((first.session_age_s - 0.6).abs() < 1e-12);
        recorder.session_ended(1_250_000_000, 400_000_000);
        recorder.think_started(1_250_000_000);
        let second = recorder.end_second().interval;
        assert!((second.busy_user_s - 0.25).abs() < 1e-12);
        assert!((second.thinking_user_s - 0.75).abs() < 1e-12);
        assert_eq!(second.sessions_ended, 1);
        assert!((second.session_sum_s - 0.85).abs() < 1e-12);
        assert_eq!(second.session_age_s, 0.0);
    }

    #[test]
    fn names_are_rows_and_their_number_is_bounded() {
        let mut recorder = Recorder::new(false);
        let first = recorder.row(OperationKind::Operation, b"Browse");
        assert_eq!(recorder.row(OperationKind::Operation, b"Browse"), first);
        assert_ne!(recorder.row(OperationKind::Session, b"Browse"), first);
        for number in 0..2 * MAX_ROWS {
            recorder.row(OperationKind::Request, format!("/page/{number}").as_bytes());
        }
        let report = recorder.end_second();
        let rows = MAX_ROWS + 1 + 2;
        assert_eq!((report.new_names.len(), report.interval.operations.len()), (rows, rows));
        assert_eq!(
            recorder.row(OperationKind::Operation, b"Purchase"),
            rows as Row,
            "operations have room of their own"
        );
    }

    #[test]
    fn counters_beyond_the_bound_share_one_and_none_is_dropped() {
        let mut recorder = Recorder::new(false);
        recorder.count("orders", 1);
        let mut seconds = Vec::new();
        for second in 0..2 {
            for number in 0..MAX_ROWS {
                recorder.count(&format!("made up {second}/{number}"), 2);
            }
            recorder.count("orders", 1);
            seconds.push(recorder.end_second().interval.counters);
        }
        let sums = seconds.iter().map(|counters| counters.values().sum::<u64>());
        let all = 2 * MAX_ROWS as u64;
        assert_eq!(sums.collect::<Vec<_>>(), [all + 2, all + 1], "nothing that was counted is lost");
        assert_eq!(seconds[0][SURPLUS_NAME], 2, "the last name of the first second was one too many");
        assert_eq!(
            seconds[1],
            BTreeMap::from([("orders".to_string(), 1), (SURPLUS_NAME.to_string(), all)]),
            "the bound is the run's, not each second's"
        );
    }

    #[test]
    fn evidence_is_kept_a_few_times_for_each_kind() {
        let mut recorder = Recorder::new(false);
        let row = recorder.row(OperationKind::Operation, b"Browse");
        let wanted = (0..10).filter(|_| recorder.wants_evidence(row, ErrorKind::Status)).count();
        assert_eq!(wanted, 3);
        assert!(recorder.wants_evidence(row, ErrorKind::Check));
    }
}

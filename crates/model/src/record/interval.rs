//! One second of what the load generator recorded, as plain data.

pub mod fields;
mod rows;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use rows::Rows;
pub use times::{Times, add_times, encoded, new_times, nothing, record_ns, record_ns_times};

/// What a row of the result is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// A whole session (an order cycle): the sum of its operations.
    Session,
    /// A named step of a session: the unit of response time and QoS.
    Operation,
    /// One HTTP exchange, by its path or given name.
    Request,
}

/// Why an operation failed. Every failure is one of these; none is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// No connection: refused, reset while connecting, no port left.
    Connect,
    /// No complete answer in time.
    Timeout,
    /// An HTTP status of 400 or more that the session did not expect.
    Status,
    /// The session's own `check` or `fail`.
    Check,
    /// What came was not HTTP, or the connection broke in the middle of it.
    Protocol,
    /// The session script itself: an exception, or a loop without end.
    Script,
}

impl ErrorKind {
    /// All kinds, in the order of [`OperationInterval::errors`].
    pub const ALL: [ErrorKind; 6] = [
        ErrorKind::Connect,
        ErrorKind::Timeout,
        ErrorKind::Status,
        ErrorKind::Check,
        ErrorKind::Protocol,
        ErrorKind::Script,
    ];

    /// The word in results and on the terminal.
    pub fn word(self) -> &'static str {
        match self {
            ErrorKind::Connect => "connect",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Status => "status",
            ErrorKind::Check => "check",
            ErrorKind::Protocol => "protocol",
            ErrorKind::Script => "script",
        }
    }
}

/// The name of a row: a session, an operation or a request. Index into [`Interval::operations`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperationName {
    /// Session, operation or request.
    pub kind: OperationKind,
    /// `order_cycle`, `Browse`, `/ds2/dsbrowse.php`.
    pub name: String,
}

/// What one second held of one session, operation or request.
#[derive(Debug, Clone)]
pub struct OperationInterval {
    /// Completed without error in this second.
    pub completed: u64,
    /// Failed in this second, by [`ErrorKind::ALL`]'s order.
    pub errors: [u64; 6],
    /// Response times of what completed, from the *intended* start.
    pub response: Times,
    /// Service times of what completed, from the actual start.
    pub service: Times,
    /// Bytes received (requests only).
    pub bytes: u64,
}

impl OperationInterval {
    /// Nothing happened.
    pub fn empty() -> OperationInterval {
        OperationInterval {
            completed: 0,
            errors: [0; 6],
            response: new_times(),
            service: new_times(),
            bytes: 0,
        }
    }

    /// Nothing happened, in next to no memory: its histograms are placeholders that can be added but not recorded into.
    pub fn bare() -> OperationInterval {
        OperationInterval { completed: 0, errors: [0; 6], response: nothing(), service: nothing(), bytes: 0 }
    }

    /// All failures.
    pub fn failed(&self) -> u64 {
        self.errors.iter().sum()
    }

    /// Adds another second's, or another thread's.
    pub fn merge(&mut self, other: &OperationInterval) {
        self.completed += other.completed;
        self.bytes += other.bytes;
        self.errors.iter_mut().zip(other.errors).for_each(|(sum, count)| *sum += count);
        add_times(&mut self.response, &other.response);
        add_times(&mut self.service, &other.service);
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.completed = 0;
        self.bytes = 0;
        self.errors = [0; 6];
        [&mut self.response, &mut self.service].into_iter().for_each(times::clear);
    }
}

/// How long the parts of a request took, over all requests of a second.
#[derive(Debug, Clone)]
pub struct Phases {
    /// Connections opened: from the first packet to the end of the TCP handshake.
    pub connect: Times,
    /// TLS handshakes, after the TCP one.
    pub tls: Times,
    /// From a request's issue (connecting included) to the first byte of its answer.
    pub first_byte: Times,
    /// From the first byte of an answer to its last.
    pub transfer: Times,
}

impl Phases {
    /// Nothing happened.
    pub fn empty() -> Phases {
        Phases { connect: new_times(), tls: new_times(), first_byte: new_times(), transfer: new_times() }
    }

    /// Placeholders that take no memory.
    fn nothing() -> Phases {
        Phases { connect: nothing(), tls: nothing(), first_byte: nothing(), transfer: nothing() }
    }

    /// Adds another second's, or another thread's.
    pub fn merge(&mut self, other: &Phases) {
        add_times(&mut self.connect, &other.connect);
        add_times(&mut self.tls, &other.tls);
        add_times(&mut self.first_byte, &other.first_byte);
        add_times(&mut self.transfer, &other.transfer);
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        [&mut self.connect, &mut self.tls, &mut self.first_byte, &mut self.transfer]
            .into_iter()
            .for_each(times::clear);
    }
}

/// What happened on the wire beside plain requests and answers, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Wire {
    /// TLS handshakes completed.
    pub handshakes: u64,
    /// Of these, by resuming an earlier session.
    pub resumptions: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Answers that asked for credentials, after which the request was repeated with them.
    pub challenges: u64,
    /// Conditional requests that were answered with 304.
    pub not_modified: u64,
    /// Requests that a user's cache made unnecessary.
    pub cache_hits: u64,
    /// Connections that the generator's own machine had no port, descriptor or memory for.
    pub exhausted: u64,
}

impl Wire {
    /// Adds another second's, or another thread's.
    pub fn merge(&mut self, other: &Wire) {
        self.handshakes += other.handshakes;
        self.resumptions += other.resumptions;
        self.redirects += other.redirects;
        self.challenges += other.challenges;
        self.not_modified += other.not_modified;
        self.cache_hits += other.cache_hits;
        self.exhausted += other.exhausted;
    }
}

/// A session that completed: kept one by one only for the largest of the last 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// Index into [`Interval::operations`].
    pub operation: usize,
    /// Nanoseconds since the run's start.
    pub ended_ns: u64,
    /// Response time of the whole session.
    pub took_ns: u64,
}

/// Pauses after sessions of one name: the rest of a cycle, or thinking. Those after sessions that failed, or asked for
/// nothing, are no part of the load that was asked for and are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pauses {
    /// Drawn in this second: counted when they begin, so that a window's own length favours neither short nor long ones.
    pub drawn: u64,
    /// Sum of [`Self::drawn`] in seconds.
    pub drawn_sum_s: f64,
    /// Ended in this second by the start of the user's next session.
    pub ended: u64,
    /// Sum of what was drawn for [`Self::ended`]; seconds.
    pub asked_sum_s: f64,
    /// Sum of what became of them: of a think time what was drawn; of a cycle time what was drawn, or the session's
    /// length from its actual start where that is longer; each with the generator's own lateness at the next start. Of a
    /// user who is behind the intended starts and catches up, that is not the time from start to start, which may be
    /// shorter than the cycle. Seconds.
    pub took_sum_s: f64,
}

impl Pauses {
    /// Adds another second's, or another thread's.
    pub fn merge(&mut self, other: &Pauses) {
        self.drawn += other.drawn;
        self.drawn_sum_s += other.drawn_sum_s;
        self.ended += other.ended;
        self.asked_sum_s += other.asked_sum_s;
        self.took_sum_s += other.took_sum_s;
    }
}

/// How many of the last completed sessions a second keeps (DVD Store's `rt_tot_lastn_max` looks at 100).
pub const LAST_SESSIONS: usize = 100;

/// One second of one run, merged over the generator's threads.
#[derive(Debug, Clone)]
pub struct Interval {
    /// Seconds since the run's start, 0-based.
    pub second: u32,
    /// By index of the run's list of [`OperationName`]s; a name that appears later only lengthens the list.
    pub operations: Vec<OperationInterval>,
    /// Time integral of users inside a session over this second: user-seconds.
    pub busy_user_s: f64,
    /// Time integral of users between sessions over this second: user-seconds.
    pub thinking_user_s: f64,
    /// Completed think times in this second, and their sum in seconds: counted apart from the integrals, for
    /// Little's law.
    pub thinks: u64,
    /// See [`Self::thinks`]. From the session's end to the actual start of the next one.
    pub think_sum_s: f64,
    /// Sum of the squares of the same think times, s².
    pub think_sum_s2: f64,
    /// Sum of the cubes of the same think times, s³.
    pub think_sum_s3: f64,
    /// Sessions that ended in this second in any way, completed, failed or given up, counted apart from
    /// [`Self::operations`] and from the integrals, for Little's law.
    pub sessions_ended: u64,
    /// Sum of the whole durations of [`Self::sessions_ended`], actual start to end, in seconds: also of the part
    /// that lies in earlier seconds.
    pub session_sum_s: f64,
    /// Sum of the squares of the same durations, s².
    pub session_sum_s2: f64,
    /// Sum of the cubes of the same durations, s³.
    pub session_sum_s3: f64,
    /// At the end of this second: time since their start of all sessions in progress, summed; user-seconds. A state,
    /// not a count: merging threads adds it up, merging seconds makes no sense of it.
    pub session_age_s: f64,
    /// At the end of this second: time since their start of all thinks in progress, summed; user-seconds.
    pub think_age_s: f64,
    /// At the end of this second: users whose operation has been under way for longer than the run asks about
    /// (`waiting over 4 s`). Adds up over threads, and over seconds to user-seconds.
    pub waiting_users: u64,
    /// How late the generator was: actual minus intended time of sends and of its own 10 ms probe.
    pub lag: Times,
    /// CPU seconds of the generator's threads in this second.
    pub generator_cpu_s: f64,
    /// CPU seconds of its busiest thread.
    pub busiest_thread_cpu_s: f64,
    /// Seconds in which a generator's thread was runnable but had to wait for its CPU (`/proc/self/task/*/schedstat`).
    pub generator_wait_s: f64,
    /// Connections opened in this second.
    pub connects: u64,
    /// What else happened on the wire.
    pub wire: Wire,
    /// How long the parts of requests took.
    pub phases: Phases,
    /// Response times, from the intended start, of operations that the script abandoned: no row has them.
    pub untimed: Times,
    /// The session's own counters.
    pub counters: BTreeMap<String, u64>,
    /// Arrivals of the open model that began in this second.
    pub arrivals: u64,
    /// Of these and of those that never began, the ones for whom no user was free.
    pub arrivals_waited: u64,
    /// Sessions drawn from the mix, by [`crate::Mix::cells`]; cells beyond its length are 0.
    pub choices: Vec<u64>,
    /// Pauses after sessions, in the order of the mix's names; sessions beyond its length had none.
    pub pauses: Vec<Pauses>,
    /// The last [`LAST_SESSIONS`] sessions completed in this second, in the order of their ends.
    pub last_sessions: Vec<SessionEnd>,
}

impl Interval {
    /// Counts a session that ended, however it ended, after `duration_s` since its actual start.
    pub fn session_ended(&mut self, duration_s: f64) {
        self.sessions_ended += 1;
        self.session_sum_s += duration_s;
        self.session_sum_s2 += duration_s * duration_s;
        self.session_sum_s3 += duration_s * duration_s * duration_s;
    }

    /// Counts a think time that ended after `duration_s`.
    pub fn think_ended(&mut self, duration_s: f64) {
        self.thinks += 1;
        self.think_sum_s += duration_s;
        self.think_sum_s2 += duration_s * duration_s;
        self.think_sum_s3 += duration_s * duration_s * duration_s;
    }

    /// An empty second.
    pub fn empty(second: u32) -> Interval {
        Interval { lag: new_times(), phases: Phases::empty(), untimed: new_times(), ..Interval::bare(second) }
    }

    /// An empty second in next to no memory: its histograms are placeholders.
    pub fn bare(second: u32) -> Interval {
        Interval {
            second,
            operations: Vec::new(),
            busy_user_s: 0.0,
            thinking_user_s: 0.0,
            thinks: 0,
            think_sum_s: 0.0,
            think_sum_s2: 0.0,
            think_sum_s3: 0.0,
            sessions_ended: 0,
            session_sum_s: 0.0,
            session_sum_s2: 0.0,
            session_sum_s3: 0.0,
            session_age_s: 0.0,
            think_age_s: 0.0,
            waiting_users: 0,
            lag: nothing(),
            generator_cpu_s: 0.0,
            busiest_thread_cpu_s: 0.0,
            generator_wait_s: 0.0,
            connects: 0,
            wire: Wire::default(),
            phases: Phases::nothing(),
            untimed: nothing(),
            counters: BTreeMap::new(),
            arrivals: 0,
            arrivals_waited: 0,
            choices: Vec::new(),
            pauses: Vec::new(),
            last_sessions: Vec::new(),
        }
    }

    /// Forgets everything but the second's number, and keeps the memory of the histograms.
    pub fn clear(&mut self) {
        let mut operations = std::mem::take(&mut self.operations);
        operations.iter_mut().for_each(OperationInterval::clear);
        let mut lag = std::mem::replace(&mut self.lag, nothing());
        times::clear(&mut lag);
        let mut phases = std::mem::replace(&mut self.phases, Phases::nothing());
        phases.clear();
        let mut untimed = std::mem::replace(&mut self.untimed, nothing());
        times::clear(&mut untimed);
        let mut choices = std::mem::take(&mut self.choices);
        choices.fill(0);
        let mut pauses = std::mem::take(&mut self.pauses);
        pauses.fill(Pauses::default());
        *self = Interval { operations, lag, phases, untimed, choices, pauses, ..Interval::bare(self.second) };
    }

    /// What figures of sessions and operations need of it: without service times, and of requests and of the generator without
    /// any histogram. `names` say what its rows are about.
    pub fn for_figures(self, names: &[OperationName]) -> Interval {
        let is_request =
            |index: usize| names.get(index).is_none_or(|name| name.kind == OperationKind::Request);
        let row = |(index, row): (usize, OperationInterval)| {
            let response = if is_request(index) { nothing() } else { row.response };
            OperationInterval { response, service: nothing(), ..row }
        };
        let operations = self.operations.into_iter().enumerate().map(row).collect();
        Interval { operations, lag: nothing(), phases: Phases::nothing(), untimed: nothing(), ..self }
    }

    /// Adds another second's or another thread's; `second` stays.
    pub fn merge(&mut self, other: &Interval) {
        while self.operations.len() < other.operations.len() {
            self.operations.push(OperationInterval::empty());
        }
        self.operations.iter_mut().zip(&other.operations).for_each(|(sum, part)| sum.merge(part));
        self.busy_user_s += other.busy_user_s;
        self.thinking_user_s += other.thinking_user_s;
        self.thinks += other.thinks;
        self.think_sum_s += other.think_sum_s;
        self.think_sum_s2 += other.think_sum_s2;
        self.think_sum_s3 += other.think_sum_s3;
        self.sessions_ended += other.sessions_ended;
        self.session_sum_s += other.session_sum_s;
        self.session_sum_s2 += other.session_sum_s2;
        self.session_sum_s3 += other.session_sum_s3;
        self.session_age_s += other.session_age_s;
        self.think_age_s += other.think_age_s;
        self.waiting_users += other.waiting_users;
        add_times(&mut self.lag, &other.lag);
        self.generator_cpu_s += other.generator_cpu_s;
        self.busiest_thread_cpu_s = self.busiest_thread_cpu_s.max(other.busiest_thread_cpu_s);
        self.generator_wait_s += other.generator_wait_s;
        self.connects += other.connects;
        self.wire.merge(&other.wire);
        self.phases.merge(&other.phases);
        add_times(&mut self.untimed, &other.untimed);
        for (name, count) in &other.counters {
            *self.counters.entry(name.clone()).or_default() += count;
        }
        self.arrivals += other.arrivals;
        self.arrivals_waited += other.arrivals_waited;
        self.choices.resize(self.choices.len().max(other.choices.len()), 0);
        self.choices.iter_mut().zip(&other.choices).for_each(|(sum, count)| *sum += count);
        self.pauses.resize(self.pauses.len().max(other.pauses.len()), Pauses::default());
        self.pauses.iter_mut().zip(&other.pauses).for_each(|(sum, part)| sum.merge(part));
        self.last_sessions.extend_from_slice(&other.last_sessions);
        self.last_sessions.sort_by_key(|session| session.ended_ns);
        let surplus = self.last_sessions.len().saturating_sub(LAST_SESSIONS);
        self.last_sessions.drain(..surplus);
    }
}

/// Sums seconds whose histograms are added to it in the form in which they are kept, which is far quicker than to make each of
/// them first.
pub trait Sums {
    /// Takes a second without its histograms, which are placeholders. They belong into what this gives; nowhere where it gives
    /// nothing.
    fn take(&mut self, second: &Interval) -> Option<&mut Interval>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_intervals_equals_recording_into_one() {
        let mut parts = [Interval::empty(0), Interval::empty(0)];
        let mut whole = Interval::empty(0);
        whole.operations.push(OperationInterval::empty());
        for (index, part) in parts.iter_mut().enumerate() {
            part.operations.push(OperationInterval::empty());
            for nanos in (1..500u64).map(|i| i * 37_000 * (index as u64 + 1)) {
                record_ns(&mut part.operations[0].response, nanos);
                record_ns(&mut whole.operations[0].response, nanos);
            }
        }
        let [mut first, second] = parts;
        first.merge(&second);
        assert_eq!(first.operations[0].response, whole.operations[0].response);
    }
}

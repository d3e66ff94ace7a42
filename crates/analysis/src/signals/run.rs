//! Signals of the run as a whole: what its users saw. Rules reach them as `run:NAME`.

use model::record::diagnosis::SignalSummary;
use model::record::interval::Times;
use model::{ErrorKind, OperationInterval, Signal, Subject, signals};

use super::{Watched, value_of};
use crate::steady::Steady;
use crate::times::mean_s;

signals! {
    pub(crate) MISSED_TARGETS = Signal::of_run("run.missed_targets", "ratio", "share of the targets that were missed");
    TARGET_USED = Signal::of_run(
        "run.target_used_ratio",
        "ratio",
        "the largest share of its limit that a target of response times has used up"
    );
    pub(crate) FAILED = Signal::of_run("run.failed_ratio", "ratio", "share of the operations that failed");
    WAITING = Signal::of_run("run.waiting_ratio", "ratio", "share of the users' time in operations that had been under way for longer than a target asks about (`waiting over 4 s`)");
    pub(crate) RESPONSE_SHARE = Signal::of_run(
        "run.response_share", "ratio", "share of the users' time that is spent waiting for answers"
    );
    SLOW_START = Signal::of_run(
        "run.slow_start_ratio",
        "ratio",
        "share of connections that took 0.9 s or more: a dropped first packet is sent again after 1 s (RFC 6298)"
    );
    pub(crate) CONNECTING = Signal::of_run(
        "run.connecting_s",
        "s",
        "of a mean operation, the time in which connections were being opened: beyond a millisecond because first packets were dropped"
    );
    pub(crate) SEND_LAG = Signal::of_run(
        "run.send_lag_s",
        "s",
        "mean lateness of the load generator, by a probe of its own: so long an answer that has come waits for it, too"
    );
    CONNECTS = Signal::of_run("run.connects_per_operation", "connects", "connections opened for each operation");
    pub(crate) THROUGHPUT_GROWTH = Signal::of_run(
        "run.throughput_growth",
        "ratio",
        "1 when the throughput rose as the users did, 0 when it stayed"
    );
    pub(crate) RESPONSE_GROWTH = Signal::of_run(
        "run.response_growth", "times", "mean response time, divided by the early one"
    );
    pub(crate) RESPONSE = Signal::of_run("run.response_s", "s", "mean response time of an operation");
}

/// The signals of failures, by their kind.
pub(crate) fn of_errors() -> impl Iterator<Item = Signal> {
    ErrorKind::ALL.into_iter().map(of_error)
}

fn of_error(kind: ErrorKind) -> Signal {
    let name = format!("run.{}_errors", kind.word());
    let help = format!("share of the operations that failed by `{}`", kind.word());
    Signal { subject: Subject::Run, name: name.into(), unit: "ratio".into(), help: help.into(), key: false }
}

/// A first SYN that was dropped is sent again after 1 s (RFC 6298, section 2): a connection that took longer than this
/// was refused at first. No handshake on a healthy network comes near it. Microseconds.
const SLOW_START_US: u64 = 900_000;
/// With less growth of the users than this, growth of the throughput means nothing.
const MIN_USER_GROWTH: f64 = 1.5;

/// All of them, as far as the run tells.
pub(super) fn signals(watched: &Watched<'_>) -> Vec<SignalSummary> {
    let steady = watched.steady;
    let all = watched.operations(steady.whole());
    let mut found = Vec::new();
    let mut add = |signal: &Signal, value: Option<f64>| {
        found.extend(value.filter(|value| value.is_finite()).map(|value| value_of(signal, value)));
    };
    let judged = watched.targets.len();
    let missed = watched.targets.iter().filter(|target| !target.pass).count();
    add(&MISSED_TARGETS, share(missed as f64, judged as f64));
    add(&TARGET_USED, target_used_ratio(watched));
    let tried = (all.completed + all.failed()) as f64;
    add(&FAILED, share(all.failed() as f64, tried));
    for (kind, count) in ErrorKind::ALL.iter().zip(all.errors) {
        add(&of_error(*kind), share(count as f64, tried));
    }
    let whole = steady.whole();
    let (busy, users) = (whole.busy_user_s, whole.busy_user_s + whole.thinking_user_s);
    add(&WAITING, share(whole.waiting_users as f64, users));
    // Users who arrive at a rate leave when they are done: that they never pause says nothing.
    let pausing = (whole.arrivals == 0).then_some(busy);
    add(&RESPONSE_SHARE, pausing.and_then(|busy| share(busy, users)));
    add(&SLOW_START, slow(&whole.phases.connect));
    add(&SEND_LAG, mean_s(&whole.lag));
    add(&CONNECTS, share(whole.connects as f64, tried));
    let connects = whole.phases.connect.len() as f64;
    let connecting_s = mean_s(&whole.phases.connect).map_or(0.0, |mean_s| mean_s * connects);
    add(&CONNECTING, share(connecting_s, tried));
    let early = watched.early();
    if let Some(early) = early {
        add(&THROUGHPUT_GROWTH, throughput_growth(watched, early, &all));
    }
    let early_s = early.and_then(|early| mean_s(&watched.operations(early.whole()).response));
    if let (Some(now_s), Some(early_s)) = (mean_s(&all.response), early_s.filter(|s| *s > 0.0)) {
        add(&RESPONSE_GROWTH, Some(now_s / early_s));
    }
    let response = mean_s(&all.response).map(|now_s| value_of(&RESPONSE, now_s));
    found.extend(response.map(|signal| SignalSummary { early: early_s, ..signal }));
    found
}

/// The largest share of its limit that a target of response times has used up; more than 1 when one is missed. Absent
/// without such a target.
fn target_used_ratio(watched: &Watched<'_>) -> Option<f64> {
    let times = watched.targets.iter().filter(|target| target.target.measure.is_time() && target.samples > 0);
    times.filter_map(|target| Some(target.observed? / target.target.limit)).reduce(f64::max)
}

/// How far the throughput rose with the users: 1 as much as they, 0 not at all. Absent where they hardly rose.
fn throughput_growth(watched: &Watched<'_>, early: &Steady, now: &OperationInterval) -> Option<f64> {
    let before = watched.operations(early.whole());
    let per_s = |seconds: &Steady, all: &OperationInterval| seconds.per_second(all.completed as f64);
    let users =
        |seconds: &Steady| seconds.per_second(seconds.whole().busy_user_s + seconds.whole().thinking_user_s);
    let users = share(users(watched.steady), users(early)).filter(|growth| *growth >= MIN_USER_GROWTH)?;
    let done = share(per_s(watched.steady, now), per_s(early, &before))?;
    Some(((done - 1.0) / (users - 1.0)).clamp(0.0, 1.0))
}

/// The share of connections that took as long as one whose first packet was dropped.
fn slow(connect: &Times) -> Option<f64> {
    let slow = connect.count_between(SLOW_START_US, connect.high());
    share(slow as f64, connect.len() as f64)
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

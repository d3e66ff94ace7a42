//! What `hit` saw, second by second, and its record.

use std::time::{SystemTime, UNIX_EPOCH};

use analysis::{AskedLoad, CheckOutcome, HostShares, Little, Steady, ValidityInputs};
use engine::{Audience, RunOptions, Second, Totals};
use model::catalogue::kit::Tolerance;
use model::catalogue::population::Populations;
use model::record::hit::HIT_FORMAT;
use model::record::interval::OperationName;
use model::record::plan::Load;
use model::record::{Check, OperationResult, Outcome, TimeSummary};
use model::{HitRecord, Interval, Mix, OperationKind, Result, units};
use wording::{Asking, VerdictInputs};

use crate::console::Console;
use crate::context::Context;
use runner::progress::Progress;
use runner::server::Server;

/// The checks that are about the instrument; the others are about a stack.
const CHECKS: [Check; 9] = [
    Check::Duration,
    Check::Room,
    Check::ErrorsAll,
    Check::GeneratorCpu,
    Check::GeneratorThread,
    Check::SendLag,
    Check::Users,
    Check::Arrivals,
    Check::Little,
];

/// When it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Length {
    Seconds(f64),
    Requests(u64),
}

/// What was seen.
pub(super) struct Witnessed {
    length: Length,
    /// Every second.
    all: Steady,
    /// Every second but the last one, in which users had left.
    whole: Steady,
    /// When the last session was completed.
    last_ns: u64,
}

/// Watches and tells.
pub(super) struct Witness<'a> {
    seen: Witnessed,
    held: Option<Interval>,
    console: &'a mut Console,
    answered: u64,
}

impl<'a> Witness<'a> {
    pub(super) fn new(length: Length, console: &'a mut Console) -> Witness<'a> {
        let every = || Steady::new(0.0, f64::INFINITY);
        let whole = match length {
            Length::Seconds(seconds) => Steady::new(0.0, seconds),
            Length::Requests(_) => every(),
        };
        let seen = Witnessed { length, all: every(), whole, last_ns: 0 };
        Witness { seen, held: None, console, answered: 0 }
    }

    pub(super) fn into_witnessed(self) -> Witnessed {
        self.seen
    }

    fn tell(&mut self, second: &Second<'_>) {
        let Some(row) = row_of(second.names, OperationKind::Request) else { return };
        let Some(now) = second.interval.operations.get(row) else { return };
        self.answered += now.completed;
        let at_s = f64::from(second.interval.second) + 1.0;
        let (done, ratio) = match self.seen.length {
            Length::Seconds(all) if at_s > all + 1.0 => {
                ("waiting for the last answers, Ctrl-C twice ends it".to_string(), 1.0)
            }
            Length::Seconds(all) => (format!("{:.0} of {all:.0} s", at_s.min(all)), at_s / all),
            Length::Requests(all) => {
                (format!("{} of {all} requests", self.answered), self.answered as f64 / all as f64)
            }
        };
        let p99 = analysis::percentile_s(&now.response, 99.0);
        let p99 = p99.map(|p99| format!(", p99 {}", units::show_seconds(p99))).unwrap_or_default();
        let failed = if now.failed() > 0 { format!(", {} errors", now.failed()) } else { String::new() };
        let rate = units::number(now.completed as f64);
        self.console.advance(&format!("{done}: {rate} requests/s{p99}{failed}"), ratio);
    }
}

impl Audience for Witness<'_> {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.seen.all.push(second.interval);
        if let Some(before) = self.held.replace(second.interval.clone()) {
            self.seen.whole.push(&before);
        }
        let ends = second.interval.last_sessions.iter().map(|session| session.ended_ns);
        self.seen.last_ns = ends.max().unwrap_or(0).max(self.seen.last_ns);
        self.tell(second);
        Ok(())
    }
}

fn row_of(names: &[OperationName], kind: OperationKind) -> Option<usize> {
    names.iter().position(|name| name.kind == kind)
}

/// The record of what was seen.
pub(super) fn record(
    seen: &Witnessed,
    totals: &Totals,
    outcome: Outcome,
    options: &RunOptions,
    server: &Server,
    context: &Context,
) -> HitRecord {
    let rows = analysis::operations(&seen.all, &totals.names);
    let of = |kind| rows.iter().find(|row| row.kind == kind).cloned();
    let (operation, request) = (of(OperationKind::Operation), of(OperationKind::Request));
    let row = row_of(&totals.names, OperationKind::Operation);
    let refused = request.as_ref().and_then(|row| row.errors.get("status")).copied().unwrap_or(0);
    // An operation whose answer had a bad status is among them: here an operation is no more than that answer.
    let unanswered = row.and_then(|row| totals.unanswered.get(row)).copied().unwrap_or(0);
    let completed = request.as_ref().map_or(0, |row| row.completed);
    let requests = completed + refused;
    let last_s = seen.last_ns as f64 / 1e9;
    // Time in which only failures happened is time all the same; waiting for the last answers of a length that was
    // asked for is not.
    let elapsed_s = match seen.length {
        Length::Seconds(asked_s) if outcome == Outcome::Completed => asked_s.max(last_s),
        _ => totals.elapsed_s,
    };
    let little = Little::of(&seen.whole);
    let host = HostShares::default();
    let generator = analysis::generator(&seen.whole, &little, options.cpus.len(), totals.connects, host);
    let mut record = HitRecord {
        format: HIT_FORMAT,
        started: started(elapsed_s),
        plimsoll: context.settings.origin.version.clone(),
        command: context.settings.origin.command.clone(),
        method: method(options),
        url: server.url.to_string(),
        server: server.location(),
        allowed: server.allowed.clone(),
        connections: options.load.users,
        arrivals: options.load.arrivals,
        generator_cpus: options.cpus.clone(),
        outcome,
        verdict: wording::verdict(&VerdictInputs {
            load: "",
            checks: &[],
            targets: &[],
            metrics: &[],
            operations: &[],
        }),
        elapsed_s,
        requests,
        per_s: requests as f64 / elapsed_s.max(1e-9),
        completed,
        statuses: totals.statuses.clone(),
        errors: operation.as_ref().map(|row| row.errors.clone()).unwrap_or_default(),
        unanswered: unanswered.saturating_sub(refused),
        received_bytes: request.map_or(0, |row| row.bytes),
        connects: totals.connects,
        wire: seen.all.whole().wire,
        phases: analysis::phases(&seen.all),
        response: operation.as_ref().map_or_else(TimeSummary::default, |row| row.response.clone()),
        service: operation.map_or_else(TimeSummary::default, |row| row.service),
        cpu_s_per_request: (requests > 0).then(|| seen.all.whole().generator_cpu_s / requests.max(1) as f64),
        generator,
        validity: Vec::new(),
        evidence: totals.evidence.clone(),
    };
    let whole = analysis::operations(&seen.whole, &totals.names);
    judge(
        seen,
        &little,
        &options.load,
        if seen.whole.length_s() > 0.0 { &whole } else { &rows },
        &mut record,
    );
    record
}

/// The instrument's checks of itself, over the whole seconds.
fn judge(seen: &Witnessed, little: &Little, load: &Load, rows: &[OperationResult], record: &mut HitRecord) {
    let steady_s = seen.whole.length_s();
    let planned_steady_s = match seen.length {
        Length::Seconds(seconds) => seconds,
        Length::Requests(_) => record.elapsed_s.min(steady_s.max(1.0)),
    };
    let populations = &Populations::alike(Mix::only("hit"), vec![None], false);
    let asked = AskedLoad { load, populations, tolerance: Tolerance::default(), steady: &seen.whole };
    let checks = analysis::validity(&ValidityInputs {
        outcome: record.outcome,
        planned_steady_s,
        steady_s,
        unsettled_after_s: None,
        users: record.connections,
        demand: load.arrivals.is_some().then_some(asked),
        by_hand: None,
        shares_cpus: false,
        viewer_cores: None,
        fleet: None,
        generator: &record.generator,
        little,
        targets: &[],
        operations: rows,
        untimed: None,
        tier_events: &[],
        alarms: &[],
        consistency: &[],
        links: &[],
        bounds: &[],
        evidence: &record.evidence,
    });
    // A user who has done its share of the requests leaves before the others.
    let dealt_out = matches!(seen.length, Length::Requests(_));
    let applies =
        |check: &&CheckOutcome| CHECKS.contains(&check.check) && !(dealt_out && check.check == Check::Users);
    record.validity = wording::checks(checks.iter().filter(applies), Asking::Hit);
    record.verdict = wording::verdict(&VerdictInputs {
        load: &load.headline(),
        checks: &record.validity,
        targets: &[],
        metrics: &[],
        operations: rows,
    });
}

fn method(options: &RunOptions) -> String {
    match &options.scenario.program {
        engine::Program::Repeat(repeat) => repeat.method.clone(),
        engine::Program::Script(_) => String::new(),
    }
}

fn started(elapsed_s: f64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    store::utc((now.as_secs_f64() - elapsed_s).max(0.0) as u64)
}

//! The instrument's checks of itself. A run that fails one is not valid: its figures say more about how they were
//! measured than about the stack. `docs/method/validity.md` has each check's formula, threshold and source.

pub(crate) mod fleet;
mod so_far;

use model::OperationKind;
use model::catalogue::load::Load;
use model::catalogue::qos::Measure;
use model::record::{
    Check, ConsistencyResult, Evidence, FleetResult, GeneratorResult, LinkResult, LoadChange,
    OperationResult, Outcome, TargetOutcome, UntimedResult,
};

use crate::demand::{self, AskedLoad};
use crate::expected::enough_after_s;
use crate::finding::{CheckOutcome, Finding, LittleExcuse, LogAlarm, Samples, SendLag, SteadyEnd, TierEvent};
use crate::limits;
use crate::little::Little;
use crate::metric::Bound;

pub use fleet::fill_in_agent;
pub use so_far::state_so_far;

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub struct ValidityInputs<'a> {
    /// How the run ended.
    pub outcome: Outcome,
    /// Length of the steady state as planned, in seconds.
    pub planned_steady_s: f64,
    /// Length of it as recorded: [`crate::Steady::length_s`].
    pub steady_s: f64,
    /// Seconds after which a steady state that was to be found was given up; absent when it was planned or found.
    pub unsettled_after_s: Option<f64>,
    /// Users as asked for; not asked for in the open model.
    pub users: u32,
    /// What else was asked for, where it is known.
    pub demand: Option<AskedLoad<'a>>,
    /// The numbers of users that were asked for by hand; absent where nobody could.
    pub by_hand: Option<&'a [LoadChange]>,
    /// CPUs of the generator are also the stack's.
    pub shares_cpus: bool,
    /// What the process took on average that serves the laboratory's page; absent where there was none.
    pub viewer_cores: Option<f64>,
    /// The fleet that drove the users; absent where this process did.
    pub fleet: Option<&'a FleetResult>,
    /// The generator's view of itself.
    pub generator: &'a GeneratorResult,
    /// Little's law.
    pub little: &'a Little,
    /// The targets as judged.
    pub targets: &'a [TargetOutcome],
    /// The rows of the result.
    pub operations: &'a [OperationResult],
    /// What the script abandoned.
    pub untimed: Option<&'a UntimedResult>,
    /// Tiers that died or restarted.
    pub tier_events: &'a [TierEvent],
    /// Alarms found in the tiers' logs.
    pub alarms: &'a [LogAlarm],
    /// The kit's consistency check.
    pub consistency: &'a [ConsistencyResult],
    /// What the ways to tiers' own hosts did; empty where none was to hold packets.
    pub links: &'a [LinkResult],
    /// The kit's own figures that have bounds: [`crate::bounds`].
    pub bounds: &'a [Bound],
    /// Offending answers, for a cause.
    pub evidence: &'a [Evidence],
}

/// All checks, those that hold too, in the order in which they explain: what broke first comes first.
pub fn validity(inputs: &ValidityInputs<'_>) -> Vec<CheckOutcome> {
    let mut checks = vec![tiers(inputs), duration(inputs), room(inputs)];
    checks.extend((!inputs.links.is_empty()).then(|| links(inputs.links)));
    checks.push(errors_all(inputs));
    checks.extend(inputs.viewer_cores.map(viewer));
    checks.extend(generator_checks(inputs.generator, inputs.shares_cpus));
    checks.extend(inputs.fleet.into_iter().flat_map(fleet::checks));
    checks.extend(inputs.by_hand.map(load_by_hand));
    // In a run by number of sessions whoever has done its share leaves before the others.
    let all_stay = |load: &Load| load.arrivals.is_none() && load.sessions.is_none();
    if inputs.by_hand.is_none() && inputs.demand.is_none_or(|demand| all_stay(demand.load)) {
        checks.push(users(inputs));
    }
    let sessions = inputs.operations.iter().filter(|row| row.kind == OperationKind::Session);
    let sessions: Vec<&OperationResult> = sessions.collect();
    checks.extend(inputs.demand.iter().flat_map(|demand| demand::checks(demand, inputs.fleet, &sessions)));
    checks.extend([little(inputs), samples(inputs), untimed(inputs), alarms(inputs), consistency(inputs)]);
    checks.extend(inputs.bounds.iter().map(bound));
    checks
}

/// A kit's own figure within its bounds. One that is not there, or of too short a time or too few samples, has not been judged, and holds.
fn bound(bound: &Bound) -> CheckOutcome {
    let Bound { metric, at_least, at_most, .. } = bound;
    let value = bound.value.filter(|_| bound.lacks.is_none());
    let low = at_least.is_some_and(|least| value.is_some_and(|value| value < least));
    let high = at_most.is_some_and(|most| value.is_some_and(|value| value > most));
    let limit = if low { *at_least } else { at_most.or(*at_least) };
    let outside = low || high;
    let finding = Finding::Metric { bound: bound.clone(), outside };
    CheckOutcome::new(Check::Metric(metric.clone()), !outside, value.zip(limit), finding)
}

fn tiers(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let events = inputs.tier_events;
    let finding = Finding::Tiers(events.to_vec());
    CheckOutcome::new(Check::Tiers, events.is_empty(), Some((events.len() as f64, 0.0)), finding)
}

fn duration(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let (steady_s, planned_s) = (inputs.steady_s, inputs.planned_steady_s);
    let end = steady_end(inputs);
    let finding = Finding::Duration { steady_s, planned_s, end };
    CheckOutcome::new(Check::Duration, end == SteadyEnd::Whole, Some((steady_s, planned_s)), finding)
}

fn steady_end(inputs: &ValidityInputs<'_>) -> SteadyEnd {
    let long_enough =
        inputs.steady_s >= 1.0 && inputs.steady_s >= inputs.planned_steady_s - limits::MISSING_S;
    match (inputs.outcome, inputs.unsettled_after_s) {
        (Outcome::Interrupted, _) => SteadyEnd::Interrupted,
        (Outcome::Aborted, _) => SteadyEnd::Aborted,
        (Outcome::Unfinished, _) => SteadyEnd::Unfinished,
        (Outcome::Completed, None) if long_enough => SteadyEnd::Whole,
        (Outcome::Completed, _) if inputs.planned_steady_s < 1.0 => SteadyEnd::UnderASecond,
        (Outcome::Completed, Some(after_s)) => SteadyEnd::Unsettled { after_s },
        (Outcome::Completed, None) => SteadyEnd::Gaps,
    }
}

fn room(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let exhausted = inputs.generator.exhausted;
    CheckOutcome::new(Check::Room, exhausted == 0, Some((exhausted as f64, 0.0)), Finding::Room { exhausted })
}

/// By the measurement that is furthest from what was asked for.
fn links(links: &[LinkResult]) -> CheckOutcome {
    let measured = |link: &LinkResult| {
        let of = |took_s: f64| (took_s, link.asked_s, is_as_asked(took_s, link.asked_s));
        [Some(link.before_s), link.after_s].into_iter().flatten().map(of).collect::<Vec<_>>()
    };
    let all: Vec<(f64, f64, bool)> = links.iter().flat_map(measured).collect();
    let far = |(took_s, asked_s, _): &(f64, f64, bool)| (took_s / asked_s.max(1e-9)).ln().abs();
    let worst = all.iter().max_by(|one, other| far(one).total_cmp(&far(other)));
    let figures = worst.map(|(took_s, asked_s, _)| (*took_s, *asked_s));
    let ok = all.iter().all(|(_, _, ok)| *ok);
    CheckOutcome::new(Check::Link, ok, figures, Finding::Links(links.to_vec()))
}

fn is_as_asked(took_s: f64, asked_s: f64) -> bool {
    let off_s = (asked_s * limits::LINK_RATIO).max(limits::LINK_S);
    (asked_s - off_s..=asked_s + off_s + limits::CABLE_S).contains(&took_s)
}

fn errors_all(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let operations = || inputs.operations.iter().filter(|row| row.kind == OperationKind::Operation);
    let failures = |row: &OperationResult| row.errors.values().sum::<u64>();
    let (completed, failed) = operations()
        .fold((0, 0), |(completed, failed), row| (completed + row.completed, failed + failures(row)));
    // Percentiles of what is left would be those of another workload, or of a minority.
    let never = operations().find(|row| row.completed == 0 && failures(row) > 0);
    let never = never.map(|row| (row.name.clone(), failures(row)));
    let counts = |evidence: &&Evidence| match &never {
        Some((name, _)) if completed > 0 => evidence.operation == *name,
        _ => true,
    };
    let first = inputs.evidence.iter().find(counts).cloned();
    let ok = completed > 0 && failed <= completed && never.is_none();
    let figures = (failed as f64, (completed + failed) as f64);
    let finding = Finding::Operations { completed, failed, never, first };
    CheckOutcome::new(Check::ErrorsAll, ok, Some(figures), finding)
}

/// Such a load is none that could be held against a limit, also where nobody changed it after all.
fn load_by_hand(changes: &[LoadChange]) -> CheckOutcome {
    let figures = (changes.len() as f64, 0.0);
    CheckOutcome::new(Check::LoadByHand, false, Some(figures), Finding::LoadByHand(changes.to_vec()))
}

fn viewer(cores: f64) -> CheckOutcome {
    let limit = limits::VIEWER_CORES;
    CheckOutcome::new(Check::Viewer, cores <= limit, Some((cores, limit)), Finding::Viewer { cores })
}

/// Whether the generator kept up, by what it saw of itself: its CPUs, its busiest thread, and how late it sent.
/// `shares_cpus` says whether its CPUs are also the stack's.
pub fn generator_checks(generator: &GeneratorResult, shares_cpus: bool) -> [CheckOutcome; 3] {
    [generator_cpu(generator), generator_thread(generator), send_lag(generator, shares_cpus)]
}

/// Whether the generator's ceiling is far enough above the rate of requests at an answer; both in requests per second.
pub fn ceiling_check(ceiling_per_s: f64, answer_per_s: f64) -> CheckOutcome {
    let times = ceiling_per_s / answer_per_s.max(1e-9);
    let finding = Finding::Ceiling { ceiling_per_s, answer_per_s, times };
    let ok = times >= limits::CEILING_TIMES;
    CheckOutcome::new(Check::Ceiling, ok, Some((times, limits::CEILING_TIMES)), finding)
}

fn generator_cpu(generator: &GeneratorResult) -> CheckOutcome {
    let (used_ratio, limit) = (generator.cpu_ratio, limits::GENERATOR_CPU_RATIO);
    let finding = Finding::GeneratorCpu { used_ratio };
    CheckOutcome::new(Check::GeneratorCpu, used_ratio <= limit, Some((used_ratio, limit)), finding)
}

fn generator_thread(generator: &GeneratorResult) -> CheckOutcome {
    let (used_ratio, limit) = (generator.busiest_thread_ratio, limits::GENERATOR_THREAD_RATIO);
    let finding = Finding::GeneratorThread { used_ratio };
    CheckOutcome::new(Check::GeneratorThread, used_ratio <= limit, Some((used_ratio, limit)), finding)
}

fn send_lag(generator: &GeneratorResult, shares_cpus: bool) -> CheckOutcome {
    let limit = limits::SEND_LAG_P99_S;
    let lag_s = generator.lag.p99_s.or(generator.lag.max_s);
    let finding = Finding::SendLag(SendLag {
        lag_s,
        worst_s: generator.lag.max_s,
        cpu_wait_ratio: generator.cpu_wait_ratio,
        steal_ratio: generator.steal_ratio,
        foreign_cores: generator.foreign_cores,
        cpu_ratio: generator.cpu_ratio,
        shares_cpus,
    });
    let ok = lag_s.is_none_or(|lag| lag <= limit);
    CheckOutcome::new(Check::SendLag, ok, lag_s.map(|lag| (lag, limit)), finding)
}

fn users(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let (mean, asked) = (inputs.little.users_mean(), f64::from(inputs.users));
    let degraded = inputs.fleet.filter(|fleet| fleet.is_degraded());
    let left = degraded.zip(inputs.demand.as_ref()).map(|(fleet, demand)| {
        let (from_s, to_s) = demand.steady.span_s();
        fleet::left(Some(fleet), (from_s, to_s), &|from_s, to_s| asked * (to_s - from_s)) / (to_s - from_s)
    });
    let expected = left.unwrap_or(asked);
    let ok = inputs.steady_s < 1.0 || (mean - expected).abs() <= limits::LITTLE_RATIO * expected;
    let finding = Finding::Users { mean, asked: inputs.users, left };
    CheckOutcome::new(Check::Users, ok, Some((mean, expected)), finding)
}

fn little(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let (_, worst) = inputs.little.worst();
    let is_waiting = |target: &TargetOutcome| matches!(target.target.measure, Measure::Waiting(_));
    let unanswered = inputs.targets.iter().any(|target| is_waiting(target) && !target.pass);
    let waiting = !inputs.little.holds() && unanswered && worst.lacks_only_what_is_under_way();
    let relative = |seconds: f64| if worst.integral_s > 0.0 { seconds / worst.integral_s } else { seconds };
    let figures = (relative(worst.difference_s().abs()), relative(worst.allowed_s()));
    let excuse = if inputs.little.holds() {
        None
    } else if inputs.tier_events.iter().any(TierEvent::ends_the_tier) {
        Some(LittleExcuse::TierEnded)
    } else {
        waiting.then_some(LittleExcuse::Waiting)
    };
    let finding = Finding::Little { little: *inputs.little, excuse };
    CheckOutcome::new(Check::Little, inputs.little.holds() || excuse.is_some(), Some(figures), finding)
}

fn samples(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let short = inputs.targets.iter().filter(|target| !target.is_sampled());
    let worst = short.max_by(|a, b| lack(a).total_cmp(&lack(b)));
    let figures = worst.map(|target| (target.samples as f64, target.samples_needed as f64));
    let fewest = inputs.targets.iter().map(|target| target.samples).min();
    let samples = match (worst, fewest) {
        (None, None) => Samples::NoTarget,
        (None, Some(fewest)) => Samples::Enough { fewest },
        (Some(worst), _) => Samples::Lacking {
            target: worst.target.clone(),
            samples: worst.samples,
            needed: worst.samples_needed,
            enough_after_s: enough_after_s(
                worst.samples_needed,
                worst.samples as f64 / inputs.steady_s.max(f64::MIN_POSITIVE),
            ),
        },
    };
    CheckOutcome::new(Check::Samples, worst.is_none(), figures, Finding::Samples(samples))
}

fn lack(target: &TargetOutcome) -> f64 {
    target.samples_needed as f64 / target.samples.max(1) as f64 + if target.samples == 0 { 1e9 } else { 0.0 }
}

/// What the script abandons is judged by no target, but users have waited for it: its p99 must not be above the
/// strictest limit on times. With too few of them to have a p99 it is not judged.
fn untimed(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let limits = inputs
        .targets
        .iter()
        .filter(|target| target.target.measure.is_time())
        .map(|target| target.target.limit);
    let strictest_s = limits.min_by(f64::total_cmp);
    let figures = inputs.untimed.and_then(|untimed| untimed.p99_s).zip(strictest_s);
    let ok = figures.is_none_or(|(p99_s, limit_s)| p99_s <= limit_s);
    let finding = Finding::Untimed { untimed: inputs.untimed.cloned(), strictest_s };
    CheckOutcome::new(Check::Untimed, ok, figures, finding)
}

fn alarms(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let ok = inputs.alarms.iter().all(|alarm| !alarm.invalid);
    CheckOutcome::new(Check::Alarms, ok, None, Finding::Alarms(inputs.alarms.to_vec()))
}

fn consistency(inputs: &ValidityInputs<'_>) -> CheckOutcome {
    let broken: Vec<&ConsistencyResult> =
        inputs.consistency.iter().filter(|statement| !statement.ok).collect();
    let finding = Finding::Consistency {
        statements: inputs.consistency.len(),
        broken: broken.len(),
        first: broken.first().copied().cloned(),
    };
    CheckOutcome::new(Check::Consistency, broken.is_empty(), None, finding)
}

#[cfg(test)]
mod tests;

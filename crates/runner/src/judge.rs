//! From what was recorded to a result, the checks of the instrument and the verdict.

use analysis::calls::{CallSums, CallsBeside};
use analysis::signals::names::CPU;
use analysis::signals::{Watched, early_span_s, signals};
use analysis::{
    AskedLoad, CheckOutcome, HostShares, Little, LogAlarm, SeriesSeen, Steady, TierEvent, TierSource,
    ValidityInputs, WorkOfSecond,
};
use model::catalogue::rules::Rule;
use model::record::interval::OperationName;
use model::record::plan::Load;
use model::record::{
    ConsistencyResult, Evidence, FleetResult, GeneratorResult, LinkResult, LoadChange, OperationResult,
    Outage, Outcome, RunRecord, TargetOutcome, UntimedResult,
};
use model::{OperationKind, Plan, Result};
use observe::VIEWER;
use store::Run;
use wording::{Asking, VerdictInputs};

use crate::diagnose;
use crate::fleet::standing::FleetRecording;
use crate::measure::Recording;

/// What is judged.
pub(crate) struct Case<'a> {
    /// What was to be done.
    pub(crate) plan: &'a Plan,
    /// The load; its steady state is the one that was wanted, from where it was found.
    pub(crate) load: &'a Load,
    /// What was seen.
    pub(crate) recording: &'a Recording,
    /// The run as far as it is kept.
    pub(crate) run: &'a Run,
    /// What the series told: [`series_seen`].
    pub(crate) series: &'a [SeriesSeen],
    /// The seconds that count.
    pub(crate) steady: &'a Steady,
    /// The seconds in which at most a third of the users were there.
    pub(crate) early: &'a Steady,
    /// What may hold a stack.
    pub(crate) rules: &'a [Rule],
    /// Seconds after which a steady state that was to be found was given up; absent when it was planned or found.
    pub(crate) unsettled_after_s: Option<f64>,
    /// Who asks for the run.
    pub(crate) asking: Asking,
}

/// What each series of a run told, by name and tier. They are read back one by one, because all points of a long run take
/// more memory than the tool may have.
pub(crate) fn series_seen(run: &Run, steady: &Steady, early: &Steady) -> Result<Vec<SeriesSeen>> {
    let mut all = Vec::new();
    run.each_series(|one| all.push(SeriesSeen::of(&one, steady, early)))?;
    all.sort_by(|one, other| (&one.name, &one.tier).cmp(&(&other.name, &other.tier)));
    Ok(all)
}

/// Fills in what was told beside series: the kernel's count of the tiers' calls, the databases' statements, and
/// what a JVM's threads were at.
/// Steps are read one by one. `completed` is the number of operations of the steady state.
fn fill_in_beside(case: &Case<'_>, completed: u64, record: &mut RunRecord) -> Result<()> {
    let Case { run, steady, .. } = *case;
    let mut sums = CallSums::of(steady);
    let mut read_s = None;
    run.each_call_step(|step| {
        read_s = Some((read_s.map_or(step.at_s, |(first_s, _)| first_s), step.at_s));
        sums.add(&step);
    })?;
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    record.calls = sums.ledger(CallsBeside { completed, cpus });
    if record.calls.is_none() {
        record.unseen.extend(read_s.and_then(|read_s| uncounted(read_s, steady.span_s())));
    }
    record.statements = analysis::statements(&run.statements_seen()?, &run.statement_facts()?, steady);
    record.threads = analysis::threads(&run.threads_seen()?, steady);
    Ok(())
}

/// What a run lacks whose calls were counted at other times than in its steady state, where it has one.
fn uncounted((first_s, last_s): (f64, f64), (from_s, to_s): (f64, f64)) -> Option<String> {
    (to_s - from_s >= 1.0).then(|| {
        format!(
            "what calls the tiers' threads wait in: the kernel's count was read from {first_s:.0} to {last_s:.0} s of the run, and \
             never within the steady state, {from_s:.0} to {to_s:.0} s; try a longer --steady"
        )
    })
}

/// Fills in where the time went, by the tiers' and the users' figures of the seconds that count.
fn fill_in_seen(case: &Case<'_>, record: &mut RunRecord) -> Result<()> {
    let Case { plan, recording, series, steady, early, .. } = *case;
    let names = &recording.totals.names;
    let operations = analysis::operations(steady, names);
    let operations = operations.iter().filter(|row| row.kind == OperationKind::Operation);
    record.signals = signals(&Watched {
        series,
        limits: &recording.limits,
        alarms: &recording.alarms,
        steady,
        early,
        names,
        targets: &analysis::targets(&plan.qos, steady, names),
        generator_cpus: plan.placement.generator.len(),
        stack_cpus: plan.placement.stack.len(),
    });
    fill_in_beside(case, operations.map(|row| row.completed).sum(), record)
}

/// Of a run that ended before a second of its steady state: the ramp-up from its early part on, or as a whole where it ended
/// within that. Nothing where no second of that is kept either.
fn ramp_up(case: &Case<'_>) -> Result<Option<Steady>> {
    if case.steady.length_s() >= 1.0 {
        return Ok(None);
    }
    let from = |from_s: f64| -> Result<Steady> {
        let mut steady = Steady::new(from_s, case.load.ramp_up_s);
        case.run.seconds()?.add_to(&mut [&mut steady])?;
        Ok(steady)
    };
    let late = from(early_span_s(case.load.ramp_up_s).1)?;
    let seen = if late.length_s() >= 1.0 { late } else { from(0.0)? };
    Ok(Some(seen).filter(|seen| seen.length_s() >= 1.0))
}

/// Fills in everything that follows from the recording.
pub(crate) fn judge(case: &Case<'_>, record: &mut RunRecord) -> Result<()> {
    let Case { plan, load, run, early, rules, .. } = *case;
    fill_in_users(case, record)?;
    tell(load, record);
    match ramp_up(case)? {
        None => fill_in_seen(case, record)?,
        Some(ramp_up) => {
            record.ramp_up_seen_s = Some(ramp_up.span_s());
            let series = series_seen(run, &ramp_up, early)?;
            fill_in_seen(&Case { series: &series, steady: &ramp_up, ..*case }, record)?;
        }
    }
    record.outages = outages(case)?;
    let services = plan.tiers.iter().map(|tier| (tier.service.name.clone(), tier.service.clone())).collect();
    diagnose::fill_in(record, rules, &services);
    if record.outcome == Outcome::Unfinished {
        record.outcome = Outcome::Aborted;
    }
    Ok(())
}

/// Fills in the verdict, by the checks and the targets.
pub(crate) fn tell(load: &Load, record: &mut RunRecord) {
    record.verdict = wording::verdict(&VerdictInputs {
        load: &load.headline(),
        checks: &record.validity,
        targets: &record.targets,
        metrics: &record.metrics,
        operations: &record.operations,
    });
}

/// Fills in what users saw, what the tiers used, and the checks.
pub(crate) fn fill_in_users(case: &Case<'_>, record: &mut RunRecord) -> Result<()> {
    let Case { plan, load, recording, series, steady, unsettled_after_s, asking, .. } = *case;
    let Recording { totals, .. } = recording;
    let names = &totals.names;
    let generator_cpus = generator_cpus(plan, recording.fleet.as_ref().and_then(FleetRecording::cpus));
    let seconds = CountedSeconds { plan, load, steady, names, generator_cpus };
    let host = analysis::host_shares(series);
    let observed = Observed::of(&seconds, analysis::operations(steady, names), totals.connects, host);
    record.outcome = recording.outcome;
    record.phases = analysis::phases(steady);
    record.wire = steady.whole().wire;
    record.populations = analysis::populations(&plan.kit.populations()?, load, steady);
    record.metrics = analysis::metrics(&plan.kit.metrics, steady, names);
    let operations = observed.operations.iter().filter(|row| row.kind == OperationKind::Operation);
    let completed = operations.map(|row| row.completed).sum();
    let sources: Vec<TierSource> = recording
        .sources
        .iter()
        .map(|(tier, source)| TierSource { tier: tier.clone(), source: source.clone() })
        .collect();
    record.tiers = analysis::tiers(series, &sources, steady, completed);
    record.evidence.clone_from(&totals.evidence);
    record.unseen.clone_from(&recording.unseen);
    record.fleet = recording.fleet.as_ref().map(|fleet| fleet.over(steady.span_s()));
    let beside = Circumstances {
        fleet: record.fleet.as_ref(),
        outcome: record.outcome,
        unsettled_after_s,
        viewer_cores: viewer_cores(series),
        tier_events: &recording.tier_events,
        alarms: &recording.alarms,
        consistency: &record.consistency,
        links: &record.links,
        evidence: &record.evidence,
        load_changes: &record.load_changes,
    };
    let checks = checks(&seconds, &observed, &beside)?;
    record.validity = wording::checks(&checks, asking);
    record.generator = observed.generator;
    record.operations = observed.operations;
    record.untimed = observed.untimed;
    record.targets = observed.targets;
    Ok(())
}

/// The seconds that count, of what.
#[derive(Clone, Copy)]
pub(crate) struct CountedSeconds<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) load: &'a Load,
    pub(crate) steady: &'a Steady,
    pub(crate) names: &'a [OperationName],
    /// The number of CPUs of all generators.
    pub(crate) generator_cpus: usize,
}

/// The number of CPUs of all generators: of this process's, or of those that a fleet has elsewhere.
pub(crate) fn generator_cpus(plan: &Plan, elsewhere: Option<usize>) -> usize {
    elsewhere.unwrap_or(plan.placement.generator.len())
}

/// What users and the generator saw in them.
pub(crate) struct Observed {
    little: Little,
    generator: GeneratorResult,
    /// The targets as judged.
    pub(crate) targets: Vec<TargetOutcome>,
    operations: Vec<OperationResult>,
    untimed: Option<UntimedResult>,
}

impl Observed {
    /// `operations` are their rows, and `connects` the connections of the whole run.
    pub(crate) fn of(
        seconds: &CountedSeconds<'_>,
        mut operations: Vec<OperationResult>,
        connects: u64,
        host: HostShares,
    ) -> Observed {
        let CountedSeconds { plan, load, steady, names, generator_cpus } = *seconds;
        let little = little(load, steady);
        operations.retain(|row| row.completed > 0 || !row.errors.is_empty());
        Observed {
            generator: analysis::generator(steady, &little, generator_cpus, connects, host),
            little,
            targets: analysis::targets(&plan.qos, steady, names),
            untimed: analysis::untimed(steady, &operations),
            operations,
        }
    }
}

/// What else the checks go by.
pub(crate) struct Circumstances<'a> {
    pub(crate) fleet: Option<&'a FleetResult>,
    pub(crate) outcome: Outcome,
    pub(crate) unsettled_after_s: Option<f64>,
    pub(crate) viewer_cores: Option<f64>,
    pub(crate) tier_events: &'a [TierEvent],
    pub(crate) alarms: &'a [LogAlarm],
    pub(crate) consistency: &'a [ConsistencyResult],
    pub(crate) links: &'a [LinkResult],
    pub(crate) evidence: &'a [Evidence],
    /// The numbers of users that were asked for by hand, where somebody could.
    pub(crate) load_changes: &'a [LoadChange],
}

/// The checks of the instrument.
pub(crate) fn checks(
    seconds: &CountedSeconds<'_>,
    observed: &Observed,
    beside: &Circumstances<'_>,
) -> Result<Vec<CheckOutcome>> {
    let CountedSeconds { plan, load, steady, names, .. } = *seconds;
    let populations = &plan.kit.populations()?;
    Ok(analysis::validity(&ValidityInputs {
        outcome: beside.outcome,
        planned_steady_s: load.steady_s,
        steady_s: steady.length_s(),
        unsettled_after_s: beside.unsettled_after_s,
        users: load.users,
        demand: Some(AskedLoad {
            load,
            populations,
            tolerance: plan.kit.tolerance.unwrap_or_default(),
            steady,
        }),
        by_hand: load.by_hand.map(|_| beside.load_changes),
        shares_cpus: shares_cpus(plan),
        viewer_cores: beside.viewer_cores,
        fleet: beside.fleet,
        generator: &observed.generator,
        little: &observed.little,
        targets: &observed.targets,
        operations: &observed.operations,
        untimed: observed.untimed.as_ref(),
        tier_events: beside.tier_events,
        alarms: &alarms(plan, beside.alarms),
        consistency: beside.consistency,
        links: beside.links,
        bounds: &analysis::bounds(&plan.kit.metrics, steady, names),
        evidence: beside.evidence,
    }))
}

/// What users saw of the instances that were ended on purpose.
fn outages(case: &Case<'_>) -> Result<Vec<Outage>> {
    let Recording { kills, totals, .. } = case.recording;
    if kills.is_empty() {
        return Ok(Vec::new());
    }
    let (from_s, to_s) = case.steady.span_s();
    let mut seconds = Vec::new();
    for interval in case.run.seconds()? {
        let second = WorkOfSecond::of(&interval?, &totals.names);
        if (from_s..to_s).contains(&f64::from(second.second)) {
            seconds.push(second);
        }
    }
    Ok(kills.iter().filter_map(|kill| analysis::outage(kill, &seconds)).collect())
}

/// Little's law over the seconds that count of a load.
pub(crate) fn little(load: &Load, steady: &Steady) -> Little {
    match load.arrivals {
        Some(_) => Little::of_arrivals(steady, load.is_steady()),
        None => Little::of(steady),
    }
}

/// What the process took on average that serves the laboratory's page, where there was one.
fn viewer_cores(series: &[SeriesSeen]) -> Option<f64> {
    series.iter().find(|one| one.name == CPU && one.tier.as_deref() == Some(VIEWER))?.mean
}

/// CPUs of the generator are also the stack's.
pub(crate) fn shares_cpus(plan: &Plan) -> bool {
    plan.placement.generator.iter().any(|cpu| plan.placement.stack.contains(cpu))
}

/// A tier that was held back on purpose may complain about it: that is told, and makes no run invalid. All else stays as
/// it is; a generator that was starved on purpose has still measured nothing.
fn alarms(plan: &Plan, seen: &[LogAlarm]) -> Vec<LogAlarm> {
    let held = |tier: &str| plan.injections().iter().any(|injection| injection.tier() == Some(tier));
    let told = |alarm: &LogAlarm| LogAlarm { invalid: alarm.invalid && !held(&alarm.tier), ..alarm.clone() };
    seen.iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_was_never_read_in_the_steady_state_is_missed_where_there_is_one() {
        let said = |to_s: f64| uncounted((3.0, 27.2), (10.0, to_s));
        assert_eq!(
            said(22.0).as_deref(),
            Some(
                "what calls the tiers' threads wait in: the kernel's count was read from 3 to 27 s of the run, and never within \
                 the steady state, 10 to 22 s; try a longer --steady"
            )
        );
        assert_eq!(said(10.5), None, "a run that ended before it has other reasons");
    }
}

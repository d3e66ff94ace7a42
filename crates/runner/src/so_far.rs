//! What a run's targets and checks say while it goes on, by the seconds that count so far: nothing is read for it.

use analysis::signals::names::CPU;
use analysis::{HostShares, LogAlarm, Steady, TierEvent, state_so_far};
use engine::Second;
use model::Plan;
use model::progress::{CheckProgress, TargetProgress};
use model::record::{Check, LoadChange, Outcome, Series, TargetOutcome};
use observe::VIEWER;

use crate::judge::{Circumstances, CountedSeconds, Observed, checks, generator_cpus};

/// It is worked out this often at most, in seconds of the run.
const EVERY_S: u32 = 5;

/// What is said so far.
#[derive(Debug, Default)]
pub(crate) struct SoFar {
    /// The second in which it was worked out last.
    at: Option<u32>,
    viewer: Mean,
    /// The number of CPUs of generators that a fleet has elsewhere.
    cpus_elsewhere: Option<usize>,
    /// The run has lost agents, and goes on: only its end tells which load was left.
    pub(crate) is_degraded: bool,
    pub(crate) targets: Vec<TargetProgress>,
    pub(crate) checks: Vec<CheckProgress>,
}

/// What happened to the tiers so far.
pub(crate) struct Happened<'a> {
    /// The numbers of users that were asked for by hand.
    pub(crate) load_changes: &'a [LoadChange],
    pub(crate) tier_events: &'a [TierEvent],
    /// Alarms in their logs.
    pub(crate) alarms: &'a mut dyn Iterator<Item = &'a LogAlarm>,
}

/// A mean of what comes about once a second.
#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl SoFar {
    /// Of a run whose generators have that number of CPUs elsewhere.
    pub(crate) fn of(cpus_elsewhere: Option<usize>) -> SoFar {
        SoFar { cpus_elsewhere, ..SoFar::default() }
    }

    /// A second has ended, in which `samples` came; `steady` are those that count.
    pub(crate) fn second(
        &mut self,
        plan: &Plan,
        steady: &Steady,
        (second, samples): (&Second<'_>, &[Series]),
        happened: Happened<'_>,
    ) {
        self.watch_viewer(steady, samples);
        let number = second.interval.second;
        if self.at.is_some_and(|at| number < at + EVERY_S) || steady.length_s() < 1.0 {
            return;
        }
        self.at = Some(number);
        let generator_cpus = generator_cpus(plan, self.cpus_elsewhere);
        let (load, names) = (&plan.load, second.names);
        self.judge(&CountedSeconds { plan, load, steady, names, generator_cpus }, happened);
    }

    fn judge(&mut self, seconds: &CountedSeconds<'_>, happened: Happened<'_>) {
        let CountedSeconds { steady, names, .. } = *seconds;
        let operations = analysis::operation_counts(steady, names);
        let observed = Observed::of(seconds, operations, steady.whole().connects, HostShares::default());
        let alarms: Vec<LogAlarm> = happened.alarms.cloned().collect();
        let outcomes = checks(
            seconds,
            &observed,
            &Circumstances {
                fleet: None,
                outcome: Outcome::Completed,
                unsettled_after_s: None,
                viewer_cores: self.viewer.value(),
                tier_events: happened.tier_events,
                alarms: &alarms,
                consistency: &[],
                links: &[],
                evidence: &[],
                load_changes: happened.load_changes,
            },
        );
        // A mix that can't be made sense of is refused before a run; the end would say so, too.
        let outcomes = outcomes.unwrap_or_default();
        let is_load = |check: &Check| matches!(check, Check::Users | Check::Arrivals);
        let told = outcomes.iter().filter(|outcome| !(self.is_degraded && is_load(&outcome.check)));
        let progress = told.filter_map(|outcome| {
            let state = state_so_far(outcome, steady.length_s())?;
            Some(CheckProgress {
                id: outcome.check.clone(),
                title: outcome.check.title().into_owned(),
                state,
            })
        });
        self.checks = progress.collect();
        self.targets = observed.targets.iter().map(target).collect();
    }

    /// Its points come a second late at most.
    fn watch_viewer(&mut self, steady: &Steady, samples: &[Series]) {
        let (from_s, to_s) = steady.span_s();
        let inside = |at_s: f64| steady.length_s() >= 1.0 && at_s > from_s && at_s <= to_s + 1.0;
        let of_viewer = samples.iter().filter(|one| one.name == CPU && one.tier.as_deref() == Some(VIEWER));
        for (at_s, cores) in of_viewer.flat_map(|one| &one.points) {
            if inside(*at_s) {
                self.viewer.sum += cores;
                self.viewer.count += 1;
            }
        }
    }
}

fn target(outcome: &TargetOutcome) -> TargetProgress {
    TargetProgress {
        target: outcome.target.to_string(),
        observed: outcome.observed,
        limit: outcome.target.limit,
        unit: outcome.target.measure.unit().to_string(),
        met: outcome.observed.map(|_| outcome.pass),
        samples: outcome.samples,
        samples_needed: outcome.samples_needed,
    }
}

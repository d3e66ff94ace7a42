//! Every series of a run over its steady state, in figures that rules can weigh: how much, at most, of what limit, for
//! each operation, and at a third of the users.
//!
//! Beside the series there are signals that follow from them or from the users' side: [`run`] tells of the run as a whole
//! (`run.response_growth`), [`derived`] relates series of a tier to each other (`sql.rows_read_per_row`).

pub(crate) mod derived;
pub mod names;
pub(crate) mod run;

use model::catalogue::service::ALARM_UNIT;
use model::record::TargetOutcome;
use model::record::diagnosis::SignalSummary;
use model::record::instrument::INSTRUMENT;
use model::record::interval::OperationName;
use model::{Interval, OperationInterval, OperationKind, Signal};

use crate::finding::LogAlarm;
use crate::series::{MIN_EARLY_S, SeriesSeen};
use crate::steady::Steady;

pub(crate) use derived::OPERATIONS_PER_S;
pub(crate) use run::{
    CONNECTING, FAILED, MISSED_TARGETS, RESPONSE, RESPONSE_GROWTH, RESPONSE_SHARE, SEND_LAG,
    THROUGHPUT_GROWTH,
};

/// The most that a series of a tier can be by the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// web, app, db, cache, `generator`; absent for the host.
    pub tier: Option<String>,
    /// The series' name.
    pub name: String,
    /// In the series' unit.
    pub value: f64,
}

/// What was watched.
#[derive(Debug, Clone, Copy)]
pub struct Watched<'a> {
    /// What every series of the run told.
    pub series: &'a [SeriesSeen],
    /// The most that they can be.
    pub limits: &'a [Limit],
    /// What the tiers' logs said.
    pub alarms: &'a [LogAlarm],
    /// The users' side, over the seconds that count.
    pub steady: &'a Steady,
    /// The same over the part of the ramp-up in which at most a third of the users were there.
    pub early: &'a Steady,
    /// What the rows of a second are about.
    pub names: &'a [OperationName],
    /// The targets as judged.
    pub targets: &'a [TargetOutcome],
    /// How many CPUs the generator has.
    pub generator_cpus: usize,
    /// How many CPUs the tiers have.
    pub stack_cpus: usize,
}

impl Watched<'_> {
    /// The seconds of the ramp-up that count as early; nothing when they are too few.
    fn early(&self) -> Option<&Steady> {
        (self.early.length_s() >= MIN_EARLY_S).then_some(self.early)
    }

    /// What all operations together did in these seconds.
    fn operations(&self, seconds: &Interval) -> OperationInterval {
        let mut all = OperationInterval::empty();
        for (name, row) in self.names.iter().zip(&seconds.operations) {
            if name.kind == OperationKind::Operation {
                all.merge(row);
            }
        }
        all
    }

    fn per_s(&self) -> f64 {
        self.steady.per_second(self.operations(self.steady.whole()).completed as f64)
    }
}

/// Where a ramp-up of `ramp_up_s` seconds has brought a third of the users: the seconds before it are the early ones.
pub fn early_span_s(ramp_up_s: f64) -> (f64, f64) {
    (0.0, ramp_up_s / 3.0)
}

/// Every signal: of the series in their order, then of what follows from them, then of the run as a whole.
pub fn signals(watched: &Watched<'_>) -> Vec<SignalSummary> {
    let per_s = watched.per_s();
    let mut signals: Vec<SignalSummary> =
        watched.series.iter().filter_map(|series| of_series(series, per_s, watched)).collect();
    if has_elsewhere(&signals) {
        // How busy this machine is says nothing of tiers on others.
        signals.retain(|signal| signal.tier.is_some() || signal.name != names::STACK_BUSY);
    }
    derived::add(watched, per_s, &mut signals);
    signals.extend(watched.alarms.iter().filter_map(alarm));
    signals.extend(run::signals(watched));
    signals
}

/// Whether tiers on other machines than the run's controller were watched.
pub(crate) fn has_elsewhere(signals: &[SignalSummary]) -> bool {
    signals.iter().any(|signal| signal.name == names::HOST_BUSY)
}

fn of_series(series: &SeriesSeen, per_s: f64, watched: &Watched<'_>) -> Option<SignalSummary> {
    let is_rate = series.is_rate();
    let mean = if is_rate { series.mean } else { series.level }?;
    let limit = watched
        .limits
        .iter()
        .find(|limit| limit.tier == series.tier && limit.name == series.name)
        .map(|limit| limit.value)
        .or_else(|| cpus(series, watched));
    Some(SignalSummary {
        tier: series.tier.clone(),
        name: series.name.clone(),
        unit: series.unit.clone(),
        mean,
        max: series.max.map_or(mean, |max| max.max(mean)),
        early: series.early,
        limit: limit.filter(|limit| *limit > 0.0),
        per_operation: (is_rate && per_s > 0.0).then(|| mean / per_s),
    })
}

/// The CPUs that the CPU time of a tier or of the instrument can take at most. Any number of threads can wait for one.
fn cpus(series: &SeriesSeen, watched: &Watched<'_>) -> Option<f64> {
    let of_cpus = series.name == names::CPU;
    let cpus = match series.tier.as_deref()? {
        tier if INSTRUMENT.contains(&tier) => watched.generator_cpus as f64,
        tier => cpus_elsewhere(tier, watched).unwrap_or(watched.stack_cpus as f64),
    };
    of_cpus.then_some(cpus)
}

/// The CPUs of the host of a tier that is on another machine.
fn cpus_elsewhere(tier: &str, watched: &Watched<'_>) -> Option<f64> {
    let is_it = |one: &&SeriesSeen| one.name == names::HOST_CPUS && one.tier.as_deref() == Some(tier);
    watched.series.iter().find(is_it)?.max
}

/// A line of a log that rules know by a name: how often it appeared, in the whole run.
fn alarm(alarm: &LogAlarm) -> Option<SignalSummary> {
    let count = alarm.count as f64;
    let signal = figure(alarm.signal.as_ref()?, ALARM_UNIT, count);
    Some(SignalSummary { tier: Some(alarm.tier.clone()), ..signal })
}

/// A declared signal of one figure.
pub(crate) fn value_of(signal: &Signal, value: f64) -> SignalSummary {
    figure(&signal.name, &signal.unit, value)
}

/// A signal of one figure, by its name and unit.
pub(crate) fn figure(name: &str, unit: &str, value: f64) -> SignalSummary {
    SignalSummary {
        tier: None,
        name: name.to_string(),
        unit: unit.to_string(),
        mean: value,
        max: value,
        early: None,
        limit: None,
        per_operation: None,
    }
}

/// The signal of that name of a tier; of the machine or of the run without one.
pub(crate) fn find<'a>(
    signals: &'a [SignalSummary],
    tier: Option<&str>,
    name: &str,
) -> Option<&'a SignalSummary> {
    signals.iter().find(|signal| signal.tier.as_deref() == tier && signal.name == name)
}

#[cfg(test)]
mod tests;

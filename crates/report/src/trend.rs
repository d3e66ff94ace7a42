//! One setup over time: runs of the same kit, stack, size, settings and load, in the order in which they were measured.
//! The principal type is [`Trend`]. How it is drawn is `html/trend.rs`.

use std::collections::BTreeMap;

use model::catalogue::setting::Values;
use model::record::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use store::{RunSummary, verdict_of};

/// The version of [`Trend`]; counts up when a reader of the old one would misread the new one.
pub const TREND_FORMAT: u32 = 1;

/// The minimum number of runs that show how something changes.
const MIN_RUNS: usize = 2;

/// Runs of one setup over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// [`TREND_FORMAT`].
    pub format: u32,
    /// What the runs have in common.
    pub setup: TrendSetup,
    /// The first of the kit's own figures, by the last run that has one.
    pub metric: Option<TrendMetric>,
    /// The runs, the oldest first.
    pub points: Vec<TrendPoint>,
}

/// What runs of a trend have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct TrendSetup {
    /// The kit, without its version.
    pub kit: String,
    /// The stack.
    pub stack: String,
    /// The data set's size.
    pub size: String,
    /// The mix that was asked for instead of the kit's own.
    pub mix: Option<String>,
    /// The topology, where one was asked for.
    pub topology: Option<String>,
    /// How many guests it had; 0 for one stack on the bare machine.
    pub guests: usize,
    /// Emulated users; with arrivals the most that may be there at once.
    pub users: u32,
    /// What loaded the stack, briefly: `20 users`.
    pub load: String,
    /// What was set of parameters and knobs: `web.MaxRequestWorkers=64`.
    pub settings: Vec<String>,
}

/// The kit's own figure that a trend shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrendMetric {
    /// For people.
    pub title: String,
    /// Its unit.
    pub unit: String,
}

/// A run of a trend.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendPoint {
    /// The run's id.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// `passed`, `failed`, `valid`, `not valid`, `aborted`, `interrupted`.
    pub verdict: String,
    /// The instrument's own checks all hold.
    pub valid: bool,
    /// The QoS targets are all met; absent when the run is not valid.
    pub pass: Option<bool>,
    /// Operations completed per second.
    pub operations_per_s: Option<f64>,
    /// The largest p95 of an operation's response time, in seconds.
    pub worst_p95_s: Option<f64>,
    /// The value of [`Trend::metric`].
    pub metric: Option<f64>,
    /// The others are held against it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub baseline: bool,
    /// What people say of it; empty where nobody did.
    pub note: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What it was made with: `kit`, `plimsoll`, `kernel`, `processor`, and servers as `db (mariadb)`, each with its version.
    pub versions: BTreeMap<String, String>,
    /// Which of these are not as in the run before it; empty for the first.
    pub changed: Vec<VersionChange>,
}

/// A version that is not as before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionChange {
    /// Of what: `kit`, `db (mariadb)`.
    pub name: String,
    /// In the run before.
    pub from: String,
    /// From this run on.
    pub to: String,
}

/// The setups of which several runs have come to an end, the one that was measured last first.
pub fn trends(runs: &[RunSummary]) -> Vec<Trend> {
    let mut groups: BTreeMap<TrendSetup, Vec<&RunSummary>> = BTreeMap::new();
    for run in runs.iter().filter(|run| has_ended(run)) {
        groups.entry(setup(run)).or_default().push(run);
    }
    let mut trends: Vec<Trend> = groups
        .into_iter()
        .filter(|(_, runs)| runs.len() >= MIN_RUNS)
        .map(|(setup, runs)| trend(setup, runs))
        .collect();
    let last = |trend: &Trend| trend.points.last().map(|point| point.started.clone());
    trends.sort_by_key(|trend| std::cmp::Reverse(last(trend)));
    trends
}

fn has_ended(run: &RunSummary) -> bool {
    // A load that was changed by hand is like no other.
    !run.by_hand && run.outcome.is_some_and(|outcome| outcome != Outcome::Unfinished)
}

fn setup(run: &RunSummary) -> TrendSetup {
    let pairs = |values: &Values| -> Vec<String> {
        values.iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    TrendSetup {
        kit: kit_and_version(run).0.to_string(),
        stack: run.stack.clone(),
        size: run.size.clone(),
        mix: run.mix.clone(),
        topology: run.topology.clone(),
        guests: run.guests,
        users: run.users,
        load: run.load.clone(),
        settings: [pairs(&run.given.param), pairs(&run.given.set)].concat(),
    }
}

/// `dvdstore` and `1` of `dvdstore@1`.
fn kit_and_version(run: &RunSummary) -> (&str, &str) {
    run.kit.split_once('@').unwrap_or((&run.kit, ""))
}

fn trend(setup: TrendSetup, mut runs: Vec<&RunSummary>) -> Trend {
    runs.sort_by_key(|run| (&run.started, &run.id));
    let metric = runs.iter().rev().find_map(|run| run.metric.as_ref());
    let metric = metric.map(|metric| TrendMetric { title: metric.title.clone(), unit: metric.unit.clone() });
    let mut points: Vec<TrendPoint> = Vec::new();
    // The last version that is known of each: a record that doesn't say one changes nothing.
    let mut known = BTreeMap::new();
    for run in runs {
        let versions = versions(run);
        let changed = changes(&known, &versions);
        known.extend(versions.clone());
        points.push(point(run, metric.as_ref(), versions, changed));
    }
    Trend { format: TREND_FORMAT, setup, metric, points }
}

fn versions(run: &RunSummary) -> BTreeMap<String, String> {
    let kit = Some(kit_and_version(run).1).filter(|version| !version.is_empty());
    let kit = kit.map(|version| ("kit".to_string(), version.to_string()));
    run.versions.clone().into_iter().chain(kit).collect()
}

fn changes(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<VersionChange> {
    let change = |(name, to): (&String, &String)| {
        let from = before.get(name).filter(|from| *from != to)?;
        Some(VersionChange { name: name.clone(), from: from.clone(), to: to.clone() })
    };
    now.iter().filter_map(change).collect()
}

fn point(
    run: &RunSummary,
    metric: Option<&TrendMetric>,
    versions: BTreeMap<String, String>,
    changed: Vec<VersionChange>,
) -> TrendPoint {
    // A kit that is newer may begin with another figure, which is no part of this line.
    let same = |metric: &TrendMetric| {
        let own = run.metric.as_ref()?;
        (own.title == metric.title && own.unit == metric.unit).then_some(own.value)
    };
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    TrendPoint {
        id: run.id.clone(),
        started: run.started.clone(),
        verdict: verdict_of(run).to_string(),
        valid: run.valid,
        pass: run.pass,
        operations_per_s: finite(run.operations_per_s),
        worst_p95_s: finite(run.worst_p95_s),
        metric: finite(metric.and_then(same)),
        baseline: run.notes.baseline,
        note: run.notes.note.clone(),
        tags: run.notes.tags.iter().cloned().collect(),
        versions,
        changed,
    }
}

#[cfg(test)]
mod tests;

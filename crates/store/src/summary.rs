//! A run in a line.

use std::collections::BTreeMap;
use std::path::Path;

use model::catalogue::setting::GivenSettings;
use model::record::{MetricResult, Outcome};
use model::{OperationKind, RunRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::notes::Notes;
use crate::{disk, run};

/// The openness of a run that is under way: its files grow, and whoever measures it may die, without a trace in its record.
pub(crate) const UNDER_WAY: i64 = 2;

/// A run in a line, for lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// The run's id.
    pub id: String,
    /// The study that it is a trial of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// RFC 3339, UTC; empty when the record can't be read.
    pub started: String,
    /// `dvdstore@1`.
    pub kit: String,
    /// The stack.
    pub stack: String,
    /// The data set's size as asked for.
    pub size: String,
    /// What was set of parameters and knobs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub given: GivenSettings,
    /// The mix that was asked for instead of the kit's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// The topology that was asked for, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// Emulated users.
    pub users: u32,
    /// What loaded the stack, briefly: `20 users`, `200 sessions/s`.
    #[serde(default)]
    pub load: String,
    /// Its load could be changed by hand: it is no result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hand: bool,
    /// How many guests it had, each with a run of its own below it; 0 for one stack on the bare machine.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub guests: usize,
    /// The fleet that drove its users; absent where the process that measured did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSummary>,
    /// Length of the steady state, in seconds.
    pub steady_s: f64,
    /// How it ended; absent when the record can't be read.
    pub outcome: Option<Outcome>,
    /// A living process is still measuring it.
    pub under_way: bool,
    /// The instrument's own checks all hold.
    pub valid: bool,
    /// The QoS targets are all met; absent when the run is not valid.
    pub pass: Option<bool>,
    /// Both in a sentence; what is wrong with the record when it can't be read.
    pub sentence: String,
    /// Operations completed per second over the steady state.
    pub operations_per_s: Option<f64>,
    /// The largest p95 of an operation's response time, in seconds.
    pub worst_p95_s: Option<f64>,
    /// The first of the kit's own figures.
    pub metric: Option<MetricSummary>,
    /// What it was made with, and in which version: `plimsoll`, `kernel`, `processor`, and servers as `db (mariadb)`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Bytes of everything kept.
    pub bytes: u64,
    /// What people say of it; nothing where that can't be read.
    #[serde(flatten)]
    pub notes: Notes,
}

/// Who drove a run's users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetSummary {
    /// The fleet's name, or `local:N`.
    pub name: String,
    /// The number of its agents that had a part in the run.
    pub agents: usize,
    /// The number of those that were lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: usize,
}

/// A figure of the kit's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricSummary {
    /// For people.
    pub title: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

impl RunSummary {
    /// The summary of `record`, kept in `directory`.
    pub(crate) fn of(record: &RunRecord, directory: &Path) -> RunSummary {
        let operations = || record.operations.iter().filter(|result| result.kind == OperationKind::Operation);
        let metric = |first: &MetricResult| MetricSummary {
            title: first.title.clone(),
            value: first.value,
            unit: first.unit.clone(),
        };
        RunSummary {
            id: record.id.clone(),
            study: None,
            started: record.started.clone(),
            kit: record.setup.kit.clone(),
            stack: record.setup.stack.clone(),
            size: record.setup.size.clone(),
            given: record.setup.given.clone().unwrap_or_default(),
            mix: record.setup.mix.clone(),
            topology: record.setup.topology.clone(),
            users: record.setup.users,
            load: record.setup.load_headline(),
            by_hand: record.setup.is_by_hand(),
            guests: record.guests.len(),
            fleet: record.fleet.as_ref().map(|fleet| FleetSummary {
                name: fleet.fleet.clone(),
                agents: fleet.agents.len(),
                lost: fleet.lost().count(),
            }),
            steady_s: record.setup.steady_s,
            outcome: Some(record.outcome),
            under_way: run::under_way(directory),
            valid: record.verdict.valid,
            pass: record.verdict.pass,
            sentence: record.verdict.sentence.clone(),
            operations_per_s: (operations().count() > 0)
                .then(|| operations().map(|result| result.per_s).sum()),
            worst_p95_s: operations().filter_map(|result| result.response.p95_s).reduce(f64::max),
            metric: record.metrics.first().map(metric),
            versions: versions(record),
            bytes: disk::size_bytes(directory),
            notes: Notes::read(directory).unwrap_or_default(),
        }
    }

    /// Whether more may come of it: [`UNDER_WAY`]; 1 where its record may be another one soon; else 0.
    pub(crate) fn openness(&self) -> i64 {
        match self.outcome {
            _ if self.under_way => UNDER_WAY,
            None | Some(Outcome::Unfinished) => 1,
            Some(_) => 0,
        }
    }

    /// The summary of a directory whose record can't be read, and why.
    pub(crate) fn unreadable(id: &str, directory: &Path, why: String) -> RunSummary {
        RunSummary {
            id: id.to_string(),
            study: None,
            started: String::new(),
            kit: String::new(),
            stack: String::new(),
            size: String::new(),
            given: GivenSettings::default(),
            mix: None,
            topology: None,
            users: 0,
            load: String::new(),
            by_hand: false,
            guests: 0,
            fleet: None,
            steady_s: 0.0,
            outcome: None,
            under_way: run::under_way(directory),
            valid: false,
            pass: None,
            sentence: why,
            operations_per_s: None,
            worst_p95_s: None,
            metric: None,
            versions: BTreeMap::new(),
            bytes: disk::size_bytes(directory),
            notes: Notes::read(directory).unwrap_or_default(),
        }
    }
}

fn versions(record: &RunRecord) -> BTreeMap<String, String> {
    let machine = [("kernel", "kernel"), ("processor", "cpu.model")];
    let machine = machine.into_iter().filter_map(|(name, key)| {
        record.setup.machine.get(key).map(|value| (name.to_string(), value.clone()))
    });
    let servers = record.setup.tiers.iter();
    let servers = servers.map(|tier| (format!("{} ({})", tier.tier, tier.service), tier.version.clone()));
    let own = ("plimsoll".to_string(), record.plimsoll.clone());
    machine.chain(servers).chain([own]).collect()
}

fn is_default(given: &GivenSettings) -> bool {
    *given == GivenSettings::default()
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

//! `run.json`: everything that a run said, as `--json` prints it. The schema is public and versioned; see
//! `docs/reference/run-json.md`.

mod tier_setup;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::Guest;
use super::{
    Check, FileSetResult, FleetResult, GuestResult, LinkResult, LoadChange, MachineSettingResult, Outage,
    PhaseResults, TargetOutcome, UntimedResult,
};
use crate::catalogue::load::Load;
use crate::catalogue::setting::{GivenSettings, Values};
use crate::record::calls::{Aborted, CallLedger};
use crate::record::diagnosis::{Diagnosis, Injected, SignalSummary};
use crate::record::interval::{OperationKind, Wire};
use crate::record::statements::StatementResult;
use crate::record::threads::ThreadsResult;
pub use tier_setup::{Carrier, CounterSetup, NetworkSetup, TierSetup};

/// The version of [`RunRecord`]; counts up when a reader of the old one would misread the new one.
pub const RUN_FORMAT: u32 = 1;

/// Everything that a run said.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// [`RUN_FORMAT`].
    pub format: u32,
    /// The run's directory name: `20261121-034512-dvdstore-7f3a`.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The version of Plimsoll that made it.
    pub plimsoll: String,
    /// The command line, so that it can be repeated.
    pub command: Vec<String>,
    /// What was asked for, resolved.
    pub setup: Setup,
    /// How it ended.
    pub outcome: Outcome,
    /// The two judgements and the sentence that says them.
    pub verdict: Verdict,
    /// Each target: what was observed, and by how much it was met or missed.
    pub targets: Vec<TargetOutcome>,
    /// Each check of the instrument by itself.
    pub validity: Vec<ValidityCheck>,
    /// Sessions, operations and requests over the steady state.
    pub operations: Vec<OperationResult>,
    /// Where the time of requests went over the steady state.
    #[serde(default)]
    pub phases: PhaseResults,
    /// Operations that the session's script abandoned, whose times no row and no target has; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untimed: Option<UntimedResult>,
    /// What happened on the wire beside plain requests and answers, counted over the steady state.
    #[serde(default)]
    pub wire: Wire,
    /// Each population of users; empty where all users are alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub populations: Vec<PopulationResult>,
    /// The kit's own figures.
    pub metrics: Vec<MetricResult>,
    /// CPU by tier over the steady state, the generator among them.
    pub tiers: Vec<TierResult>,
    /// Each guest of several, whose sums all else is; empty for one stack on the bare machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<GuestResult>,
    /// The kit's consistency check of the data after the run.
    pub consistency: Vec<ConsistencyResult>,
    /// The first few offending answers and script errors.
    pub evidence: Vec<Evidence>,
    /// The data set.
    pub dataset: Option<DatasetResult>,
    /// The kit's file set: what was made, and how much of it was in memory when users started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_set: Option<FileSetResult>,
    /// How long each step took, in order.
    pub steps: Vec<Step>,
    /// What the instrument saw of itself over the steady state.
    pub generator: GeneratorResult,
    /// The fleet that drove the users; absent where this process did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetResult>,
    /// Every series over the steady state, in figures.
    #[serde(default)]
    pub signals: Vec<SignalSummary>,
    /// Where the run ended before its steady state: the seconds of its ramp-up that `signals`, `calls`, `statements`, `threads` and
    /// the diagnosis are of instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_up_seen_s: Option<(f64, f64)>,
    /// Where the time of the tiers' threads went by call and object; absent where the kernel didn't count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallLedger>,
    /// The statements that databases' clients spent their time in, by looks at what they are in; empty where nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementResult>,
    /// What a JVM's threads with a request were at, by its own word; empty where nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadsResult>,
    /// What holds the stack; absent where nothing was watched, and in records older than diagnoses.
    #[serde(default)]
    pub diagnosis: Option<Diagnosis>,
    /// A fault that was injected on purpose; it doesn't make the run invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected: Option<Injected>,
    /// The numbers of users that were asked for by hand, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_changes: Vec<LoadChange>,
    /// What users saw of instances that were ended on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// The process that was ended because it waited where it was not to, with the wait (`--abort-on`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Aborted>,
    /// The ways to hosts of tiers' own that hold packets, as they were measured before and after the users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkResult>,
    /// What could not be observed, and why, a sentence each.
    #[serde(default)]
    pub unseen: Vec<String>,
}

/// What was asked for, resolved.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// Kit, with its version: `dvdstore@1`.
    pub kit: String,
    /// For people.
    pub kit_title: String,
    /// The one of the kit's mixes that was asked for instead of its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// The data set's size: the kit's name for it, or else as it was asked for.
    pub size: String,
    /// The numbers behind the size.
    pub size_values: BTreeMap<String, f64>,
    /// The kit's parameters in force.
    pub params: Values,
    /// What the recipe and the command line set, of the parameters and of the tiers' knobs; absent in records older than
    /// this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<GivenSettings>,
    /// The topology that was asked for, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// Which of several guests the run is of; absent for a run of all of them, and without guests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
    /// How many guests were asked for beside what the topology says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guests: Option<u32>,
    /// The wait for which a server was to be ended: `open:disk`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_on: Option<String>,
    /// The stack.
    pub stack: String,
    /// For people.
    pub stack_title: String,
    /// Emulated users; with arrivals the most that may be there at once.
    pub users: u32,
    /// Seconds.
    pub ramp_up_s: f64,
    /// Seconds; only this phase counts.
    pub steady_s: f64,
    /// Seconds.
    pub ramp_down_s: f64,
    /// Seed of all random streams.
    pub seed: u64,
    /// The load model; absent in records older than load models.
    #[serde(default)]
    pub load: Option<Load>,
    /// Mean think time after a session, in seconds; absent when the kit uses a cycle time, and where populations differ in it.
    pub think_mean_s: Option<f64>,
    /// Whether users' caches took what didn't say for how long it is fresh to be so for a while; absent in records older than this
    /// choice, where they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heuristic_freshness: Option<bool>,
    /// CPUs of the generator.
    pub generator_cpus: Vec<usize>,
    /// CPUs of the tiers.
    pub stack_cpus: Vec<usize>,
    /// Kernel, CPU model, memory: name to value.
    pub machine: BTreeMap<String, String>,
    /// Settings of the machine that were changed for the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_settings: Vec<MachineSettingResult>,
    /// The tiers.
    pub tiers: Vec<TierSetup>,
    /// The server, when somebody else started it: no tier was watched, and no data checked but over HTTP.
    #[serde(default)]
    pub target: Option<TargetSetup>,
}

/// A server that somebody else started.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TargetSetup {
    /// Its URL as asked for.
    pub url: String,
    /// Its address or socket.
    pub server: String,
    /// The host that `--allow-target` allowed; absent on this machine.
    pub allowed: Option<String>,
}

impl Setup {
    /// The load in words.
    pub fn load_words(&self) -> String {
        self.load_or_users().words()
    }

    /// Somebody could change the number of users by hand: the run is no result.
    pub fn is_by_hand(&self) -> bool {
        self.load.as_ref().is_some_and(|load| load.by_hand.is_some())
    }

    /// What loads the stack in steady state, briefly.
    pub fn load_headline(&self) -> String {
        self.load_or_users().headline()
    }

    fn load_or_users(&self) -> Load {
        self.load.clone().unwrap_or_else(|| Load { users: self.users, ..Load::default() })
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is under way, or the tool died.
    Unfinished,
    /// All phases ran.
    Completed,
    /// The user ended it.
    Interrupted,
    /// A tier died or something else made going on senseless.
    Aborted,
}

/// The two judgements.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The instrument's own checks all hold.
    pub valid: bool,
    /// The QoS targets are all met; absent when the run is not valid.
    pub pass: Option<bool>,
    /// Both in a sentence.
    pub sentence: String,
}

/// One check of the instrument by itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ValidityCheck {
    /// Which.
    pub check: Check,
    /// It holds.
    pub ok: bool,
    /// What was seen, and what follows from it, in a sentence.
    pub sentence: String,
    /// The figure.
    pub observed: Option<f64>,
    /// What it had to stay below, reach or be near.
    pub limit: Option<f64>,
}

/// A distribution of times in seconds. Every field is absent when there were no samples.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TimeSummary {
    /// Mean.
    pub mean_s: Option<f64>,
    /// Standard deviation (n − 1). By the histogram's buckets it is off by 0.05 % of the root mean square of the times at
    /// most.
    pub sd_s: Option<f64>,
    /// Median.
    pub p50_s: Option<f64>,
    /// 90th percentile.
    pub p90_s: Option<f64>,
    /// 95th percentile.
    pub p95_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// 99.9th percentile.
    pub p999_s: Option<f64>,
    /// Largest.
    pub max_s: Option<f64>,
    /// The distribution as (percentile, seconds), for the percentile curve.
    #[serde(default)]
    pub curve: Vec<(f64, f64)>,
}

/// A session, an operation or a request over the steady state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OperationResult {
    /// Session, operation or request.
    #[schemars(with = "String")]
    pub kind: OperationKind,
    /// Its name.
    pub name: String,
    /// Completed without error.
    pub completed: u64,
    /// Completed per second.
    pub per_s: f64,
    /// Failures by kind; kinds without any are absent.
    pub errors: BTreeMap<String, u64>,
    /// From the intended start.
    pub response: TimeSummary,
    /// From the actual start.
    pub service: TimeSummary,
    /// Largest of the last 100 before the end of the steady state (DVD Store's `rt_tot_lastn_max`), for sessions.
    pub max_of_last_100_s: Option<f64>,
    /// Bytes received, for requests.
    pub bytes: u64,
}

/// A population of users over the steady state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PopulationResult {
    /// Its name.
    pub name: String,
    /// Its share of all users, as declared.
    pub share_ratio: f64,
    /// Its users; absent where users arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Sessions that its users began.
    pub sessions: u64,
    /// Begun per second.
    pub sessions_per_s: f64,
}

/// A figure of the kit's own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MetricResult {
    /// Identifier.
    pub name: String,
    /// For people.
    pub title: String,
    /// The value.
    pub value: f64,
    /// Its unit; of times `s`.
    pub unit: String,
    /// Below this the run is not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Above this the run is not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// A tier over the steady state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TierResult {
    /// web, app, db, cache; `generator` is the tool itself.
    pub tier: String,
    /// Cores kept busy, on average.
    pub cpu_cores: Option<f64>,
    /// Of which in the kernel.
    pub cpu_system_cores: Option<f64>,
    /// CPU seconds per completed operation.
    pub cpu_s_per_operation: Option<f64>,
    /// Largest resident memory seen, in bytes.
    pub memory_bytes: Option<u64>,
    /// Where the figures come from: `cgroup2 cpu.stat`, `/proc`.
    pub source: String,
}

/// One statement of the kit's consistency check.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConsistencyResult {
    /// The statement: `orders = purchases - rollbacks`.
    pub name: String,
    /// It holds.
    pub ok: bool,
    /// What was found and what was expected, in a sentence.
    pub sentence: String,
}

/// An offending answer or a script error, kept as a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The operation.
    pub operation: String,
    /// Its kind of error.
    pub kind: String,
    /// What the session or the engine said, with the script's line where there is one.
    pub message: String,
    /// The request's path, where there was one.
    pub request: Option<String>,
    /// The beginning of the answer, where there was one.
    pub answer: Option<String>,
    /// Second of the run.
    pub second: u32,
}

/// The data set.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DatasetResult {
    /// Kit, size, seed, version and contents in one word.
    pub id: String,
    /// Bytes of the data directory.
    pub bytes: u64,
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
    /// How long generating and loading took, when it was made.
    pub load_s: f64,
    /// Whether this run used a snapshot made earlier.
    pub reused: bool,
    /// How long copying the snapshot took; seconds.
    pub copy_s: f64,
    /// Bytes that the copy took on the disk; 0 where it shares its blocks with the snapshot.
    #[serde(default)]
    pub disk_bytes: u64,
}

/// How long a step took.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// `load data`, `start db`.
    pub name: String,
    /// Seconds.
    pub took_s: f64,
}

/// What the instrument saw of itself over the steady state.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorResult {
    /// CPU of its threads as a share of its cores.
    pub cpu_ratio: f64,
    /// CPU of its busiest thread as a share of one core.
    pub busiest_thread_ratio: f64,
    /// Share of the time in which its threads had to wait for a CPU.
    pub cpu_wait_ratio: f64,
    /// How late it was.
    pub lag: TimeSummary,
    /// Connections opened in the whole run.
    pub connects: u64,
    /// Connections that the generator's machine had no port, descriptor or buffer for, in the steady state.
    #[serde(default)]
    pub exhausted: u64,
    /// Steal time of the machine over the steady state as a share of all CPUs.
    pub steal_ratio: Option<f64>,
    /// CPU used by processes that are neither tiers nor the generator: cores.
    pub foreign_cores: Option<f64>,
    /// Mean users inside a session or thinking, from time integrals.
    pub users_mean: f64,
    /// X·(R+Z) from independent counts.
    pub users_by_little: f64,
}

/// A time series of the report: one value a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// `cpu.cores`, `memory.bytes`, …
    pub name: String,
    /// The tier it is about; absent for the host.
    pub tier: Option<String>,
    /// Its unit.
    pub unit: String,
    /// (second of the run, value).
    pub points: Vec<(f64, f64)>,
}

/// Something that happened at a moment of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Seconds since the run's start.
    pub second: f64,
    /// `phase`, `tier`, `fault`, `load`, `fleet`, `note`.
    pub kind: String,
    /// What happened, for people: `steady state begins`.
    pub text: String,
}

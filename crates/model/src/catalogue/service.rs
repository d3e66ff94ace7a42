//! `service.toml`: one server program and how to run it.

mod part;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::build::Build;
use crate::catalogue::setting::Setting;
use crate::signal::{Signal, Subject};

pub use part::{Extended, Interpreter, Module, Packages};

/// A server program: packages, templates, knobs, commands, probe. All strings marked *template* are rendered by
/// minijinja with the context documented in `catalogue/services/README.md`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceManifest {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The folder's name.
    pub name: String,
    /// For people.
    pub title: String,
    /// Debian packages with the program.
    pub packages: Packages,
    /// The program.
    pub program: Program,
    /// How the program, or what it runs, is built from sources: once, not for each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// TCP ports by name; each gets a free one. The first is the tier's address.
    #[serde(default)]
    pub ports: Vec<String>,
    /// Ports that are there only where a minijinja expression over the knobs holds: `{ tcp = "not skip_networking" }`.
    #[serde(default)]
    pub port_when: BTreeMap<String, String>,
    /// Unix sockets by name: `TIER-NAME.sock` in the stack's socket directory.
    #[serde(default)]
    pub sockets: Vec<String>,
    /// Files rendered before the start.
    #[serde(default, rename = "template")]
    pub templates: Vec<Template>,
    /// Commands run once, in order, when the instance has no data directory yet.
    #[serde(default, rename = "init")]
    pub inits: Vec<Command>,
    /// Commands run once with a new file set that runs write into, on links to its files and before a server has started: what
    /// the server would work out when it first reads them. What they leave is kept for all runs.
    #[serde(default, rename = "settle_files", skip_serializing_if = "Vec::is_empty")]
    pub files_settles: Vec<Command>,
    /// How to see that it serves.
    pub ready: Ready,
    /// How it is stopped.
    pub stop: Stop,
    /// Its logs, relative to the instance's directory: the first is the error log, shown when a start fails.
    pub logs: Vec<String>,
    /// Lines of the error log that mean trouble during a run.
    #[serde(default, rename = "alarm")]
    pub alarms: Vec<Alarm>,
    /// Parts of it that only some workloads or settings need.
    #[serde(default, rename = "module")]
    pub modules: Vec<Module>,
    /// The language whose extensions it has where a kit needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended: Option<Extended>,
    /// Programs that run scripts with its settings: what a kit's `[prepare]` can call by name.
    #[serde(default, rename = "interpreter", skip_serializing_if = "Vec::is_empty")]
    pub interpreters: Vec<Interpreter>,
    /// How many of it a tier may have, and how they start; one when absent.
    #[serde(default)]
    pub instances: Instances,
    /// Whether a tier may be on a host of its own with it (`--set TIER.net.host=own`): its ports are on `host`, and
    /// its `ready` and statuses are at unix sockets.
    #[serde(default)]
    pub own_host: bool,
    /// Its knobs.
    #[serde(default, rename = "knob")]
    pub knobs: Vec<Setting>,
    /// What must hold between knobs.
    #[serde(default, rename = "constraint")]
    pub constraints: Vec<Constraint>,
    /// Where it tells about itself.
    #[serde(default, rename = "status")]
    pub statuses: Vec<Status>,
    /// What is taken from there: each becomes a series of the run.
    #[serde(default, rename = "counter")]
    pub counters: Vec<Counter>,
    /// Threads that serve nobody, by the beginnings of their names (`/proc/PID/task/TID/comm`): nobody waits for what
    /// they wait for.
    #[serde(default)]
    pub background_threads: Vec<String>,
    /// Its threads are event loops: each serves many connections, and what blocks one holds all of them up.
    #[serde(default)]
    pub event_loop: bool,
    /// Where only some of its threads are loops, and the others are there to be blocked: the beginnings of the loops' names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loop_threads: Vec<String>,
    /// How it takes over changed files while it runs; absent where only a restart does.
    pub reload: Option<Reload>,
    /// For a database: how a client reaches it and how its data directory is kept.
    pub database: Option<Database>,
}

impl ServiceManifest {
    /// The signals that it declares: its counters, and the lines of its log that have a name for rules.
    pub fn signals(&self) -> Vec<Signal> {
        let of_counter = |counter: &Counter| Signal {
            subject: Subject::Tier,
            name: counter.name.clone().into(),
            unit: counter.series_unit().into(),
            help: counter.help.clone().into(),
            key: counter.key,
        };
        let of_alarm = |alarm: &Alarm| {
            Some(Signal {
                subject: Subject::Tier,
                name: alarm.signal.clone()?.into(),
                unit: ALARM_UNIT.into(),
                help: format!("how often its log said `{}`", alarm.contains).into(),
                key: false,
            })
        };
        // Beside the one of all instances.
        let of_each = |counter: &Counter| Signal {
            name: counter.of_instance().into(),
            help: format!("of one instance, counted from 1: {}", counter.help).into(),
            key: false,
            ..of_counter(counter)
        };
        let each = self.counters.iter().filter(|counter| counter.each).map(of_each);
        self.counters
            .iter()
            .map(of_counter)
            .chain(each)
            .chain(self.alarms.iter().filter_map(of_alarm))
            .collect()
    }
}

/// The instances of a server that a tier has (`--set TIER.instances=4`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instances {
    /// As many as there may be.
    #[schemars(range(min = 1, max = 256))]
    pub max: u32,
    /// How they start.
    #[serde(default)]
    pub start: InstanceStart,
    /// What one takes of the memory, in bytes: a minijinja expression over the knobs. More than there is room for are refused.
    pub memory: Option<String>,
    /// Where this holds each has an address of its own on this host's loopback, 127.0.0.1, 127.0.0.2 and so on: a minijinja expression
    /// over the knobs. Its `ready` and statuses are at unix sockets.
    pub own_loopback: Option<String>,
    /// Where this holds a commit on one of several waits until all have it: a minijinja expression over the knobs.
    pub commits_together: Option<String>,
}

impl Default for Instances {
    fn default() -> Instances {
        Instances {
            max: 1,
            start: InstanceStart::default(),
            memory: None,
            own_loopback: None,
            commits_together: None,
        }
    }
}

/// How the instances of a tier start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstanceStart {
    /// All at once.
    #[default]
    Together,
    /// Each when the one before it is ready: those of a cluster, which the first one founds.
    OneByOne,
}

/// The program.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its file name, looked for in what its sources were built into, unpacked packages, PATH, /usr/sbin and /usr/bin.
    pub binary: String,
    /// *Templates* of its arguments; it must stay in the foreground.
    pub args: Vec<String>,
    /// *Templates* of environment variables; nothing else of the environment is passed but PATH and LANG.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Arguments that make it print its version.
    pub version_args: Vec<String>,
    /// Beginnings of versions known to work.
    pub known_versions: Vec<String>,
    /// Files that must exist besides the binary (a module), with the package that brings them.
    #[serde(default)]
    pub files: Vec<String>,
}

/// A file rendered before the start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// In the service's folder.
    pub from: String,
    /// Relative to the instance's directory.
    pub to: String,
}

/// A command run before the first start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// What it does, for the progress line and errors.
    pub title: String,
    /// *Templates* of the program and its arguments.
    pub run: Vec<String>,
    /// A file of the service's folder given on standard input, rendered.
    pub input: Option<String>,
}

/// How to see that it serves.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// `http`: a request to the first port is answered with any status. `greeting`: the named socket or port accepts
    /// and sends bytes first. `accept`: it accepts.
    pub probe: Probe,
    /// The socket or port probed; the first port when absent.
    pub at: Option<String>,
    /// Longer than this is a failed start; seconds.
    pub within_s: f64,
    /// What must hold besides, of what the server tells about itself.
    #[serde(default, rename = "until", skip_serializing_if = "Vec::is_empty")]
    pub untils: Vec<ReadyUntil>,
}

/// A server that answers is not ready until this holds: a node that has not joined its cluster yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyUntil {
    /// The `[[status]]` that is asked.
    pub status: String,
    /// A minijinja expression over the figures there and what templates see, `started` (how many instances of the tier have been
    /// started) included, that must be true. A figure that isn't told yet is none: `wsrep_cluster_size >= started`.
    pub must: String,
    /// Only where this holds: a minijinja expression over the knobs; always when absent.
    pub when: Option<String>,
}

/// A readiness probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Probe {
    /// A request is answered.
    Http,
    /// The server speaks first.
    Greeting,
    /// A connection is accepted.
    Accept,
}

/// How it is stopped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// `TERM`, `QUIT`, `INT` or `WINCH`, sent to the main process.
    pub signal: String,
    /// After this everything left of it is killed; seconds.
    pub within_s: f64,
}

/// What a signal of an alarm counts.
pub const ALARM_UNIT: &str = "lines";

/// A line of the error log that means trouble.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alarm {
    /// A part of the line.
    pub contains: String,
    /// What it means for the result.
    pub means: String,
    /// Whether a run in which it appears is invalid.
    pub invalid: bool,
    /// A name for rules: the signal of this tier that says how often it appeared, once or more.
    pub signal: Option<String>,
}

/// Where a server tells about itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Unique in the service; counters name it.
    pub name: String,
    /// Who understands it: the one part of a service that is code, in `observe`.
    pub reader: Reader,
    /// The port or socket where it is asked for.
    pub at: String,
    /// *Template* of what is asked for there: a path with its query, or a script's file for `fastcgi_json`.
    #[serde(default)]
    pub path: String,
    /// Only where this holds: a minijinja expression over the knobs; always when absent.
    pub when: Option<String>,
    /// Seconds between two readings.
    #[serde(default = "one_s")]
    pub every_s: f64,
    /// Which threads have a request; for `jmx_threads` only.
    pub threads: Option<RequestThreads>,
}

/// Which of a server's threads have a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestThreads {
    /// Beginnings of the names of threads that serve requests.
    pub named: Vec<String>,
    /// Beginnings of methods, with their class: a thread that is in one has no request.
    pub idle: Vec<String>,
}

fn one_s() -> f64 {
    1.0
}

/// Who understands a server's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// Lines `Name: value` over HTTP (mod_status of Apache and lighttpd with `?auto`); a `Scoreboard` line is counted
    /// by its letters as `Scoreboard.X`.
    Lines,
    /// A JSON object over HTTP; fields within fields have dots between.
    Json,
    /// The same over FastCGI.
    FastcgiJson,
    /// `SHOW GLOBAL STATUS` over the MySQL protocol; InnoDB's metrics as `innodb.NAME`.
    Mysql,
    /// nginx's `stub_status` over HTTP: `active`, `accepts`, `handled`, `dropped` (accepted and not handled), `requests`,
    /// `reading`, `writing`, `waiting`.
    Nginx,
    /// `stats` of memcached's text protocol: its names.
    Memcached,
    /// The JMX proxy of Tomcat's manager over HTTP (`/manager/jmxproxy/?qry=PATTERN`): `TYPE.ATTRIBUTE`, of an attribute with
    /// several items `TYPE.ATTRIBUTE.ITEM`; several beans of a type add up. A garbage collector is also told by what it
    /// does: `GarbageCollector.ROLE.ATTRIBUTE` with `young`, `full`, `stopped` (both, or pauses) and `concurrent`.
    Jmx,
    /// Its answer to `dumpAllThreads` of `java.lang:type=Threading`: of the threads with a request how many are `runnable`,
    /// `blocked` and `waiting`, and what they are at. Where one takes long the next ones are asked for less often.
    JmxThreads,
    /// A page for Prometheus over HTTP, in its text format: `NAME{LABEL="VALUE",...}` with the labels in alphabetical order, and
    /// `NAME`, which is the sum over all labels.
    Prometheus,
}

/// A figure of a server's own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// The series' name: `workers.busy`.
    pub name: String,
    /// The status that has it.
    pub status: String,
    /// What it is called there. Several are added up.
    pub of: Vec<String>,
    /// Of the value now, or of how fast it grows.
    pub kind: CounterKind,
    /// Of a gauge: `workers`. Of a rate: what is counted, per second is added: `queries` becomes `queries/s`.
    pub unit: String,
    /// The value is multiplied by this: 0.001 for milliseconds.
    #[serde(default = "one_s")]
    pub times: f64,
    /// The most that it can be: a minijinja expression over the knobs.
    pub limit: Option<String>,
    /// What the figure of a tier with several instances is; when absent their sum, of shares (`unit = "ratio"`) their mean.
    pub merge: Option<Merge>,
    /// Whether each instance of a tier with several has a series of its own, too: `instance2.NAME`.
    #[serde(default)]
    pub each: bool,
    /// Only where this holds: a minijinja expression over the knobs; always when absent.
    pub when: Option<String>,
    /// What it tells.
    pub help: String,
    /// Shown first in reports.
    #[serde(default)]
    pub key: bool,
}

impl Counter {
    /// The name of an instance's own series, where `N` stands for its number.
    fn of_instance(&self) -> String {
        format!("instanceN.{}", self.name)
    }

    /// What the figures of several instances become.
    pub fn merged_as(&self) -> Merge {
        let default = if self.series_unit() == "ratio" { Merge::Mean } else { Merge::Sum };
        self.merge.unwrap_or(default)
    }

    /// The unit of its series: of a rate per second.
    pub fn series_unit(&self) -> String {
        let per_s = if self.kind == CounterKind::Rate { "/s" } else { "" };
        format!("{}{per_s}", self.unit)
    }
}

/// How a figure is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CounterKind {
    /// The value now.
    Gauge,
    /// A count since the start: its growth per second.
    Rate,
}

/// What becomes of a figure that each instance of a tier has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// They add up.
    #[default]
    Sum,
    /// Their mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// By how much the largest is larger than the smallest.
    Spread,
}

/// How a server takes over changed files while it runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reload {
    /// The signal to the main process: `USR1`, `USR2`, `HUP`.
    pub signal: String,
}

/// What must hold between knobs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    /// A minijinja expression over the knobs' names that must be true.
    pub must: String,
    /// What is said when it is not.
    pub else_say: String,
    /// Whether the server starts all the same, and it is only said.
    #[serde(default)]
    pub warns: bool,
}

/// How a database is reached and how its data directory is kept.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// `mysql`: the protocol that the loader speaks.
    pub protocol: String,
    /// The socket's name in `sockets`.
    pub socket: String,
    /// The account that owns everything.
    pub user: String,
    /// The data directory, relative to the instance's directory: what a snapshot keeps.
    pub data_dir: String,
    /// Knobs that differ while the data set is loaded.
    #[serde(default)]
    pub load: BTreeMap<String, crate::catalogue::setting::Value>,
    /// Commands run after a data set was loaded and the server has shut down clean, before its data directory is kept.
    #[serde(default, rename = "settle")]
    pub settles: Vec<Command>,
    /// Files of the data directory that a snapshot leaves out.
    #[serde(default)]
    pub leave_out: Vec<String>,
    /// Knobs that a kept data directory depends on: with another value of one the data set is made anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_by: Vec<String>,
}

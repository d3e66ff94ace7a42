//! `kit.toml`: a workload's manifest.

pub mod borrowed;
mod file_set;
mod metric;
mod mixes;
mod optional;
mod prepare;
mod size;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::build::Build;
use crate::catalogue::load::Lifetime;
use crate::catalogue::mix::{Matrix, Sessions};
use crate::catalogue::population::{Declarations, PopulationDeclaration, Populations, UsualPauses};
use crate::catalogue::setting::{Setting, Values};
use crate::catalogue::think::Distribution;
use crate::problem::Result;

pub use file_set::{FileSet, Writable};
pub use metric::{Metric, Per};
pub use mixes::{DEFAULT_MIX, NamedMix};
pub use optional::Optional;
pub use prepare::{Prepare, PrepareRequest};
pub use size::{CustomSize, Derived, Scale};

/// A kit: an application, its data set, the users' sessions, its QoS targets. Names of files are relative to the
/// kit's folder.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KitManifest {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The folder's name.
    pub name: String,
    /// Counts up whenever a change makes results incomparable.
    pub version: u32,
    /// For people.
    pub title: String,
    /// Where the workload comes from.
    pub source: String,
    /// What a stack must provide: `web+files`, `web+cgi`, `web+php`, `web+servlet`, `caldav`, `sql`, `cache`; `php+NAME` is an
    /// extension of PHP.
    pub needs: Vec<String>,
    /// The folder that the web tier serves; files ending in `.j2` are rendered and lose that ending. Without one (and
    /// without a `build`) the web tier serves the file set.
    pub app: Option<String>,
    /// How a part of what the web tier serves is built from sources in the kit's folder: once, not for each run.
    pub build: Option<Build>,
    /// The users' sessions, in Lua.
    pub session: String,
    /// The rows of the data set, in Lua.
    pub data: Option<String>,
    /// The database that holds the tables; the kit's name when absent.
    pub database: Option<String>,
    /// Whether its application spreads its connections over all databases of a tier that has several; else such a tier is
    /// refused.
    #[serde(default)]
    pub database_spread: bool,
    /// How the tables are shared out where a stack's database has its rows on several servers: of each table the column whose
    /// number says which server a row is on. Tables without one are on the first. A kit that doesn't say it is refused there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shards: BTreeMap<String, String>,
    /// Tables, run before the rows are loaded.
    pub schema: Option<String>,
    /// Indexes, constraints and derived rows, run after the rows are loaded.
    pub finish: Option<String>,
    /// The consistency check after a run, in Lua.
    pub check: Option<String>,
    /// Modules of other kits that `require` finds beside the kit's own: `calendar/ical.lua`.
    #[serde(default)]
    pub borrows: Vec<String>,
    /// Files that belong to the data set.
    pub file_set: Option<FileSet>,
    /// Scripted stand-ins for what the application calls: services of the kit's own, in its folder `services/`. They
    /// start before the stack's tiers.
    #[serde(default, rename = "stub")]
    pub stubs: Vec<Stub>,
    /// Knobs by `tier.knob` that this workload wants otherwise than a server's default, where the stack has that tier.
    /// What a stack or a recipe says wins.
    #[serde(default)]
    pub set: Values,
    /// A page that must answer with status 200 before users start; checked once.
    pub front_page: String,
    /// Its answer must have come within this; `timeout_s` of the users when absent, but no more than a minute then. Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3600))]
    pub front_page_within_s: Option<f64>,
    /// The file of the document root that answers for every path that is no file: `/index.php`. Such a path is not found when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_controller: Option<String>,
    /// What is done once the servers stand, before users start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Prepare>,
    /// How a run changes the data, and what is done about it.
    pub state: State,
    /// The data set's sizes by name: numbers that `data.lua` and `session.lua` see as `size.NAME`.
    #[serde(default)]
    pub sizes: BTreeMap<String, BTreeMap<String, f64>>,
    /// The size used when none is asked for.
    pub default_size: String,
    /// Sizes that a search for the load line goes on with when it needs data for more users than the default size has,
    /// in that order: names of `[sizes]`, or all numbers (`items=10000,browsers=300`).
    #[serde(default)]
    pub larger_sizes: Vec<String>,
    /// How a size such as `30mb` follows from the named ones.
    pub custom_size: Option<CustomSize>,
    /// Numbers of every size that follow from its others: `customers = { of = "browsers", times = 2880 }`.
    #[serde(default)]
    pub derived: BTreeMap<String, Derived>,
    /// The stack used when none is asked for.
    pub default_stack: String,
    /// The parameters that `--param NAME=VALUE` sets.
    #[serde(default, rename = "param")]
    pub params: Vec<Setting>,
    /// By parameter what there is only where it is not its default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub optional: BTreeMap<String, Optional>,
    /// The emulated users.
    pub users: Users,
    /// Sessions by weight: the names of functions in the session file. Each is drawn afresh.
    #[serde(default)]
    pub mix: BTreeMap<String, f64>,
    /// Sessions by a matrix, instead of `mix`: the next one depends on the last one.
    pub matrix: Option<Matrix>,
    /// Sessions in a fixed order, instead of `mix`.
    #[serde(default)]
    pub sequence: Vec<String>,
    /// Users of several kinds, each with its share, its sessions and its pauses, instead of `mix`, `matrix` and `sequence`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub population: Declarations,
    /// Other ways of choosing sessions, by name: `--mix NAME` takes one instead of the above, which is called `default`.
    #[serde(default)]
    pub mixes: BTreeMap<String, NamedMix>,
    /// Rows for sessions, from files of the kit's folder.
    #[serde(default, rename = "feeder")]
    pub feeders: Vec<FeederDeclaration>,
    /// Files of the kit's folder that requests may send as they are.
    #[serde(default)]
    pub files: Vec<String>,
    /// QoS targets: by operation name, or `all`.
    pub qos: BTreeMap<String, Vec<String>>,
    /// Figures of the kit's own, beside the usual ones.
    #[serde(default, rename = "metric")]
    pub metrics: Vec<Metric>,
    /// How far the load may be from what the kit declares; the usual limits when absent.
    pub tolerance: Option<Tolerance>,
}

/// How far the load may be from what the kit declares before the run is not valid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Each session's share of all against the declared one; percentage points.
    pub mix_points: Option<f64>,
    /// Each session's mean pause against its distribution's mean; a ratio.
    pub pause_ratio: Option<f64>,
}

/// A scripted stand-in for a service that the application calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stub {
    /// The tier's name, as templates and reports have it.
    pub tier: String,
    /// The folder in the kit's `services/`.
    pub service: String,
}

/// How a run changes the data, and what is done about it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Whether the data drifts over a run so that results depend on its length.
    pub drifts: bool,
    /// How, in a sentence.
    pub why: String,
    /// How the start state comes back.
    pub reset: Reset,
}

/// How the start state comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reset {
    /// Each run starts from a copy of the loaded data directory.
    Snapshot,
    /// A run changes nothing.
    None,
}

/// The emulated users.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Users {
    /// How many when none are asked for.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub default: u32,
    /// The pause after a session before the user's next one.
    pub think: Option<Distribution>,
    /// The parameter whose value the times of `think` and `cycle` are multiplied by; they are seconds when absent.
    pub think_unit: Option<String>,
    /// The time from a session's start to the user's next start, instead of `think`.
    pub cycle: Option<Distribution>,
    /// Where the pause differs by session: the distribution instead of that of `think` or `cycle`, whichever the kit has.
    #[serde(default)]
    pub by_session: BTreeMap<String, Distribution>,
    /// The number of the size that says for how many users the data was loaded: more are refused.
    pub loaded_for: Option<String>,
    /// How long a user lives before a new one takes its place; for ever when absent (with arrivals: one session).
    pub lifetime: Option<Lifetime>,
    /// Users started per second during ramp-up when no `--ramp-up` is given.
    pub ramp_per_s: f64,
    /// The answer to one request must be complete within this; seconds.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    /// How long a user's connections live: `keep`, `per_session`, `per_operation` or `per_request`.
    #[serde(default)]
    pub connections: ConnectionPolicy,
    /// Steady seconds when none are asked for.
    #[serde(default = "default_steady_s")]
    pub steady_s: f64,
    /// Which requests are sent once more, on a new connection, where a kept one was closed before a byte of the answer
    /// came: `safe`, or `all` as browsers do.
    #[serde(default)]
    pub resend: Resend,
    /// The parameter that says how the users' side acknowledges what it receives: `delayed`, as their kernel does by
    /// itself, or `at_once`. Delayed when absent.
    pub acknowledge: Option<String>,
    /// Whether users' caches take an answer that doesn't say for how long it is fresh to be so for a tenth of the time since its
    /// `Last-Modified`, as browsers do (RFC 9111, section 4.2.2). Without it such an object is asked for again each time.
    #[serde(default = "yes")]
    pub heuristic_freshness: bool,
}

/// Which requests are sent once more where a kept connection was closed before a byte of the answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resend {
    /// Those that change nothing: GET and HEAD.
    #[default]
    Safe,
    /// All, as browsers do: a server that closes an idle connection just then has not seen the request.
    All,
}

impl Users {
    /// How long users pause where their population doesn't say otherwise.
    pub fn usual_pauses(&self) -> UsualPauses {
        UsualPauses { think: self.think, cycle: self.cycle, by_session: self.by_session.clone() }
    }
}

/// How the users' side of a connection acknowledges what it receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acknowledge {
    /// As the kernel does by itself: of a connection of questions and answers, up to 40 ms later.
    #[default]
    Delayed,
    /// As soon as it has been received.
    AtOnce,
}

impl Acknowledge {
    /// What a parameter's value asks for.
    pub fn of(word: &str) -> Option<Acknowledge> {
        match word {
            "delayed" => Some(Acknowledge::Delayed),
            "at_once" => Some(Acknowledge::AtOnce),
            _ => None,
        }
    }
}

/// How long a user's connections live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionPolicy {
    /// Until the user leaves or the server closes them.
    #[default]
    Keep,
    /// Until the end of a session.
    PerSession,
    /// Until the end of an operation.
    PerOperation,
    /// For one request.
    PerRequest,
}

fn default_timeout_s() -> f64 {
    30.0
}

/// A front page of a kit that doesn't say how long it may take is waited for no longer, whatever its users do; seconds.
const MAX_FRONT_PAGE_S: f64 = 60.0;

fn default_steady_s() -> f64 {
    60.0
}

fn yes() -> bool {
    true
}

/// Rows for sessions: `feed.NAME()` gives one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeederDeclaration {
    /// What sessions call it by.
    pub name: String,
    /// CSV with a header, or a JSON list of objects when its name ends in `.json`.
    pub file: String,
    /// Who is given which rows.
    pub mode: FeedMode,
    /// What happens when there is none left.
    #[serde(default)]
    pub on_end: OnEnd,
}

/// Who is given which rows of a feeder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedMode {
    /// Each row is given at most once in a run.
    Unique,
    /// All users read on from one place.
    Shared,
    /// Each user goes through all rows by itself, and begins at its own number.
    PerUser,
}

/// What happens when a feeder is used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnEnd {
    /// The session that asks for one more fails.
    #[default]
    Stop,
    /// It begins again.
    Repeat,
}

impl KitManifest {
    /// For how many users a data set with these numbers was loaded; absent when for any number.
    pub fn most_users(&self, size: &BTreeMap<String, f64>) -> Option<f64> {
        self.users.loaded_for.as_ref().and_then(|number| size.get(number)).copied()
    }

    /// The number of users at which a search for the load line begins where nobody says another: the kit's usual one when
    /// users pause, because one such user is next to nothing; absent when they don't.
    pub fn first_load(&self) -> Option<f64> {
        (self.longest_pause_s() > 0.0).then(|| f64::from(self.users.default))
    }

    /// The longest mean pause between sessions of a user of any kind; 0 where users don't pause.
    pub fn longest_pause_s(&self) -> f64 {
        let usual = self.users.by_session.values().chain(&self.users.cycle).chain(&self.users.think);
        let own = self.population.values().flat_map(PopulationDeclaration::pauses);
        usual.chain(own).map(Distribution::mean).fold(0.0, f64::max)
    }

    /// What a stack must provide because of parameters with these values: each need with the parameter that asks for it.
    pub fn needs_of(&self, params: &Values) -> BTreeMap<String, String> {
        let asked = self.optional.iter().filter(|(param, _)| self.is_changed(param, params));
        let needs =
            asked.flat_map(|(param, only)| only.needs.iter().map(move |need| (need.clone(), param.clone())));
        needs.filter(|(need, _)| !self.needs.contains(need)).collect()
    }

    /// The parameter without which, with these values, there is no operation of that name; absent where there is one.
    pub fn lacks_operation(&self, operation: &str, params: &Values) -> Option<&str> {
        let mut of =
            self.optional.iter().filter(|(_, only)| only.operations.iter().any(|one| one == operation));
        of.find(|(param, _)| !self.is_changed(param, params)).map(|(param, _)| param.as_str())
    }

    /// The parameter has another value than its default.
    fn is_changed(&self, param: &str, params: &Values) -> bool {
        let setting = self.params.iter().find(|setting| setting.name == param);
        let default = setting.and_then(|setting| setting.accept(&setting.default).ok());
        default.is_some_and(|default| params.get(param).is_some_and(|value| *value != default))
    }

    /// How long the front page's answer is waited for; seconds.
    pub fn front_page_timeout_s(&self) -> f64 {
        self.front_page_within_s.unwrap_or_else(|| self.users.timeout_s.clamp(1.0, MAX_FRONT_PAGE_S))
    }

    /// The name of the database that holds the kit's tables.
    pub fn database_name(&self) -> &str {
        self.database.as_deref().unwrap_or(&self.name)
    }

    /// How a user's sessions follow each other.
    pub fn sessions(&self) -> Sessions {
        Sessions { mix: self.mix.clone(), matrix: self.matrix.clone(), sequence: self.sequence.clone() }
    }

    /// Who the users are and what they do.
    ///
    /// # Errors
    /// What is wrong with its sessions, or with its populations.
    pub fn populations(&self) -> Result<Populations> {
        Populations::resolve(&self.sessions(), &self.population, &self.users.usual_pauses())
    }

    /// The same kit, all of whose users are of that population.
    #[must_use]
    pub fn only_of(&self, population: &str) -> KitManifest {
        let mut kit = self.clone();
        kit.population.retain(|name, _| name == population);
        kit.population.values_mut().for_each(|only| only.share = 1.0);
        kit
    }

    /// The declarations of sessions and populations, each with the key that it stands under: the default's is empty.
    pub fn all_sessions(&self) -> Vec<(String, Sessions, &Declarations)> {
        let others =
            self.mixes.iter().map(|(name, mix)| (format!("mixes.{name}."), mix.sessions(), &mix.population));
        [(String::new(), self.sessions(), &self.population)].into_iter().chain(others).collect()
    }

    /// The names of all sessions of all its mixes and populations.
    pub fn session_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (_, sessions, populations) in self.all_sessions() {
            names.extend(sessions.names().into_iter().map(str::to_string));
            names.extend(populations.values().flat_map(PopulationDeclaration::session_names));
        }
        names
    }
}

#[cfg(test)]
mod tests;

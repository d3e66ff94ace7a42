//! What is to be watched, and how the tool and its observer talk.
//!
//! The observer reads its [`Job`] from the first line of its standard input and says with a first [`Answer`] that it is
//! ready. Then each line `sample AT_S` is answered by one line, an [`Answer`] in JSON.

use std::path::PathBuf;

use model::ServerJob;
use model::catalogue::tier_setting::OwnHost;
use model::record::Series;
use model::record::calls::{Aborted, CallStep};
use model::record::statements::{StatementFacts, StatementSeen};
use model::record::threads::ThreadsSeen;
use serde::{Deserialize, Serialize};

use crate::abort_on::AbortOn;

/// The tier of the processes that carry packets between hosts.
pub const NETWORK: &str = "network";

/// What is to be watched.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Job {
    /// The tiers, those behind after those before or the other way round: their order says nothing.
    pub tiers: Vec<TierJob>,
    /// The process that drives the load; its use is not foreign.
    pub generator: u32,
    /// Tiers of another stack that takes turns with this one: their use is not foreign either, and nothing else is said of
    /// them. Questions then have the time of the run, which stands still while it rests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<TierJob>,
    /// Processes of the tool's that carry packets between hosts of the stack, agents of a fleet and their bus: what CPU time they use is told as a tier's, and
    /// nothing else.
    #[serde(default)]
    pub carriers: Vec<TierJob>,
    /// The file that names the process which serves the laboratory's page, as JSON of a [`model::ProcessIdentity`]; it may come and
    /// go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewer_file: Option<PathBuf>,
    /// The CPUs that the tiers may use; all when empty.
    pub stack_cpus: Vec<usize>,
    /// The tiers are on another machine than the run's controller, and are all that is told of this one: what their threads
    /// wait for can't be said without the tiers around them, and the machine's own figures would be taken for the controller's.
    #[serde(default)]
    pub tiers_only: bool,
    /// What the tiers' servers are asked.
    pub servers: Vec<ServerJob>,
    /// What the kernel is to count.
    #[serde(default)]
    pub calls: CallCounting,
    /// The wait for which a server that was built here is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_on: Option<AbortOn>,
}

/// What the kernel is to count of the tiers' calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallCounting {
    /// Nothing.
    #[default]
    Off,
    /// What threads block on.
    Blocks,
    /// That, and in windows every call, as long as it costs little.
    Auto,
}

/// A tier to be watched.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TierJob {
    /// web, app, db, cache.
    pub name: String,
    /// Its cgroup v2 directory, where it has one.
    pub cgroup: Option<PathBuf>,
    /// The main processes of its instances.
    pub pids: Vec<u32>,
    /// The TCP ports that it listens on.
    pub ports: Vec<u16>,
    /// The unix sockets that it listens on.
    pub sockets: Vec<PathBuf>,
    /// Beginnings of the names of its threads that serve nobody.
    pub background_threads: Vec<String>,
    /// Its threads are event loops.
    #[serde(default)]
    pub event_loop: bool,
    /// Beginnings of the names of its threads that are; all may be when empty.
    #[serde(default)]
    pub loop_threads: Vec<String>,
    /// Its program is built from sources in this repository.
    #[serde(default)]
    pub is_built: bool,
    /// A commit on one of its instances waits until all have it.
    #[serde(default)]
    pub commits_together: bool,
    /// The host of its own that it is on, if any.
    #[serde(default)]
    pub own_host: Option<OwnHost>,
}

/// What the observer says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// New points, a series each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// What the kernel counted of the tiers' calls since the last answer, where it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallStep>,
    /// The process that was ended because it waited where it may not; once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Aborted>,
    /// The statements that clients of databases were seen in since the last answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementSeen>,
    /// What came to be known of some of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statement_facts: Vec<StatementFacts>,
    /// What threads with a request were at since the last answer, by their own virtual machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadsSeen>,
    /// Each tier with where its CPU time comes from: all in the first answer, the viewer when it is seen first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<(String, String)>,
    /// What can't be seen here and why, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

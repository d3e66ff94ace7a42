//! What a standing server tells about itself: whom to ask, what for, and what is taken from the answer. A service's
//! `[[status]]` and `[[counter]]` with every template rendered and every expression worked out.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::catalogue::service::{CounterKind, Merge, Reader, RequestThreads};

/// All that is asked of one tier's server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerJob {
    /// web, app, db, cache.
    pub tier: String,
    /// Where it is asked.
    pub statuses: Vec<StatusJob>,
    /// What is taken from the answers. Each names one of the statuses.
    pub counters: Vec<CounterJob>,
}

/// One place where a server tells about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatusJob {
    /// Unique in the tier; counters name it.
    pub name: String,
    /// Who understands it.
    pub reader: Reader,
    /// Where it is asked for, of each instance of the tier: what they say is added up.
    pub asked: Vec<Asked>,
    /// The account, where the reader needs one.
    pub user: Option<String>,
    /// Seconds between two readings.
    pub every_s: f64,
    /// Which threads have a request, where the reader needs to know.
    pub threads: Option<RequestThreads>,
}

/// Where one instance is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Where it is.
    pub at: StatusPlace,
    /// What is asked for there: a path with its query, or a script's file.
    pub path: String,
}

/// An end of a connection on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusPlace {
    /// A TCP port of 127.0.0.1.
    Port(u16),
    /// A unix socket's path.
    Socket(PathBuf),
}

/// One figure of a server's own; it becomes a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterJob {
    /// The series' name.
    pub name: String,
    /// The status that has it.
    pub status: String,
    /// What it is called there. Several are added up.
    pub of: Vec<String>,
    /// Of the value now, or of how fast it grows.
    pub kind: CounterKind,
    /// The series' unit: of a rate it has its `/s`.
    pub unit: String,
    /// The value is multiplied by this.
    pub times: f64,
    /// The most that it can be.
    pub limit: Option<f64>,
    /// What the figures of several instances become.
    #[serde(default)]
    pub merge: Merge,
    /// Whether each of several instances has a series of its own, too.
    #[serde(default)]
    pub each: bool,
}

//! A tier of a run as it was set up: program, knobs, files, and the way to it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::setting::Values;
use crate::catalogue::tier_setting::OwnHost;

/// A tier as it was set up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TierSetup {
    /// web, app, db, cache.
    pub tier: String,
    /// The service.
    pub service: String,
    /// The program's version as it prints it.
    pub version: String,
    /// Where it was built from sources: the name of what was built, which follows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<String>,
    /// How many instances of it there were.
    #[serde(default = "one_instance")]
    pub instances: u32,
    /// The hosts of their own that they were on; on this machine's network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSetup>,
    /// The knobs in force.
    pub values: Values,
    /// Rendered configuration files: path in the run directory to text.
    pub files: BTreeMap<String, String>,
    /// What the server's own figures mean, by the name of their series; those of the machine are the same everywhere
    /// (`docs/reference/signals.md`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, CounterSetup>,
}

fn one_instance() -> u32 {
    1
}

/// What lay between the hosts of a tier and the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkSetup {
    /// The link of the catalogue that was asked for, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The names of the hosts that its instances were on, where a topology said them; else each had one of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What was done to packets.
    #[serde(flatten)]
    pub host: OwnHost,
    /// Who did it.
    pub carried_by: Carrier,
}

/// Who carries packets between hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    /// The kernel.
    Kernel,
    /// A process of the tool's, whose CPU time the tier `network` has.
    Process,
}

/// What a figure of a server's own means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CounterSetup {
    /// What it tells.
    pub help: String,
    /// Shown first in reports.
    #[serde(default)]
    pub key: bool,
}

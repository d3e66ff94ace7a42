//! A tier of a plan.

use serde::{Deserialize, Serialize};

use crate::ServiceManifest;
use crate::catalogue::setting::Values;
use crate::catalogue::tier_setting::OwnHost;

/// A tier of the plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlanTier {
    /// web, app, db, cache.
    pub name: String,
    /// The server program.
    pub service: ServiceManifest,
    /// The service's folder in the catalogue: `services/apache`, or one of the kit's own.
    #[serde(default)]
    pub folder: String,
    /// Its knobs in force.
    pub values: Values,
    /// How many processes of the server program there are, each with a directory, ports and sockets of its own.
    #[serde(default = "one_instance")]
    pub instances: u32,
    /// What the tier's processes may take; page cache that they filled counts. No limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// How many cores' time the tier's processes may use together. No limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit_cores: Option<f64>,
    /// How many reads a second the tier's processes may have from the disk together. No limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_limit_per_s: Option<u64>,
    /// The host of its own that it is on, as far as the network goes. On this one's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_host: Option<OwnHost>,
    /// The link of the catalogue that says what that host is, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The names of the hosts that its instances are on, where a topology says them; else each has one of its own, if any has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

fn one_instance() -> u32 {
    1
}

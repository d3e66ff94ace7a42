//! `catalogue/qos/NAME.toml`: targets by a name, for `--qos NAME`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Targets by a name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QosPreset {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people.
    pub title: String,
    /// Where the limits come from.
    pub source: String,
    /// The targets: `p95 < 2s`.
    pub targets: Vec<String>,
}

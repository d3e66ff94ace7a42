//! `STACK.toml`: services composed into tiers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::KitManifest;
use crate::catalogue::setting::Values;

/// Services composed into tiers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackManifest {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people.
    pub title: String,
    /// What kits find here: `web+php`, `sql`.
    pub provides: Vec<String>,
    /// The tiers, in the order in which they start. Users talk to the tier named `web`.
    #[serde(rename = "tier")]
    pub tiers: Vec<StackTier>,
}

impl StackManifest {
    /// What the kit needs and the stack does not provide; the kit runs on it if that is nothing.
    pub fn lacking<'a>(&'a self, kit: &'a KitManifest) -> impl Iterator<Item = &'a String> {
        kit.needs.iter().filter(|need| !self.provides.contains(need))
    }
}

/// One tier of a stack.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackTier {
    /// web, app, db or cache.
    pub name: String,
    /// The service that runs there.
    pub service: String,
    /// Knobs that make this stack what it is.
    #[serde(default)]
    pub set: Values,
}

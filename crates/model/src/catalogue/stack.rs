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
        kit.needs.iter().filter(|need| !self.has(need))
    }

    /// Whether it provides this. A language comes with all its extensions: `php+xml` is there where `web+php` is.
    pub fn has(&self, need: &str) -> bool {
        let provided = |what: &str| self.provides.iter().any(|provided| provided == what);
        provided(need)
            || need.split_once('+').is_some_and(|(language, _)| provided(&format!("web+{language}")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_comes_with_its_extensions_and_with_no_other_language() {
        let provides = ["web+php", "sql"].map(str::to_string).to_vec();
        let stack =
            StackManifest { format: 1, name: "x".into(), title: "X".into(), provides, tiers: Vec::new() };
        for (need, there) in [
            ("web+php", true),
            ("php+xml", true),
            ("sql", true),
            ("php", false),
            ("ruby+xml", false),
            ("web+files", false),
        ] {
            assert_eq!(stack.has(need), there, "{need}");
        }
    }
}

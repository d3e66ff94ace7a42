//! `STUDY.toml`: what a sweep varies and measures. It resolves into cells, each with a recipe whose plan has been
//! checked, before anything starts.

mod cells;
mod design;
mod find;
mod full;
mod level;
mod published;
pub mod resolve;
mod services;
mod signals;
mod source;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use find::FindRequest;
pub use full::FullRequest;
pub use published::{ClaimRequest, PublishedRequest, PublishedValue, Where};

use crate::catalogue::setting::{Value, Values};
use crate::record::study::SweepOrder;
use crate::{Result, document};

/// A study as its file says it: every combination of the levels of its factors (or the cells that it lists) is
/// measured, several times over.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people.
    pub title: String,
    /// Where the study comes from; its own when absent.
    #[serde(default)]
    pub source: String,
    /// The kit's name.
    pub kit: String,
    /// The data set's size: a name, bytes such as `30mb`, or its numbers: `items=1000,browsers=20`.
    pub size: Option<String>,
    /// Sizes of the data set; a factor when there are several.
    #[serde(default)]
    pub sizes: Vec<String>,
    /// One of the kit's `mixes` instead of its `default`.
    pub mix: Option<String>,
    /// Mixes of the kit; a factor when there are several.
    #[serde(default)]
    pub mixes: Vec<String>,
    /// Stacks by name; a factor when there are several. The kit's default when absent.
    #[serde(default)]
    pub stacks: Vec<String>,
    /// Topologies of the catalogue; a factor when there are several.
    #[serde(default)]
    pub topologies: Vec<String>,
    /// Numbers of emulated users; a factor when there are several.
    #[serde(default)]
    pub users: Vec<u32>,
    /// Rates of arrivals, such as `200/s`, instead of users; a factor when there are several.
    #[serde(default)]
    pub rate: Vec<String>,
    /// Find the load line in each cell instead of measuring at given loads.
    pub find: Option<FindRequest>,
    /// What is varied beside stacks and load, the slowest first.
    #[serde(default, rename = "factor")]
    pub factors: Vec<FactorRequest>,
    /// The cells one by one, where they are no full grid; then there are no `[[factor]]`s and no lists.
    #[serde(default, rename = "cell")]
    pub cells: Vec<CellRequest>,
    /// Names for people, by factor: `users`, `stack`, `web.server.max-worker`.
    #[serde(default)]
    pub titles: BTreeMap<String, String>,
    /// Knobs by `tier.knob` or `service.knob`, the same in every cell; one of a service in those cells whose stack has it.
    #[serde(default)]
    pub set: Values,
    /// The kit's parameters, the same in every cell.
    #[serde(default)]
    pub param: Values,
    /// QoS targets, instead of the kit's: `["p95 < 2s"]`.
    #[serde(default)]
    pub qos: Vec<String>,
    /// How often each cell is measured; 1 when absent.
    #[schemars(range(min = 1, max = 1000))]
    pub repeats: Option<u32>,
    /// In which order: every repeat is a block that holds each cell once, `random` (the default) or `as_written`.
    pub order: Option<SweepOrder>,
    /// Seed of the order and of the users' random draws; 1 when absent.
    pub seed: Option<u64>,
    /// How many CPUs a machine has at least, if what the study is about shows on fewer only as something else. On fewer its plans are
    /// checked as if they were there, and it is not measured.
    #[schemars(range(min = 2))]
    pub min_cpus: Option<u32>,
    /// Steady seconds of a trial: `20s`, which is the default.
    pub window: Option<String>,
    /// What `--full` measures instead: the study as it was published, where its usual form is a short one.
    pub full: Option<FullRequest>,
    /// Signals of tiers that are kept of each trial beside its usual figures, each as `TIER.NAME`: `web.calls.blocks`.
    #[serde(default)]
    pub signals: Vec<String>,
    /// What differs from where the study comes from, a sentence each: hardware, versions, what is scaled.
    #[serde(default)]
    pub differs: Vec<String>,
    /// Tables of figures that were published, to stand beside what is measured.
    #[serde(default)]
    pub published: Vec<PublishedRequest>,
}

/// A `[[factor]]`: one knob, one parameter of the kit, or several settings that change together.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorRequest {
    /// The knob that is varied, as `tier.knob` or `service.knob`.
    pub knob: Option<String>,
    /// The kit's parameter that is varied.
    pub param: Option<String>,
    /// Its levels.
    #[serde(default)]
    pub values: Vec<Value>,
    /// Levels from one number to another, instead of `values`.
    pub range: Option<Range>,
    /// The factor's name, where `set` says several knobs at once.
    pub name: Option<String>,
    /// Knobs that change together: one table of `tier.knob = value` for each level.
    #[serde(default)]
    pub set: Vec<Values>,
    /// What people read for each level of `set`.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// Levels from one number to another. Between two whole numbers all levels are whole; equal ones count once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first level.
    pub from: Value,
    /// The last level.
    pub to: Value,
    /// How many levels.
    #[schemars(range(min = 2, max = 1000))]
    pub steps: u32,
    /// Equal differences (`linear`, the default) or equal ratios (`log`).
    #[serde(default)]
    pub scale: Scale,
}

/// How levels of a range follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
}

/// A `[[cell]]`: what it has that others don't.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellRequest {
    /// The stack.
    pub stack: Option<String>,
    /// A topology of the catalogue.
    pub topology: Option<String>,
    /// The data set's size.
    pub size: Option<String>,
    /// Emulated users.
    pub users: Option<u32>,
    /// Arrivals instead of users: `200/s`.
    pub rate: Option<String>,
    /// Knobs by `tier.knob` or `service.knob`.
    #[serde(default)]
    pub set: Values,
    /// The kit's parameters.
    #[serde(default)]
    pub param: Values,
}

impl StudyFile {
    /// Reads `text`; `file` is the name that problems carry.
    pub fn read(file: &str, text: &str) -> Result<StudyFile> {
        document::read(file, text)
    }
}

//! `catalogue/faults/NAME.toml`: a bottleneck that is made on purpose, so that a diagnosis can be held against what is
//! known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Recipe;

/// A fault, the run that shows it, and the diagnosis that is right.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people: `PHP-FPM with two children`.
    pub title: String,
    /// Why it is a bottleneck, and how it shows.
    pub why: String,
    /// One of the few that the gate runs.
    #[serde(default)]
    pub quick: bool,
    /// What a right diagnosis says.
    pub expect: Expected,
    /// The run that shows it.
    pub recipe: Recipe,
    /// What is done to the stack or to the machine.
    #[serde(default, rename = "inject")]
    pub injections: Vec<Injection>,
}

/// What a right diagnosis says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Expected {
    /// This resource of this tier is the limit.
    Limit {
        /// web, app, db, cache, `host`, `generator`.
        tier: String,
        /// As rules name it.
        resource: String,
    },
    /// Nothing: a control.
    Healthy,
}

/// Something that is done on purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Injection {
    /// The tier may use only so many cores of CPU time.
    CpuQuota {
        /// The tier.
        tier: String,
        /// Cores.
        cores: f64,
    },
    /// Processes that belong to nobody compute on the stack's CPUs.
    CpuHog {
        /// How many.
        processes: u32,
        /// On the generator's CPUs instead.
        #[serde(default)]
        on_generator: bool,
    },
    /// The tier's processes may have only so many descriptors.
    Descriptors {
        /// The tier.
        tier: String,
        /// Descriptors of a process.
        limit: u64,
    },
    /// The tier may do only so many writes a second on its disk.
    DiskWrites {
        /// The tier.
        tier: String,
        /// Writes per second.
        per_s: u64,
    },
    /// A part of a catalogue's file is replaced, for this run only.
    Patch {
        /// Path in the catalogue: `kits/dvdstore/app/ds2/store.php`.
        file: String,
        /// What is replaced; it must occur exactly once.
        find: String,
        /// What stands there instead.
        replace: String,
    },
}

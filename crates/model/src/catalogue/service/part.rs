//! What a service consists of: packages, and parts that only some workloads or settings need.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a server that only some workloads or settings need: packages that are wanted where it is used, and files
/// that must then exist.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// A minijinja expression over the knobs and `kit.needs`: `'"php+gd" in kit.needs'`.
    pub when: String,
    /// Installed and unpacked like the program's own.
    pub packages: Packages,
    /// Files that must exist then.
    #[serde(default)]
    pub files: Vec<String>,
    /// What the server loads of it by name: templates see those of all modules that are needed as `loads`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<String>,
}

/// Which extensions a service can have.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extended {
    /// A language, the name of a file in `extensions/`: a kit that needs `LANGUAGE+NAME` gets the extension NAME.
    pub with: String,
    /// Only where this holds: a minijinja expression over the knobs; always when absent.
    pub when: Option<String>,
}

/// A program that runs scripts with a service's settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interpreter {
    /// What a kit calls it by.
    pub name: String,
    /// Only where this holds: a minijinja expression over the knobs; always when absent.
    pub when: Option<String>,
    /// *Templates* of the program and its first arguments; those of the kit follow.
    pub run: Vec<String>,
    /// *Templates* of environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// Debian packages with the program.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Packages {
    /// Installed by apt-get without recommended packages: none of these starts a daemon.
    #[serde(default)]
    pub install: Vec<String>,
    /// Downloaded and unpacked under `$PLIMSOLL_HOME/programs`, because installing them would enable and start the
    /// system's own service.
    #[serde(default)]
    pub unpack: Vec<String>,
    /// What they are for, in a few words, said before anything is installed.
    pub why: String,
}

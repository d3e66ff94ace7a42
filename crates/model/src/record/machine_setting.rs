//! Settings of the machine that were changed for a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A setting of the machine: what stood there, and what stood there while users were measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineSettingResult {
    /// The name after `host.`.
    pub name: String,
    /// The kernel's file.
    pub file: String,
    /// What was found there, and was written back in the end.
    pub found: String,
    /// What it was set to.
    pub set: String,
}

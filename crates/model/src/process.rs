//! A process of this machine, by what no other one has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A process by its number and its start: numbers are used again, a number with its start isn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ProcessIdentity {
    /// Its number.
    pub id: u32,
    /// Its start in the kernel's clock ticks since boot.
    pub start: u64,
}

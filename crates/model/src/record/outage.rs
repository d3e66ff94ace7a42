//! What became of the users' work when an instance of a tier was ended, or cut off, on purpose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An instance that was ended or cut off on purpose, and what the users saw of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// The tier.
    pub tier: String,
    /// Which of its instances, from 1.
    pub instance: u32,
    /// How many there were.
    pub instances: u32,
    /// The other servers on its host, which were cut off with it: `data-1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Second of the run.
    pub at_s: f64,
    /// For how long it was cut off; seconds. Absent where it was ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_s: Option<f64>,
    /// Operations a second over the seconds of the steady state before.
    pub before_per_s: f64,
    /// The fewest that completed in one second from then on, until the rate was back.
    pub least_per_s: u64,
    /// Operations that failed from then on, until the rate was back or the steady state over.
    pub failed: u64,
    /// Seconds until 90 % of the rate of before was reached again, over three seconds; 0 where it never was lower. Absent where
    /// that did not happen within the steady state.
    pub recovered_after_s: Option<f64>,
    /// Operations a second from there on until the end of the steady state.
    pub after_per_s: Option<f64>,
}

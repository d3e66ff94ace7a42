//! What the ways to tiers' own hosts did before and after the users.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The way to a tier's own host, which was to hold packets for a time or to cost CPU time, as it was measured while nobody used it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkResult {
    /// The tier.
    pub tier: String,
    /// What a message there and its answer were to take together, in seconds, beside what they take on any cable.
    pub asked_s: f64,
    /// What they took before the users came: the median of messages of one byte, in seconds.
    pub before_s: f64,
    /// And after they had gone; absent where the tier had ended by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_s: Option<f64>,
}

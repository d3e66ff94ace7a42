//! What a kit does only where a parameter is not its default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What there is only where a parameter is not its default.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Optional {
    /// What a stack must provide then, beside what the kit needs always: `web+cgi`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Operations that sessions have only then: without them no target can be of one.
    #[serde(default)]
    pub operations: Vec<String>,
}

//! What a check of something that may be measured found.

use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::{Problem, Problems, Result};

/// What a check of something that may be measured found, as `--json` prints it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Checked {
    /// What was checked, or will be done, a sentence each; empty where something is wrong.
    pub ok: Vec<String>,
    /// About how long it takes, in seconds, where that is known before: of a run its phases, without what comes before and
    /// after them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes_s: Option<f64>,
    /// Of a run the text of the recipe file that says the same: `plimsoll run FILE.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// What is wrong, each with its place.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub problems: Vec<Problem>,
}

impl Checked {
    /// What `result` says.
    pub fn of(result: Result<Checked>) -> Checked {
        result.unwrap_or_else(Checked::wrong)
    }

    /// Nothing can be done, because of that.
    pub fn wrong(problems: Problems) -> Checked {
        Checked { problems: problems.into_vec(), ..Checked::default() }
    }
}

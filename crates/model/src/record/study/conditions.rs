//! What a find may change from trial to trial so that there is a load line to be found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a trial's stack stood on, where the find chose it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// The size of the data set; absent for that of the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// CPUs that the web tier might use, so that the generator could drive more than it could serve; absent for what the
    /// arm says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_cores: Option<f64>,
}

impl Conditions {
    /// The find changed nothing.
    pub fn are_the_arms(&self) -> bool {
        *self == Conditions::default()
    }
}

/// A size of the data set and what it is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeForUsers {
    /// As a recipe says it.
    pub size: String,
    /// The number of users that it is for.
    pub users: f64,
}

/// A target that the line could not be judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unjudged {
    /// The target, as people write it.
    pub target: String,
    /// The largest number of samples that a trial near the line had.
    pub samples: u64,
    /// The number that it needs.
    pub samples_needed: u64,
}

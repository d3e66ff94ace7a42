//! Figures of a kit's own, beside the usual ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure of the kit's own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Identifier in the JSON.
    pub name: String,
    /// For people.
    pub title: String,
    /// The unit shown behind it.
    pub unit: String,
    /// The one of the kit's mixes under which there is this figure, `default` for its own sessions; under all of them when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// The counter (`count("…")` in the session) or session or operation whose completions are counted.
    pub of: String,
    /// Reported as a rate, a share of another counter, or a plain number.
    pub per: Per,
    /// The figure is multiplied by this: 8e-6 makes Mbit/s of bytes per second.
    #[serde(default = "one")]
    pub times: f64,
    /// Below this the run is not valid: it was not this workload.
    pub at_least: Option<f64>,
    /// Above this the run is not valid.
    pub at_most: Option<f64>,
    /// Steady seconds from which on these bounds are judged: users need so long to be what they are in the long run.
    #[serde(default)]
    pub judged_from_s: f64,
    /// Why a figure outside of these bounds spoils the result, for the verdict.
    pub why: Option<String>,
}

fn one() -> f64 {
    1.0
}

impl Metric {
    /// Whether there is this figure under the mix of that name, [`super::DEFAULT_MIX`] for the kit's own sessions.
    pub fn is_of(&self, mix: &str) -> bool {
        self.mix.as_deref().is_none_or(|own| own == mix)
    }
}

/// How a metric's count is reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// As counted.
    Total,
    /// Each second of steady state.
    Second,
    /// Each minute of steady state.
    Minute,
    /// As a ratio of the named counter, session or operation.
    Of(String),
    /// The mean response time of the operation or session (`all`: of all operations); seconds.
    Mean,
    /// A percentile of the response time of the operation or session (`all`: of all operations); seconds.
    Percentile(f64),
}

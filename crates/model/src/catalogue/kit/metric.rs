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
    /// Samples from which on these bounds are judged: what a share is a share of, or answers of a response time. Of fewer the
    /// figure is chance.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_least_samples: u64,
    /// Why a figure outside of these bounds spoils the result, for the verdict.
    pub why: Option<String>,
}

fn one() -> f64 {
    1.0
}

fn is_zero(samples: &u64) -> bool {
    *samples == 0
}

impl Metric {
    /// What [`Self::of`] says of all operations.
    pub const ALL: &str = "all";

    /// Whether there is this figure under the mix of that name, [`super::DEFAULT_MIX`] for the kit's own sessions.
    pub fn is_of(&self, mix: &str) -> bool {
        self.mix.as_deref().is_none_or(|own| own == mix)
    }

    /// Whether it is made of samples, of which there can be too few: a share or a response time, and not a count or a rate.
    pub fn has_samples(&self) -> bool {
        matches!(self.per, Per::Of(_) | Per::Mean | Per::Percentile(_))
    }

    /// The percentile of all operations' response times, in seconds, that it is; absent of any other figure.
    pub fn percent_of_all(&self) -> Option<f64> {
        match self.per {
            Per::Percentile(percent) if self.of == Metric::ALL && self.times == 1.0 => Some(percent),
            _ => None,
        }
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

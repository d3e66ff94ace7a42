//! Where the time of requests went, and what was not timed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the time of requests went. What did not occur is absent: with connections kept, nothing connects in the
/// steady state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PhaseResults {
    /// Connections opened: from the first packet to the end of the TCP handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<PhaseResult>,
    /// TLS handshakes, after the TCP one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<PhaseResult>,
    /// From a request's issue (`connect` and `tls` included, where it waited for them) to the first byte of its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<PhaseResult>,
    /// From the first byte of an answer to its last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<PhaseResult>,
}

impl PhaseResults {
    /// What occurred, in the order in which a request meets it, each with its name for people.
    pub fn occurred(&self) -> impl Iterator<Item = (&'static str, &PhaseResult)> {
        let all = [
            ("connect", &self.connect),
            ("TLS", &self.tls),
            ("first byte", &self.first_byte),
            ("transfer", &self.transfer),
        ];
        all.into_iter().filter_map(|(name, phase)| Some((name, phase.as_ref()?)))
    }
}

/// How long one part of a request took. A percentile that the samples don't support is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseResult {
    /// How often it occurred.
    pub count: u64,
    /// Mean.
    pub mean_s: Option<f64>,
    /// Median.
    pub p50_s: Option<f64>,
    /// 95th percentile.
    pub p95_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// Largest.
    pub max_s: Option<f64>,
}

/// Operations that the session's script abandoned: what their users waited is in no row and no target. A percentile
/// that the samples don't support is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UntimedResult {
    /// How many.
    pub count: u64,
    /// Their share of all operations that were answered, these included.
    pub share_ratio: f64,
    /// Mean response time, from the intended start as are all below.
    pub mean_s: Option<f64>,
    /// Median.
    pub p50_s: Option<f64>,
    /// 95th percentile.
    pub p95_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// Largest.
    pub max_s: Option<f64>,
}

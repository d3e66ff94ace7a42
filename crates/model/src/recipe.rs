//! What the user asks for, in a file or by flags; it resolves into a [`crate::Plan`] before anything starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::{Arriving, Pattern, StageRequest};
use crate::setting::Values;

/// A request for one run. Every part but the kit may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The kit's name.
    pub kit: String,
    /// The stack's name; the kit's default when absent.
    pub stack: Option<String>,
    /// The data set's size: a name, or bytes such as `30mb`.
    pub size: Option<String>,
    /// One of the kit's `mixes` instead of its default.
    pub mix: Option<String>,
    /// Emulated users; with `rate` the most that may be there at once.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub users: Option<u32>,
    /// Arrivals instead of a number of users: `200/s`, or `50/s:400/s` for a rate that rises over the steady state.
    pub rate: Option<String>,
    /// How arrivals follow each other; at random (`poisson`) when absent.
    pub arrivals: Option<Pattern>,
    /// What arrives: new users with their `sessions` (the default), or `operations` for users who stay.
    pub arriving: Option<Arriving>,
    /// How long a user lives before a new one takes its place, instead of the kit's: `15min`, `20 operations`,
    /// `3 sessions`.
    pub lifetime: Option<String>,
    /// Levels one after another instead of one.
    #[serde(default, rename = "stage")]
    pub stages: Vec<StageRequest>,
    /// Length of the ramp-up: `20s`.
    pub ramp_up: Option<String>,
    /// Length of the steady state, the only phase that counts: `60s`.
    pub steady: Option<String>,
    /// Length of the ramp-down.
    pub ramp_down: Option<String>,
    /// Seed of all random streams.
    pub seed: Option<u64>,
    /// QoS targets, instead of the kit's: `["p95 < 2s"]`.
    #[serde(default)]
    pub qos: Vec<String>,
    /// The kit's parameters.
    #[serde(default)]
    pub param: Values,
    /// Knobs by `tier.knob` or `service.knob`.
    #[serde(default)]
    pub set: Values,
    /// The URL of a server that somebody else started, instead of a stack: `http://127.0.0.1:8080`.
    pub target: Option<String>,
    /// The web tier's TCP port; a free one when absent.
    pub port: Option<u16>,
}

//! What holds a load line, found by changing something and looking at the target that is missed first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::setting::Values;
use crate::record::study::By;

/// What moved the target that holds a load line, in trials at a load just above it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LineProof {
    /// The study whose trials these are: a sweep over the interventions.
    pub study: String,
    /// What the load is counted in.
    #[serde(default)]
    pub by: By,
    /// Users, or arrivals per second.
    pub load: f64,
    /// The target, as people write it.
    pub target: String,
    /// Each intervention and what it did, the most helpful first.
    pub moves: Vec<Move>,
    /// What follows from them.
    pub sentence: String,
}

/// An intervention and what it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Move {
    /// What was changed.
    pub intervention: Intervention,
    /// Change of ln(observed/limit) of the target: below 0 it is nearer to being met. Absent without a pair of trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Its 90 % interval; absent for few pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// By what factor the line would move for it, by the slope that the find saw there; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_factor: Option<f64>,
    /// Pairs of trials.
    pub pairs: u32,
}

/// A change of a stack that is tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Intervention {
    /// What it is about.
    pub about: InterventionAbout,
    /// Settings by `tier.knob`, and their values.
    pub set: Values,
}

/// What an intervention is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterventionAbout {
    /// The pools that were full get twice their size.
    Pools,
    /// A tier gets 15 % less CPU time than it could have.
    Cpu {
        /// The tier.
        tier: String,
    },
    /// What the diagnosis says is worth a try against a suspect.
    Suspect {
        /// Its tier.
        tier: String,
        /// Its resource.
        resource: String,
    },
}

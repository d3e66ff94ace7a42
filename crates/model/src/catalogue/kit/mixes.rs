//! A kit's other mixes: which sessions, and what is asked of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KitManifest;
use crate::catalogue::mix::{Matrix, Sessions};
use crate::catalogue::population::Declarations;

/// What the kit's own sessions are called among its mixes: no other mix has this name.
pub const DEFAULT_MIX: &str = "default";

/// One of a kit's `mixes`: another way of choosing sessions, of which one of the first four is given, and what differs with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedMix {
    /// Sessions by weight: the names of functions in the session file. Each is drawn afresh.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mix: BTreeMap<String, f64>,
    /// Sessions by a matrix: the next one depends on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Matrix>,
    /// Sessions in this order, again and again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<String>,
    /// Users of several kinds, each with its share, its sessions and its pauses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub population: Declarations,
    /// QoS targets of this mix, by operation name or `all`: each list takes the place of the kit's own for it, an empty one
    /// asks for nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub qos: BTreeMap<String, Vec<String>>,
}

impl NamedMix {
    /// How a user's sessions follow each other.
    pub fn sessions(&self) -> Sessions {
        Sessions { mix: self.mix.clone(), matrix: self.matrix.clone(), sequence: self.sequence.clone() }
    }
}

impl KitManifest {
    /// The kit under one of its mixes, or under its default one: its sessions, its targets and its figures are those that
    /// are in force then. `None` where it has no such mix.
    #[must_use]
    pub fn under(&self, mix: Option<&str>) -> Option<KitManifest> {
        let name = mix.unwrap_or(DEFAULT_MIX);
        let mut kit = self.clone();
        kit.metrics.retain(|metric| metric.is_of(name));
        if name != DEFAULT_MIX {
            let NamedMix { mix, matrix, sequence, population, qos } = self.mixes.get(name)?.clone();
            (kit.mix, kit.matrix, kit.sequence, kit.population) = (mix, matrix, sequence, population);
            kit.qos.extend(qos);
            kit.qos.retain(|_, targets| !targets.is_empty());
        }
        Some(kit)
    }
}

//! `[[published]]`: tables of figures that were published, and which cell of the study each of them is of.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::setting::Value;
use crate::record::study::published::{Bound, ClaimOrder};

/// A `[[published]]`: a table of figures of one kind.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRequest {
    /// For people: `Throughput on Linux with 1 GB of memory`.
    pub title: String,
    /// Beside which of our figures it stands, written as in a target: `throughput`, `HomePage p90`, `mean`; `sd`, the
    /// standard deviation of times; one of the kit's metrics by name; a tier's signal, `signal:web.calls.blocks`; or `load_line`. Absent
    /// where nothing of ours is of the kind: the values stand alone, none has a `where`.
    #[serde(default)]
    pub of: String,
    /// The unit of the values, or of ours where those are ratios: `operations/s`, a metric's own, or for times `s`, `ms`, `us`.
    pub unit: String,
    /// Whether the values are ratios to the one that is 1, which has to be one of them: of a source that says by how much cells
    /// differ and not what they are.
    #[serde(default)]
    pub relative: bool,
    /// Where it was published, with the table's number; the study's source when absent.
    #[serde(default)]
    pub source: String,
    /// The figures, as they were published and in their order.
    #[serde(default, rename = "value")]
    pub values: Vec<PublishedValue>,
    /// What was said of the figures in words.
    #[serde(default, rename = "claim")]
    pub claims: Vec<ClaimRequest>,
}

/// A `[[published.value]]`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedValue {
    /// Which cell it is of: the level of each factor that varies. Without it no cell is, and the value stands alone.
    #[serde(default, rename = "where")]
    pub place: Where,
    /// As it was published: `1,500 users, 16 lighttpd, 128 PHP`.
    #[serde(rename = "as")]
    pub label: String,
    /// The value in the table's unit; a ratio where the table is relative.
    #[schemars(range(min = 0.0))]
    pub value: f64,
    /// That it is the least or the most that was said: `up to 8.1`.
    #[serde(default)]
    pub bound: Option<Bound>,
}

/// A `[[published.claim]]`: a statement about the order of cells, without figures.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRequest {
    /// In a sentence, as it was said.
    pub says: String,
    /// What it means for the cells: their figure is the same, or rises or falls from the first of them to the last.
    pub order: ClaimOrder,
    /// The cells, each as in a value's `where`.
    pub of: Vec<Where>,
}

/// Factors by name, each with the level, or with several where the study's forms have different ones.
pub type Where = BTreeMap<String, Levels>;

/// A level, or one for each form of the study.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Levels {
    /// In every form.
    One(Value),
    /// Whichever of them the form has.
    Several(Vec<Value>),
}

impl Levels {
    pub(super) fn labels(&self) -> Vec<String> {
        match self {
            Levels::One(value) => vec![value.to_string()],
            Levels::Several(values) => values.iter().map(Value::to_string).collect(),
        }
    }
}

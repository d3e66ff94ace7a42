//! `catalogue/rules/NAME.toml`: what a limit is seen by, as data. `docs/method/diagnosis.md` says what follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::diagnosis::{ClueRole, Doing};

/// A file of rules.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people.
    pub title: String,
    /// The rules.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// A resource that may be the limit, and what speaks for it and against it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Unique among all rules: `fpm-children`.
    pub name: String,
    /// The resource in a word or two: `workers`, `cpu`, `row locks`.
    pub resource: String,
    /// For people; `{tier}` is the tier's name: `every PHP process is taken`. `{wait}` is how the tier waits, as the kernel counted
    /// (`: 97 % of it in fsync on sessions/sess_1`), and nothing where that is not known.
    pub title: String,
    /// The waits of a tier that it gives a name to: `waiting_for_disk`.
    #[serde(default)]
    pub waits: Vec<Doing>,
    /// What it says of these waits is of the tier's event loops alone, where they were seen to wait for events: other threads may be
    /// there to be blocked.
    #[serde(default)]
    pub of_loops: bool,
    /// It only says in which call the tier waits. Where another rule that names the same wait is likelier than not, this one is
    /// silent.
    #[serde(default)]
    pub fallback: bool,
    /// What it is about.
    #[serde(default)]
    pub about: About,
    /// Only tiers with one of these services; any when empty.
    #[serde(default)]
    pub services: Vec<String>,
    /// Whether a tier behind that is likelier to be guilty clears it: waiting goes up to the callers. Not where the
    /// evidence is of something that no callee brings about, such as dropped connections.
    #[serde(default = "yes")]
    pub cleared_by_callee: bool,
    /// What speaks for it and against it.
    #[serde(rename = "evidence")]
    pub evidence: Vec<EvidenceRule>,
    /// What to try when it is the limit, the best first.
    #[serde(default, rename = "try")]
    pub tries: Vec<TryRule>,
}

fn yes() -> bool {
    true
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// Each tier of the stack in turn.
    #[default]
    Tier,
    /// The machine.
    Host,
    /// The load generator.
    Generator,
    /// The observers.
    Observers,
}

/// One piece of evidence: a figure of a signal, from nothing to fully there.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRule {
    /// A signal of what the rule is about (`workers.busy`); `host:NAME` is one of the machine, `run:NAME` one of the
    /// run as a whole, `front:NAME` the same for the tier that users connect to and absent for the others,
    /// `callee:NAME` one of the tier behind.
    pub signal: String,
    /// Which figure of it.
    #[serde(default)]
    pub figure: FigureOf,
    /// At this value it is not there. Larger than `full` where little is the evidence.
    pub from: f64,
    /// At this value it is fully there.
    pub full: f64,
    /// What it is to the rule.
    pub role: ClueRole,
    /// For people; `{value}` and `{limit}` are filled in with their units: `{value} of {limit} workers were busy`.
    pub say: String,
}

/// A figure of a signal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureOf {
    /// The mean.
    #[default]
    Mean,
    /// The largest point.
    Max,
    /// The mean divided by the limit.
    OfLimit,
    /// The mean divided by the operations completed per second.
    PerOperation,
    /// The mean divided by the one at a third of the users.
    Growth,
}

/// Something to try.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TryRule {
    /// A knob of the tier's service; `TIER.KNOB` one of another tier. Absent where it is no knob that helps. One that
    /// the stack doesn't have is left out.
    pub knob: Option<String>,
    /// The present value times these, rounded to what the knob takes.
    #[serde(default)]
    pub factors: Vec<f64>,
    /// These values, where factors make no sense; those in force are left out.
    #[serde(default)]
    pub values: Vec<crate::catalogue::setting::Value>,
    /// Only those of `values` that are on this side of the one in force.
    pub only: Option<Side>,
    /// What it does, and what it may cost.
    pub why: String,
}

/// A side of the value in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// More of it.
    Larger,
    /// Less of it.
    Smaller,
}

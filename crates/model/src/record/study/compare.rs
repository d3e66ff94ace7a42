//! A comparison: which of two is faster?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::{FindGoal, NoAnswer};
use super::kind::Kind;
use crate::record::Check;

/// What was compared, and what came out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Compare {
    /// The load in words: `20 users`.
    pub load: String,
    /// The figure that the sentence is about: `mean`, `p95`, `throughput`, `cpu`, `load_line`.
    pub by: String,
    /// Differences smaller than this don't matter: 0.01 is 1 %.
    pub band_ratio: f64,
    /// B may be worse by this much before the gate fails; no gate when absent.
    pub gate_ratio: Option<f64>,
    /// Probability with which every interval shown holds at each of the looks, one after every block; of stored runs
    /// (`unpaired`) for who looks once.
    pub confidence_ratio: f64,
    /// Blocks that it may take at most. The intervals are made for this number of looks.
    pub most_blocks: u32,
    /// Seconds after which no further block is begun, however few of them are valid; absent in records older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_s: Option<f64>,
    /// Steady seconds of a trial.
    pub window_s: f64,
    /// Seed of the order within blocks, of the trials' loads and of the bootstrap.
    pub seed: u64,
    /// One window of each, nothing in pairs: how much a figure changes from one start of a stack to the next is in no
    /// interval, and what drifted between the windows is in the difference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpaired: bool,
    /// Idle CPUs were kept from sleeping between requests. Users find a machine that sleeps: times are shorter than theirs,
    /// and differ less from trial to trial.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cpus_awake: bool,
    /// Both trials of a block took turns, a second each, on stacks that stood side by side, as long as answers were short
    /// beside that; otherwise they followed each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turn: bool,
    /// How load lines are looked for; only when they are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<FindGoal>,
    /// The effect on each figure; the first is the one that the sentence is about.
    pub effects: Vec<Effect>,
    /// The verdict; absent as long as it goes on.
    pub conclusion: Option<Conclusion>,
    /// The gate held; absent without one.
    pub gate_held: Option<bool>,
    /// One of the two failed clearly more often: that decides before any figure of what completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failed>,
    /// One of the two spoiled far more blocks: what is left of it is no fair sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lopsided: Option<Lopsided>,
}

impl Default for Compare {
    /// What is compared where nothing else is said: means, in windows of 20 s, in up to 20 blocks, with intervals of 95 %;
    /// 1 % doesn't matter. Nothing has come out yet.
    fn default() -> Compare {
        Compare {
            load: String::new(),
            by: "mean".to_string(),
            band_ratio: 0.01,
            gate_ratio: None,
            confidence_ratio: 0.95,
            most_blocks: 20,
            max_s: None,
            window_s: 20.0,
            seed: 1,
            unpaired: false,
            cpus_awake: false,
            in_turn: false,
            goal: None,
            effects: Vec::new(),
            conclusion: None,
            gate_held: None,
            failed: None,
            lopsided: None,
        }
    }
}

impl Kind for Compare {
    fn verb(&self) -> &'static str {
        "compare"
    }

    fn goal(&self) -> Option<&FindGoal> {
        self.goal.as_ref()
    }
}

/// How much more often one of the two failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// The arm that failed more often: 0 is A.
    pub arm: usize,
    /// What failed.
    pub what: Failing,
    /// A's share: the median over the valid blocks; of stored runs, A's own.
    pub a_ratio: f64,
    /// B's share.
    pub b_ratio: f64,
}

/// What a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failing {
    /// Operations failed.
    Operations,
    /// Users were left waiting for longer than a target allows.
    Waiting,
}

/// An arm that spoiled far more blocks than the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lopsided {
    /// The arm: 0 is A.
    pub arm: usize,
    /// Blocks that it spoiled.
    pub spoiled: u32,
    /// Blocks that the other one spoiled.
    pub other: u32,
    /// What broke most often, in the words of one of its trials.
    pub fault: String,
    /// The same as a fact: the first of those that broke like that; absent in studies older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<SpoilCause>,
}

/// What broke in a trial, or in a search of an arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpoilCause {
    /// A check of the instrument.
    Check {
        /// The check that broke first.
        check: Check,
        /// The number of the trial in which it did.
        trial: u32,
    },
    /// Nothing was measured.
    Unmeasured,
    /// No steady state was found.
    Unsettled,
    /// Answers took so long beside a turn that this share of them was under way when one ended: trials don't take turns
    /// from then on.
    LongAnswers {
        /// Of all answers.
        ratio: f64,
    },
    /// The search found no load line.
    NoLine(NoAnswer),
}

impl SpoilCause {
    /// Whether the same broke, whichever trial shows it.
    pub fn is_like(&self, other: &SpoilCause) -> bool {
        match (self, other) {
            (SpoilCause::Check { check: one, .. }, SpoilCause::Check { check: other, .. }) => one == other,
            (SpoilCause::NoLine(one), SpoilCause::NoLine(other)) => one.why == other.why,
            (SpoilCause::LongAnswers { .. }, SpoilCause::LongAnswers { .. }) => true,
            _ => self == other,
        }
    }
}

/// The effect on one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// `throughput`, `mean`, `p50`, `p95`, `p99`, `cpu` (the stack's CPU time of an operation), `load_line`.
    pub figure: String,
    /// The operation; absent for all together.
    pub operation: Option<String>,
    /// Which way is better.
    pub better: Better,
    /// Its typical value with A.
    pub a: f64,
    /// Its typical value with B.
    pub b: f64,
    /// B/A: e to the median of the averages of all two blocks' log ratios (Hodges and Lehmann).
    pub ratio: f64,
    /// Lower end of the interval for `ratio`, which holds at every look; absent as long as there are too few blocks.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The bootstrap's interval (BCa) for who looks only once, shown beside; absent with fewer than five blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<(f64, f64)>,
    /// Blocks behind it.
    pub blocks: u32,
    /// What follows.
    pub conclusion: Conclusion,
}

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Throughput, the load line.
    Higher,
    /// Times.
    Lower,
}

/// What a comparison says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// B is better, beyond doubt at the chosen confidence.
    Faster,
    /// B is worse.
    Slower,
    /// No difference larger than the band.
    Same,
    /// Not enough evidence.
    Open {
        /// How many more blocks would do, by the noise seen so far.
        more_blocks: Option<u32>,
    },
}

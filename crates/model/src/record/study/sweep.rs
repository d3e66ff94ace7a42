//! A sweep: how does the result depend on these factors?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::{FindAnswer, FindGoal};
use super::kind::Kind;
use super::published::Published;
use super::trial::Purpose;

/// What was varied, and what each cell said.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The study file's name: `sun-2008-table3`.
    pub name: String,
    /// For people.
    pub title: String,
    /// Where the study comes from.
    pub source: String,
    /// What was varied, the slowest first.
    pub factors: Vec<Factor>,
    /// What is measured in each cell.
    pub measurement: Measurement,
    /// How often each cell is measured.
    pub repeats: u32,
    /// In which order.
    pub order: SweepOrder,
    /// Seed of the order and of the trials' loads.
    pub seed: u64,
    /// One for each arm, in the arms' order.
    pub cells: Vec<Cell>,
    /// Which form of the study this is; absent when it has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// Signals of tiers that are kept of each trial beside its usual figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<TierSignal>,
    /// Published figures beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// What differs from where the study comes from, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
}

impl Kind for Sweep {
    fn verb(&self) -> &'static str {
        "sweep"
    }

    fn title(&self) -> Option<&str> {
        Some(&self.title)
    }

    fn goal(&self) -> Option<&FindGoal> {
        match &self.measurement {
            Measurement::LoadLine(goal) => Some(goal),
            Measurement::Window { .. } => None,
        }
    }

    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn gives_load(&self, purpose: Purpose) -> bool {
        purpose == Purpose::Measure
    }

    fn keeps_response_times(&self) -> bool {
        matches!(self.measurement, Measurement::Window { .. })
    }

    fn percentiles(&self) -> Vec<f64> {
        let mut wanted: Vec<f64> =
            self.published.iter().filter_map(|table| table.figure.percentile()).collect();
        wanted.sort_by(f64::total_cmp);
        wanted.dedup();
        wanted
    }

    fn signals(&self) -> Vec<String> {
        let published = self.published.iter().filter(|table| table.figure.signal);
        let published = published.map(|table| &table.figure.name);
        let mut wanted: Vec<String> =
            self.signals.iter().map(|signal| &signal.name).chain(published).cloned().collect();
        wanted.sort();
        wanted.dedup();
        wanted
    }
}

/// A signal of a tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TierSignal {
    /// With its tier: `web.calls.blocks`.
    pub name: String,
    /// Its unit.
    pub unit: String,
}

/// A form of a study.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The usual one: minutes.
    #[default]
    Short,
    /// As it was published: `--full`.
    Full,
}

/// Something that is varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    /// `users`, `stack`, `web.max_worker`, `param.n_searches`.
    pub name: String,
    /// For people.
    pub title: String,
    /// Its levels as people write them.
    pub levels: Vec<String>,
}

/// What is measured in each cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measurement {
    /// One window at a given load.
    Window {
        /// Its steady seconds.
        window_s: f64,
    },
    /// The load line.
    LoadLine(FindGoal),
}

/// In which order cells are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SweepOrder {
    /// Every repeat is a block that holds each cell once, in an order of its own drawn at random.
    #[default]
    Random,
    /// Every repeat goes through the cells as they are written.
    AsWritten,
}

/// A combination of levels, and what was found there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The number of the level of each factor.
    pub levels: Vec<usize>,
    /// The load line of each repeat, when load lines are measured.
    pub answers: Vec<FindAnswer>,
    /// The users that the cell's data set is for, where its load line would be looked for above them otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

impl Cell {
    /// The sweep's goal, no further than this cell's data set is for.
    pub fn goal(&self, goal: &FindGoal) -> FindGoal {
        self.most.and_then(|most| goal.up_to(most)).unwrap_or_else(|| goal.clone())
    }
}

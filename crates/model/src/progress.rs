//! What a verb is at while it measures, a line of JSON for each thing told: `--progress-file`, and `measuring.jsonl` of the home.

pub mod study;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::process::ProcessIdentity;
use crate::record::Check;
use study::StudyProgress;

/// A line of a progress file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressLine {
    /// Seconds since the program started.
    pub at_s: f64,
    /// What is told.
    #[serde(flatten)]
    pub told: Told,
}

/// What is told. Texts are those of the console.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Told {
    /// Measuring begins: nobody else on this machine measures from here on.
    Begin(Begin),
    /// A step begins.
    Step {
        /// Which.
        text: String,
    },
    /// How far the step under way has come.
    Advance {
        /// What it is at.
        text: String,
        /// 0 to 1; absent where nobody knows.
        #[serde(skip_serializing_if = "Option::is_none")]
        done_ratio: Option<f64>,
    },
    /// Something is done.
    Done {
        /// What.
        text: String,
    },
    /// Something to know.
    Note {
        /// What.
        text: String,
    },
    /// Something failed.
    Problem {
        /// What.
        text: String,
    },
    /// What a study says so far.
    Below {
        /// That.
        text: String,
    },
    /// What a study knows so far, in figures.
    Study(Box<StudyProgress>),
    /// A second of a run has ended.
    Second(Box<SecondProgress>),
    /// The last line: the program ends.
    End {
        /// With this code.
        exit_code: u8,
    },
}

/// Who measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Begin {
    /// The command line as given, the program's name first.
    pub command: Vec<String>,
    /// The process. Where it is gone and there is no line `end`, it was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// When measuring began, RFC 3339, UTC.
    pub started: String,
}

/// A second of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondProgress {
    /// The run's id.
    pub run: String,
    /// Which, from 0.
    pub second: u32,
    /// The phase that it ended in and how far that has come: `steady state 8 of 20 s`.
    pub phase: String,
    /// How much of the run is over, 0 to 1.
    pub done_ratio: f64,
    /// What follows counts, or may be found to: whatever can be put off until this is false should be.
    #[serde(default)]
    pub counts: bool,
    /// Users who waited for an answer, on average.
    pub busy_users: f64,
    /// Users who thought.
    pub thinking_users: f64,
    /// Of all operations.
    pub all: OperationProgress,
    /// Of each that completed or failed in it.
    pub operations: Vec<OperationProgress>,
    /// How many users somebody asks for by hand, who come and go until there are as many; absent where nobody can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<UsersAsked>,
    /// CPU cores used, by tier, the generator and the observers among them, where they were watched.
    pub cpu_cores: Vec<(String, f64)>,
    /// Each target of the run over its steady state so far, as of no more than a few seconds ago. Of a trial, whose steady state is found
    /// only while it runs, over all that comes after its shortest warm-up. Absent before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetProgress>,
    /// The instrument's checks of itself that can be judged before the end, by the same seconds. Those are left out that only the end can
    /// tell: the length of the steady state (`duration`), what links did (`link`), the data (`consistency`) and the generator's
    /// ceiling (`ceiling`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckProgress>,
}

/// Users that are asked for by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsersAsked {
    /// Users that are asked for now.
    pub asked_users: u32,
    /// No more than these can be.
    pub max_users: u32,
}

/// A target so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetProgress {
    /// As people write it: `Browse p95 < 300 ms`.
    pub target: String,
    /// In its unit; absent where there was nothing to observe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<f64>,
    /// In the same unit.
    pub limit: f64,
    /// `seconds`, `ratio`, `1/s` or `operations`.
    pub unit: String,
    /// The value so far meets it; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// Samples so far.
    pub samples: u64,
    /// Samples that it needs.
    pub samples_needed: u64,
}

/// A check so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckProgress {
    /// Which.
    pub id: Check,
    /// Its name for people.
    pub title: String,
    /// What it says.
    pub state: CheckState,
}

/// What a check says before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It holds so far.
    Holds,
    /// It would break the run if this were its end.
    Fails,
    /// Not enough was seen to say.
    Unknown,
}

/// What became of an operation in a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationProgress {
    /// Its name; empty for all.
    pub name: String,
    /// How often it completed.
    pub completed: u64,
    /// How often it failed.
    pub failed: u64,
    /// Response time in seconds; absent where too few completed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_s: Option<f64>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95_s: Option<f64>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_s: Option<f64>,
}

//! `study.json`: everything that a study said. A study is a question that takes many runs: find, compare, sweep. Its
//! runs are its trials, each kept as a run of its own below the study's directory.
//!
//! The schema is public and versioned; see `docs/reference/study-json.md`.

pub mod compare;
mod conditions;
pub mod find;
mod kind;
pub mod published;
pub mod response_times;
pub mod sweep;
pub mod trial;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use compare::{Better, Compare, Conclusion, Effect, Failed, Failing, Lopsided, SpoilCause};
pub use conditions::{Conditions, SizeForUsers, Unjudged};
pub use find::{
    By, Confirmation, Find, FindAnswer, FindGoal, FindOutlook, LoadLine, NoAnswer, NoAnswerFacts, WhyNot,
};
pub use kind::Kind;
pub use published::{
    Agreement, Bound, Claim, ClaimOrder, Estimate, Published, PublishedFigure, PublishedPair, PublishedRow,
};
pub use response_times::ResponseTimes;
pub use sweep::{Cell, Factor, Form, Measurement, Sweep, SweepOrder, TierSignal};
pub use trial::{CPU, Fault, Figure, Measured, Purpose, TierCpu, Trial, TrialVerdict};

use crate::catalogue::recipe::Recipe;
use crate::record::diagnosis::Diagnosis;
use crate::record::{Outcome, Setup, Step, ValidityCheck};

/// The version of [`StudyRecord`]; counts up when a reader of the old one would misread the new one.
pub const STUDY_FORMAT: u32 = 1;

/// Everything that a study said so far. It is kept anew after each trial, and a study goes on from it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StudyRecord {
    /// [`STUDY_FORMAT`].
    pub format: u32,
    /// The study's directory name: `20261121-101500-find-dvdstore-7f3a`.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The version of Plimsoll that made it.
    pub plimsoll: String,
    /// The command line, so that it can be repeated.
    pub command: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The answer in a sentence, or why there is none yet.
    pub sentence: String,
    /// What was asked, and the answer.
    pub question: Question,
    /// What is measured: one for a find, two for a comparison, one for each cell of a sweep.
    pub arms: Vec<Arm>,
    /// What the first arm's trials have in common, resolved; rendered files are with each trial's run.
    pub setup: Setup,
    /// The generator against a server that does nothing, before the first trial.
    pub ceiling: Option<Ceiling>,
    /// Checks of the instrument that concern the study and not one of its trials.
    pub checks: Vec<ValidityCheck>,
    /// What was measured, in the order in which it was.
    pub trials: Vec<Trial>,
    /// Seconds spent so far, over all sittings.
    pub spent_s: f64,
    /// How long each step took that belongs to no trial.
    pub steps: Vec<Step>,
    /// Every server that was started, by name, with its version: of all arms.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, String>,
    /// Of a find: what holds the stack at its line, and how that shows over the loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
}

impl StudyRecord {
    /// The trial was made to count, and under the conditions of its search's answer.
    pub fn counts(&self, trial: &Trial) -> bool {
        trial.counts_among(&self.trials)
    }
}

/// What was asked, and the answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// How many users does this stack carry?
    Find(Find),
    /// Which of two is faster?
    Compare(Compare),
    /// How does the result depend on these factors?
    Sweep(Sweep),
}

impl Question {
    /// The verb: `find`, `compare`, `sweep`.
    pub fn verb(&self) -> &'static str {
        self.kind().verb()
    }

    /// What rooms ask of a question without knowing its kind. Here every kind is listed.
    pub fn kind(&self) -> &dyn Kind {
        match self {
            Question::Find(find) => find,
            Question::Compare(compare) => compare,
            Question::Sweep(sweep) => sweep,
        }
    }
}

/// One of the things that a study measures.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Arm {
    /// For people: `lighttpd-fpm-mariadb`, `web.MaxRequestWorkers=64`, `A`.
    pub label: String,
    /// What a trial of it runs; its load is the trial's.
    pub recipe: Recipe,
    /// In a sweep the level of each factor, as people write it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, String>,
    /// A stored run that stands for this arm instead of trials: its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_run: Option<String>,
    /// A folder of kits, services and stacks that is laid over the catalogue for this arm alone: its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<String>,
}

/// What the generator can do at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// Scripted requests per second against a server that does nothing.
    pub requests_per_s: f64,
    /// CPU of the generator for one of them, in seconds.
    pub cpu_s_per_request: f64,
    /// Send lag at a tenth of that rate, 99th percentile, in seconds.
    pub lag_p99_s: f64,
    /// The generator's threads.
    pub cpus: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_kept_under_its_verb() {
        let find = Question::Find(Find { goal: FindGoal::default(), answer: None });
        let json = serde_json::to_value(&find).expect("a question is JSON");
        assert_eq!(find.verb(), "find");
        assert!(json["find"]["goal"]["confidence_ratio"].is_number(), "{json}");
    }
}

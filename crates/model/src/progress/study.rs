//! What a study knows so far, as it is told while it goes on: [`StudyProgress`]. Its figures are those that the study's record would have
//! if it ended there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::study::{By, Effect, Factor, LoadLine, Purpose, TrialVerdict};

/// What a study knows so far: told when a trial begins, at the study's end, and again every 30 s of runs, so that whoever reads only the end
/// of a long file finds it there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyProgress {
    /// Its id.
    pub study: String,
    /// That in a sentence; at its end the one that it is kept with.
    pub text: String,
    /// No trial follows.
    pub over: bool,
    /// The trials under way: two where they take turns, none at the end.
    pub under_way: Vec<TrialUnderWay>,
    /// Seconds still to come, by what is known now; of a comparison, the longest that it may take.
    pub left_s: f64,
    /// What a study of its kind knows.
    pub known: Known,
}

/// A trial under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialUnderWay {
    /// Counts from 1.
    pub number: u32,
    /// Which of the study's arms: the cell of a sweep; of a comparison, 0 is A.
    pub arm: usize,
    /// The block or repeat that it belongs to, from 0.
    pub block: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// Users, or arrivals per second.
    pub load: f64,
}

/// What is known, by the kind of the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// Of a find.
    Find(FindProgress),
    /// Of a comparison.
    Compare(CompareProgress),
    /// Of a sweep.
    Sweep(SweepProgress),
}

/// A find so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindProgress {
    /// What loads are counted in.
    pub by: By,
    /// Probability with which an interval holds the load line.
    pub confidence_ratio: f64,
    /// What the next trial is for; absent when the answer is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Purpose>,
    /// Trials still to come, by what is known now.
    pub trials_left: usize,
    /// The highest load that passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_passed: Option<f64>,
    /// The lowest load that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowest_failed: Option<f64>,
    /// The line that would be the answer if no trial followed; absent as long as trials don't tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<LoadLine>,
    /// The trials that are over, in their order.
    pub trials: Vec<TrialProgress>,
}

/// A trial of a find that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialProgress {
    /// Counts from 1.
    pub number: u32,
    /// What it was for.
    pub purpose: Purpose,
    /// Users, or arrivals per second.
    pub load: f64,
    /// What it says.
    pub verdict: TrialVerdict,
    /// The same in words, with what was met, missed or broken.
    pub text: String,
    /// Operations completed per second; absent where nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_per_s: Option<f64>,
    /// 95th percentile of all response times, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95_s: Option<f64>,
    /// The line as it was known after this trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<LineInterval>,
}

/// A load line in its interval: users, or arrivals per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LineInterval {
    /// The line.
    pub load: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl From<&LoadLine> for LineInterval {
    fn from(line: &LoadLine) -> LineInterval {
        LineInterval { load: line.load, low: line.low, high: line.high }
    }
}

/// A comparison so far. Its intervals are made to be looked at after every block: what they say on the way ends the comparison only where
/// its own rule does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareProgress {
    /// What A and B are.
    pub arms: Vec<String>,
    /// The figure that decides, in words: `mean response time`.
    pub figure: String,
    /// Its unit: `seconds`, `1/s` or `users`.
    pub unit: String,
    /// Probability with which the interval holds at each of the looks.
    pub confidence_ratio: f64,
    /// Blocks that it may take at most.
    pub max_blocks: u32,
    /// Valid blocks so far.
    pub valid: u32,
    /// Blocks that were not valid.
    pub spoiled: u32,
    /// The effect on the figure so far; absent before a block is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The same in words: `2.1 % slower [-0.4, 4.6]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The blocks that are over, in their order.
    pub blocks: Vec<BlockProgress>,
}

/// A block of a comparison that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockProgress {
    /// From 0.
    pub number: u32,
    /// The figure with A and with B; absent where the block was spoiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<[f64; 2]>,
    /// What spoiled it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spoiled_by: Option<String>,
}

/// A sweep so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepProgress {
    /// For people.
    pub title: String,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// What load lines are counted in; absent where cells are measured at a load that is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_by: Option<By>,
    /// How often each cell is measured.
    pub repeats: u32,
    /// Measurements of cells that are over.
    pub done: usize,
    /// All measurements of cells.
    pub all: usize,
    /// The cells, as the study has them.
    pub cells: Vec<CellProgress>,
}

/// A cell of a sweep so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellProgress {
    /// The number of the level of each factor.
    pub levels: Vec<usize>,
    /// What came of each repeat that is over.
    pub repeats: Vec<RepeatProgress>,
}

/// What came of measuring a cell once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepeatProgress {
    /// Figures at a load that was given.
    Figures {
        /// What its trial says.
        verdict: TrialVerdict,
        /// Operations completed per second; absent where nothing was measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        throughput_per_s: Option<f64>,
        /// 95th percentile of all response times, in seconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        p95_s: Option<f64>,
    },
    /// A load line.
    Line(LineInterval),
    /// There is no load line that could be stood behind: why, in words.
    NoLine(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::{ProgressLine, Told};

    #[test]
    fn a_study_so_far_is_a_line_of_its_own_kind_and_is_read_as_it_was_written() {
        let line = LineInterval { load: 405.0, low: 390.0, high: 421.0 };
        let figures = RepeatProgress::Figures {
            verdict: TrialVerdict::PassedAsSeen,
            throughput_per_s: Some(12.5),
            p95_s: None,
        };
        let none = RepeatProgress::NoLine("it fails at 1 user".to_string());
        let cell =
            CellProgress { levels: vec![1, 0], repeats: vec![figures, RepeatProgress::Line(line), none] };
        let known = Known::Sweep(SweepProgress {
            title: "Two by two".to_string(),
            factors: Vec::new(),
            lines_by: None,
            repeats: 3,
            done: 3,
            all: 12,
            cells: vec![cell],
        });
        let under_way = TrialUnderWay { number: 4, arm: 2, block: 0, purpose: Purpose::Measure, load: 20.0 };
        let study = StudyProgress {
            study: "20261121-101500-sweep-dvdstore-7f3a".to_string(),
            text: "measurement 4 of 12".to_string(),
            over: false,
            under_way: vec![under_way],
            left_s: 80.0,
            known,
        };
        let line = ProgressLine { at_s: 1.5, told: Told::Study(Box::new(study)) };
        let text = serde_json::to_string(&line).expect("a line is JSON");
        for part in [
            r#""kind":"study""#,
            r#"{"figures":{"verdict":"passed_as_seen","throughput_per_s":12.5}}"#,
            r#"{"line":{"load":405.0,"low":390.0,"high":421.0}}"#,
            r#""known":{"sweep":{"#,
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
        assert_eq!(serde_json::from_str::<ProgressLine>(&text).expect("it is read"), line);
    }
}

//! Comparisons: interleaved blocks of two trials each.

use experiment::compare::{Asked, next};
use experiment::{Order, pursue};
use model::record::study::{Compare, Conclusion, Question, StudyRecord, Trial};
use model::record::{Check, Outcome};

use super::lab::{Lab, spoil};
use super::stack::Stack;
use super::study::{Parts, arm, record};

/// Users of each trial.
const LOAD: f64 = 300.0;

/// How a comparison ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareEnding {
    /// B is about 6 % faster.
    Faster,
    /// No difference; one trial is not valid.
    Same,
    /// Not enough evidence.
    Open,
    /// B is about 5 % slower, and the gate is at 3 %.
    GateFailed,
}

impl CompareEnding {
    /// Every ending.
    pub const ALL: [CompareEnding; 4] =
        [CompareEnding::Faster, CompareEnding::Same, CompareEnding::Open, CompareEnding::GateFailed];

    /// A word for file names.
    pub fn word(self) -> &'static str {
        match self {
            CompareEnding::Faster => "faster",
            CompareEnding::Same => "same",
            CompareEnding::Open => "open",
            CompareEnding::GateFailed => "gate-failed",
        }
    }

    /// How B's times relate to A's; how they vary from trial to trial; the maximum number of blocks.
    fn dimensions(self) -> (f64, f64, u32) {
        match self {
            CompareEnding::Faster => (0.94, 0.02, 20),
            CompareEnding::Same => (1.001, 0.004, 20),
            CompareEnding::Open => (0.985, 0.045, 6),
            CompareEnding::GateFailed => (1.052, 0.02, 20),
        }
    }

    fn is(self, found: &Conclusion) -> bool {
        matches!(
            (self, found),
            (CompareEnding::Faster, Conclusion::Faster)
                | (CompareEnding::Same, Conclusion::Same)
                | (CompareEnding::Open, Conclusion::Open { .. })
                | (CompareEnding::GateFailed, Conclusion::Slower)
        )
    }
}

/// A comparison that ends so.
pub fn compare(ending: CompareEnding) -> StudyRecord {
    let (slower, noise, most_blocks) = ending.dimensions();
    let gate_ratio = (ending == CompareEnding::GateFailed).then_some(0.03);
    let mut compare = Compare {
        load: format!("{LOAD} users"),
        by: "p95".into(),
        gate_ratio,
        most_blocks,
        window_s: 20.0,
        ..Compare::default()
    };
    let stack = |order: &Order, _| {
        // The machine grows a little slower meanwhile, and one block in which B was disturbed is an outlier.
        let drift = 1.0 + 0.004 * f64::from(order.block);
        let outlier = if (order.block, order.arm) == (5, 1) { 1.0 + 2.5 * noise } else { 1.0 };
        let slower = drift * outlier * if order.arm == 1 { slower } else { 1.0 };
        Stack { slower, noise, ..Stack::default() }
    };
    let disturb = |trial: &mut Trial| {
        if ending == CompareEnding::Same && (trial.block, trial.arm) == (3, 0) {
            spoil(trial, Check::SendLag, "send lag p99 was 7.4 ms; the limit is 5 ms");
        }
    };
    let (mut lab, mut trials) = (Lab::new(stack, disturb), Vec::new());
    let asked = Asked::Window { load: LOAD };
    let judgement = pursue(|trials| next(&compare, &asked, trials), &mut lab, &mut trials);
    let judgement = judgement.expect("nobody ends it");
    assert!(ending.is(&judgement.conclusion), "{ending:?} came to {:?}", judgement.conclusion);
    compare.effects = judgement.effects;
    compare.conclusion = Some(judgement.conclusion);
    compare.gate_held = judgement.gate_held;
    compare.failed = judgement.failed;
    compare.lopsided = judgement.lopsided;
    wording::compare::fill_in(&mut compare, &trials);
    let sentence = wording::compare::compare(&compare, judgement.spoiled);
    let knobs = ["web.MaxRequestWorkers=150", "web.MaxRequestWorkers=64"];
    let mut arms = knobs.map(|knob| arm(knob, Some(LOAD as u32)));
    for (arm, workers) in arms.iter_mut().zip([150, 64]) {
        arm.recipe.set.insert("web.MaxRequestWorkers".into(), model::Value::Int(workers));
    }
    let mut command = vec!["plimsoll", "compare", "dvdstore", "--a", knobs[0], "--b", knobs[1]];
    if gate_ratio.is_some() {
        command.extend(["--gate", "3%"]);
    }
    let (name, question, arms) = (ending.word(), Question::Compare(compare), arms.to_vec());
    record(Parts { name, question, arms, trials, outcome: Outcome::Completed, sentence, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comparison_comes_to_its_end() {
        for ending in CompareEnding::ALL {
            let study = compare(ending);
            assert!(study.sentence.contains("p95"), "{}", study.sentence);
        }
    }
}

//! Finds.

use experiment::find::{interrupted, next};
use experiment::{Order, pursue};
use model::record::study::{By, Find, FindAnswer, FindGoal, Purpose, Question, StudyRecord, Trial, WhyNot};
use model::record::{Check, Outcome};

use super::lab::{Lab, spent_s, spoil};
use super::stack::{Stack, wobble};
use super::study::{Parts, arm, record};
use crate::recorded::Specimen;

/// How a find ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindEnding {
    /// About 412 users; one of its trials is not valid.
    LoadLine,
    /// About 41.2 sessions a second, with an interval that is wider than asked for.
    ByRate,
    /// No answer.
    Why(WhyNot),
    /// The tool died after the ramp.
    Unfinished,
}

impl FindEnding {
    /// Every ending.
    pub const ALL: [FindEnding; 14] = [
        FindEnding::LoadLine,
        FindEnding::ByRate,
        FindEnding::Unfinished,
        FindEnding::Why(WhyNot::FailsAtLeast),
        FindEnding::Why(WhyNot::NeverPasses),
        FindEnding::Why(WhyNot::NeverFails),
        FindEnding::Why(WhyNot::GeneratorLimit),
        FindEnding::Why(WhyNot::MachineLimit),
        FindEnding::Why(WhyNot::Unstable),
        FindEnding::Why(WhyNot::Drifts),
        FindEnding::Why(WhyNot::Unsettled),
        FindEnding::Why(WhyNot::NotValid),
        FindEnding::Why(WhyNot::OutOfTime),
        FindEnding::Why(WhyNot::Interrupted),
    ];

    /// A word for file names.
    pub fn word(self) -> &'static str {
        match self {
            FindEnding::LoadLine => "load-line",
            FindEnding::ByRate => "by-rate",
            FindEnding::Unfinished => "unfinished",
            FindEnding::Why(WhyNot::FailsAtLeast) => "fails-at-least",
            FindEnding::Why(WhyNot::NeverPasses) => "never-passes",
            FindEnding::Why(WhyNot::NeverFails) => "never-fails",
            FindEnding::Why(WhyNot::GeneratorLimit) => "generator-limit",
            FindEnding::Why(WhyNot::MachineLimit) => "machine-limit",
            FindEnding::Why(WhyNot::Unstable) => "unstable",
            FindEnding::Why(WhyNot::Drifts) => "drifts",
            FindEnding::Why(WhyNot::Unsettled) => "unsettled",
            FindEnding::Why(WhyNot::NotValid) => "not-valid",
            FindEnding::Why(WhyNot::OutOfTime) => "out-of-time",
            FindEnding::Why(WhyNot::NotKnown) => "not-known",
            FindEnding::Why(WhyNot::Interrupted) => "interrupted",
        }
    }
}

/// A find that ends so.
pub fn find(ending: FindEnding) -> StudyRecord {
    let goal = ending.goal();
    let mut lab =
        Lab::new(|_: &Order, before| ending.stack(before), |trial: &mut Trial| ending.disturb(trial));
    lab.max_trials = ending.max_trials();
    let mut trials = Vec::new();
    let found = pursue(|trials| next(&goal, trials, spent_s(trials)), &mut lab, &mut trials);
    let (outcome, answer) = match (found, ending) {
        (Ok(answer), _) => (Outcome::Completed, Some(answer)),
        (Err(_), FindEnding::Unfinished) => (Outcome::Unfinished, None),
        (Err(_), _) => (Outcome::Interrupted, Some(interrupted(&goal, &trials, spent_s(&trials)))),
    };
    assert!(ending.is(answer.as_ref()), "{ending:?} came to {answer:?} after {} trials", trials.len());
    let mut find = Find { goal, answer };
    wording::find::fill_in(&mut find, &trials);
    let sentence = find.answer.as_ref().map(|answer| wording::find::answer(&find.goal, answer));
    let sentence = sentence.unwrap_or_else(|| format!("no answer yet: {} trials", trials.len()));
    let command = match find.goal.by {
        By::Rate => vec!["plimsoll", "find", "dvdstore", "--by", "rate"],
        By::Users => vec!["plimsoll", "find", "dvdstore", "--qos", "Browse p95 < 300ms"],
    };
    let (question, arms) = (Question::Find(find), vec![arm("apache-prefork-modphp-mariadb", None)]);
    let name = ending.word();
    let mut study = record(Parts { name, question, arms, trials, outcome, sentence, command });
    if ending == FindEnding::LoadLine {
        study.diagnosis = Specimen::Failed.open().record.diagnosis;
    }
    study
}

impl FindEnding {
    fn goal(self) -> FindGoal {
        let goal = FindGoal { start: 50.0, ..FindGoal::default() };
        match self {
            FindEnding::ByRate => {
                FindGoal { by: By::Rate, start: 5.0, half_width_ratio: 0.02, most_trials: 4, ..goal }
            }
            FindEnding::Why(WhyNot::NeverFails) => FindGoal { most: 4_000.0, ..goal },
            FindEnding::Why(WhyNot::OutOfTime) => FindGoal { budget_s: 90.0, ..goal },
            _ => goal,
        }
    }

    fn max_trials(self) -> usize {
        match self {
            FindEnding::Unfinished => 9,
            FindEnding::Why(WhyNot::Interrupted) => 5,
            _ => usize::MAX,
        }
    }

    /// The stack after `before` trials.
    fn stack(self, before: usize) -> Stack {
        let stack = Stack { noise: 0.2, ..Stack::default() };
        let coin = wobble(before as u32, 5);
        match self {
            FindEnding::ByRate => Stack { line: 41.2, by_rate: true, noise: 0.35, ..stack },
            FindEnding::Why(WhyNot::FailsAtLeast) => Stack { line: 0.6, ..stack },
            FindEnding::Why(WhyNot::NeverPasses) => Stack { min_per_s: Some(900.0), ..stack },
            FindEnding::Why(WhyNot::NeverFails) => Stack { line: 9e3, ..stack },
            FindEnding::Why(WhyNot::GeneratorLimit | WhyNot::MachineLimit) => Stack { line: 3e4, ..stack },
            FindEnding::Why(WhyNot::Unstable) if coin > 0.0 => Stack { line: 0.82 * stack.line, ..stack },
            FindEnding::Why(WhyNot::Drifts) => {
                Stack { line: stack.line * 0.965f64.powi(before as i32), ..stack }
            }
            _ => stack,
        }
    }

    /// What trials show of the reason beside what they measured.
    fn disturb(self, trial: &mut Trial) {
        match self {
            FindEnding::LoadLine if trial.number == 10 => spoil(
                trial,
                Check::SendLag,
                "send lag p99 was 7.4 ms; the limit is 5 ms: the hypervisor took 7.1 % of the CPUs' time",
            ),
            FindEnding::Why(WhyNot::GeneratorLimit) if trial.load > 3_000.0 => {
                spoil(trial, Check::GeneratorCpu, "the generator used 97 % of its core; the limit is 80 %");
            }
            FindEnding::Why(WhyNot::MachineLimit) if trial.load > 3_000.0 => {
                spoil(trial, Check::Room, "connections had no local port: 28 231 of 28 232 used");
            }
            FindEnding::Why(WhyNot::NotValid) if trial.purpose != Purpose::WarmUp => {
                spoil(trial, Check::Consistency, "3 104 orders, 3 168 purchases: 64 are missing");
            }
            FindEnding::Why(WhyNot::Unsettled) if trial.load > 200.0 => {
                trial.warm_up_s = None;
            }
            _ => {}
        }
    }

    /// The find came to it.
    fn is(self, answer: Option<&FindAnswer>) -> bool {
        match (self, answer) {
            (FindEnding::Unfinished, None) => true,
            (FindEnding::LoadLine, Some(FindAnswer::LoadLine(line))) => !line.wide,
            (FindEnding::ByRate, Some(FindAnswer::LoadLine(line))) => line.wide,
            (FindEnding::Why(why), Some(FindAnswer::NoAnswer(no_answer))) => no_answer.why == why,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_find_comes_to_its_end() {
        for ending in FindEnding::ALL {
            let study = find(ending);
            assert!(study.sentence.contains(if study.outcome == Outcome::Unfinished {
                "9 trials"
            } else {
                "load line"
            }));
        }
    }
}

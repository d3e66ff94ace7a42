//! A find so far: its trials, and the load line as it was known after each.

use experiment::find;
use model::progress::study::{FindProgress, Known, LineInterval, TrialProgress};
use model::record::study::{FindGoal, FindOutlook, Question, Trial};

use super::known::{StudySoFar, figures};

/// A find so far. What was known after each trial is worked out once.
pub struct FindSoFar<S> {
    question: Question,
    goal: FindGoal,
    /// Seconds that the study had taken when the last of these trials was over.
    spent_s: S,
    lines: Vec<Option<LineInterval>>,
}

impl<S: Fn(&[Trial]) -> f64> FindSoFar<S> {
    /// Nothing is known yet of the find `question` with its `goal`; `spent_s` are the seconds that the study had taken after given trials.
    pub fn new(question: Question, goal: FindGoal, spent_s: S) -> FindSoFar<S> {
        FindSoFar { question, goal, spent_s, lines: Vec::new() }
    }

    /// What is known after `trials`; those before were the first of them.
    pub fn after(&mut self, trials: &[Trial]) -> StudySoFar {
        for number in self.lines.len()..trials.len() {
            let line = self.outlook(&trials[..=number]).line;
            self.lines.push(line.as_ref().map(LineInterval::from));
        }
        let outlook = self.outlook(trials);
        StudySoFar {
            below: wording::progress::find(self.goal.by, &outlook, trials.len() + 1),
            text: wording::progress::find_so_far(&self.goal, &outlook),
            left_s: outlook.left_s,
            known: Known::Find(self.progress(outlook, trials)),
        }
    }

    fn outlook(&self, trials: &[Trial]) -> FindOutlook {
        find::outlook(&self.goal, trials, (self.spent_s)(trials))
    }

    fn progress(&self, outlook: FindOutlook, trials: &[Trial]) -> FindProgress {
        let trial = |(index, trial): (usize, &Trial)| {
            let [throughput_per_s, p95_s] = figures(trial);
            TrialProgress {
                number: trial.number,
                purpose: trial.purpose,
                load: trial.load,
                verdict: analysis::trial_verdict(&self.question, trials, trial),
                text: wording::trial::judged(trial, (&self.question, &trials[..index])),
                throughput_per_s,
                p95_s,
                line: self.lines.get(index).copied().flatten(),
            }
        };
        FindProgress {
            by: self.goal.by,
            confidence_ratio: self.goal.confidence_ratio,
            phase: outlook.next,
            trials_left: outlook.trials_left,
            highest_passed: outlook.bracket.0,
            lowest_failed: outlook.bracket.1,
            line: outlook.line,
            trials: trials.iter().enumerate().map(trial).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::record::study::{Find, FindAnswer, Purpose, TrialVerdict};
    use testkit::studies::{FindEnding, find};

    use super::*;

    fn followed(ending: FindEnding) -> (Vec<FindProgress>, Find, Vec<Trial>) {
        let record = find(ending);
        let Question::Find(question) = record.question.clone() else { panic!("it is a find") };
        let spent_s = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
        let mut so_far = FindSoFar::new(record.question, question.goal.clone(), spent_s);
        let steps =
            (0..=record.trials.len()).map(|number| match so_far.after(&record.trials[..number]).known {
                Known::Find(find) => find,
                other => panic!("{other:?}"),
            });
        (steps.collect(), question, record.trials)
    }

    #[test]
    fn the_line_so_far_narrows_and_ends_as_the_answer() {
        let (steps, question, trials) = followed(FindEnding::LoadLine);
        let last = &steps[trials.len()];
        let Some(FindAnswer::LoadLine(line)) = question.answer else { panic!("it has a line") };
        assert_eq!(last.line.as_ref(), Some(&line));
        assert_eq!((last.phase, last.trials_left), (None, 0));
        assert_eq!((steps[0].phase, &steps[0].line), (Some(Purpose::WarmUp), &None));
        let width = |line: LineInterval| (line.high - line.low) / line.load;
        let widths: Vec<f64> = last.trials.iter().filter_map(|trial| trial.line.map(width)).collect();
        assert!(widths.len() > 4 && widths[0] > 2.0 * widths[widths.len() - 1], "{widths:?}");
        let of = |verdict: TrialVerdict| last.trials.iter().filter(|trial| trial.verdict == verdict).count();
        assert_eq!((of(TrialVerdict::NotUsed), of(TrialVerdict::NotValid)), (1, 1), "{:#?}", last.trials);
        assert!(
            last.trials
                .iter()
                .any(|one| one.verdict == TrialVerdict::Missed && one.text.contains("missed: "))
        );
    }

    #[test]
    fn a_find_that_goes_on_knows_what_was_known_after_each_trial() {
        let (steps, question, trials) = followed(FindEnding::LoadLine);
        let spent_s = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
        let again = FindSoFar::new(Question::Find(question.clone()), question.goal, spent_s).after(&trials);
        assert_eq!(again.known, Known::Find(steps[trials.len()].clone()));
    }

    #[test]
    fn where_there_is_no_answer_no_line_is_left_standing() {
        for ending in FindEnding::ALL {
            let (steps, question, trials) = followed(ending);
            if matches!(question.answer, Some(FindAnswer::NoAnswer(_))) && steps[trials.len()].phase.is_none()
            {
                assert_eq!(steps[trials.len()].line, None, "{ending:?}");
            }
        }
    }
}

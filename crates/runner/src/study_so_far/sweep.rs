//! A sweep so far: what came of each cell.

use experiment::sweep::{remaining, so_far};
use model::progress::study::{CellProgress, Known, LineInterval, RepeatProgress, SweepProgress};
use model::record::study::{Cell, FindAnswer, FindGoal, Measurement, Question, Sweep, Trial};

use super::known::{StudySoFar, figures};

/// What is known after `trials` of the sweep that `question` asks for. `loads` are the arms' users or arrivals per second; a measurement takes `usual_s` before one is over.
pub fn sweep(
    (question, sweep): (&Question, &Sweep),
    loads: &[f64],
    trials: &[Trial],
    usual_s: f64,
) -> StudySoFar {
    let (left, all) = remaining(sweep, loads, trials);
    let done = all - left;
    let spent_s: f64 = trials.iter().map(|trial| trial.took_s).sum();
    let each_s = if done > 0 { spent_s / done as f64 } else { usual_s };
    let left_s = each_s * left as f64;
    let below = wording::progress::sweep(done + 1, all, left_s);
    let goal = match &sweep.measurement {
        Measurement::LoadLine(goal) => Some(goal),
        Measurement::Window { .. } => None,
    };
    let mut answered = Sweep { cells: so_far(sweep, loads, trials), ..sweep.clone() };
    wording::sweep::fill_in(&mut answered, trials);
    let cell = |(arm, cell): (usize, &Cell)| CellProgress {
        levels: cell.levels.clone(),
        repeats: match goal {
            Some(goal) => cell.answers.iter().map(|answer| line(&cell.goal(goal), answer)).collect(),
            None => (0..sweep.repeats)
                .filter_map(|block| trials.iter().rfind(|trial| trial.arm == arm && trial.block == block))
                .map(|trial| window(question, trials, trial))
                .collect(),
        },
    };
    let known = Known::Sweep(SweepProgress {
        title: sweep.title.clone(),
        factors: sweep.factors.clone(),
        lines_by: goal.map(|goal| goal.by),
        repeats: sweep.repeats,
        done,
        all,
        cells: answered.cells.iter().enumerate().map(cell).collect(),
    });
    StudySoFar { text: below.clone(), below, left_s, known }
}

fn line(goal: &FindGoal, answer: &FindAnswer) -> RepeatProgress {
    match answer {
        FindAnswer::LoadLine(line) => RepeatProgress::Line(LineInterval::from(line)),
        FindAnswer::NoAnswer(_) => RepeatProgress::NoLine(wording::find::answer(goal, answer)),
    }
}

/// Of a trial that is made again, the last one counts.
fn window(question: &Question, trials: &[Trial], trial: &Trial) -> RepeatProgress {
    let [throughput_per_s, p95_s] = figures(trial);
    let verdict = analysis::trial_verdict(question, trials, trial);
    RepeatProgress::Figures { verdict, throughput_per_s, p95_s }
}

#[cfg(test)]
mod tests {
    use model::record::study::Arm;
    use testkit::studies::{self, SweepShape};

    use super::*;

    fn after(shape: SweepShape, trials: usize) -> (SweepProgress, Sweep) {
        let record = studies::sweep(shape);
        let Question::Sweep(question) = record.question.clone() else { panic!("it is a sweep") };
        let load = |arm: &Arm| arm.recipe.users.map_or(0.0, f64::from);
        let loads: Vec<f64> = record.arms.iter().map(load).collect();
        let trials = &record.trials[..trials.min(record.trials.len())];
        match sweep((&record.question, &question), &loads, trials, 60.0).known {
            Known::Sweep(sweep) => (sweep, question),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_cell_has_what_came_of_each_repeat_that_is_over() {
        let (begun, _) = after(SweepShape::Users, 0);
        assert_eq!((begun.done, begun.cells.len()), (0, 6));
        assert!(begun.cells.iter().all(|cell| cell.repeats.is_empty()));
        let (last, question) = after(SweepShape::Users, usize::MAX);
        assert_eq!((last.done, last.all), (18, 18));
        assert!(last.cells.iter().all(|cell| cell.repeats.len() == question.repeats as usize));
        let (seven, _) = after(SweepShape::Users, 7);
        let repeats: usize = seven.cells.iter().map(|cell| cell.repeats.len()).sum();
        assert!(repeats == seven.done && (6..=7).contains(&repeats), "{seven:#?}");
    }

    #[test]
    fn load_lines_are_those_of_the_record_and_a_cell_without_one_says_why() {
        let (last, question) = after(SweepShape::LoadLines, usize::MAX);
        let mut none = 0;
        for (cell, kept) in last.cells.iter().zip(&question.cells) {
            assert_eq!(cell.repeats.len(), kept.answers.len());
            for (repeat, answer) in cell.repeats.iter().zip(&kept.answers) {
                match (repeat, answer) {
                    (RepeatProgress::Line(line), FindAnswer::LoadLine(kept)) => {
                        assert_eq!(*line, LineInterval::from(kept));
                    }
                    (RepeatProgress::NoLine(why), FindAnswer::NoAnswer(_)) => {
                        none += 1;
                        assert!(why.starts_with("no load line: "), "{why}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(none > 0, "a cell of this sweep has no line");
    }
}

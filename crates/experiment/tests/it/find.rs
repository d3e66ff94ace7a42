//! Finds on simulated stacks.

use experiment::{find, pursue};
use model::study::{FindAnswer, FindGoal, Trial};
use testkit::stack::{Habit, Random, Shape, Stack};

fn pursued(goal: &FindGoal, stack: &mut Stack) -> (FindAnswer, Vec<Trial>) {
    let mut trials: Vec<Trial> = Vec::new();
    let spent = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
    let answer = pursue(|trials| find::next(goal, trials, spent(trials)), stack, &mut trials);
    (answer.expect("a simulated stack never refuses"), trials)
}

#[test]
fn finds_come_near_the_line_of_stacks_whose_line_is_known() {
    for (name, shape, habit) in [
        ("slope 9", Shape::Slope(9.0), Habit::Steady),
        ("slope 4", Shape::Slope(4.0), Habit::Steady),
        ("slope 20", Shape::Slope(20.0), Habit::Steady),
        ("saturated", Shape::Saturated, Habit::Steady),
        ("cliff", Shape::Cliff, Habit::Steady),
        ("share", Shape::Share, Habit::Steady),
        ("warming", Shape::Slope(9.0), Habit::Warms { by: 1.0, time_s: 75.0 }),
        ("two modes", Shape::Slope(9.0), Habit::TwoModes { apart: 0.2 }),
        ("drift", Shape::Slope(9.0), Habit::Drifts { per_minute: 0.03 }),
    ] {
        let finds = 200;
        let mut random = Random::new(7);
        let (mut square, mut covered, mut answered, mut trials_sum, mut spent, mut width, mut both, mut wide) =
            (0.0, 0, 0, 0, 0.0, 0.0, 0, 0);
        let mut why = std::collections::BTreeMap::new();
        for seed in 0..finds {
            let line = 40.0 * (16f64.ln() * random.unit()).exp();
            let mut stack = Stack::new(line, shape, seed).that(habit);
            let goal = FindGoal { seed, ..FindGoal::default() };
            let (answer, trials) = pursued(&goal, &mut stack);
            trials_sum += trials.len();
            spent += stack.spent_s();
            match answer {
                FindAnswer::LoadLine(found) => {
                    answered += 1;
                    square += (found.load / line).ln().powi(2);
                    covered += usize::from(found.low <= line && line <= found.high + 1.0);
                    width += (found.high - found.low) / 2.0 / found.load;
                    both += usize::from(found.passed.is_some() && found.failed.is_some());
                    wide += usize::from(found.wide);
                }
                FindAnswer::NoAnswer(no) => *why.entry(format!("{:?}", no.why)).or_insert(0) += 1,
            }
        }
        let n = answered as f64;
        println!(
            "{name:10} rmse {:.1} % covered {:.1} % half-width {:.1} % answered {answered} confirmed {both} wide {wide} trials {:.1} spent {:.0} s {why:?}",
            100.0 * (square / n).sqrt(),
            100.0 * covered as f64 / n,
            100.0 * width / n,
            trials_sum as f64 / finds as f64,
            spent / finds as f64
        );
        if name == "slope 9" || name == "warming" {
            assert!((square / n).sqrt() < 0.03 && answered == finds, "{name}");
            assert!(covered as f64 / n > 0.85, "{name}");
        }
    }
}

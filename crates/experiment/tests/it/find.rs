//! Finds on simulated stacks.

use std::collections::BTreeMap;

use analysis::{Line, Sightings};
use experiment::{find, pursue};
use model::study::{FindAnswer, FindGoal, Trial};
use testkit::stack::{Habit, Random, Shape, Stack};

fn pursued(goal: &FindGoal, stack: &mut Stack) -> (FindAnswer, Vec<Trial>) {
    let mut trials: Vec<Trial> = Vec::new();
    let spent = |trials: &[Trial]| trials.iter().map(|trial| trial.took_s).sum();
    let answer = pursue(|trials| find::next(goal, trials, spent(trials)), stack, &mut trials);
    (answer.expect("a simulated stack never refuses"), trials)
}

/// What many finds on stacks of one kind came to.
#[derive(Debug, Default)]
struct Tally {
    finds: usize,
    answered: usize,
    square: f64,
    early: Vec<(usize, f64)>,
    covered: usize,
    half_width: f64,
    confirmed: usize,
    wide: usize,
    trials: usize,
    spent_s: f64,
    why: BTreeMap<String, usize>,
}

impl Tally {
    fn of(shape: Shape, habit: Habit, finds: u64) -> Tally {
        let mut tally = Tally::default();
        let mut random = Random::new(7);
        for seed in 0..finds {
            let line = 40.0 * (16f64.ln() * random.unit()).exp();
            let mut stack = Stack::new(line, shape, seed).that(habit);
            let goal = FindGoal { seed, start: 40.0, ..FindGoal::default() };
            let (answer, trials) = pursued(&goal, &mut stack);
            tally.add(line, &answer, &trials);
        }
        tally
    }

    fn add(&mut self, line: f64, answer: &FindAnswer, trials: &[Trial]) {
        self.finds += 1;
        self.trials += trials.len();
        self.spent_s += trials.iter().map(|trial| trial.took_s).sum::<f64>();
        for count in [8, 11, 13] {
            let early = Line::of(&Sightings::of(&trials[..trials.len().min(count)]), 0.9, 1);
            self.early.extend(early.map(|found| (count, (found.load / line).ln())));
        }
        match answer {
            FindAnswer::LoadLine(found) => {
                self.answered += 1;
                // The answer is the highest whole number of users below the line.
                self.square += ((found.load + 0.5) / line).ln().powi(2);
                self.covered += usize::from((found.low..=found.high).contains(&line.floor()));
                self.half_width += (found.high - found.low) / 2.0 / found.load;
                self.confirmed += usize::from(found.passed.is_some() && found.failed.is_some());
                self.wide += usize::from(found.wide);
            }
            FindAnswer::NoAnswer(no) => *self.why.entry(format!("{:?}", no.why)).or_default() += 1,
        }
    }

    fn show(&self, name: &str) {
        let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
        let rms = |count: usize| {
            let errors: Vec<f64> = self.early.iter().filter(|e| e.0 == count).map(|e| e.1).collect();
            100.0 * (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
        };
        println!(
            "{name:10} early {:4.1} {:4.1} {:4.1} % rmse {:4.1} % covered {:5.1} % half {:4.1} % answered {:5.1} % confirmed {:5.1} % wide {:4.1} % trials {:4.1} spent {:3.0} s {:?}",
            rms(8),
            rms(11),
            rms(13),
            100.0 * (self.square / self.answered as f64).sqrt(),
            share(self.covered, self.answered),
            100.0 * self.half_width / self.answered as f64,
            share(self.answered, self.finds),
            share(self.confirmed, self.answered),
            share(self.wide, self.answered),
            self.trials as f64 / self.finds as f64,
            self.spent_s / self.finds as f64,
            self.why
        );
    }
}

#[test]
fn table_a() {
    Tally::of(Shape::Slope(9.0), Habit::Steady, 300).show("slope 9");
    Tally::of(Shape::Slope(4.0), Habit::Steady, 300).show("slope 4");
    Tally::of(Shape::Slope(20.0), Habit::Steady, 300).show("slope 20");
    Tally::of(Shape::Slope(9.0), Habit::Warms { by: 1.0, time_s: 75.0 }, 300).show("warming");
}

#[test]
fn table_b() {
    Tally::of(Shape::Saturated, Habit::Steady, 200).show("saturated");
    Tally::of(Shape::Cliff, Habit::Steady, 200).show("cliff");
    Tally::of(Shape::Share, Habit::Steady, 200).show("share");
    Tally::of(Shape::Slope(9.0), Habit::TwoModes { apart: 0.2 }, 200).show("modes .20");
    Tally::of(Shape::Slope(9.0), Habit::TwoModes { apart: 0.3 }, 200).show("modes .30");
    Tally::of(Shape::Slope(4.0), Habit::TwoModes { apart: 0.4 }, 200).show("s4 m .40");
    Tally::of(Shape::Slope(9.0), Habit::Drifts { per_minute: 0.05 }, 200).show("drift .05");
    Tally::of(Shape::Slope(9.0), Habit::Drifts { per_minute: 0.03 }, 200).show("drift .03");
}


#[test]
fn debug_early() {
    for slope in [9.0, 4.0] {
    let mut errors = Vec::new();
    for seed in 0..300 {
        let mut random = Random::new(seed + 1000);
        let line = 40.0 * (16f64.ln() * random.unit()).exp();
        let mut stack = Stack::new(line, Shape::Slope(slope), seed);
        let goal = FindGoal { seed, start: 40.0, ..FindGoal::default() };
        let mut trials: Vec<Trial> = Vec::new();
        for _ in 0..11 {
            let spent = trials.iter().map(|t| t.took_s).sum();
            if let experiment::Step::Measure(order) = find::next(&goal, &trials, spent) {
                use experiment::Bench;
                let t = stack.trial(&order, &trials).expect("t");
                trials.push(t);
            }
        }
        let found = Line::of(&Sightings::of(&trials), 0.9, 1).expect("line");
        let text: String = trials.iter().map(|t| { let c = &t.measured.as_ref().expect("m").clauses[0];
            format!(" {:?}{:.2}:{:.2}±{:.2}", t.purpose, (t.load/line).ln(), c.margin.unwrap_or(0.0), c.margin_se.unwrap_or(0.0)) }).collect();
        errors.push(((found.load / line).ln(), found.slope, text));
    }
    errors.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let rms = (errors.iter().map(|e| e.0 * e.0).sum::<f64>() / errors.len() as f64).sqrt();
    println!("slope {slope} rms {:.2} % p50 {:.1} p90 {:.1} bias {:.1}", rms * 100.0, errors[150].0.abs() * 100.0, errors[270].0.abs() * 100.0, 100.0 * errors.iter().map(|e| e.0).sum::<f64>() / 300.0);
    for e in errors.iter().rev().take(8) { println!("{:.3} s {:.1} {}", e.0, e.1, e.2.replace("Search", "S").replace("Ramp","R").replace("WarmUp","W").replace("Confirm", "C")); }
    }
}

//! Sweeps.

use analysis::sweep::SweepFindings;
use experiment::sweep::{next, so_far};
use experiment::{Order, pursue};
use model::Value;
use model::record::study::{
    Arm, Cell, Factor, FindGoal, Form, Measurement, Question, StudyRecord, Sweep, SweepOrder, Trial,
};
use model::record::{Check, Outcome};

use super::lab::{Lab, spoil};
use super::stack::{Stack, wobble};
use super::study::{Parts, arm, record};
use super::{published, response_times};

/// What a sweep varies and measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepShape {
    /// Six numbers of users, three repeats; one trial is not valid.
    Users,
    /// Three stacks at one load, three repeats.
    Stacks,
    /// Web processes by PHP processes, two repeats; ended by the user, so that cells are missing.
    TwoFactors,
    /// Web processes by PHP processes by users.
    ThreeFactors,
    /// Three servers over two data sets beside published figures, three repeats.
    Published,
    /// Load lines of two stacks by buffer pool, two repeats; one cell has no line, and the user ended it.
    LoadLines,
}

impl SweepShape {
    /// Every shape.
    pub const ALL: [SweepShape; 6] = [
        SweepShape::Users,
        SweepShape::Stacks,
        SweepShape::TwoFactors,
        SweepShape::ThreeFactors,
        SweepShape::Published,
        SweepShape::LoadLines,
    ];

    /// A word for file names.
    pub fn word(self) -> &'static str {
        match self {
            SweepShape::Users => "users",
            SweepShape::Stacks => "stacks",
            SweepShape::TwoFactors => "two-factors",
            SweepShape::ThreeFactors => "three-factors",
            SweepShape::Published => "published",
            SweepShape::LoadLines => "load-lines",
        }
    }

    fn factors(self) -> Vec<Factor> {
        let factor = |name: &str, title: &str, levels: &[&str]| Factor {
            name: name.into(),
            title: title.into(),
            levels: levels.iter().map(|level| level.to_string()).collect(),
        };
        let web = factor("web.max_worker", "Web processes", &["1", "2", "4", "8"]);
        let php = factor("app.max_children", "PHP processes", &["4", "8", "16", "32", "64"]);
        match self {
            SweepShape::Users => {
                vec![factor("users", "Users", &["50", "100", "200", "300", "400", "450"])]
            }
            SweepShape::Stacks => vec![factor(
                "stack",
                "Stack",
                &["apache-prefork-modphp-mariadb", "lighttpd-fpm-mariadb", "nginx-fpm-mariadb"],
            )],
            SweepShape::TwoFactors => vec![web, php],
            SweepShape::ThreeFactors => vec![
                factor("web.max_worker", "Web processes", &["1", "4"]),
                factor("app.max_children", "PHP processes", &["8", "32"]),
                factor("users", "Users", &["100", "200", "300", "400"]),
            ],
            SweepShape::Published => vec![
                factor("stack", "Server", &["apache-prefork", "lighttpd", "nginx"]),
                factor("size", "Data set", &["500mb", "3.3gb"]),
            ],
            SweepShape::LoadLines => vec![
                factor("stack", "Stack", &["apache-prefork-modphp-mariadb", "lighttpd-fpm-mariadb"]),
                factor("db.innodb_buffer_pool_size", "Buffer pool", &["16M", "64M", "256M"]),
            ],
        }
    }

    /// Trials after which the user ends it.
    fn max_trials(self) -> usize {
        match self {
            SweepShape::TwoFactors => 17,
            SweepShape::LoadLines => 75,
            _ => usize::MAX,
        }
    }

    fn repeats(self) -> u32 {
        match self {
            SweepShape::Users | SweepShape::Stacks | SweepShape::Published => 3,
            SweepShape::TwoFactors | SweepShape::LoadLines => 2,
            SweepShape::ThreeFactors => 1,
        }
    }
}

/// A sweep of that shape.
pub fn sweep(shape: SweepShape) -> StudyRecord {
    let (factors, repeats) = (shape.factors(), shape.repeats());
    let combinations = combinations(&factors);
    let arms: Vec<Arm> = combinations.iter().map(|levels| arm_of(shape, &factors, levels)).collect();
    let loads: Vec<f64> = arms.iter().map(|arm| arm.recipe.users.map_or(0.0, f64::from)).collect();
    let cells = combinations.iter().map(|levels| Cell { levels: levels.clone(), ..Cell::default() });
    let published = shape == SweepShape::Published;
    let mut sweep = Sweep {
        name: format!("sample-{}", shape.word()),
        title: "Sun 2008, table 3, with the DVD Store".into(),
        source: "Sun 2008".into(),
        factors,
        measurement: match shape {
            SweepShape::LoadLines => Measurement::LoadLine(FindGoal::default().quick()),
            _ => Measurement::Window { window_s: 30.0 },
        },
        repeats,
        order: SweepOrder::Random,
        seed: 1,
        cells: cells.collect(),
        form: published.then_some(Form::Short),
        signals: Vec::new(),
        published: if published { published::tables() } else { Vec::new() },
        differs: if published { published::differs() } else { Vec::new() },
    };
    let stack = |order: &Order, before| stack_of(shape, &combinations[order.arm], before);
    let mut lab = Lab::new(stack, |trial: &mut Trial| disturb(shape, trial));
    lab.max_trials = shape.max_trials();
    let mut trials = Vec::new();
    let measured = pursue(|trials| next(&sweep, &loads, trials), &mut lab, &mut trials);
    let outcome = if measured.is_ok() { Outcome::Completed } else { Outcome::Interrupted };
    sweep.cells = measured.unwrap_or_else(|_| so_far(&sweep, &loads, &trials));
    analysis::published::beside(&mut sweep, &trials);
    wording::sweep::fill_in(&mut sweep, &trials);
    let sentence = wording::sweep::sweep(&sweep, &arms, &SweepFindings::of(&sweep, &trials));
    let (name, question) = (shape.word(), Question::Sweep(sweep));
    let command = vec!["plimsoll", "sweep", "sun-2008-table3"];
    record(Parts { name, question, arms, trials, outcome, sentence, command })
}

fn disturb(shape: SweepShape, trial: &mut Trial) {
    if shape != SweepShape::LoadLines {
        trial.measured.iter_mut().for_each(|seen| seen.response = response_times::of(seen));
    }
    match shape {
        SweepShape::Published => published::metric(trial),
        SweepShape::Users if trial.number == 9 => spoil(
            trial,
            Check::SendLag,
            "send lag p99 was 7.4 ms; the limit is 5 ms: the hypervisor took 7.1 % of the CPUs' time",
        ),
        _ => {}
    }
}

/// Every combination of levels, the last factor the fastest.
fn combinations(factors: &[Factor]) -> Vec<Vec<usize>> {
    factors.iter().fold(vec![Vec::new()], |all, factor| {
        let with = |before: &Vec<usize>| {
            let before = before.clone();
            (0..factor.levels.len()).map(move |level| before.iter().copied().chain([level]).collect())
        };
        all.iter().flat_map(with).collect()
    })
}

fn arm_of(shape: SweepShape, factors: &[Factor], levels: &[usize]) -> Arm {
    let chosen = || factors.iter().zip(levels).map(|(factor, level)| (&factor.name, &factor.levels[*level]));
    let label: Vec<String> = chosen().map(|(name, level)| format!("{name}={level}")).collect();
    let users = if shape == SweepShape::TwoFactors { 450 } else { 300 };
    let mut arm = arm(&label.join(" "), Some(users));
    for (name, level) in chosen() {
        match name.as_str() {
            "users" => arm.recipe.users = level.parse().ok(),
            "stack" => arm.recipe.stack = Some(level.clone()),
            "size" => arm.recipe.size = Some(level.clone()),
            knob => _ = arm.recipe.set.insert(knob.to_string(), Value::Text(level.clone())),
        }
        arm.levels.insert(name.clone(), level.clone());
    }
    arm
}

/// More processes carry more, up to a point.
fn stack_of(shape: SweepShape, levels: &[usize], before: usize) -> Stack {
    let line = match (shape, levels) {
        (SweepShape::Stacks, [stack]) => [412.0, 455.0, 468.0][*stack],
        (SweepShape::TwoFactors, [web, php]) => 300.0 + 45.0 * *web as f64 + 30.0 * (*php as f64).min(3.0),
        (SweepShape::ThreeFactors, [web, php, _]) => 330.0 + 40.0 * *web as f64 + 60.0 * *php as f64,
        // This cell's stack has two modes.
        (SweepShape::LoadLines, [0, 2]) if wobble(before as u32, 5) > 0.0 => 350.0,
        (SweepShape::LoadLines, [stack, pool]) => 380.0 + 60.0 * *stack as f64 + 25.0 * *pool as f64,
        _ => 412.0,
    };
    Stack { line, ..Stack::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sweep_comes_to_its_end() {
        for shape in SweepShape::ALL {
            let study = sweep(shape);
            let ended_by_user = matches!(shape, SweepShape::TwoFactors | SweepShape::LoadLines);
            assert_eq!(study.outcome == Outcome::Interrupted, ended_by_user, "{shape:?}: {}", study.sentence);
            assert!(study.sentence.contains("cells have a result"), "{shape:?}: {}", study.sentence);
        }
    }
}

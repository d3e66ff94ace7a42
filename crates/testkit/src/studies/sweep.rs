//! Made-up sweeps.

use model::Value;
use model::record::study::{
    Arm, Cell, Factor, FindAnswer, FindGoal, Form, LoadLine, Measurement, NoAnswer, Purpose, Question,
    StudyRecord, Sweep, SweepOrder, Trial, WhyNot,
};
use model::record::{Check, Outcome};

use super::parts::{Parts, arm, record};
use super::published;
use super::trial::{Stack, Wanted, spoil};

/// What a made-up sweep varies and measures.
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
    /// Load lines of two stacks by buffer pool, two repeats; one cell has no answer and one is missing.
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

    fn repeats(self) -> u32 {
        match self {
            SweepShape::Users | SweepShape::Stacks | SweepShape::Published => 3,
            SweepShape::TwoFactors | SweepShape::LoadLines => 2,
            SweepShape::ThreeFactors => 1,
        }
    }
}

/// Makes up a sweep.
pub fn sweep(shape: SweepShape) -> StudyRecord {
    let (factors, repeats) = (shape.factors(), shape.repeats());
    let combinations = combinations(&factors);
    let arms: Vec<Arm> = combinations.iter().map(|levels| arm_of(shape, &factors, levels)).collect();
    let mut cells: Vec<Cell> =
        combinations.iter().map(|levels| Cell { levels: levels.clone(), ..Cell::default() }).collect();
    let mut trials = Vec::new();
    for repeat in 0..repeats {
        for (index, levels) in combinations.iter().enumerate() {
            if missing(shape, repeat, index) {
                continue;
            }
            if shape == SweepShape::LoadLines {
                cells[index].answers.push(search(levels, index, repeat, &mut trials));
                continue;
            }
            let users = arms[index].recipe.users.map_or(300.0, f64::from);
            let wanted =
                Wanted { arm: index, block: repeat, purpose: Purpose::Measure, load: users, window_s: 30.0 };
            stack_of(shape, levels).measure(wanted, &mut trials);
            if shape == SweepShape::Published {
                published::metric(&mut trials, index, repeat);
            }
            if shape == SweepShape::Users && (repeat, index) == (1, 2) {
                spoil(
                    &mut trials,
                    Check::SendLag,
                    "send lag p99 was 7.4 ms; the limit is 5 ms: the hypervisor took 7.1 % of the CPUs' time",
                );
            }
        }
    }
    let outcome = if shape == SweepShape::TwoFactors { Outcome::Interrupted } else { Outcome::Completed };
    let wanted = combinations.len() as u32 * repeats;
    let sentence = match shape {
        SweepShape::TwoFactors => format!("{} of {wanted} trials measured; the user ended it", trials.len()),
        SweepShape::LoadLines => "10 of 12 load lines found".to_string(),
        _ if repeats == 1 => format!("{} cells measured once", combinations.len()),
        _ => format!("{} cells measured {repeats} times each", combinations.len()),
    };
    let measurement = match shape {
        SweepShape::LoadLines => Measurement::LoadLine(FindGoal::default()),
        _ => Measurement::Window { window_s: 30.0 },
    };
    let question = Question::Sweep(Sweep {
        name: format!("sample-{}", shape.word()),
        title: "Sun 2008, table 3, with the DVD Store".into(),
        source: "Sun 2008".into(),
        factors,
        measurement,
        repeats,
        order: SweepOrder::Random,
        seed: 1,
        cells,
        form: (shape == SweepShape::Published).then_some(Form::Short),
        published: if shape == SweepShape::Published { published::tables() } else { Vec::new() },
        differs: if shape == SweepShape::Published { published::differs() } else { Vec::new() },
    });
    let command = vec!["plimsoll", "sweep", "sun-2008-table3"];
    let mut made = record("sample", Parts { question, arms, trials, outcome, sentence, command });
    made.id = format!("20261121-101500-sweep-{}", shape.word());
    made
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

fn missing(shape: SweepShape, repeat: u32, index: usize) -> bool {
    match shape {
        SweepShape::TwoFactors => repeat == 1 || [3, 11, 17].contains(&index),
        SweepShape::LoadLines => index == 5,
        _ => false,
    }
}

/// More processes carry more, up to a point.
fn stack_of(shape: SweepShape, levels: &[usize]) -> Stack {
    let line = match (shape, levels) {
        (SweepShape::Stacks, [stack]) => [412.0, 455.0, 468.0][*stack],
        (SweepShape::TwoFactors, [web, php]) => 300.0 + 45.0 * *web as f64 + 30.0 * (*php as f64).min(3.0),
        (SweepShape::ThreeFactors, [web, php, _]) => 330.0 + 40.0 * *web as f64 + 60.0 * *php as f64,
        (SweepShape::LoadLines, [stack, pool]) => 380.0 + 60.0 * *stack as f64 + 25.0 * *pool as f64,
        _ => 412.0,
    };
    Stack { line, ..Stack::default() }
}

/// A short find in a cell.
fn search(levels: &[usize], arm: usize, repeat: u32, trials: &mut Vec<Trial>) -> FindAnswer {
    let stack = stack_of(SweepShape::LoadLines, levels);
    for (share, purpose) in
        [(0.4, Purpose::Ramp), (1.2, Purpose::Ramp), (0.97, Purpose::Search), (1.03, Purpose::Search)]
    {
        let wanted =
            Wanted { arm, block: repeat, purpose, load: (stack.line * share).round(), window_s: 25.0 };
        stack.measure(wanted, trials);
    }
    if arm == 2 {
        return FindAnswer::NoAnswer(NoAnswer {
            why: WhyNot::Unstable,
            load: Some(stack.line),
            evidence: "430 users pass and fail by turns".into(),
            facts: None,
            highest_passed: Some(stack.line * 0.97),
            lowest_failed: Some(stack.line * 1.03),
        });
    }
    let load = stack.line * (1.0 + 0.008 * f64::from(repeat));
    FindAnswer::LoadLine(LoadLine {
        load,
        low: load * 0.966,
        high: load * 1.031,
        wide: false,
        held_by: Some("Browse p95 < 300 ms".parse().expect("a target")),
        held_by_ratio: 0.95,
        slope: 8.9,
        passed: None,
        failed: None,
        contradicted: Vec::new(),
        confirming: 0,
        throughput_per_s: Some(load * 0.94),
        by_average: None,
    })
}

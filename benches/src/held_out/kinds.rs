//! The kinds of stacks: those of the tables that the method was made with, on other seeds, and others, of which every
//! find has its own.

use experiment::Bench;
use model::record::study::FindGoal;
use testkit::finds::{goal, some_line};
use testkit::stack::queue::{Queue, QueueBench};
use testkit::stack::{Habit, OtherTarget, Random, Shape, Stack};

/// A kind of stacks.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// One of them, from where to draw it and its own seed.
    pub(super) draw: fn(&mut Random, u64) -> Drawn,
    pub(super) goal: fn() -> FindGoal,
    pub(super) max_finds: u64,
}

/// A stack, and where its load line is.
pub(super) struct Drawn {
    pub(super) line: f64,
    pub(super) bench: Box<dyn Bench>,
}

pub(super) const KINDS: [Kind; 21] = [
    Kind::of("slope 9", |random, seed| known(random, seed, Shape::Slope(9.0), Habit::Steady)),
    Kind::of("slope 20", |random, seed| known(random, seed, Shape::Slope(20.0), Habit::Steady)),
    Kind::of("slope 4", |random, seed| known(random, seed, Shape::Slope(4.0), Habit::Steady)),
    Kind::of("slope 9, slowly warming", |random, seed| {
        known(random, seed, Shape::Slope(9.0), Habit::Warms { by: 1.0, time_s: 75.0 })
    }),
    Kind::of("saturated", |random, seed| known(random, seed, Shape::Saturated, Habit::Steady)),
    Kind::of("cliff", |random, seed| known(random, seed, Shape::CLIFF, Habit::Steady)),
    Kind::of("share", |random, seed| known(random, seed, Shape::Share, Habit::Steady)),
    Kind {
        goal: || goal().quick(),
        ..Kind::of("slope 9, `--quick`", |random, seed| known(random, seed, Shape::Slope(9.0), Habit::Steady))
    },
    Kind::of("two modes, 20 % apart", |random, seed| known(random, seed, Shape::Slope(9.0), modes(0.2, 0.5))),
    Kind::of("two modes, 30 % apart", |random, seed| known(random, seed, Shape::Slope(9.0), modes(0.3, 0.5))),
    Kind::of("falls by 3 % a minute", |random, seed| {
        known(random, seed, Shape::Slope(9.0), Habit::Drifts { per_minute: 0.03 })
    }),
    Kind::of("falls by 5 % a minute", |random, seed| {
        known(random, seed, Shape::Slope(9.0), Habit::Drifts { per_minute: 0.05 })
    }),
    Kind { goal: FindGoal::default, max_finds: 20, ..Kind::of("drawn: queues", queue) },
    Kind::of("drawn: abrupt", |random, seed| {
        let (from, to) = (-random.between(0.4, 3.0), random.between(0.4, 4.0));
        let within = random.between(0.002, 0.05);
        known(random, seed, Shape::Jump { from, to, within }, Habit::Steady)
    }),
    Kind::of("drawn: sloping", |random, seed| drawn(random, seed, (2.5, 30.0), Habit::Steady)),
    Kind::of("drawn: warming", |random, seed| {
        let (by, time_s) = (random.between(0.3, 1.5), random.between(30.0, 200.0));
        drawn(random, seed, (4.0, 15.0), Habit::Warms { by, time_s })
    }),
    Kind::of("drawn: heavy tails", |random, seed| {
        let tails = Some(random.between(2.5, 5.0));
        let slope = random.between(4.0, 15.0);
        let mut stack = Stack::new(some_line(random), Shape::Slope(slope), seed);
        stack.tails = tails;
        boxed(stack)
    }),
    Kind::of("drawn: several targets cross", |random, seed| {
        let others = (0..random.between(1.0, 4.99) as usize)
            .map(|_| OtherTarget { above: random.between(0.005, 0.15), slope: random.between(3.0, 20.0) })
            .collect();
        let slope = random.between(4.0, 15.0);
        let mut stack = Stack::new(some_line(random), Shape::Slope(slope), seed);
        stack.others = others;
        boxed(stack)
    }),
    Kind::of("drawn: two modes", |random, seed| {
        let habit = modes(random.between(0.15, 0.4), 0.35 + 0.3 * random.unit());
        drawn(random, seed, (6.0, 15.0), habit)
    }),
    Kind::of("drawn: falls", |random, seed| {
        let per_minute = random.between(0.025, 0.07);
        drawn(random, seed, (6.0, 15.0), Habit::Drifts { per_minute })
    }),
    Kind::of("drawn: rises", |random, seed| {
        let per_minute = -random.between(0.025, 0.07);
        drawn(random, seed, (6.0, 15.0), Habit::Drifts { per_minute })
    }),
];

impl Kind {
    const fn of(name: &'static str, draw: fn(&mut Random, u64) -> Drawn) -> Kind {
        Kind { name, draw, goal, max_finds: u64::MAX }
    }
}

fn modes(apart: f64, lower_ratio: f64) -> Habit {
    Habit::TwoModes { apart, lower_ratio }
}

/// With the noise of the project's reference figures.
fn known(random: &mut Random, seed: u64, shape: Shape, habit: Habit) -> Drawn {
    boxed(Stack::new(some_line(random), shape, seed).that(habit))
}

/// With noise of its own, and a slope between two.
fn drawn(random: &mut Random, seed: u64, (low, high): (f64, f64), habit: Habit) -> Drawn {
    let slope = random.between(low, high);
    let mut stack = Stack::new(some_line(random), Shape::Slope(slope), seed).that(habit);
    stack.noise_30_s = random.between(0.1, 0.5);
    stack.spread = random.between(0.02, 0.12);
    stack.stray_ratio = 0.1 * random.unit();
    boxed(stack)
}

fn boxed(stack: Stack) -> Drawn {
    Drawn { line: stack.line, bench: Box::new(stack) }
}

/// Its truth is that of runs of 4,000 s.
fn queue(random: &mut Random, _seed: u64) -> Drawn {
    let service_s = random.between(0.01, 0.06);
    let think_s = service_s * random.between(20.0, 60.0);
    let pool = random.between(1.0, 8.99) as usize;
    let queue = Queue { think_s, service_s, pool, limit_s: service_s * random.between(5.0, 12.0) };
    // Its margin rises with the users but for its own noise, which is small in such runs.
    let (mut passes, mut fails) = (1, 4000);
    while fails - passes > 1 {
        let middle = (passes + fails) / 2;
        if queue.margin(middle, 3) < 0.0 { passes = middle } else { fails = middle }
    }
    Drawn { line: fails as f64 - 0.5, bench: Box::new(QueueBench { queue, spent_s: 0.0 }) }
}

//! The policy of a comparison: which arm is measured next, and when enough is known.
//!
//! Blocks of one trial of each arm follow each other; what changes slowly is the same for both trials of a block and
//! leaves their ratio alone. Which arm a block begins with is drawn anew for each block: what changes between its trials
//! is as often for B as against it, whatever was seen before. Both trials of a block have the same seed. A block of which
//! a trial was not valid, or did not settle, is measured again under a new number as long as there is time, and shown.
//! After each block the evidence is judged by a rule that allows looking at any time (`analysis::paired`). [`next`] is
//! pure.

mod fairness;
mod judgement;

use model::random::Random;
use model::record::study::{Compare, Conditions, FindAnswer, FindGoal, Purpose, SpoilCause, Trial};

use crate::{Order, Step, find};
pub use judgement::{Judgement, by_failures, held, judge};

/// The figure whose value is a load line of its own for each arm and block.
pub const LOAD_LINE: &str = "load_line";

/// What a block measures of each arm.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// One window at this load: users, or arrivals per second.
    Window {
        /// Users, or arrivals per second.
        load: f64,
    },
    /// The load line, found anew.
    LoadLine(FindGoal),
}

/// The trial that is wanted next, or the judgement.
pub fn next(compare: &Compare, asked: &Asked, trials: &[Trial]) -> Step<Judgement> {
    let course = Course::of(compare, asked, trials);
    if let Some(order) = course.open {
        return Step::Measure(order);
    }
    let spoiled = course.blocks.iter().filter(|block| block.pair.is_err()).count() as u32;
    let valid = course.blocks.len() as u32 - spoiled;
    let over = valid >= compare.most_blocks || spoiled > max_spoiled(compare);
    let answered = over || judgement::enough(compare, &course.blocks);
    let time_over = !answered && is_out_of_time(compare, trials);
    if answered || time_over {
        return Step::Answer(Judgement { time_over, ..judge(compare, &course.blocks) });
    }
    Step::Measure(course.begin())
}

/// Whether another block would end after the time that there is; the first is always made.
fn is_out_of_time(compare: &Compare, trials: &[Trial]) -> bool {
    let spent_s: f64 = trials.iter().map(|trial| trial.took_s).sum();
    let blocks = trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
    let block_s = spent_s / f64::from(blocks.max(1));
    compare.max_s.is_some_and(|max_s| spent_s + block_s > max_s)
}

/// The blocks that are over.
pub fn blocks<'a>(compare: &'a Compare, asked: &'a Asked, trials: &'a [Trial]) -> Vec<Block<'a>> {
    Course::of(compare, asked, trials).blocks
}

/// What the trials so far say; blocks under way are left out.
pub fn so_far(compare: &Compare, asked: &Asked, trials: &[Trial]) -> Judgement {
    judge(compare, &Course::of(compare, asked, trials).blocks)
}

/// The values of the figure that decides, of A and of B, in each valid block.
pub fn pairs(compare: &Compare, asked: &Asked, trials: &[Trial]) -> Vec<(f64, f64)> {
    judgement::values(compare, &Course::of(compare, asked, trials).blocks)
}

/// The number of spoiled blocks above which a comparison gives up: the machine is not fit for it.
pub fn max_spoiled(compare: &Compare) -> u32 {
    2 + compare.most_blocks / 3
}

/// A block that is over.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    /// Its number.
    pub number: u32,
    /// What it says of A and of B, or which trial spoiled it.
    pub pair: Result<[Side<'a>; 2], Spoil>,
}

impl Block<'_> {
    /// The figure that decides, of A and of B; absent where a trial spoiled it.
    pub fn values(&self, compare: &Compare) -> Option<(f64, f64)> {
        judgement::values(compare, std::slice::from_ref(self)).into_iter().next()
    }
}

/// Why a block doesn't count.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoil {
    /// The arm whose trial broke.
    pub arm: usize,
    /// What broke.
    pub cause: SpoilCause,
}

/// What a block says of one arm.
#[derive(Debug, Clone)]
pub enum Side<'a> {
    /// A trial's figures.
    Trial(&'a Trial),
    /// A load line.
    Line(f64),
}

/// The blocks so far.
struct Course<'a> {
    compare: &'a Compare,
    asked: &'a Asked,
    blocks: Vec<Block<'a>>,
    /// What the last block still lacks.
    open: Option<Order>,
}

impl<'a> Course<'a> {
    fn of(compare: &'a Compare, asked: &'a Asked, trials: &'a [Trial]) -> Course<'a> {
        let mut course = Course { compare, asked, blocks: Vec::new(), open: None };
        let numbers = trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
        for number in 0..numbers {
            let own: Vec<&Trial> = trials.iter().filter(|trial| trial.block == number).collect();
            match course.block(number, &own) {
                Ok(block) => course.blocks.push(block),
                Err(order) => course.open = Some(order),
            }
        }
        course
    }

    /// A block that is over, or the trial that it lacks.
    fn block(&self, number: u32, own: &[&'a Trial]) -> Result<Block<'a>, Order> {
        let [first, second] = self.arms(number);
        let side = |arm: usize| {
            let of_arm: Vec<&'a Trial> = own.iter().filter(|trial| trial.arm == arm).copied().collect();
            self.side(number, arm, &of_arm)
        };
        // Where the first trial is spoiled the second is not made.
        let one = match side(first)? {
            Ok(one) => one,
            Err(spoil) => return Ok(Block { number, pair: Err(spoil) }),
        };
        let pair = side(second)?.map(|other| if first == 0 { [one, other] } else { [other, one] });
        Ok(Block { number, pair })
    }

    /// What a block says of an arm or what spoiled it, or the trial that is lacking.
    fn side(&self, block: u32, arm: usize, own: &[&'a Trial]) -> Result<Result<Side<'a>, Spoil>, Order> {
        match self.asked {
            Asked::Window { load } => match own {
                [] => Err(self.order(block, arm, *load)),
                [trial, ..] => Ok(match fairness::spoil(trial) {
                    Some(spoil) => Err(spoil),
                    None => Ok(Side::Trial(trial)),
                }),
            },
            Asked::LoadLine(goal) => {
                let own: Vec<Trial> = own.iter().map(|trial| (*trial).clone()).collect();
                let goal = FindGoal { seed: self.seed(block), ..goal.clone() };
                let spent_s = own.iter().map(|trial| trial.took_s).sum();
                match find::next(&goal, &own, spent_s) {
                    Step::Measure(order) => {
                        Err(Order { arm, block, fresh: order.fresh || own.is_empty(), ..order })
                    }
                    Step::Answer(FindAnswer::LoadLine(line)) => Ok(Ok(Side::Line(line.load))),
                    Step::Answer(FindAnswer::NoAnswer(none)) => {
                        Ok(Err(Spoil { arm, cause: SpoilCause::NoLine(none) }))
                    }
                }
            }
        }
    }

    /// The first trial of a new block.
    fn begin(&self) -> Order {
        let number = self.blocks.last().map_or(0, |block| block.number + 1);
        let [first, second] = self.arms(number);
        match self.side(number, first, &[]) {
            Err(order) if self.takes_turns() => {
                let other = self.order(number, second, order.load);
                Order { in_turn_with: Some(Box::new(other)), ..order }
            }
            Err(order) => order,
            // A search that ends before its first trial: a window stands for it, so that the block is not endless.
            Ok(_) => self.order(number, first, 1.0),
        }
    }

    /// The arms in the order of a block, drawn anew for each: on that rests that each sign of a block's ratio is as
    /// likely, after whatever came before.
    fn arms(&self, number: u32) -> [usize; 2] {
        if Random::nth(self.compare.seed ^ ORDER, u64::from(number)) & 1 == 1 { [1, 0] } else { [0, 1] }
    }

    /// Whether the trials of a block take turns: as long as answers are short beside a turn.
    fn takes_turns(&self) -> bool {
        let too_long = |block: &Block<'_>| {
            matches!(&block.pair, Err(Spoil { cause: SpoilCause::LongAnswers { .. }, .. }))
        };
        self.compare.in_turn && !self.blocks.iter().any(too_long)
    }

    fn order(&self, block: u32, arm: usize, load: f64) -> Order {
        Order {
            arm,
            block,
            purpose: Purpose::Measure,
            load,
            conditions: Conditions::default(),
            window_s: self.compare.window_s,
            fresh: true,
            seed: self.seed(block),
            in_turn_with: None,
        }
    }

    /// The same users for both arms of a block.
    fn seed(&self, block: u32) -> u64 {
        Random::nth(self.compare.seed, u64::from(block))
    }
}

/// Keeps the stream of orders apart from that of the trials' seeds.
const ORDER: u64 = 0x6f72_6465_7273;

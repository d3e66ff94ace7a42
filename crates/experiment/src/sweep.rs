//! The policy of a sweep: which cell is measured next.
//!
//! Every repeat is a block that holds each cell once, by default in an order of its own drawn at random: what changes
//! with time then spreads over all cells instead of looking like an effect. [`next`] is pure, so a sweep that was killed
//! goes on where it was. Where load lines are measured, a cell's trials are a whole search of their own.

use model::random::Random;
use model::record::study::{
    Cell, Conditions, FindAnswer, FindGoal, Measurement, Purpose, Sweep, SweepOrder, Trial,
};

use crate::seeds::shuffled;
use crate::{Order, Step, find};

/// How often a trial is made whose instrument fails, until it stands as it is.
const MAX_TRIES: usize = 2;

/// The trial that is wanted next, or the cells with their answers. `loads` are the arms' users or arrivals per second.
pub fn next(sweep: &Sweep, loads: &[f64], trials: &[Trial]) -> Step<Vec<Cell>> {
    let mut cells: Vec<Cell> =
        sweep.cells.iter().map(|cell| Cell { answers: Vec::new(), ..cell.clone() }).collect();
    for block in 0..sweep.repeats {
        for arm in order(sweep, block) {
            match cell(sweep, loads, trials, arm, block) {
                Step::Measure(order) => return Step::Measure(order),
                Step::Answer(answer) => cells[arm].answers.extend(answer),
            }
        }
    }
    Step::Answer(cells)
}

/// The cells with the answers that `trials` give already: what is known of a sweep that was interrupted. The answer at
/// place N is that of block N, so a cell's answers end before its first block without one.
pub fn so_far(sweep: &Sweep, loads: &[f64], trials: &[Trial]) -> Vec<Cell> {
    let known = |arm: usize, block: u32| match cell(sweep, loads, trials, arm, block) {
        Step::Answer(answer) => answer,
        Step::Measure(_) => None,
    };
    let answers =
        |arm: usize| -> Vec<FindAnswer> { (0..sweep.repeats).map_while(|block| known(arm, block)).collect() };
    let cells = sweep.cells.iter().enumerate();
    cells.map(|(arm, cell)| Cell { answers: answers(arm), ..cell.clone() }).collect()
}

/// The cells of a block in the order in which they are measured.
pub fn order(sweep: &Sweep, block: u32) -> Vec<usize> {
    match sweep.order {
        SweepOrder::Random => shuffled(Random::nth(sweep.seed, u64::from(block)), sweep.cells.len()),
        SweepOrder::AsWritten => (0..sweep.cells.len()).collect(),
    }
}

/// How many measurements of a cell are still to be begun or to be ended, and how many there are in all.
pub fn remaining(sweep: &Sweep, loads: &[f64], trials: &[Trial]) -> (usize, usize) {
    let all = (0..sweep.repeats).flat_map(|block| (0..sweep.cells.len()).map(move |arm| (arm, block)));
    let open =
        all.filter(|(arm, block)| matches!(cell(sweep, loads, trials, *arm, *block), Step::Measure(_)));
    (open.count(), sweep.cells.len() * sweep.repeats as usize)
}

/// A cell's next trial within a block, or that it is done; with its load line where one is looked for.
fn cell(sweep: &Sweep, loads: &[f64], trials: &[Trial], arm: usize, block: u32) -> Step<Option<FindAnswer>> {
    let own = trials.iter().filter(|trial| trial.arm == arm && trial.block == block);
    match &sweep.measurement {
        Measurement::Window { window_s } => {
            let own: Vec<&Trial> = own.collect();
            if own.len() >= MAX_TRIES || own.iter().any(|trial| trial.valid()) {
                return Step::Answer(None);
            }
            Step::Measure(Order {
                arm,
                block,
                purpose: Purpose::Measure,
                load: loads.get(arm).copied().unwrap_or(0.0),
                conditions: Conditions::default(),
                window_s: *window_s,
                fresh: true,
                // The same users for every cell of a block: what differs is the cell.
                seed: Random::nth(sweep.seed, u64::from(block)),
                in_turn_with: None,
            })
        }
        Measurement::LoadLine(goal) => {
            let own: Vec<Trial> = own.cloned().collect();
            let seed = Random::nth(goal.seed, u64::from(block));
            let goal = FindGoal { seed, ..sweep.cells[arm].goal(goal) };
            let spent_s = own.iter().map(|trial| trial.took_s).sum();
            match find::next(&goal, &own, spent_s) {
                Step::Measure(order) => {
                    Step::Measure(Order { arm, block, fresh: order.fresh || own.is_empty(), ..order })
                }
                Step::Answer(answer) => Step::Answer(Some(answer)),
            }
        }
    }
}

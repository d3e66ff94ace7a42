//! What holds a load line, as a sweep: the stack as it is beside the stack with something changed, at the load at which it just fails, and
//! what each change does to the target that is missed first.

use std::collections::BTreeMap;

use analysis::moved::moved;
use model::catalogue::tier_setting;
use model::record::line_proof::{Intervention, Move};
use model::record::study::{Arm, By, Cell, Factor, LoadLine, Measurement, Sweep, SweepOrder, Trial};
use model::{Recipe, StudyRecord, Value};

/// How far above the line is tried where no trial just above it failed.
const ABOVE: f64 = 1.1;
/// A failed trial further above the line than this says little of it.
const MAX_ABOVE: f64 = 1.3;
const FACTOR: &str = "change";

/// The trial whose run says most of the line: the nearest at it or above, else below.
pub fn nearest<'a>(record: &'a StudyRecord, line: &LoadLine) -> Option<&'a Trial> {
    let distance = |trial: &&Trial| {
        let below = trial.load < line.load * 0.999;
        (below, (trial.load - line.load).abs())
    };
    record
        .trials
        .iter()
        .filter(|trial| record.counts(trial))
        .min_by(|one, other| distance(one).partial_cmp(&distance(other)).unwrap_or(std::cmp::Ordering::Equal))
}

/// The load at which the stack fails, but only just.
pub fn load_above(line: &LoadLine, by: By) -> f64 {
    let failed = line.failed.as_ref().map(|failed| failed.load).filter(|load| *load <= line.load * MAX_ABOVE);
    let load = failed.unwrap_or(line.load * ABOVE);
    if by == By::Users { load.ceil().max(line.load.floor() + 1.0) } else { load }
}

/// The find's stack at a load: with the data of its line, and with what was held there. Nothing of a find without an arm.
pub fn recipe(record: &StudyRecord, line: &LoadLine, (by, load): (By, f64)) -> Option<Recipe> {
    let mut recipe = record.arms.first()?.recipe.clone();
    recipe.size = line.conditions.size.clone().or(recipe.size);
    let held =
        line.conditions.web_cores.map(|cores| (format!("web.{}", tier_setting::CPU), Value::Float(cores)));
    recipe.set.extend(held);
    match by {
        By::Users => (recipe.users, recipe.rate) = (Some(load as u32), None),
        By::Rate => recipe.rate = Some(format!("{load}/s")),
    }
    Some(recipe)
}

/// The stack as it is, and with each change; `labels` are what these are called, in this order.
pub fn arms(base: &Recipe, tried: &[Intervention], labels: &[String]) -> Vec<Arm> {
    let arm = |(label, recipe): (&String, Recipe)| Arm {
        levels: BTreeMap::from([(FACTOR.to_string(), label.clone())]),
        label: label.clone(),
        recipe,
        stored_run: None,
        catalogue: None,
    };
    let changed = tried.iter().map(|one| {
        let mut recipe = base.clone();
        recipe.set.extend(one.set.clone());
        recipe
    });
    labels.iter().zip(std::iter::once(base.clone()).chain(changed)).map(arm).collect()
}

/// A sweep over the changes: `blocks` of each, in an order that is drawn, with windows of `window_s` seconds. `title` and `source` say what
/// it is and who asked for it.
pub fn sweep(
    (title, source): (&str, &str),
    arms: &[Arm],
    (blocks, window_s): (u32, f64),
    seed: u64,
) -> Sweep {
    let levels = arms.iter().map(|arm| arm.label.clone()).collect();
    Sweep {
        name: "line".to_string(),
        title: title.to_string(),
        source: source.to_string(),
        factors: vec![Factor { name: FACTOR.to_string(), title: FACTOR.to_string(), levels }],
        measurement: Measurement::Window { window_s },
        repeats: blocks,
        order: SweepOrder::Random,
        seed,
        cells: (0..arms.len()).map(|level| Cell { levels: vec![level], ..Cell::default() }).collect(),
        form: None,
        signals: Vec::new(),
        published: Vec::new(),
        differs: Vec::new(),
    }
}

/// What each change did to the target, the most helpful first.
pub fn moves(
    measured: &StudyRecord,
    (line, target): (&LoadLine, &str),
    tried: Vec<Intervention>,
    blocks: u32,
) -> Vec<Move> {
    let margins: Vec<BTreeMap<u32, f64>> =
        (0..=tried.len()).map(|arm| margins(&measured.trials, arm, target)).collect();
    let one = |(index, intervention): (usize, Intervention)| {
        let with = &margins[index + 1];
        let pairs: Vec<(f64, f64)> =
            margins[0].iter().filter_map(|(block, without)| Some((*without, *with.get(block)?))).collect();
        let seen = moved(&pairs, Some(line.slope), blocks);
        Move {
            intervention,
            margin: seen.margin,
            interval: seen.interval,
            line_factor: seen.line_factor,
            pairs: seen.pairs,
        }
    };
    let mut moves: Vec<Move> = tried.into_iter().enumerate().map(one).collect();
    moves.sort_by(|one, other| {
        one.margin.unwrap_or(f64::INFINITY).total_cmp(&other.margin.unwrap_or(f64::INFINITY))
    });
    moves
}

/// The target's margin in each block of an arm. Trials of an overloaded stack count, that is what is asked about; those in which
/// the instrument failed don't.
fn margins(trials: &[Trial], arm: usize, target: &str) -> BTreeMap<u32, f64> {
    let of_arm = trials.iter().filter(|trial| trial.arm == arm && trial.valid());
    let margin = |trial: &Trial| {
        let seen = trial.measured.as_ref()?;
        let same = seen.targets.iter().find(|one| one.target.to_string() == target)?;
        Some((trial.block, same.margin.log?))
    };
    of_arm.filter_map(margin).collect()
}

#[cfg(test)]
mod tests {
    use analysis::moved::CONFIDENCE_RATIO;
    use analysis::paired::min_planned;
    use model::catalogue::setting::Values;
    use model::record::line_proof::InterventionAbout;
    use model::record::study::Fault;
    use testkit::studies::{FindEnding, find};

    use super::*;

    fn record_and_line() -> (StudyRecord, LoadLine) {
        let record = find(FindEnding::LoadLine);
        let line = record.question.kind().load_line().expect("it has a line").clone();
        (record, line)
    }

    #[test]
    fn it_is_tried_where_the_stack_just_failed_and_not_far_above() {
        let (_, mut line) = record_and_line();
        let failed = line.failed.clone().expect("it was confirmed");
        line.load = failed.load / 1.05;
        assert_eq!(load_above(&line, By::Users), failed.load.ceil());
        line.load = failed.load / 2.0;
        assert!(load_above(&line, By::Users) < failed.load * 0.6, "twice the line says little of it");
        line.failed = None;
        line.load = 3.0;
        assert_eq!(load_above(&line, By::Users), 4.0);
    }

    #[test]
    fn each_change_is_paired_with_the_stack_as_it_is_block_by_block() {
        let (record, line) = record_and_line();
        let target = line.held_by.as_ref().expect("a target holds it").to_string();
        let source =
            record.trials.iter().find(|trial| trial.measured.is_some()).expect("one was measured").clone();
        let trial = |arm: usize, block: u32, log: f64| {
            let mut trial = Trial { arm, block, ..source.clone() };
            let targets = trial.measured.iter_mut().flat_map(|seen| &mut seen.targets);
            targets.filter(|one| one.target.to_string() == target).for_each(|one| one.margin.log = Some(log));
            trial
        };
        let blocks = min_planned(CONFIDENCE_RATIO);
        let mut trials: Vec<Trial> =
            (0..blocks).flat_map(|block| [trial(0, block, 0.3), trial(1, block, -1.2)]).collect();
        // The instrument failed, and the block is made again.
        let mut broken = trial(1, 0, 9.0);
        broken.faults = vec![Fault { check: model::Check::SendLag, sentence: "it was late".to_string() }];
        trials.push(broken);
        // Its block has no trial of the stack as it is.
        trials.push(trial(1, blocks, 5.0));
        let measured = StudyRecord { trials, ..record };
        let change = Intervention { about: InterventionAbout::Pools, set: Values::new() };
        let moves = moves(&measured, (&line, &target), vec![change], blocks);
        let [moved] = moves.as_slice() else { panic!("one was tried: {moves:?}") };
        assert_eq!(moved.pairs, blocks);
        assert!((moved.margin.expect("a change") + 1.5).abs() < 1e-9, "{moved:?}");
    }
}

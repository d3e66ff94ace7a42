//! What holds a find's line, by trials just above it: the stack as it is beside the stack with something changed.

use std::collections::BTreeMap;

use analysis::moved::{CONFIDENCE_RATIO, moved};
use analysis::paired::min_planned;
use experiment::interventions::{AtLine, interventions};
use model::catalogue::tier_setting;
use model::record::diagnosis::Diagnosis;
use model::record::line_proof::{Intervention, LineProof, Move};
use model::record::study::{Arm, By, Cell, Factor, FindGoal, LoadLine, Measurement, Sweep, SweepOrder};
use model::{Problem, Recipe, Result, StudyRecord, Trial, Value};
use store::{Studies, Study};

use crate::context::Context;
use crate::verbs::{kept, sweep};
use runner::diagnose;
use runner::progress::Progress;

/// Seconds of each trial's window.
const WINDOW_S: f64 = 15.0;
/// How far above the line is tried where no trial just above it failed.
const ABOVE: f64 = 1.1;
/// A failed trial further above the line than this says little of it.
const MAX_ABOVE: f64 = 1.3;
/// Seconds that a trial takes beside its window, roughly.
const BESIDE_S: f64 = 22.0;

/// Tries what may hold the line of the find in `record`, and keeps what came of it with the study.
///
/// # Errors
/// A study without a load line, or whose stack can't be changed; what makes trials senseless.
pub(super) fn prove(study: &Study, record: &mut StudyRecord, context: &mut Context) -> Result<()> {
    let (line, goal) = line(record)?;
    let Some(target) = line.held_by.as_ref().map(ToString::to_string) else {
        return Err(refused("no target is missed above the line", "find one with targets"));
    };
    let (by, load) = (goal.by, load_above(&line, goal.by));
    let tried = candidates(study, record, &line, context)?;
    let blocks = min_planned(CONFIDENCE_RATIO);
    let trials = f64::from(blocks) * (tried.len() + 1) as f64;
    context.console.note(&format!(
        "{} changes beside the stack as it is, {blocks} times each, at {}: about {}",
        tried.len(),
        words(by, load),
        model::units::show_seconds(trials * (WINDOW_S + BESIDE_S))
    ));
    for one in &tried {
        context.console.note(&format!("  {}", wording::intervention(one)));
    }
    let arms = arms(&base(record, &line, (by, load))?, &tried);
    let measured = sweep::study_of(sweep_over(record, &arms, blocks, goal.seed), &arms, context)?;
    if context.interrupt.count() > 0 {
        let id = &measured.record().id;
        context.console.note(&format!("interrupted: nothing is proved; its trials are kept as study {id}"));
        return Ok(());
    }
    let proof = proof_of(measured.record(), (&line, &target), (by, load), tried, blocks);
    let Some(diagnosis) = &mut record.diagnosis else {
        return Err(Problem::bug("interventions without a diagnosis").into());
    };
    diagnosis.line_proof = Some(proof);
    keep(record, context)
}

/// Keeps the study with what is known now, and its report anew.
fn keep(record: &StudyRecord, context: &Context) -> Result<()> {
    let studies = Studies::open(&context.home)?;
    let (_, writer) = studies.resume(&record.id)?;
    writer.finish(record)?;
    kept::write_study_report(&studies.find(&record.id)?).map(|_| ())
}

fn refused(what: &str, remedy: &str) -> model::Problems {
    Problem::recipe(what).key("--prove").remedy(remedy).into()
}

fn line(record: &StudyRecord) -> Result<(LoadLine, FindGoal)> {
    let kind = record.question.kind();
    let of_first = "plimsoll explain STUDY/1 --prove, for its first trial's run";
    let goal = kind.goal().filter(|_| kind.factors().is_empty());
    let goal = goal.ok_or_else(|| refused("only a find or a run can be proved", of_first))?;
    let none = || {
        refused(
            "the find has no load line that anything could move",
            "plimsoll find, with more time (--budget)",
        )
    };
    Ok((kind.load_line().ok_or_else(none)?.clone(), goal.clone()))
}

fn words(by: By, load: f64) -> String {
    if by == By::Users { format!("{load} users") } else { format!("{load} arrivals/s") }
}

/// Where the stack fails, but only just.
fn load_above(line: &LoadLine, by: By) -> f64 {
    let failed = line.failed.as_ref().map(|failed| failed.load).filter(|load| *load <= line.load * MAX_ABOVE);
    let load = failed.unwrap_or(line.load * ABOVE);
    if by == By::Users { load.ceil().max(line.load.floor() + 1.0) } else { load }
}

/// What can be changed, by the run of the trial nearest above the line.
fn candidates(
    study: &Study,
    record: &StudyRecord,
    line: &LoadLine,
    context: &Context,
) -> Result<Vec<Intervention>> {
    let suspects = record.diagnosis.as_ref().map(|diagnosis: &Diagnosis| diagnosis.suspects.as_slice());
    let suspects = suspects
        .ok_or_else(|| refused("nothing was watched that tells what to change", "a stack of its own"))?;
    let distance = |trial: &&Trial| {
        let below = trial.load < line.load * 0.999;
        (below, (trial.load - line.load).abs())
    };
    let nearest = record.trials.iter().filter(|trial| record.counts(trial)).min_by(|one, other| {
        distance(one).partial_cmp(&distance(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let nearest = nearest.ok_or_else(|| Problem::bug("a load line without a trial"))?;
    let run = study.run(nearest)?.record().clone();
    let services = diagnose::services(&run, &context.catalogue);
    let stack_cores = find_cores(&run);
    let at_line =
        AtLine { signals: &run.signals, suspects, tiers: &run.setup.tiers, services: &services, stack_cores };
    let found = interventions(&at_line);
    if found.is_empty() {
        return Err(refused(
            "nothing of this stack can be changed by a knob",
            "plimsoll compare, with what `explain` proposes",
        ));
    }
    Ok(found)
}

/// The CPUs that the stack had.
fn find_cores(run: &model::RunRecord) -> f64 {
    run.setup.stack_cpus.len().max(1) as f64
}

/// The find's stack at the line: with its data, and with what was held.
fn base(record: &StudyRecord, line: &LoadLine, (by, load): (By, f64)) -> Result<Recipe> {
    let arm = record.arms.first().ok_or_else(|| Problem::bug("a find without an arm"))?;
    let mut recipe = arm.recipe.clone();
    recipe.size = line.conditions.size.clone().or(recipe.size);
    let held =
        line.conditions.web_cores.map(|cores| (format!("web.{}", tier_setting::CPU), Value::Float(cores)));
    recipe.set.extend(held);
    match by {
        By::Users => (recipe.users, recipe.rate) = (Some(load as u32), None),
        By::Rate => recipe.rate = Some(format!("{load}/s")),
    }
    Ok(recipe)
}

/// The stack as it is, and with each change.
fn arms(base: &Recipe, tried: &[Intervention]) -> Vec<Arm> {
    let arm = |label: String, recipe: Recipe| Arm {
        levels: BTreeMap::from([(FACTOR.to_string(), label.clone())]),
        label,
        recipe,
        stored_run: None,
        catalogue: None,
    };
    let changed = tried.iter().map(|one| {
        let mut recipe = base.clone();
        recipe.set.extend(one.set.clone());
        arm(wording::intervention(one), recipe)
    });
    std::iter::once(arm("as it is".to_string(), base.clone())).chain(changed).collect()
}

const FACTOR: &str = "change";

fn sweep_over(record: &StudyRecord, arms: &[Arm], blocks: u32, seed: u64) -> Sweep {
    let levels = arms.iter().map(|arm| arm.label.clone()).collect();
    Sweep {
        name: "line".to_string(),
        title: format!("What holds the line of {}", record.id),
        source: "plimsoll explain --prove".to_string(),
        factors: vec![Factor { name: FACTOR.to_string(), title: "Change".to_string(), levels }],
        measurement: Measurement::Window { window_s: WINDOW_S },
        repeats: blocks,
        order: SweepOrder::Random,
        seed,
        cells: (0..arms.len()).map(|level| Cell { levels: vec![level], ..Cell::default() }).collect(),
        form: None,
        published: Vec::new(),
        differs: Vec::new(),
    }
}

/// What each change did to the target, the most helpful first.
fn proof_of(
    measured: &StudyRecord,
    (line, target): (&LoadLine, &str),
    (by, load): (By, f64),
    tried: Vec<Intervention>,
    blocks: u32,
) -> LineProof {
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
    let sentence = wording::line_proof(&moves);
    LineProof { study: measured.id.clone(), by, load, target: target.to_string(), moves, sentence }
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
    use model::catalogue::setting::Values;
    use model::record::line_proof::InterventionAbout;
    use model::record::study::Fault;
    use testkit::studies::{FindEnding, find};

    use super::*;

    fn found() -> (StudyRecord, LoadLine) {
        let record = find(FindEnding::LoadLine);
        let (line, _) = line(&record).expect("it has a line");
        (record, line)
    }

    #[test]
    fn it_is_tried_where_the_stack_just_failed_and_not_far_above() {
        let (_, mut line) = found();
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
        let (record, line) = found();
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
        let proof = proof_of(&measured, (&line, &target), (By::Users, 20.0), vec![change], blocks);
        let [moved] = proof.moves.as_slice() else { panic!("one was tried: {proof:?}") };
        assert_eq!(moved.pairs, blocks);
        assert!((moved.margin.expect("a change") + 1.5).abs() < 1e-9, "{moved:?}");
        assert!(proof.sentence.starts_with("What holds the line is the pools that were full"), "{proof:?}");
    }
}

//! Two stored runs against each other: not paired, from the seconds that were kept.

use std::time::Instant;

use analysis::failures::{Failures, failed_more};
use analysis::paired::{Looks, Terms};
use analysis::{comparable, unpaired};
use experiment::compare::by_failures;
use model::record::study::{Arm, Better, Compare, Effect, Measured, Question, STUDY_FORMAT, StudyRecord};
use model::record::{Outcome, RunRecord};
use model::{Problem, Problems, Recipe, Result};
use store::{Run, Studies};

use crate::context::Context;
use crate::verbs::finish::Ended;
use runner::outcome;
use runner::trial;

/// Compares two runs and keeps the answer as a study.
pub(super) fn compare(asked: &Compare, a: &Run, b: &Run, context: &mut Context) -> Result<Ended> {
    let began = Instant::now();
    Problems::check(incompatible(a.record(), b.record()))?;
    let (seen_a, seen_b) = (trial::of_run(a, &[])?, trial::of_run(b, &[])?);
    let load = a.record().setup.load_headline();
    let mut compare = Compare { load, window_s: a.record().setup.steady_s, unpaired: true, ..asked.clone() };
    compare.effects = effects(&compare, &seen_a, &seen_b);
    let primary = compare.effects.first().filter(|effect| effect.figure == compare.by);
    let Some(primary) = primary.cloned() else {
        let what = format!("one of the runs has no {}", wording::compare::figure(&compare.by));
        return Err(Problem::invalid(what).remedy("a longer run").into());
    };
    let held = compare.gate_ratio.and_then(|gate| experiment::compare::held(&primary, gate));
    compare.failed = failed_more(failures(a.record(), &seen_a), failures(b.record(), &seen_b));
    let (conclusion, held) =
        by_failures(primary.conclusion, held, compare.failed.as_ref(), compare.gate_ratio);
    compare.gate_held = held;
    compare.conclusion = Some(conclusion);
    let sentence = wording::compare::stored(&compare);
    let kit = a.record().setup.kit.split('@').next().unwrap_or_default().to_string();
    let (id, started) = outcome::new_id(&format!("compare-{kit}"));
    let record = StudyRecord {
        format: STUDY_FORMAT,
        id,
        started,
        plimsoll: context.settings.origin.version.clone(),
        command: context.settings.origin.command.clone(),
        outcome: Outcome::Completed,
        sentence,
        question: Question::Compare(compare),
        arms: vec![arm(a.record()), arm(b.record())],
        setup: a.record().setup.clone(),
        ceiling: None,
        checks: Vec::new(),
        trials: Vec::new(),
        spent_s: began.elapsed().as_secs_f64(),
        steps: Vec::new(),
        servers: Default::default(),
        diagnosis: None,
    };
    let studies = Studies::open(&context.home)?;
    let id = record.id.clone();
    studies.create(&record)?.finish(&record)?;
    Ok(Ended::of(studies.find(&id)?))
}

/// What went wrong in a run, by its own targets about users who wait.
fn failures(record: &RunRecord, seen: &Measured) -> Failures {
    Failures { waiting: Failures::waiting(&record.targets), ..Failures::of(seen) }
}

fn arm(record: &RunRecord) -> Arm {
    let setup = &record.setup;
    let kit = setup.kit.split('@').next().unwrap_or_default().to_string();
    Arm {
        label: format!("{} ({})", setup.stack, record.id),
        recipe: Recipe {
            format: 1,
            kit,
            stack: Some(setup.stack.clone()),
            topology: setup.topology.clone(),
            guests: setup.guests,
            ..Recipe::default()
        },
        levels: Default::default(),
        stored_run: Some(record.id.clone()),
        catalogue: None,
    }
}

/// Everything that makes figures of the two runs incomparable.
fn incompatible(a: &RunRecord, b: &RunRecord) -> Vec<Problem> {
    let mut problems = Vec::new();
    for record in [a, b].into_iter().filter(|record| !record.verdict.valid) {
        let problem = Problem::recipe(format!("run {} is not valid: {}", record.id, record.verdict.sentence));
        problems.push(problem.why("its figures can't be trusted").remedy("repeat it"));
    }
    for aspect in comparable::different_conditions(a, b) {
        let problem = Problem::recipe(wording::runs_differ(aspect, a, b));
        let why = "a difference of the results would say nothing about the stacks";
        problems.push(problem.why(why).remedy("runs that differ in their stack or its knobs alone"));
    }
    problems
}

fn effects(compare: &Compare, a: &Measured, b: &Measured) -> Vec<Effect> {
    let mut effects: Vec<Effect> = Vec::new();
    // How much times differ among themselves is no figure by which one stack is better than another.
    for one in a.figures.iter().filter(|one| one.name != "sd") {
        let Some(other) = b.figure(&one.name, one.operation.as_deref()) else { continue };
        let better = if one.name == "throughput" { Better::Higher } else { Better::Lower };
        let looks = Looks { confidence_ratio: compare.confidence_ratio, max_values: 1 };
        let terms = Terms { better, band_ratio: compare.band_ratio, looks, seed: compare.seed };
        let Some(found) = unpaired::effect(one, other, &terms) else { continue };
        effects.push(Effect {
            figure: one.name.clone(),
            operation: one.operation.clone(),
            better,
            a: one.value,
            b: other.value,
            ratio: found.ratio,
            low: found.interval.map(|(low, _)| low),
            high: found.interval.map(|(_, high)| high),
            bootstrap: None,
            blocks: 1,
            conclusion: found.conclusion,
        });
    }
    let first = effects.iter().position(|one| one.operation.is_none() && one.figure == compare.by);
    if let Some(first) = first {
        effects[..=first].rotate_right(1);
    }
    effects
}

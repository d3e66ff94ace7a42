//! What holds a find's line, by trials just above it: the stack as it is beside the stack with something changed.

use analysis::moved::CONFIDENCE_RATIO;
use analysis::paired::min_planned;
use experiment::interventions::{AtLine, interventions};
use experiment::line_proof;
use model::record::diagnosis::Diagnosis;
use model::record::line_proof::{Intervention, LineProof};
use model::record::study::{By, FindGoal, LoadLine};
use model::{Problem, Result, StudyRecord};
use store::{Studies, Study};

use crate::context::Context;
use crate::verbs::{kept, sweep};
use runner::diagnose;
use runner::progress::Progress;

/// Seconds of each trial's window.
const WINDOW_S: f64 = 15.0;
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
    let (by, load) = (goal.by, line_proof::load_above(&line, goal.by));
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
    let base = line_proof::recipe(record, &line, (by, load));
    let base = base.ok_or_else(|| Problem::bug("a find without an arm"))?;
    let labels = std::iter::once("as it is".to_string()).chain(tried.iter().map(wording::intervention));
    let arms = line_proof::arms(&base, &tried, &labels.collect::<Vec<_>>());
    let title = format!("What holds the line of {}", record.id);
    let words = (title.as_str(), "plimsoll explain --prove");
    let study = line_proof::sweep(words, &arms, (blocks, WINDOW_S), goal.seed);
    let measured = sweep::study_of(study, &arms, context)?;
    if context.interrupt.count() > 0 {
        let id = &measured.record().id;
        context.console.note(&format!("interrupted: nothing is proved; its trials are kept as study {id}"));
        return Ok(());
    }
    let moves = line_proof::moves(measured.record(), (&line, &target), tried, blocks);
    let (study, sentence) = (measured.record().id.clone(), wording::line_proof(&moves));
    let proof = LineProof { study, by, load, target, moves, sentence };
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
    let nearest = line_proof::nearest(record, line);
    let nearest = nearest.ok_or_else(|| Problem::bug("a load line without a trial"))?;
    let run = study.run(nearest)?.record().clone();
    let services = diagnose::services(&run, &context.catalogue);
    let stack_cores = run.setup.stack_cpus.len().max(1) as f64;
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

//! One run from plan to report: staged, measured, checked, judged, kept.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use analysis::{Demand, Little, TierSource, ValidityInputs, VerdictInputs};
use kit::CheckInputs;
use model::record::{ConsistencyResult, Outcome, RunRecord, Step};
use model::{OperationKind, Plan, Problem, Problems, Recipe, Result};
use store::{Run, RunWriter, Runs};

use crate::bench::measure::{Recording, measure};
use crate::bench::server::ServerArgs;
use crate::bench::setup;
use crate::bench::stage::Stage;
use crate::context::Context;

/// Server logs are kept up to this size each: the end says more than the beginning.
const MOST_LOG_BYTES: u64 = 4 << 20;

/// A run that is over and kept.
pub(crate) struct Measured {
    /// The run as kept.
    pub(crate) run: Run,
    /// Its HTML report, if it could be written.
    pub(crate) report: Option<PathBuf>,
}

/// An id for a run or a lab of `plan`, and the time it was made.
pub(crate) fn new_id(plan: &Plan) -> (String, String) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let entropy = u64::from(now.subsec_nanos()) << 32 | u64::from(std::process::id());
    (store::new_id(now.as_secs(), &plan.kit.name, entropy), store::utc(now.as_secs()))
}

/// Stages, measures, judges and keeps one run of `plan`.
pub(crate) fn run(
    recipe: &Recipe,
    plan: &Plan,
    server: &ServerArgs,
    context: &mut Context,
) -> Result<Measured> {
    kit::lint(&context.catalogue, &plan.kit.name)?;
    kit::check_targets(plan, &context.catalogue)?;
    let (id, started) = new_id(plan);
    let keep_failed = context.home.join("failed").join(&id);
    let mut stage = Stage::set(plan, server, &id, keep_failed, context)?;
    for warning in std::mem::take(&mut stage.warnings) {
        context.console.note(&format!("note: {warning}"));
    }
    let mut record = setup::unfinished(plan, &id, &started, context);
    record.setup.tiers = setup::tiers(plan, stage.tiers());
    setup::elsewhere(plan, stage.elsewhere.as_ref(), &mut record.setup);
    record.dataset = stage.dataset.clone();
    context.interrupt.check()?;
    let runs = Runs::open(&context.home)?;
    let mut writer = runs.create(&record)?;
    keep_inputs(recipe, plan, &record, &writer)?;
    let measuring = Instant::now();
    let recording = measure(plan, &mut stage, &mut writer, context).map_err(|problems| {
        keep_logs(&stage, &writer);
        with_remedy(problems, &format!("what was measured until then is kept: plimsoll show {id}"))
    })?;
    stage.steps.push(Step { name: "drive the users".to_string(), took_s: measuring.elapsed().as_secs_f64() });
    record.consistency = check(plan, &mut stage, &recording, context);
    context.console.step("stopping the stack");
    let stopped = stage.stop();
    keep_logs(&stage, &writer);
    record.steps = std::mem::take(&mut stage.steps);
    judge(plan, &recording, &mut record)?;
    writer.finish(&record)?;
    let closed = stage.close();
    let run = runs.find(&id)?;
    let report = run.keep("report.html", report::html(&report::Page::of(&run)).as_bytes());
    // The run is kept by now: what fails after it must not take it away, but is told.
    let (report, unwritten) =
        report.map_or_else(|problems| (None, Some(problems)), |path| (Some(path), None));
    for problems in [stopped.err(), closed.err(), unwritten].into_iter().flatten() {
        context.console.problem(&problems.to_string());
    }
    Ok(Measured { run, report })
}

fn with_remedy(problems: Problems, remedy: &str) -> Problems {
    let mut list = problems.into_vec();
    if let Some(first) = list.first_mut() {
        first.remedy.get_or_insert_with(|| remedy.to_string());
    }
    Problems::check(list).err().unwrap_or_else(|| Problem::bug("an error without a problem").into())
}

fn keep_inputs(recipe: &Recipe, plan: &Plan, record: &RunRecord, writer: &RunWriter) -> Result<()> {
    writer.plan(plan)?;
    let text = serde_json::to_string_pretty(recipe).map_err(|error| Problem::bug(error.to_string()))?;
    writer.keep("recipe.json", text.as_bytes())?;
    for (path, text) in record.setup.tiers.iter().flat_map(|tier| &tier.files) {
        writer.keep(path, text.as_bytes())?;
    }
    Ok(())
}

/// The kit's consistency check, unless the database is gone: then the dead tier is reason enough.
fn check(
    plan: &Plan,
    stage: &mut Stage,
    recording: &Recording,
    context: &mut Context,
) -> Vec<ConsistencyResult> {
    if plan.kit.check.is_none() || !recording.tier_events.is_empty() {
        return Vec::new();
    }
    context.console.step("checking the data");
    let started = Instant::now();
    let Some(server) = stage.database(plan) else { return Vec::new() };
    let inputs = CheckInputs::of(&recording.totals);
    let results = kit::Kit::open(&context.catalogue, &plan.kit.name)
        .and_then(|kit| kit::check(&kit, &kit::Setup::of_plan(plan), &inputs, &server));
    stage.steps.push(Step { name: "check the data".to_string(), took_s: started.elapsed().as_secs_f64() });
    results.unwrap_or_else(|problems| {
        let sentence = format!("the consistency check could not be made: {problems}");
        vec![ConsistencyResult { name: "the check itself".to_string(), ok: false, sentence }]
    })
}

fn keep_logs(stage: &Stage, writer: &RunWriter) {
    for tier in stage.tiers() {
        for path in &tier.logs {
            let name =
                format!("logs/{}/{}", tier.name, tier.relative(path).display().to_string().replace('/', "-"));
            if let Some(bytes) = end_of(path) {
                // A log that can't be kept is no reason to lose the run.
                let _ = writer.keep(&name, &bytes);
            }
        }
    }
}

fn end_of(path: &Path) -> Option<Vec<u8>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_LOG_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_LOG_BYTES).read_to_end(&mut bytes).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// Fills in everything that follows from the recording.
fn judge(plan: &Plan, recording: &Recording, record: &mut RunRecord) -> Result<()> {
    let mix = plan.kit.sessions().resolve()?;
    let Recording { steady, totals, series, .. } = recording;
    let names = &totals.names;
    let load = &plan.load;
    let little = match load.arrivals {
        Some(_) => Little::of_arrivals(steady, load.is_steady()),
        None => Little::of(steady),
    };
    let host = analysis::host_shares(series, steady);
    record.outcome = recording.outcome;
    record.generator =
        analysis::generator(steady, &little, plan.placement.generator.len(), totals.connects, host);
    record.operations = analysis::operations(steady, names);
    record.operations.retain(|row| row.completed > 0 || !row.errors.is_empty());
    record.phases = analysis::phases(steady);
    record.wire = steady.whole().wire;
    record.targets = analysis::targets(&plan.qos, steady, names);
    record.metrics = analysis::metrics(&plan.kit.metrics, steady, names);
    let operations = record.operations.iter().filter(|row| row.kind == OperationKind::Operation);
    let completed = operations.map(|row| row.completed).sum();
    let sources: Vec<TierSource> = recording
        .sources
        .iter()
        .map(|(tier, source)| TierSource { tier: tier.clone(), source: (*source).to_string() })
        .collect();
    record.tiers = analysis::tiers(series, &sources, steady, completed);
    record.evidence.clone_from(&totals.evidence);
    let shares_cpus = plan.placement.generator.iter().any(|cpu| plan.placement.stack.contains(cpu));
    record.validity = analysis::validity(&ValidityInputs {
        outcome: record.outcome,
        planned_steady_s: plan.load.steady_s,
        steady_s: steady.length_s(),
        users: load.users,
        demand: Some(Demand { load, mix: &mix, think: plan.kit.users.think, steady }),
        shares_cpus,
        generator: &record.generator,
        little: &little,
        targets: &record.targets,
        operations: &record.operations,
        tier_events: &recording.tier_events,
        alarms: &recording.alarms,
        consistency: &record.consistency,
        evidence: &record.evidence,
    });
    record.verdict = analysis::verdict(&VerdictInputs {
        load: &load.headline(),
        checks: &record.validity,
        targets: &record.targets,
        metrics: &record.metrics,
        operations: &record.operations,
    });
    if record.outcome == Outcome::Unfinished {
        record.outcome = Outcome::Aborted;
    }
    Ok(())
}

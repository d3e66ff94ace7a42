//! One run from plan to report: staged, measured, checked, judged, kept.

use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use model::record::Step;
use model::{Plan, Problem, Problems, Recipe, Result};
use store::{Run, Runs};

use crate::bench::judge::{Case, judge, seen};
use crate::bench::measure::{DRAIN_S, measure};
use crate::bench::pace::Planned;
use crate::bench::server::ServerArgs;
use crate::bench::stage::Stage;
use crate::bench::{keep, measuring};
use crate::context::Context;

/// A run that is over and kept.
pub(crate) struct Measured {
    /// The run as kept.
    pub(crate) run: Run,
    /// Its HTML report, if it could be written.
    pub(crate) report: Option<PathBuf>,
}

/// An id for a run, a study or a lab, with the `word` that it is about (a kit's name), and the time it was made.
pub(crate) fn new_id(word: &str) -> (String, String) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let entropy = u64::from(now.subsec_nanos()) << 32 | u64::from(std::process::id());
    (store::new_id(now.as_secs(), word, entropy), store::utc(now.as_secs()))
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
    let rules = context.catalogue.rules()?;
    measuring::hold(context)?;
    let (id, started) = new_id(&plan.kit.name);
    let keep_failed = context.home.join("failed").join(&id);
    let mut stage = Stage::set(plan, server, &id, keep_failed, context)?;
    for warning in std::mem::take(&mut stage.warnings) {
        context.console.note(&format!("note: {warning}"));
    }
    context.interrupt.check()?;
    let runs = Runs::open(&context.home)?;
    let (mut record, mut writer) = keep::begin(&runs, recipe, plan, &stage, (&id, &started), context)?;
    let measuring = Instant::now();
    let mut pace = Planned::of(&plan.load);
    let recording =
        measure(plan, &mut stage, &mut writer, &mut pace, DRAIN_S, context).map_err(|problems| {
            keep::logs(&stage, &writer);
            with_remedy(problems, &format!("what was measured until then is kept: plimsoll show {id}"))
        })?;
    stage.steps.push(Step { name: "drive the users".to_string(), took_s: measuring.elapsed().as_secs_f64() });
    record.consistency = keep::check(plan, &mut stage, &recording, context);
    context.console.step("stopping the stack");
    let stopped = stage.stop();
    keep::logs(&stage, &writer);
    record.steps = std::mem::take(&mut stage.steps);
    let (load, steady, early) = (pace.driven(), &pace.steady, &pace.early);
    record.setup.steady_s = load.steady_s;
    let series = seen(&Run::open(writer.directory())?, steady, early)?;
    let case = Case {
        plan,
        load: &load,
        recording: &recording,
        series: &series,
        steady,
        early,
        rules: &rules,
        unsettled_after_s: None,
        asking: wording::Asking::Run,
    };
    judge(&case, &mut record)?;
    record.setup.load = Some(load);
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

/// The same problems, with what to try for the first one unless it says that itself.
pub(crate) fn with_remedy(problems: Problems, remedy: &str) -> Problems {
    let mut list = problems.into_vec();
    if let Some(first) = list.first_mut() {
        first.remedy.get_or_insert_with(|| remedy.to_string());
    }
    Problems::check(list).err().unwrap_or_else(|| Problem::bug("an error without a problem").into())
}

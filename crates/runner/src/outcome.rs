//! One run from plan to record: staged, measured, checked, judged, kept.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use model::catalogue::rules::Rule;
use model::record::Step;
use model::{Plan, Problems, Recipe, Result, RunRecord};
use store::{Run, RunWriter, Runs};

use crate::by_hand::{ByHand, Wishes};
use crate::environment::Environment;
use crate::fleet::set_up as fleet;
use crate::guests;
use crate::judge::{Case, judge, series_seen};
use crate::keep;
use crate::measure::{DRAIN_S, Recording, SideBySide, measure};
use crate::pace::{Pace, Planned};
use crate::server::ServerAccess;
use crate::standing_stack::StandingStack;

/// A run that is over and kept.
pub struct Measured {
    /// The run as kept.
    pub run: Run,
    /// What failed after the run was kept, which takes nothing away from it.
    pub problems: Vec<Problems>,
}

/// An id for a run, a study or a lab, with the `word` that it is about (a kit's name), and the time it was made. No two of a
/// process are alike, also within a second.
pub fn new_id(word: &str) -> (String, String) {
    /// Odd, so that all suffixes come before one comes again; far from 1, so that processes that follow each other keep
    /// apart.
    const STEP: u64 = 40_503;
    static MADE: AtomicU64 = AtomicU64::new(0);
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let entropy = u64::from(std::process::id()) + STEP * MADE.fetch_add(1, Ordering::Relaxed);
    (store::new_id(now_s, word, entropy), store::utc(now_s))
}

/// Stages, measures, judges and keeps one run of `plan`.
pub fn run(
    recipe: &Recipe,
    plan: &Plan,
    server: &ServerAccess,
    env: &mut Environment<'_>,
) -> Result<Measured> {
    one(recipe, plan, server, None, env)
}

/// The same of a load that is changed by hand, as `wishes` have it.
pub fn explore(
    recipe: &Recipe,
    plan: &Plan,
    server: &ServerAccess,
    wishes: &Wishes,
    env: &mut Environment<'_>,
) -> Result<Measured> {
    one(recipe, plan, server, Some(wishes), env)
}

fn one(
    recipe: &Recipe,
    plan: &Plan,
    server: &ServerAccess,
    wishes: Option<&Wishes>,
    env: &mut Environment<'_>,
) -> Result<Measured> {
    kit::lint(env.catalogue, &plan.kit.name)?;
    kit::check_targets(plan, env.catalogue)?;
    let rules = env.catalogue.rules()?;
    fleet::refuse(env.settings.fleet.as_ref(), plan, env)?;
    env.machine.hold(env.interrupt, env.progress)?;
    if !plan.guests.is_empty() {
        return guests::run(recipe, plan, &rules, env);
    }
    let (id, started) = new_id(&plan.kit.name);
    let mut standing = StandingStack::set_up(plan, server, &id, env)?;
    for warning in std::mem::take(&mut standing.warnings) {
        env.progress.note(&format!("note: {warning}"));
    }
    env.interrupt.check()?;
    let runs = Runs::open(env.home)?;
    let (mut record, mut writer) =
        keep::begin(&runs, recipe, plan, &standing, (&id, &started), env.settings)?;
    record.links = standing.links(plan)?;
    let (measuring, interrupt) = (Instant::now(), env.interrupt);
    let mut drive = |pace: &mut dyn Pace| {
        measure(plan, &mut standing, (&mut writer, pace), DRAIN_S, &SideBySide::default(), env).map_err(
            |problems| {
                keep::logs(&standing, &writer);
                with_remedy(problems, &format!("what was measured until then is kept: plimsoll show {id}"))
            },
        )
    };
    let (recording, pace) = match wishes {
        None => {
            let mut pace = Planned::of(&plan.load);
            (drive(&mut pace)?, pace)
        }
        Some(wishes) => {
            let mut pace = ByHand::of(&plan.load, wishes, interrupt);
            let recording = drive(&mut pace)?;
            record.load_changes = pace.changes;
            (recording, pace.planned)
        }
    };
    standing
        .steps
        .push(Step { name: "drive the users".to_string(), took_s: measuring.elapsed().as_secs_f64() });
    let kept = Driven { plan, recording: &recording, pace: &pace, rules: &rules };
    let stopped = kept.conclude(&mut standing, (record, writer), env)?;
    let closed = standing.close();
    let run = runs.find(&id)?;
    Ok(Measured { run, problems: [stopped, closed.err()].into_iter().flatten().collect() })
}

/// A run that was driven at its planned pace, and is to be kept.
pub(crate) struct Driven<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) recording: &'a Recording,
    pub(crate) pace: &'a Planned,
    pub(crate) rules: &'a [Rule],
}

impl Driven<'_> {
    /// Checks the data, stops the stack, judges and keeps the run; gives what failed in stopping, which takes nothing away from it.
    pub(crate) fn conclude(
        &self,
        standing: &mut StandingStack,
        (mut record, writer): (RunRecord, RunWriter),
        env: &mut Environment<'_>,
    ) -> Result<Option<Problems>> {
        let Driven { plan, recording, pace, rules } = *self;
        standing.links_again(&mut record.links);
        record.consistency = keep::check(plan, standing, recording, env.catalogue, env.progress);
        env.progress.step("stopping the stack");
        let stopped = standing.stop();
        keep::logs(standing, &writer);
        record.aborted = keep::aborted(recording, standing, &writer);
        record.steps = std::mem::take(&mut standing.steps);
        let (load, steady, early) = (pace.driven(), &pace.steady, &pace.early);
        record.setup.steady_s = load.steady_s;
        let kept = Run::open(writer.directory())?;
        let series = series_seen(&kept, steady, early)?;
        let case = Case {
            plan,
            load: &load,
            recording,
            run: &kept,
            series: &series,
            steady,
            early,
            rules,
            unsettled_after_s: None,
            asking: wording::Asking::Run,
        };
        judge(&case, &mut record)?;
        record.setup.load = Some(load);
        writer.finish(&record)?;
        Ok(stopped.and(standing.keep_run()).err())
    }
}

/// The same problems, with what to try for the first one unless it says that itself.
pub fn with_remedy(problems: Problems, remedy: &str) -> Problems {
    problems.with_first(|first| _ = first.remedy.get_or_insert_with(|| remedy.to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::new_id;

    #[test]
    fn ids_of_the_same_second_differ() {
        let ids: BTreeSet<String> = (0..1000).map(|_| new_id("dvdstore").0).collect();
        assert_eq!(ids.len(), 1000);
    }
}

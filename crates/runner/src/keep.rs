//! What a run keeps beside its seconds: what was to be done, the servers' logs, the check of the data.

use std::time::{Duration, Instant};

use analysis::{TierEvent, TierFault};
use kit::{CheckInputs, CheckOptions};
use model::catalogue::fault_file::Injection;
use model::record::calls::{Aborted, Core};
use model::record::diagnosis::Injected;
use model::record::{ConsistencyResult, RunRecord, Step};
use model::{Catalogue, FaultFile, Plan, Problem, Recipe, Result, units};
use store::{RunWriter, Runs};
use testbed::CoreFile;

use crate::environment::Settings;
use crate::fleet::standing::FleetRecording;
use crate::measure::Recording;
use crate::progress::Progress;
use crate::setup;
use crate::standing_stack::{StandingStack, checks_a_database};

/// Server logs are kept up to this size each: the end says more than the beginning.
const MAX_LOG_BYTES: u64 = 4 << 20;

/// Servers may still be at work for users who were cut off. Number of looks in a row, with a pause in
/// between, that must see no open transaction: a request may be between two of them.
const QUIET_LOOKS: u32 = 2;
const PAUSE: Duration = Duration::from_millis(500);
/// They are waited for no longer than this.
const QUIET_TIMEOUT: Duration = Duration::from_secs(10);

/// Begins to keep a run of `plan` on `standing` among `runs`, under the id and the time of its start.
pub(crate) fn begin(
    runs: &Runs,
    recipe: &Recipe,
    plan: &Plan,
    standing: &StandingStack,
    (id, started): (&str, &str),
    Settings { origin, abort_on, .. }: &Settings,
) -> Result<(RunRecord, RunWriter)> {
    let mut record = setup::unfinished(plan, id, started, origin);
    record.setup.tiers = setup::tiers(plan, standing.tiers(), standing.carried_by());
    record.setup.abort_on = abort_on.as_ref().map(ToString::to_string);
    record.setup.machine_settings = standing.machine.clone();
    setup::elsewhere(plan, standing.elsewhere.as_ref(), &mut record.setup);
    record.dataset = standing.dataset.clone();
    record.file_set = standing.file_set.as_ref().map(|files| files.result.clone());
    record.injected = plan.fault.as_ref().map(|fault| injected(fault, recipe.fault.clone()));
    let writer = runs.create(&record)?;
    writer.plan(plan)?;
    let text = serde_json::to_string_pretty(recipe).map_err(|error| Problem::bug(error.to_string()))?;
    writer.keep("recipe.json", text.as_bytes())?;
    for (path, text) in record.setup.tiers.iter().flat_map(|tier| &tier.files) {
        writer.keep(path, text.as_bytes())?;
    }
    Ok((record, writer))
}

/// What was done on purpose, as the record says it. A control says so too: nothing was done.
fn injected(fault: &FaultFile, name: Option<String>) -> Injected {
    let done = fault.injections.iter().map(Injection::sentence).collect();
    Injected { fault: name, title: fault.title.clone(), done }
}

/// The kit's consistency check, unless the database that it needs is gone, where the dead tier is reason enough, or is
/// somebody else's. It goes by everything that users were told since the stack stands.
pub(crate) fn check(
    plan: &Plan,
    standing: &mut StandingStack,
    recording: &Recording,
    catalogue: &Catalogue,
    progress: &mut dyn Progress,
) -> Vec<ConsistencyResult> {
    // Nobody was told what the users of a lost agent did last.
    if recording.fleet.as_ref().is_some_and(FleetRecording::has_lost) {
        return Vec::new();
    }
    standing.answers.go_on(CheckInputs::of(&recording.totals));
    let names: Vec<&str> =
        plan.database().into_iter().chain(plan.shards()).map(|tier| tier.name.as_str()).collect();
    let ended = recording.tier_events.iter().filter(|event| event.ends_the_tier());
    let gone = ended.into_iter().any(|event| names.contains(&event.tier.as_str()));
    // Without a part of the rows there is nothing that could be said of all.
    let whole = plan
        .shards()
        .is_none_or(|tier| standing.databases(Some(tier), plan).len() == tier.instances as usize);
    let gone = gone || !whole;
    let needed = checks_a_database(&plan.kit);
    let databases = if needed && !gone { standing.databases(plan.database(), plan) } else { Vec::new() };
    if plan.kit.check.is_none() || (needed && databases.is_empty()) {
        return Vec::new();
    }
    progress.step("checking the data");
    let started = Instant::now();
    let cut_off = !recording.tier_events.is_empty();
    let results = examine(plan, standing, &databases, cut_off, catalogue, progress);
    standing.steps.push(Step { name: "check the data".to_string(), took_s: started.elapsed().as_secs_f64() });
    results.unwrap_or_else(|problems| {
        let sentence = format!("the consistency check could not be made: {problems}");
        vec![ConsistencyResult { name: "the check itself".to_string(), ok: false, sentence }]
    })
}

fn examine(
    plan: &Plan,
    standing: &StandingStack,
    databases: &[(usize, kit::Server)],
    cut_off: bool,
    catalogue: &Catalogue,
    progress: &mut dyn Progress,
) -> Result<Vec<ConsistencyResult>> {
    let kit = kit::Kit::open(catalogue, &plan.kit.name)?;
    let database = databases.first().map(|(_, server)| server);
    // Where the rows are is where transactions are open.
    let rows = plan.shards().map(|tier| standing.databases(Some(tier), plan));
    let asked: Vec<&kit::Server> = match &rows {
        Some(rows) => rows.iter().map(|(_, server)| server).collect(),
        None => database.into_iter().collect(),
    };
    let open = || asked.iter().try_fold(0, |sum, server| Ok(sum + kit::open_transactions(server)?));
    if cut_off && !asked.is_empty() && !wait_until_quiet(open, PAUSE, QUIET_TIMEOUT)? {
        let after = units::show_seconds(QUIET_TIMEOUT.as_secs_f64());
        let text = format!("transactions are still open after {after}: the check may find work half done");
        progress.note(&text);
    }
    let mut results = kit::check(CheckOptions {
        kit: &kit,
        setup: &kit::Setup::of_plan(plan),
        inputs: &standing.answers,
        database,
        web: Some(&standing.target),
        files: standing.data_files().as_deref(),
        on_answer: &mut |answers| progress.still(&format!("checking the data: {answers} answers")),
    })?;
    if databases.len() > 1 && rows.is_none() {
        progress.step("comparing the nodes' data");
        results.push(copies(databases)?);
    }
    Ok(results)
}

/// Whether the nodes of a cluster that live have the same rows.
fn copies(databases: &[(usize, kit::Server)]) -> Result<ConsistencyResult> {
    let servers: Vec<kit::Server> = databases.iter().map(|(_, server)| server.clone()).collect();
    let copies = kit::compare_copies(&servers)?;
    let nodes: Vec<usize> = databases.iter().map(|(number, _)| *number).collect();
    let ok = copies.different.is_empty();
    let sentence = wording::copies(copies.tables, &nodes, &copies.different);
    Ok(ConsistencyResult { name: "all nodes have the same rows".to_string(), ok, sentence })
}

/// Waits until nobody writes any more, by what `open` says of open transactions; whether it came to that.
fn wait_until_quiet(
    mut open: impl FnMut() -> Result<u64>,
    pause: Duration,
    timeout: Duration,
) -> Result<bool> {
    let started = Instant::now();
    let mut quiet = 0;
    loop {
        quiet = if open()? == 0 { quiet + 1 } else { 0 };
        if quiet == QUIET_LOOKS || started.elapsed() >= timeout {
            return Ok(quiet == QUIET_LOOKS);
        }
        std::thread::sleep(pause);
    }
}

/// Keeps the servers' logs, as far as they can be read.
pub(crate) fn logs(standing: &StandingStack, writer: &RunWriter) {
    for tier in standing.tiers() {
        for path in &tier.logs {
            let name =
                format!("logs/{}/{}", tier.name, tier.relative(path).display().to_string().replace('/', "-"));
            let bytes = tier.log_end(path, MAX_LOG_BYTES);
            if !bytes.is_empty() {
                // A log that can't be kept is no reason to lose the run.
                let _ = writer.keep_private(&name, &bytes);
            }
        }
    }
}

/// The process that was ended for a wait, with its core kept, where one was left.
pub(crate) fn aborted(
    recording: &Recording,
    standing: &StandingStack,
    writer: &RunWriter,
) -> Option<Aborted> {
    let found = |event: &TierEvent| match &event.fault {
        TierFault::Aborted(aborted) => Some(aborted.clone()),
        _ => None,
    };
    let aborted = recording.tier_events.iter().find_map(found)?;
    let tier = standing.tiers().iter().find(|tier| tier.name == aborted.tier)?;
    let core = match testbed::core_file(tier, aborted.process) {
        CoreFile::At(path) => {
            let name = format!("cores/{}-{}", tier.name, aborted.process);
            // One that can't be kept is no reason to lose the run.
            writer.take(&name, &path).map_or(Core::Missing, |()| Core::Kept(name))
        }
        CoreFile::GivenTo(program) => Core::GivenTo(program),
        CoreFile::Missing => Core::Missing,
    };
    Some(Aborted { core, ..aborted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_checked_when_no_transaction_is_open_twice_in_a_row_or_after_a_while() {
        let mut looks = [2, 0, 1, 0, 0, 7].into_iter();
        let pause = Duration::from_micros(1);
        let seen = wait_until_quiet(|| Ok(looks.next().unwrap_or_default()), pause, QUIET_TIMEOUT);
        assert_eq!((seen, looks.next()), (Ok(true), Some(7)), "the fifth look was the last");
        assert_eq!(wait_until_quiet(|| Ok(1), pause, Duration::from_millis(2)), Ok(false));
    }
}

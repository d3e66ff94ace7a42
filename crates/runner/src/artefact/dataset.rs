//! The data set of a plan: made once, kept as a snapshot of the server's data directory, copied for each run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::data::{LoadOptions, Phase, Progress as Loading};
use model::record::{DatasetResult, Step};
use model::{Plan, Problem, Result, units};
use serde_json::Value as Json;
use testbed::{Lab, Stack, snapshot};

use crate::artefact::lock;
use crate::environment::Environment;
use crate::progress::Progress;
use crate::stage::{self, Kept};

/// The version of `dataset.json`.
const FORMAT: u64 = 1;
const ABOUT: &str = "dataset.json";

/// A data set at hand.
pub(crate) struct Dataset {
    /// The data directory to copy.
    pub(crate) path: PathBuf,
    /// For the record.
    pub(crate) result: DatasetResult,
}

/// Where data sets are kept.
pub fn folder(home: &Path) -> PathBuf {
    home.join("datasets")
}

/// The plan's data set: an earlier snapshot, or a new one. `None` for a kit or a stack without a database.
pub(crate) fn ensure(
    plan: &Plan,
    lab: &Lab,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<Option<Dataset>> {
    let Some(tier) = plan.database().filter(|_| plan.kit.schema.is_some() || plan.kit.data.is_some()) else {
        return Ok(None);
    };
    let kit = kit::Kit::open(env.catalogue, &plan.kit.name)?;
    let setup = kit::Setup::of_plan(plan);
    let program = testbed::program::of_service(&testbed::Needed::by_tier(tier, &plan.kit)?, env.home)?;
    let version = testbed::program::version(&program, &tier.service);
    let server_word = format!("{} {}", tier.service.name, version.line);
    let id = kit::data::dataset_id(&kit, &setup, &plan.size.label, &server_word)?;
    let place = folder(env.home).join(&id);
    if let Some(result) = read_about(&place, &id) {
        return Ok(Some(Dataset { path: place.join("data"), result }));
    }
    let lock = lock::hold(&folder(env.home), &id, "data set", env.interrupt, env.progress)?;
    let result = match read_about(&place, &id) {
        // Another plimsoll has made it meanwhile.
        Some(result) => result,
        None => {
            env.progress.step(&format!("making data set {id}: this is done once"));
            make(plan, &kit, &setup, &id, lab, steps, env)?
        }
    };
    drop(lock);
    Ok(Some(Dataset { path: place.join("data"), result }))
}

/// The database server of a running stack.
pub(crate) fn server(plan: &Plan, stack: &Stack) -> Option<kit::Server> {
    let tier = plan.database()?;
    let database = tier.service.database.as_ref()?;
    let socket = stack.tier(&tier.name)?.sockets.get(&database.socket)?.clone();
    Some(kit::Server { socket, user: database.user.clone(), database: plan.kit.database_name().to_string() })
}

fn make(
    plan: &Plan,
    kit: &kit::Kit,
    setup: &kit::Setup,
    id: &str,
    lab: &Lab,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<DatasetResult> {
    let started = Instant::now();
    let keep_failed = env.home.join("failed").join(id);
    let (mut stack, _) = stage::start(plan, lab, Kept::default(), true, &keep_failed, steps, env)?;
    let server = server(plan, &stack).ok_or_else(|| Problem::bug("the database tier has no socket"))?;
    let loaded = {
        let (progress, interrupt) = (&mut *env.progress, env.interrupt);
        let mut rows = RowsProgress { started: None };
        kit::data::load(LoadOptions {
            kit,
            setup,
            server: &server,
            threads: all_cpus(plan),
            on_progress: &mut |loading| rows.show(&loading, progress),
            cancelled: &interrupt.cancelled,
        })
        .map_err(|problems| with_log(problems, &mut stack))?
    };
    steps.push(Step { name: "load the data".to_string(), took_s: loaded.took_s });
    env.progress.step("shutting the database down clean and keeping a snapshot");
    stack.stop()?;
    let data_dir = stack.tiers().iter().find_map(|tier| tier.data_dir.clone());
    let data_dir = data_dir.ok_or_else(|| Problem::bug("the database tier has no data directory"))?;
    let bytes = publish(plan, id, &data_dir, lab, env, |bytes| {
        about(id, bytes, &loaded.rows, started.elapsed().as_secs_f64())
    })?;
    let load_s = started.elapsed().as_secs_f64();
    let rows: u64 = loaded.rows.values().sum();
    env.progress.done(&format!(
        "data set {id}: {rows} rows, {} on disk, made in {}",
        units::show_bytes(bytes),
        units::show_seconds(load_s)
    ));
    Ok(DatasetResult { id: id.to_string(), bytes, rows: loaded.rows, load_s, reused: false, copy_s: 0.0 })
}

/// Copies the data directory beside its place and gives it its name by one rename: a data set is whole or not there.
fn publish(
    plan: &Plan,
    id: &str,
    data_dir: &Path,
    lab: &Lab,
    env: &Environment<'_>,
    about: impl Fn(u64) -> Json,
) -> Result<u64> {
    let folder = folder(env.home);
    let lab_word = lab.dir().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let half = folder.join(format!(".half-{lab_word}"));
    let place = folder.join(id);
    let io = |what: &str, error: &std::io::Error| {
        Problem::environment(format!("failed to {what} the data set: {error}"))
            .file(half.display().to_string())
    };
    fs::create_dir_all(&half).map_err(|error| io("make room for", &error))?;
    let leave_out = plan.database().and_then(|tier| tier.service.database.as_ref());
    let leave_out = leave_out.map(|database| database.leave_out.clone()).unwrap_or_default();
    let copied = snapshot::copy(data_dir, &half.join("data"), &leave_out).and_then(|report| {
        let text = serde_json::to_string_pretty(&about(report.bytes)).unwrap_or_default();
        fs::write(half.join(ABOUT), text).map_err(|error| io("describe", &error))?;
        set_aside(&place, &folder.join(format!(".broken-{lab_word}")))
            .map_err(|error| io("replace", &error))?;
        snapshot::publish(&half, &place)?;
        Ok(report.bytes)
    });
    if half.exists() {
        let _ = fs::remove_dir_all(&half);
    }
    copied
}

/// Removes what has a data set's name but can't be read: it is not used by anybody, and whoever holds the lock makes it
/// anew.
pub(crate) fn set_aside(place: &Path, broken: &Path) -> std::io::Result<()> {
    if place.exists() {
        fs::rename(place, broken)?;
        let _ = fs::remove_dir_all(broken);
    }
    Ok(())
}

fn about(id: &str, bytes: u64, rows: &std::collections::BTreeMap<String, u64>, load_s: f64) -> Json {
    serde_json::json!({ "format": FORMAT, "id": id, "bytes": bytes, "rows": rows, "load_s": load_s })
}

/// What is kept under a data set's name, if it is whole and of a version that this tool knows.
fn read_about(place: &Path, id: &str) -> Option<DatasetResult> {
    let about: Json = serde_json::from_slice(&fs::read(place.join(ABOUT)).ok()?).ok()?;
    if about.get("format")?.as_u64()? != FORMAT || !place.join("data").is_dir() {
        return None;
    }
    let rows = about.get("rows")?.as_object()?;
    Some(DatasetResult {
        id: id.to_string(),
        bytes: about.get("bytes")?.as_u64()?,
        rows: rows.iter().filter_map(|(table, count)| Some((table.clone(), count.as_u64()?))).collect(),
        load_s: about.get("load_s")?.as_f64()?,
        reused: true,
        copy_s: 0.0,
    })
}

/// Loading is no measurement: it may use the generator's CPUs too.
pub(crate) fn all_cpus(plan: &Plan) -> usize {
    let mut cpus = [plan.placement.stack.clone(), plan.placement.generator.clone()].concat();
    cpus.sort_unstable();
    cpus.dedup();
    cpus.len()
}

/// When the server died of it, its own log says why.
fn with_log(problems: model::Problems, stack: &mut Stack) -> model::Problems {
    let deaths = stack.deaths();
    let Some(death) = deaths.first() else { return problems };
    let mut list = problems.into_vec();
    if let Some(first) = list.first_mut() {
        let tail = death.log_tail.join("\n    ");
        first.what =
            format!("{}\n  {} ended ({}); its log says:\n    {tail}", first.what, death.tier, death.status);
    }
    match model::Problems::check(list) {
        Err(problems) => problems,
        Ok(()) => Problem::bug("an error without a problem").into(),
    }
}

struct RowsProgress {
    started: Option<Instant>,
}

impl RowsProgress {
    fn show(&mut self, loading: &Loading, progress: &mut dyn Progress) {
        if loading.phase != Phase::Rows || loading.total == 0 {
            let doing = if loading.doing.is_empty() { String::new() } else { format!(": {}", loading.doing) };
            let text = format!("{}{doing}", loading.phase.title());
            return match loading.total {
                0 => progress.step(&text),
                total => progress.advance(&text, loading.done as f64 / total as f64),
            };
        }
        let started = *self.started.get_or_insert_with(Instant::now);
        let ratio = loading.done as f64 / loading.total as f64;
        let left = match started.elapsed().as_secs_f64() {
            elapsed if elapsed > 1.0 && ratio > 0.01 => {
                format!(", {} left", units::show_seconds((elapsed / ratio - elapsed).max(1.0).round()))
            }
            _ => String::new(),
        };
        let bytes = units::show_bytes(loading.bytes);
        progress
            .advance(&format!("loading rows: {} of {}, {bytes}{left}", loading.done, loading.total), ratio);
    }
}

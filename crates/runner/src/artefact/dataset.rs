//! The data set of a plan: made once, kept as a snapshot of the server's data directory, copied for each run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::data::{LoadOptions, Loaded, Phase, Progress as Loading};
use model::record::plan::PlanTier;
use model::record::{DatasetResult, Step};
use model::{Problem, Result, units};
use serde_json::Value as Json;

use crate::artefact::cache::{self, Artefact, Found, all_cpus};
use crate::artefact::filling::Filling;
use crate::environment::Environment;
use crate::progress::Progress;
use crate::servers::Ground;

/// The version of `dataset.json`.
const FORMAT: u64 = 1;
const ABOUT: &str = "dataset.json";
/// The data directory, below what is kept.
const DATA: &str = "data";

/// A data set at hand.
pub(crate) struct Dataset {
    /// The data directory to copy.
    pub(crate) path: PathBuf,
    /// For the record.
    pub(crate) result: DatasetResult,
}

/// The plan's data set: an earlier snapshot, or a new one. `None` for a kit or a stack without a database.
pub(crate) fn ensure(
    ground: Ground<'_>,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<Option<Dataset>> {
    let plan = ground.plan;
    // Where rows are shared out, the whole of them is made first.
    let tier = plan.shards().or(plan.database());
    let Some(tier) = tier.filter(|_| plan.kit.schema.is_some() || plan.kit.data.is_some()) else {
        return Ok(None);
    };
    let kit = kit::Kit::open(env.catalogue, &plan.kit.name)?;
    let setup = kit::Setup::of_plan(plan);
    let server_word = server_word(tier, &ground.version(tier, env.home)?);
    let id = kit::data::dataset_id(&kit, &setup, &plan.size.label, &server_word)?;
    let mut wanted = Wanted { ground, tier, kit, setup, id, steps };
    cache::ensure(&mut wanted, env).map(Some)
}

/// Whose data directory it is: the server's name and version, and those knobs that the directory depends on where they don't have
/// their defaults.
fn server_word(tier: &PlanTier, version: &str) -> String {
    let mut word = format!("{} {version}", tier.service.name);
    let kept_by = tier.service.database.as_ref().map_or(&[][..], |database| &database.kept_by);
    for knob in tier.service.knobs.iter().filter(|knob| kept_by.contains(&knob.name)) {
        match tier.values.get(&knob.name) {
            Some(value) if *value != knob.default => word.push_str(&format!(" {}={value}", knob.name)),
            _ => {}
        }
    }
    word
}

/// A data set that is to be at hand.
struct Wanted<'a> {
    ground: Ground<'a>,
    /// Whose server it is loaded into.
    tier: &'a PlanTier,
    kit: kit::Kit,
    setup: kit::Setup,
    id: String,
    steps: &'a mut Vec<Step>,
}

impl Artefact for Wanted<'_> {
    const FOLDER: &'static str = cache::DATA_SETS;
    type Ready = Dataset;

    fn kind(&self) -> &'static str {
        "data set"
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn open(&self, place: &Path, _env: &mut Environment<'_>) -> Result<Found<Dataset>> {
        let result = read_about(place, &self.id);
        Ok(result.map(|result| Dataset { path: place.join(DATA), result }).into())
    }

    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<Dataset> {
        let id = &self.id;
        env.progress.step(&format!("making data set {id}: this is done once"));
        let started = Instant::now();
        let failed = |what: &str, error: &std::io::Error| {
            Problem::environment(format!("failed to {what} the data set: {error}"))
                .file(half.display().to_string())
        };
        fs::create_dir_all(half).map_err(|error| failed("make room for", &error))?;
        let filling = Filling { ground: self.ground, tier: self.tier, failed: env.failed(id) };
        let (kit, setup, threads) = (&self.kit, &self.setup, all_cpus(self.ground.plan).len());
        let (bytes, loaded) = filling.run((None, &half.join(DATA)), self.steps, env, |server, env| {
            load((kit, setup), server, threads, env)
        })?;
        self.steps.push(Step { name: "load the data".to_string(), took_s: loaded.took_s });
        let rows = loaded.rows;
        let load_s = started.elapsed().as_secs_f64();
        let text = serde_json::to_string_pretty(&about(id, bytes, &rows, load_s)).unwrap_or_default();
        fs::write(half.join(ABOUT), text).map_err(|error| failed("describe", &error))?;
        env.progress.done(&format!(
            "data set {id}: {} rows, {} on disk, made in {}",
            rows.values().sum::<u64>(),
            units::show_bytes(bytes),
            units::show_seconds(load_s)
        ));
        let result =
            DatasetResult { id: id.clone(), bytes, rows, load_s, reused: false, copy_s: 0.0, disk_bytes: 0 };
        Ok(Dataset { path: place.join(DATA), result })
    }
}

/// Loads the rows into a database of its own.
fn load(
    (kit, setup): (&kit::Kit, &kit::Setup),
    server: &kit::Server,
    threads: usize,
    env: &mut Environment<'_>,
) -> Result<Loaded> {
    let (progress, interrupt) = (&mut *env.progress, env.interrupt);
    let mut rows = RowsProgress { started: None };
    kit::data::load(LoadOptions {
        kit,
        setup,
        server,
        threads,
        on_progress: &mut |loading| rows.show(&loading, progress),
        cancelled: &interrupt.cancelled,
    })
}

fn about(id: &str, bytes: u64, rows: &BTreeMap<String, u64>, load_s: f64) -> Json {
    serde_json::json!({ "format": FORMAT, "id": id, "bytes": bytes, "rows": rows, "load_s": load_s })
}

/// What is kept under a data set's name, if it is whole and of a version that this tool knows.
fn read_about(place: &Path, id: &str) -> Option<DatasetResult> {
    let about: Json = serde_json::from_slice(&fs::read(place.join(ABOUT)).ok()?).ok()?;
    if about.get("format")?.as_u64()? != FORMAT || !place.join(DATA).is_dir() {
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
        disk_bytes: 0,
    })
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

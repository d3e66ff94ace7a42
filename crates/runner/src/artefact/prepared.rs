//! What a kit's `[prepare]` leaves in the database and in the file set, where it says `keep`: made once on a stack of its own, kept
//! beside the data it was made from, and what every later stack starts from.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::files::MADE;
use model::catalogue::kit::Writable;
use model::record::Step;
use model::record::plan::PlanTier;
use model::{Plan, Problem, Result, units};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use testbed::{Snapshots, Stack, snapshot};

use crate::artefact::cache::{self, Artefact, Found};
use crate::artefact::file_set::FileSet;
use crate::environment::Environment;
use crate::preparing;
use crate::servers::{self, Ground, Prepared};
use crate::standing_stack::with_logs;

/// The version of `prepared.json`.
const FORMAT: u64 = 1;
const ABOUT: &str = "prepared.json";
/// The databases' data directories, below what is kept.
const DATA: &str = "data";

/// What stacks start from, before and after the application was prepared.
pub(crate) struct Base<'a> {
    pub(crate) snapshots: Snapshots,
    pub(crate) files: Option<&'a mut FileSet>,
    /// What the application was built into.
    pub(crate) built: Option<&'a Path>,
}

/// Lets `base` be the prepared one where the kit keeps what its preparation leaves; what the databases start from.
///
/// # Errors
/// A kit of which nothing can be kept; what preparing it says.
pub(crate) fn ensure(
    ground: Ground<'_>,
    base: Base<'_>,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<Snapshots> {
    if !ground.plan.kit.prepare.as_ref().is_some_and(|prepare| prepare.keep) {
        return Ok(base.snapshots);
    }
    check(ground.plan)?;
    let id = id(ground, &base, env)?;
    // What a fault does to a stack, and which port is asked for, is not this one's business.
    let plan = Plan { fault: None, port: None, ..ground.plan.clone() };
    let ground = Ground { plan: &plan, ..ground };
    let Base { snapshots, files, built } = base;
    let from = Prepared { snapshots: &snapshots, files: files.as_ref().map(|set| set.root.as_path()), built };
    let made = cache::ensure(&mut Wanted { ground, from, id, steps }, env)?;
    if let (Some(set), Some(root)) = (files, made.files) {
        set.settled(root, made.took_s, made.reused);
        // The application may have removed what the kit's script made.
        set.paths.retain(|path| path.exists());
    }
    Ok(made.snapshots)
}

/// Refuses what can't be kept.
fn check(plan: &Plan) -> Result<()> {
    let databases: Vec<&PlanTier> =
        plan.tiers.iter().filter(|tier| tier.service.database.is_some()).collect();
    let problem = |what: &str| {
        Problem::recipe(what).file(format!("kits/{}/kit.toml", plan.kit.name)).key("prepare.keep")
    };
    if databases.len() > 1 || databases.iter().any(|tier| tier.instances > 1) {
        let problem =
            problem("what prepares the application can't be kept where several servers have the database");
        return Err(problem.remedy("keep = false, or a stack with one database server").into());
    }
    if databases.is_empty() && !writes(plan) {
        let problem = problem(
            "nothing of what prepares the application could be kept: no database, no file set that is written into",
        );
        let why = "what it writes elsewhere goes with its stack, the document root too";
        return Err(problem.why(why).remedy("keep = false, or [file_set] writable = \"copy\"").into());
    }
    Ok(())
}

/// Whether servers write into the file set.
fn writes(plan: &Plan) -> bool {
    plan.kit.file_set.as_ref().is_some_and(|set| set.writable != Writable::No)
}

/// A name for it: another for another kit, size, seed, data, command, application, setting of the kit or server.
fn id(ground: Ground<'_>, base: &Base<'_>, env: &Environment<'_>) -> Result<String> {
    let plan = ground.plan;
    let mut hash = Sha256::new();
    let mut add = |name: &str, bytes: &[u8]| {
        for part in [name.as_bytes(), bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    };
    let kit = &plan.kit;
    let told = serde_json::json!([
        kit.version,
        kit.needs,
        kit.prepare,
        kit.front_controller,
        plan.size.values,
        plan.params
    ]);
    add("kit", told.to_string().as_bytes());
    add("seed", kit::Setup::of_plan(plan).seed.to_string().as_bytes());
    let app = kit.app.as_ref().map(|app| format!("kits/{}/{}", kit.name, app.trim_end_matches('/')));
    for (name, bytes) in app.iter().flat_map(|app| env.catalogue.below(app)) {
        add(name, bytes);
    }
    let places = base.snapshots.values().flatten().map(PathBuf::as_path);
    let places = places.chain(base.files.as_ref().map(|set| set.root.as_path())).chain(base.built);
    for place in places {
        add("from", place.strip_prefix(env.home).unwrap_or(place).to_string_lossy().as_bytes());
    }
    for tier in &plan.tiers {
        add(&tier.service.name, ground.version(tier, env.home)?.as_bytes());
    }
    let word: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let label: String = plan.size.label.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    Ok(format!("{}-{label}-prepared-{word}", kit.name))
}

/// A prepared start at hand.
struct Made {
    snapshots: Snapshots,
    /// The file set, where it is written into.
    files: Option<PathBuf>,
    /// How long it took, just now or when it was made.
    took_s: f64,
    reused: bool,
}

struct Wanted<'a> {
    ground: Ground<'a>,
    from: Prepared<'a>,
    id: String,
    steps: &'a mut Vec<Step>,
}

impl Artefact for Wanted<'_> {
    const FOLDER: &'static str = cache::DATA_SETS;
    type Ready = Made;

    fn kind(&self) -> &'static str {
        "prepared application"
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn open(&self, place: &Path, _env: &mut Environment<'_>) -> Result<Found<Made>> {
        let about = fs::read(place.join(ABOUT)).ok();
        let about: Option<Json> = about.and_then(|text| serde_json::from_slice(&text).ok());
        let known = about.filter(|about| about["format"].as_u64() == Some(FORMAT));
        let took_s = known.and_then(|about| about["took_s"].as_f64());
        Ok(took_s.map(|took_s| self.at(place, took_s, true)).into())
    }

    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<Made> {
        env.progress.note(&format!("the application is prepared once, as {}", self.id));
        let started = Instant::now();
        let failed = |error: std::io::Error| {
            Problem::environment(format!("failed to keep the prepared application: {error}"))
                .file(half.display().to_string())
        };
        fs::create_dir_all(half).map_err(failed)?;
        // Those of a stack that only stands to be prepared are nobody's.
        let mut unseen = Vec::new();
        let keep_failed = env.failed(&self.id);
        let (mut stack, _) = servers::start(self.ground, self.from, None, &keep_failed, &mut unseen, env)?;
        let prepared = preparing::carry_out(self.ground.plan, &stack, &mut unseen, env);
        prepared.map_err(|problems| with_logs(problems, &stack))?;
        env.progress.step("stopping the servers and keeping what the application has made");
        self.keep(&mut stack, half)?;
        let took_s = started.elapsed().as_secs_f64();
        let about = serde_json::json!({ "format": FORMAT, "id": self.id, "took_s": took_s });
        fs::write(half.join(ABOUT), format!("{about:#}")).map_err(failed)?;
        self.steps.push(Step { name: "prepare the application and keep it".to_string(), took_s });
        env.progress.done(&format!(
            "prepared application {}: made in {}",
            self.id,
            units::show_seconds(took_s)
        ));
        Ok(self.at(place, took_s, false))
    }
}

impl Wanted<'_> {
    fn at(&self, place: &Path, took_s: f64, reused: bool) -> Made {
        let databases = self.ground.plan.tiers.iter().filter(|tier| tier.service.database.is_some());
        let snapshots =
            databases.map(|tier| (tier.name.clone(), vec![place.join(DATA).join(&tier.name)])).collect();
        let files = writes(self.ground.plan).then(|| place.join(MADE));
        Made { snapshots, files, took_s, reused }
    }

    /// Stops the servers and keeps at `half` what they leave.
    fn keep(&self, stack: &mut Stack, half: &Path) -> Result<()> {
        let stopped = stack.stop()?;
        for tier in &self.ground.plan.tiers {
            let Some(database) = &tier.service.database else { continue };
            if !stopped.iter().any(|one| one.tier == tier.name && one.clean) {
                return Err(Problem::environment(
                    "the database did not shut down by itself after the application was prepared",
                )
                .tier(&tier.name)
                .why("only a data directory that was shut down clean is kept")
                .into());
            }
            let data = stack.tier(&tier.name).and_then(|standing| standing.data_dir.clone());
            let data = data.ok_or_else(|| Problem::bug("the database tier has no data directory"))?;
            snapshot::copy(&data, &half.join(DATA).join(&tier.name), &database.leave_out)?;
        }
        if writes(self.ground.plan) { stack.keep_files(&half.join(MADE)) } else { Ok(()) }
    }
}

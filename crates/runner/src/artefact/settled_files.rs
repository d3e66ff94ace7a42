//! A file set with what its servers work out when they first read it: made once for each version of them, so that a stack
//! that was set up anew has seen its files, as one that serves for long has.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::files::MADE;
use model::catalogue::kit::Writable;
use model::record::Step;
use model::record::plan::PlanTier;
use model::{Problem, Result, units};
use serde_json::Value as Json;

use crate::artefact::cache::{self, Artefact, Found};
use crate::artefact::file_set::FileSet;
use crate::environment::Environment;
use crate::servers::{self, Ground};

/// The version of `settled.json`.
const FORMAT: u64 = 1;
const ABOUT: &str = "settled.json";

/// Lets `set` be the settled one where runs write into it and a tier settles files.
pub(crate) fn ensure(
    ground: Ground<'_>,
    set: &mut FileSet,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<()> {
    let plan = ground.plan;
    let writable = plan.kit.file_set.as_ref().is_some_and(|files| files.writable != Writable::No);
    let tiers: Vec<&PlanTier> =
        plan.tiers.iter().filter(|tier| !tier.service.files_settles.is_empty()).collect();
    if !writable || tiers.is_empty() {
        return Ok(());
    }
    let mut id = set.result.id.clone();
    for tier in &tiers {
        let version = ground.version(tier, env.home)?;
        id += &format!("-{}-{}", tier.service.name, plain(&version));
    }
    let commands = tiers.iter().map(|tier| serde_json::json!(tier.service.files_settles)).collect();
    let mut wanted = Wanted { ground, files: (&set.root.clone(), set.result.files), id, commands, steps };
    let Settled { root, made_s, reused } = cache::ensure(&mut wanted, env)?;
    set.settled(root, made_s, reused);
    Ok(())
}

/// What of a version can stand in a file's name.
fn plain(version: &str) -> String {
    version
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' })
        .collect()
}

/// A settled set at hand.
struct Settled {
    root: PathBuf,
    /// How long it took, just now or when it was made.
    made_s: f64,
    reused: bool,
}

struct Wanted<'a> {
    ground: Ground<'a>,
    /// Where they are, and how many.
    files: (&'a Path, u64),
    id: String,
    /// Those of each tier, as its manifest has them.
    commands: Json,
    steps: &'a mut Vec<Step>,
}

impl Artefact for Wanted<'_> {
    const FOLDER: &'static str = cache::DATA_SETS;
    type Ready = Settled;

    fn kind(&self) -> &'static str {
        "settled file set"
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn open(&self, place: &Path, _env: &mut Environment<'_>) -> Result<Found<Settled>> {
        let about = fs::read(place.join(ABOUT)).ok();
        let about: Option<Json> = about.and_then(|text| serde_json::from_slice(&text).ok());
        let known = about
            .filter(|about| about["format"].as_u64() == Some(FORMAT) && about["commands"] == self.commands);
        let made_s = known.and_then(|about| about["made_s"].as_f64());
        Ok(made_s.map(|made_s| Settled { root: place.join(MADE), made_s, reused: true }).into())
    }

    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<Settled> {
        let started = Instant::now();
        let settled = servers::settle_files(self.ground, self.files, &env.failed(&self.id), env)?;
        let failed = |error: std::io::Error| {
            Problem::environment(format!("failed to keep the settled file set: {error}"))
                .file(half.display().to_string())
        };
        fs::create_dir_all(half).map_err(failed)?;
        settled.keep(&half.join(MADE))?;
        let made_s = started.elapsed().as_secs_f64();
        let about = serde_json::json!({ "format": FORMAT, "id": self.id, "commands": self.commands, "made_s": made_s });
        fs::write(half.join(ABOUT), format!("{about:#}")).map_err(failed)?;
        self.steps.push(Step { name: "settle the file set".to_string(), took_s: made_s });
        env.progress.done(&format!("settled file set {}: made in {}", self.id, units::show_seconds(made_s)));
        Ok(Settled { root: place.join(MADE), made_s, reused: false })
    }
}

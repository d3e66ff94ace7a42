//! A data set that is shared out over the servers of a tier, and the tables of the tier in front of them: made once from the whole data
//! set, kept beside it, copied for each run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::shards::Shard;
use model::record::plan::PlanTier;
use model::record::{DatasetResult, Step};
use model::{Problem, Result, units};
use serde_json::Value as Json;
use testbed::Snapshots;

use crate::artefact::cache::{self, Artefact, Found};
use crate::artefact::dataset::Dataset;
use crate::artefact::filling::Filling;
use crate::environment::Environment;
use crate::servers::Ground;

/// The version of `shards.json`, and of the tables that the tier in front has.
const FORMAT: u64 = 1;
const ABOUT: &str = "shards.json";
/// The data directory of the tier in front.
const FRONT: &str = "front";

/// What a plan's databases start from, and the data set for the record; nothing without a data set.
pub(crate) fn snapshots(
    ground: Ground<'_>,
    whole: Option<Dataset>,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<(Snapshots, Option<DatasetResult>)> {
    let plan = ground.plan;
    let (Some(whole), Some(front)) = (whole, plan.database()) else { return Ok((Snapshots::new(), None)) };
    let Some(rows) = plan.shards() else {
        return Ok(([(front.name.clone(), vec![whole.path])].into(), Some(whole.result)));
    };
    let mut wanted = Wanted { ground, whole: &whole, rows, front, steps };
    let made = cache::ensure(&mut wanted, env)?;
    let id = wanted.id();
    let result = whole.result;
    // What took time just now where anything did, else what all of it took once.
    let load_s = if result.reused && !made.reused { made.took_s } else { result.load_s + made.took_s };
    let reused = result.reused && made.reused;
    let result = DatasetResult { id, bytes: made.bytes, load_s, reused, ..result };
    Ok(([(rows.name.clone(), made.rows), (front.name.clone(), vec![made.front])].into(), Some(result)))
}

/// Data directories at hand.
struct Shards {
    /// Of each server with rows.
    rows: Vec<PathBuf>,
    front: PathBuf,
    /// All of them together.
    bytes: u64,
    took_s: f64,
    reused: bool,
}

struct Wanted<'a> {
    ground: Ground<'a>,
    whole: &'a Dataset,
    rows: &'a PlanTier,
    front: &'a PlanTier,
    steps: &'a mut Vec<Step>,
}

impl Artefact for Wanted<'_> {
    const FOLDER: &'static str = cache::DATA_SETS;
    type Ready = Shards;

    fn kind(&self) -> &'static str {
        "shared out data set"
    }

    fn id(&self) -> String {
        format!("{}-shards-{}", self.whole.result.id, self.servers())
    }

    fn open(&self, place: &Path, _env: &mut Environment<'_>) -> Result<Found<Shards>> {
        let read = || {
            let about: Json = serde_json::from_slice(&fs::read(place.join(ABOUT)).ok()?).ok()?;
            let known = about["format"].as_u64() == Some(FORMAT) && about["keys"] == self.keys();
            let (bytes, took_s) = (about["bytes"].as_u64()?, about["took_s"].as_f64()?);
            known.then(|| self.at(place, (bytes, took_s), true))
        };
        Ok(read().into())
    }

    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<Shards> {
        let (id, of) = (self.id(), self.servers());
        env.progress.step(&format!(
            "sharing data set {} out over {of} servers: this is done once",
            self.whole.result.id
        ));
        let started = Instant::now();
        let failed = |error: std::io::Error| {
            Problem::environment(format!("failed to keep the data set that is shared out: {error}"))
                .file(half.display().to_string())
        };
        fs::create_dir_all(half).map_err(failed)?;
        let there = self.at(half, (0, 0.0), false);
        let (mut bytes, mut tables) = (0, Vec::new());
        for (number, to) in there.rows.iter().enumerate() {
            let (kept, found) = self.keep_shard(Shard { number, of }, to, &id, env)?;
            bytes += kept;
            tables = found;
        }
        bytes += self.keep_front(&tables, &there.front, &id, env)?;
        let took_s = started.elapsed().as_secs_f64();
        let about = serde_json::json!({
            "format": FORMAT, "id": id, "keys": self.keys(), "bytes": bytes, "took_s": took_s
        });
        fs::write(half.join(ABOUT), format!("{about:#}")).map_err(failed)?;
        self.steps.push(Step { name: "share the data out".to_string(), took_s });
        env.progress.done(&format!(
            "data set {id}: {} on {of} servers, made in {}",
            units::show_bytes(bytes),
            units::show_seconds(took_s)
        ));
        Ok(self.at(place, (bytes, took_s), false))
    }
}

impl Wanted<'_> {
    /// How many have the rows.
    fn servers(&self) -> usize {
        self.rows.instances.max(1) as usize
    }

    /// What it is shared out by.
    fn keys(&self) -> Json {
        serde_json::json!({ "in_a_row": kit::shards::IN_A_ROW, "of": self.ground.plan.kit.shards })
    }

    fn at(&self, place: &Path, (bytes, took_s): (u64, f64), reused: bool) -> Shards {
        let rows = (1..=self.servers()).map(|number| place.join(format!("shard-{number}"))).collect();
        Shards { rows, front: place.join(FRONT), bytes, took_s, reused }
    }

    fn filling<'a>(&'a self, tier: &'a PlanTier, id: &str, env: &Environment<'_>) -> Filling<'a> {
        Filling { ground: self.ground, tier, failed: env.failed(id) }
    }

    /// Keeps one server's rows; also the tables that show all of them.
    fn keep_shard(
        &self,
        shard: Shard,
        to: &Path,
        id: &str,
        env: &mut Environment<'_>,
    ) -> Result<(u64, Vec<String>)> {
        let keys = &self.ground.plan.kit.shards;
        let Shard { number, of } = shard;
        let filling = self.filling(self.rows, id, env);
        // The steps of a server that only stands to be filled are nobody's.
        filling.run((Some(&self.whole.path), to), &mut Vec::new(), env, |server, env| {
            let tables = kit::shards::front_tables(server, keys, of)?;
            let (progress, interrupt) = (&mut *env.progress, env.interrupt);
            kit::shards::keep_rows_of(server, keys, shard, &mut |table, done| {
                let ratio = (number as f64 + done) / of as f64;
                progress.advance(&format!("rows of server {} of {of}: {table}", number + 1), ratio);
                interrupt.check()
            })?;
            Ok(tables)
        })
    }

    fn keep_front(&self, tables: &[String], to: &Path, id: &str, env: &mut Environment<'_>) -> Result<u64> {
        let filling = self.filling(self.front, id, env);
        let servers = self.servers();
        let made = filling.run((None, to), &mut Vec::new(), env, |server, env| {
            env.progress.step("making the tables that show the rows of all servers");
            kit::shards::create_front(server, tables, servers)
        })?;
        Ok(made.0)
    }
}

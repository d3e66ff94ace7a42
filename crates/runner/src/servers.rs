//! Starting a plan's servers on what was made once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::catalogue::kit::Writable;
use model::record::Step;
use model::record::plan::PlanTier;
use model::{Plan, Result, units};
use testbed::{BuiltServers, Lab, Needed, SettledFiles, Snapshots, Stack, StartOptions, StepEvent, numbered};

use crate::artefact::product;
use crate::environment::Environment;

/// How long a server that starts may take to tell about itself; one that is slower answers a later question.
const ASKED_WITHIN: Duration = Duration::from_secs(2);

/// What a plan's servers stand on: whose they are, in which lab, and what those of them that are built were built into.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) lab: &'a Lab,
    pub(crate) built: &'a BuiltServers,
}

impl Ground<'_> {
    /// What the program of a tier's server says its version is, with the name of what it was built into.
    ///
    /// # Errors
    /// A program that is not there.
    pub(crate) fn version(&self, tier: &PlanTier, home: &Path) -> Result<String> {
        let needed = Needed::by_tier(tier, &self.plan.kit)?;
        let built = self.built.get(&tier.name).map(PathBuf::as_path);
        let program = testbed::program::of_service(&needed, built, home)?;
        let version = testbed::program::version(&program, &tier.service).line;
        let built = built.and_then(product::id_of).map(|id| format!(" {id}"));
        Ok(version + &built.unwrap_or_default())
    }
}

/// What was made once and is kept: a stack starts from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prepared<'a> {
    /// The databases' data directories, by tier.
    pub(crate) snapshots: &'a Snapshots,
    /// The directory of the file set.
    pub(crate) files: Option<&'a Path>,
    /// The directory of what the application was built into.
    pub(crate) built: Option<&'a Path>,
}

/// What the copies of the data took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Copied {
    pub(crate) took_s: f64,
    /// Bytes on the disk: none of what shares its blocks with the snapshot.
    pub(crate) disk_bytes: u64,
}

/// Starts the plan's tiers, or one server of the tier `loading` alone; also says what the copies of the data took.
pub(crate) fn start(
    ground: Ground<'_>,
    prepared: Prepared<'_>,
    loading: Option<&str>,
    keep_failed: &Path,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<(Stack, Copied)> {
    let mut copied = Copied::default();
    let (progress, interrupt) = (&mut *env.progress, env.interrupt);
    let mut on_step = |event: StepEvent| {
        let name = describe(&event, loading.is_some());
        match event.took {
            None => progress.step(&name),
            Some(took) => {
                if let testbed::Step::Copy(report) = &event.step {
                    copied.took_s += took.as_secs_f64();
                    let report = report.as_ref().filter(|report| !report.reflinked);
                    copied.disk_bytes += report.map_or(0, |report| report.bytes);
                }
                steps.push(Step { name, took_s: took.as_secs_f64() });
            }
        }
    };
    let stack = ground.lab.start(StartOptions {
        plan: ground.plan,
        catalogue: env.catalogue,
        snapshots: prepared.snapshots,
        file_set: prepared.files,
        built: prepared.built,
        built_servers: ground.built,
        loading,
        web_port: None,
        keep_failed,
        ask: &|job, names| observe::figures(job, names, ASKED_WITHIN).ok(),
        cancel: &|| interrupt.count() > 0,
        on_step: &mut on_step,
    })?;
    Ok((stack, copied))
}

/// What the plan's servers work out once of the file set at `files`, a number of `count`, on links to it.
pub(crate) fn settle_files(
    ground: Ground<'_>,
    (files, count): (&Path, u64),
    keep_failed: &Path,
    env: &mut Environment<'_>,
) -> Result<SettledFiles> {
    let (progress, interrupt) = (&mut *env.progress, env.interrupt);
    ground.lab.settle_files(StartOptions {
        plan: ground.plan,
        catalogue: env.catalogue,
        snapshots: &Snapshots::new(),
        file_set: Some(files),
        built: None,
        built_servers: ground.built,
        loading: None,
        web_port: None,
        keep_failed,
        ask: &|job, names| observe::figures(job, names, ASKED_WITHIN).ok(),
        cancel: &|| interrupt.count() > 0,
        on_step: &mut |event| {
            if event.took.is_none() && matches!(event.step, testbed::Step::Command(_)) {
                let (what, count) = (describe(&event, false), units::number(count as f64));
                progress.step(&format!("{what} ({count} files): this is done once"));
            }
        },
    })
}

fn describe(event: &StepEvent, loading: bool) -> String {
    let tier = &event.tier;
    match &event.step {
        testbed::Step::Copy(_) => format!("copy the data set for {tier}"),
        testbed::Step::Files(Writable::Copy) => "copy the file set".to_string(),
        testbed::Step::Files(_) => "link the file set".to_string(),
        testbed::Step::Command(title) => format!("{tier}: {title}"),
        testbed::Step::Start if loading => format!("start {tier} to load"),
        testbed::Step::Start => format!("start {tier}"),
    }
}

/// The servers of a running stack's database tier that live, each with its number among the tier's instances, from 1.
pub(crate) fn databases(tier: &PlanTier, plan: &Plan, stack: &Stack) -> Vec<(usize, kit::Server)> {
    let (Some(database), Some(standing)) = (&tier.service.database, stack.tier(&tier.name)) else {
        return Vec::new();
    };
    let server = |(instance, socket): (usize, &PathBuf)| {
        let (socket, user) = (socket.clone(), database.user.clone());
        (instance, kit::Server { socket, user, database: plan.kit.database_name().to_string() })
    };
    let sockets = stack
        .living(&tier.name)
        .into_iter()
        .map(|instance| Some((instance + 1, standing.sockets.get(&numbered(&database.socket, instance))?)));
    sockets.flatten().map(server).collect()
}

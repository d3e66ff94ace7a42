//! A database server that stands alone to be filled, and whose data directory is kept.

use std::path::{Path, PathBuf};

use model::record::Step;
use model::record::plan::PlanTier;
use model::{Problem, Problems, Result};
use testbed::{Snapshots, Stack, snapshot};

use crate::environment::Environment;
use crate::servers::{self, Ground, Prepared};

/// Which server is filled.
pub(super) struct Filling<'a> {
    pub(super) ground: Ground<'a>,
    pub(super) tier: &'a PlanTier,
    /// Where its files and logs are kept when it fails to start.
    pub(super) failed: PathBuf,
}

impl Filling<'_> {
    /// Starts the server from a copy of `from`, or with nothing; when `fill` is done with it, it is shut down clean and its data
    /// directory kept at `to`. How many bytes that has, and what `fill` gives.
    ///
    /// # Errors
    /// A server that doesn't start or stop; what `fill` says, with the end of the server's log where it died of it; a full disk.
    pub(super) fn run<T>(
        &self,
        (from, to): (Option<&Path>, &Path),
        steps: &mut Vec<Step>,
        env: &mut Environment<'_>,
        fill: impl FnOnce(&kit::Server, &mut Environment<'_>) -> Result<T>,
    ) -> Result<(u64, T)> {
        let (plan, name) = (self.ground.plan, self.tier.name.as_str());
        let snapshots: Snapshots =
            from.map(|from| (name.to_string(), vec![from.to_path_buf()])).into_iter().collect();
        let prepared = Prepared { snapshots: &snapshots, files: None, built: None };
        // Its data directory lives as long as the stack does.
        let (mut stack, _) = servers::start(self.ground, prepared, Some(name), &self.failed, steps, env)?;
        let server = servers::databases(self.tier, plan, &stack).into_iter().next();
        let (_, server) = server.ok_or_else(|| Problem::bug("the database tier has no socket"))?;
        let filled = fill(&server, env).map_err(|problems| with_log(problems, &mut stack))?;
        env.progress.step("shutting the database down clean and keeping a snapshot");
        stack.stop()?;
        let data_dir = stack.tier(name).and_then(|tier| tier.data_dir.clone());
        let data_dir = data_dir.ok_or_else(|| Problem::bug("the database tier has no data directory"))?;
        let leave_out = self.tier.service.database.as_ref().map(|database| database.leave_out.clone());
        let bytes = snapshot::copy(&data_dir, to, &leave_out.unwrap_or_default())?.bytes;
        Ok((bytes, filled))
    }
}

/// When the server died of it, its own log says why.
fn with_log(problems: Problems, stack: &mut Stack) -> Problems {
    let deaths = stack.deaths();
    let Some(death) = deaths.first() else { return problems };
    let tail = death.log_tail.join("\n    ");
    let words = format!("\n  {} ended ({}); its log says:\n    {tail}", death.server(), death.status);
    problems.with_first(|first| first.what.push_str(&words))
}

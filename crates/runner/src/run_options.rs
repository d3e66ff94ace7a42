//! What the engine is given for a plan.

use engine::{RunOptions, Target};
use model::{Catalogue, Plan, Result};

/// The plan's load on `target`; at the end sessions under way may take `drain_s` seconds.
pub(crate) fn options(
    plan: &Plan,
    target: &Target,
    drain_s: f64,
    catalogue: &Catalogue,
) -> Result<RunOptions> {
    let scenario = kit::scenario(plan, catalogue)?;
    Ok(RunOptions {
        cpus: plan.placement.generator.clone(),
        total_sessions: plan.load.sessions,
        drain_s: drain_s.min(plan.kit.users.timeout_s),
        ..RunOptions::of(scenario, plan.load.clone(), target.clone())
    })
}

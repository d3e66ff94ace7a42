//! What an observer is told of a stack.

use model::Plan;
use observe::{Job, TierJob};

use crate::standing_stack::StandingStack;

/// A stack's tiers, to be watched.
pub(crate) fn tiers(standing: &StandingStack) -> Vec<TierJob> {
    let tier = |tier: &testbed::Tier| TierJob {
        name: tier.name.clone(),
        cgroup: tier.cgroup.clone(),
        pids: tier.pids.clone(),
        ports: tier.ports.values().copied().collect(),
        sockets: tier.sockets.values().cloned().collect(),
        background_threads: tier.background_threads.clone(),
        event_loop: tier.event_loop,
        loop_threads: tier.loop_threads.clone(),
        is_built: tier.is_built,
        commits_together: tier.commits_together,
        own_host: tier.own_host,
    };
    standing.tiers().iter().map(tier).collect()
}

/// Of a plan's run, with `more` that the stack doesn't know.
pub(super) fn of_run(plan: &Plan, standing: &StandingStack, more: Job) -> Job {
    Job {
        tiers: tiers(standing),
        carriers: standing.carrier().into_iter().chain(standing.fleet_jobs()).collect(),
        generator: std::process::id(),
        stack_cpus: plan.placement.stack.clone(),
        servers: standing.tiers().iter().map(|tier| tier.job.clone()).collect(),
        ..more
    }
}

//! A plan's kit as the engine wants it.

use engine::{Program, Scenario, Source};
use model::{Catalogue, Plan, Result};

use crate::folder::Kit;

/// What the users of `plan` do.
pub fn scenario(plan: &Plan, catalogue: &Catalogue) -> Result<Scenario> {
    let kit = Kit::open(catalogue, &plan.kit.name)?;
    let session = &plan.kit.session;
    let mut modules = kit.modules.clone();
    modules.remove(session.trim_end_matches(".lua"));
    let source = Source {
        modules,
        params: plan.params.clone(),
        size: plan.size.values.clone(),
        feeders: kit.feeders.clone(),
        files: kit.files.clone(),
        populations: Some(plan.kit.populations()?),
        ..Source::of(&kit.path_of(session), kit.text(session)?, "")
    };
    Ok(Scenario {
        timeout_s: plan.kit.users.timeout_s,
        connections: plan.kit.users.connections,
        resend: plan.kit.users.resend,
        acknowledge: plan.acknowledge(),
        heuristic_freshness: plan.kit.users.heuristic_freshness,
        waiting_over_s: plan.waiting_over_s(),
        ..Scenario::of(Program::Script(source))
    })
}

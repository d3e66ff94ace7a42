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
        session_name: kit.path_of(session),
        session_text: kit.text(session)?.to_string(),
        modules,
        params: plan.params.clone(),
        size: plan.size.values.clone(),
        feeders: kit.feeders.clone(),
        files: kit.files.clone(),
        mix: plan.kit.sessions().resolve()?,
    };
    Ok(Scenario {
        think: plan.kit.users.think,
        cycle: plan.kit.users.cycle,
        by_session: plan.kit.users.by_session.clone(),
        timeout_s: plan.kit.users.timeout_s,
        connections: plan.kit.users.connections,
        resend: plan.kit.users.resend,
        acknowledge: plan.acknowledge(),
        waiting_over_s: plan.waiting_over_s(),
        ..Scenario::of(Program::Script(source))
    })
}

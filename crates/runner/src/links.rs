//! The ways to hosts of tiers' own that are to take longer than a cable does, measured while nobody uses them: before the users come, and after they
//! have gone.

use model::catalogue::tier_setting::OwnHost;
use model::record::LinkResult;
use model::{Plan, Result};
use testbed::Stack;

/// Those of a plan, measured for the first time.
///
/// # Errors
/// A host that doesn't answer.
pub(crate) fn before(plan: &Plan, stack: &Stack) -> Result<Vec<LinkResult>> {
    let mut links = Vec::new();
    for tier in &plan.tiers {
        let asked_s = tier.own_host.as_ref().map_or(0.0, OwnHost::adds_s);
        if asked_s == 0.0 {
            continue;
        }
        if let Some(before_s) = stack.way_there_and_back_s(&tier.name)? {
            links.push(LinkResult { tier: tier.name.clone(), asked_s, before_s, after_s: None });
        }
    }
    Ok(links)
}

/// The same ways once more. One that can't be measured any more, since what was there has ended, stays as it is.
pub(crate) fn after(links: &mut [LinkResult], stack: &Stack) {
    for link in links {
        link.after_s = stack.way_there_and_back_s(&link.tier).ok().flatten();
    }
}

//! A fault of the catalogue: its run can be planned, its parts can be injected, and what it expects can be said.

use std::collections::BTreeSet;

use model::catalogue::fault_file::Expected;
use model::catalogue::rules::About;
use model::document::nearest;
use model::{Catalogue, FaultFile, Plan, Problem, Problems, Result};

use crate::verbs::faults;

/// Checks the fault of that name; what it is, in a few words.
pub(super) fn check(name: &str, catalogue: &Catalogue) -> Result<String> {
    let fault = catalogue.fault(name)?;
    let (_, plan, patched) = faults::plan(&fault, 1, catalogue)?;
    kit::lint(&patched, &plan.kit.name)?;
    kit::check_targets(&plan, &patched)?;
    Problems::check(unknown_limit(&fault, &plan, catalogue)?)?;
    let expected = match &fault.expect {
        Expected::Limit { tier, resource } => format!("{tier} {resource}"),
        Expected::Healthy => "nothing".to_string(),
    };
    let (kit, stack) = (&plan.kit.name, &plan.stack.name);
    Ok(format!("fault {name}: {} ({kit} on {stack}; a right diagnosis names {expected})", fault.title))
}

/// A tier or a resource that no diagnosis of this run can name.
fn unknown_limit(fault: &FaultFile, plan: &Plan, catalogue: &Catalogue) -> Result<Vec<Problem>> {
    let Expected::Limit { tier, resource } = &fault.expect else { return Ok(Vec::new()) };
    let file = format!("faults/{}.toml", fault.name);
    let wrong = |what: String, word: &str, known: &BTreeSet<String>| {
        let near = nearest(word, known.iter().map(String::as_str)).map(|near| format!("`{near}`"));
        let all = || format!("one of: {}", known.iter().cloned().collect::<Vec<_>>().join(", "));
        let problem = Problem::recipe(what).file(&file).key("expect");
        vec![problem.remedy(near.unwrap_or_else(all))]
    };
    let about = match tier.as_str() {
        "host" => About::Host,
        "generator" => About::Generator,
        "observers" => About::Observers,
        _ => About::Tier,
    };
    let mut tiers: BTreeSet<String> = plan.tiers.iter().map(|tier| tier.name.clone()).collect();
    if about == About::Tier && !tiers.contains(tier) {
        tiers.extend(["host", "generator", "observers"].map(str::to_string));
        return Ok(wrong(format!("stack {} has no tier `{tier}`", plan.stack.name), tier, &tiers));
    }
    let rules = catalogue.rules()?;
    let known: BTreeSet<String> =
        rules.iter().filter(|rule| rule.about == about).map(|rule| rule.resource.clone()).collect();
    if known.contains(resource) {
        return Ok(Vec::new());
    }
    Ok(wrong(format!("no rule names a resource `{resource}` of {tier}"), resource, &known))
}

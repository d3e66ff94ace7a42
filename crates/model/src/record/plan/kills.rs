//! Instances that a run kills on purpose: `db-3@10s`.

use super::PlanTier;
use crate::catalogue::fault_file::{Expected, FaultFile, Injection};
use crate::catalogue::recipe::Recipe;
use crate::problem::Problem;
use crate::units;

/// The run's fault with the recipe's kills among what is injected, or a fault of these alone; mistakes are added to `problems`.
pub(super) fn resolve(
    recipe: &Recipe,
    fault: Option<FaultFile>,
    tiers: &[PlanTier],
    problems: &mut Vec<Problem>,
) -> Option<FaultFile> {
    let mut kills = Vec::new();
    for text in &recipe.kill {
        match read(text) {
            Ok(kill) => kills.push(kill),
            Err(what) => {
                let remedy = "TIER-NUMBER@SECONDS after the steady state began: db-3@10s";
                problems.push(Problem::recipe(format!("`{text}`: {what}")).key("kill").remedy(remedy));
            }
        }
    }
    let all = fault.iter().flat_map(|fault| &fault.injections).chain(&kills);
    problems.extend(all.filter_map(|injection| nobody(injection, tiers)));
    if kills.is_empty() {
        return fault;
    }
    let mut fault = fault.unwrap_or_else(|| FaultFile {
        format: 1,
        name: "kill".to_string(),
        title: "Servers that end in the middle of the run".to_string(),
        why: "Asked for on the command line or in the recipe.".to_string(),
        quick: false,
        expect: Expected::Healthy,
        busy_ratio: None,
        recipe: Recipe::default(),
        injections: Vec::new(),
    });
    fault.injections.extend(kills);
    Some(fault)
}

fn read(text: &str) -> Result<Injection, String> {
    let (server, at) = text.split_once('@').ok_or("it doesn't say when")?;
    let (tier, instance) = match server.rsplit_once('-') {
        Some((tier, number)) => {
            (tier, number.parse::<u32>().map_err(|_| format!("`{number}` is no number"))?)
        }
        None => (server, 1),
    };
    let at_s = units::duration(at)?.as_secs_f64();
    if instance == 0 {
        return Err("instances are numbered from 1".to_string());
    }
    Ok(Injection::Kill { tier: tier.to_string(), instance, at_s })
}

/// A kill of an instance that isn't there.
fn nobody(injection: &Injection, tiers: &[PlanTier]) -> Option<Problem> {
    let Injection::Kill { tier: name, instance, .. } = injection else { return None };
    let Some(tier) = tiers.iter().find(|tier| tier.name == *name) else {
        let names: Vec<&str> = tiers.iter().map(|tier| tier.name.as_str()).collect();
        let problem = Problem::recipe(format!("there is no tier `{name}` to be killed")).key("kill");
        return Some(problem.remedy(format!("one of: {}", names.join(", "))));
    };
    let what = format!("there is no {name}-{instance}: the tier has {}", tier.instances);
    let remedy = format!("--set {name}.instances={instance}, or another instance");
    (*instance > tier.instances).then(|| Problem::recipe(what).key("kill").remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_says_which_server_and_when() {
        let kill = |tier: &str, instance, at_s| Ok(Injection::Kill { tier: tier.into(), instance, at_s });
        assert_eq!(read("db-3@10s"), kill("db", 3, 10.0));
        assert_eq!(read("web@1min"), kill("web", 1, 60.0));
        for (text, part) in
            [("db-3", "when"), ("db-x@1s", "no number"), ("db-0@1s", "from 1"), ("db-1@soon", "soon")]
        {
            let said = read(text).expect_err(text);
            assert!(said.contains(part), "{said}");
        }
    }
}

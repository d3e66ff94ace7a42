//! Instances that a run kills, or cuts off, on purpose: `db-3@10s`, `db-3@10s..15s`.

use super::tier::PlanTier;
use crate::catalogue::fault_file::{Expected, FaultFile, Injection};
use crate::catalogue::recipe::Recipe;
use crate::catalogue::tier_setting::HOST;
use crate::problem::Problem;
use crate::units;

/// The name of a fault that only the recipe's own outages are.
pub(super) const OUTAGE: &str = "outage";

/// The run's fault with what the recipe kills and cuts off among what is injected, or a fault of these alone; mistakes are added to
/// `problems`.
pub(super) fn resolve(
    recipe: &Recipe,
    fault: Option<FaultFile>,
    tiers: &[PlanTier],
    problems: &mut Vec<Problem>,
) -> Option<FaultFile> {
    let mut outages = Vec::new();
    let kills = recipe.kill.iter().map(|text| ("kill", text, kill(text), "db-3@10s"));
    let cuts = recipe.cut.iter().map(|text| ("cut", text, cut(text), "db-3@10s..15s"));
    for (key, text, read, example) in kills.chain(cuts) {
        match read {
            Ok(outage) => outages.push(outage),
            Err(what) => {
                let remedy = format!("TIER-NUMBER@TIME after the steady state began: {example}");
                problems.push(Problem::recipe(format!("`{text}`: {what}")).key(key).remedy(remedy));
            }
        }
    }
    let all = fault.iter().flat_map(|fault| &fault.injections).chain(&outages);
    problems.extend(all.filter_map(|injection| nobody(injection, tiers)));
    problems.extend(cut_twice(&outages, tiers));
    if outages.is_empty() {
        return fault;
    }
    let mut fault = fault.unwrap_or_else(|| FaultFile {
        format: 1,
        name: OUTAGE.to_string(),
        title: "Servers that are gone in the middle of the run".to_string(),
        why: "Asked for on the command line or in the recipe.".to_string(),
        quick: false,
        expect: Expected::Healthy,
        busy_ratio: None,
        recipe: Recipe::default(),
        injections: Vec::new(),
    });
    fault.injections.extend(outages);
    Some(fault)
}

fn kill(text: &str) -> Result<Injection, String> {
    let (tier, instance, at) = server(text)?;
    Ok(Injection::Kill { tier, instance, at_s: seconds(at)? })
}

fn cut(text: &str) -> Result<Injection, String> {
    let (tier, instance, when) = server(text)?;
    let (from, to) = when.split_once("..").ok_or("it doesn't say until when")?;
    let (at_s, to_s) = (seconds(from)?, seconds(to)?);
    if to_s <= at_s {
        return Err("it ends before it begins".to_string());
    }
    Ok(Injection::Cut { tier, instance, at_s, for_s: to_s - at_s })
}

fn seconds(text: &str) -> Result<f64, String> {
    units::duration(text).map(|duration| duration.as_secs_f64())
}

/// The tier, the number of its instance, and what stands behind the `@`.
fn server(text: &str) -> Result<(String, u32, &str), String> {
    let (server, at) = text.split_once('@').ok_or("it doesn't say when")?;
    let (tier, instance) = match server.rsplit_once('-') {
        Some((tier, number)) => {
            (tier, number.parse::<u32>().map_err(|_| format!("`{number}` is no number"))?)
        }
        None => (server, 1),
    };
    if instance == 0 {
        return Err("instances are numbered from 1".to_string());
    }
    Ok((tier.to_string(), instance, at))
}

/// A host that a topology put several servers on is cut off for all of them: a second cut would end with the first.
fn cut_twice(outages: &[Injection], tiers: &[PlanTier]) -> Option<Problem> {
    let host = |outage: &Injection| {
        let Injection::Cut { tier, instance, .. } = outage else { return None };
        let tier = tiers.iter().find(|one| one.name == *tier)?;
        tier.hosts.get((*instance).saturating_sub(1) as usize)
    };
    let mut seen = Vec::new();
    let twice = outages.iter().filter_map(host).find(|host| {
        let known = seen.contains(host);
        seen.push(*host);
        known
    })?;
    let what = format!("host {twice} is cut off twice, with all servers that are on it");
    Some(Problem::recipe(what).key("cut").remedy("one --cut for a host"))
}

/// What is to be killed or cut off and isn't there, or can't be.
fn nobody(injection: &Injection, tiers: &[PlanTier]) -> Option<Problem> {
    let (name, instance, key) = match injection {
        Injection::Kill { tier, instance, .. } => (tier, instance, "kill"),
        Injection::Cut { tier, instance, .. } => (tier, instance, "cut"),
        _ => return None,
    };
    let Some(tier) = tiers.iter().find(|tier| tier.name == *name) else {
        let names: Vec<&str> = tiers.iter().map(|tier| tier.name.as_str()).collect();
        let problem = Problem::recipe(format!("there is no tier `{name}`")).key(key);
        return Some(problem.remedy(format!("one of: {}", names.join(", "))));
    };
    let what = format!("there is no {name}-{instance}: the tier has {}", tier.instances);
    let remedy = format!("--set {name}.instances={instance}, or another instance");
    if *instance > tier.instances {
        return Some(Problem::recipe(what).key(key).remedy(remedy));
    }
    let shared = key == "cut" && tier.own_host.is_none();
    let what = format!("{name} is on this host, which can't be cut off");
    shared.then(|| Problem::recipe(what).key(key).remedy(format!("--set {name}.{HOST}=own")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_says_which_server_and_when() {
        let killed = |tier: &str, instance, at_s| Ok(Injection::Kill { tier: tier.into(), instance, at_s });
        assert_eq!(kill("db-3@10s"), killed("db", 3, 10.0));
        assert_eq!(kill("web@1min"), killed("web", 1, 60.0));
        let off = Injection::Cut { tier: "db".into(), instance: 2, at_s: 10.0, for_s: 5.0 };
        assert_eq!(cut("db-2@10s..15s"), Ok(off));
        assert!(cut("db-2@10s").is_err_and(|said| said.contains("until when")));
        assert!(cut("db-2@10s..10s").is_err_and(|said| said.contains("before it begins")));
        for (text, part) in
            [("db-3", "when"), ("db-x@1s", "no number"), ("db-0@1s", "from 1"), ("db-1@soon", "soon")]
        {
            let said = kill(text).expect_err(text);
            assert!(said.contains(part), "{said}");
        }
    }
}

//! The hosts that a topology puts a plan's tiers on.

use super::tier::PlanTier;
use crate::Catalogue;
use crate::catalogue::recipe::Recipe;
use crate::catalogue::setting::Value;
use crate::catalogue::tier_setting::{DELAY, HOST, INSTANCES, LINK, NO_LINK, RATE};
use crate::catalogue::topology_file::HostRequest;
use crate::problem::{Problem, Result};

/// Puts the tiers on the hosts of the recipe's topology, where it has one; mistakes are added to `problems`.
///
/// # Errors
/// A topology that the catalogue doesn't have, or that is wrong by itself.
pub(super) fn put_on_hosts(
    recipe: &Recipe,
    tiers: &mut [PlanTier],
    catalogue: &Catalogue,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    let Some(name) = &recipe.topology else { return Ok(()) };
    let topology = catalogue.topology(name)?;
    for host in &topology.hosts {
        problems.extend(lacking(name, host, tiers));
        problems.extend(said_twice(name, host, recipe, tiers));
        put(host, tiers, catalogue, problems)?;
    }
    Ok(())
}

/// Tiers that the stack doesn't have, or that can't be there so often, or at all.
fn lacking(topology: &str, host: &HostRequest, tiers: &[PlanTier]) -> Vec<Problem> {
    let problem = |what: String| Problem::recipe(format!("topology {topology}: {what}")).key("topology");
    let wrong = |(name, instances): (&String, &u32)| {
        let Some(tier) = tiers.iter().find(|tier| tier.name == *name) else {
            let names: Vec<&str> = tiers.iter().map(|tier| tier.name.as_str()).collect();
            let what = format!("this stack has no tier `{name}`");
            return Some(
                problem(what).remedy(format!("a stack that has it; this one has {}", names.join(", "))),
            );
        };
        let (service, max) = (&tier.service.title, tier.service.instances.max);
        if *instances > max {
            return Some(problem(format!(
                "{instances} instances of tier {name}, and {service} can have {max}"
            )));
        }
        (!tier.service.own_host).then(|| problem(format!("{service} can't be on a host of its own")))
    };
    host.tiers.iter().filter_map(wrong).collect()
}

/// How many instances there are, and that they are on hosts, is for the topology to say; `net.link` may be another one than its own,
/// and not none.
fn said_twice(topology: &str, host: &HostRequest, recipe: &Recipe, tiers: &[PlanTier]) -> Vec<Problem> {
    let here = |owner: &str| {
        let is_it = |tier: &&PlanTier| tier.name == owner || tier.service.name == owner;
        tiers.iter().find(is_it).is_some_and(|tier| host.tiers.contains_key(&tier.name))
    };
    let twice = |(key, value): (&String, &Value)| {
        let (owner, name) = key.split_once('.')?;
        let its_own = [INSTANCES, HOST, RATE, DELAY].contains(&name);
        let is_no_link = name == LINK && *value == Value::Text(NO_LINK.to_string());
        let said = here(owner) && (its_own || is_no_link);
        said.then(|| {
            let what = format!("topology {topology} says how many instances there are, and on which hosts");
            let remedy = "leave one of the two out, or another topology";
            Problem::recipe(what).key(format!("set.{key}")).remedy(remedy)
        })
    };
    recipe.set.iter().filter_map(twice).collect()
}

/// The link is the one that a tier asks for, else the topology's.
fn put(
    host: &HostRequest,
    tiers: &mut [PlanTier],
    catalogue: &Catalogue,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    let is_there = |tier: &&mut PlanTier| host.tiers.contains_key(&tier.name);
    let mut asked: Vec<String> = tiers
        .iter()
        .filter(|tier| host.tiers.contains_key(&tier.name))
        .filter_map(|tier| tier.link.clone())
        .collect();
    asked.dedup();
    if asked.len() > 1 {
        let what = format!("host {} can't have two links: {}", host.name, asked.join(" and "));
        problems.push(Problem::recipe(what).key(format!("set.{LINK}")).remedy("the same of all its tiers"));
    }
    let name = asked.into_iter().next().unwrap_or_else(|| host.link.clone());
    let link = catalogue.link(&name)?;
    for tier in tiers.iter_mut().filter(is_there) {
        tier.instances = host.tiers[&tier.name].max(1);
        tier.own_host = Some(link.own_host());
        tier.link = Some(name.clone());
        tier.hosts = (0..tier.instances).map(|number| host.host_of(number)).collect();
    }
    Ok(())
}

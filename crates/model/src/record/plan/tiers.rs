//! The tiers of a plan: their services, with the knobs that the stack, the kit and the recipe set.

use std::collections::BTreeMap;

use super::machine;
use super::tier::PlanTier;
use crate::catalogue::recipe::Recipe;
use crate::catalogue::setting::{self, Values};
use crate::catalogue::tier_setting;
use crate::document::nearest;
use crate::problem::{Problem, Result};
use crate::{Catalogue, KitManifest, ServiceManifest, StackManifest};

/// The kit's stubs, then the stack's tiers; mistakes are added to `problems`.
pub(super) fn resolve(
    recipe: &Recipe,
    kit: &KitManifest,
    stack: &StackManifest,
    catalogue: &Catalogue,
    problems: &mut Vec<Problem>,
) -> Result<Vec<PlanTier>> {
    let mut given: BTreeMap<&str, Values> = BTreeMap::new();
    let of_tiers = recipe.set.iter().filter(|(key, _)| machine::name_of(key).is_none());
    for (key, value) in of_tiers.filter(|_| !stack.tiers.is_empty()) {
        match key.split_once('.').and_then(|(owner, knob)| Some((find_tier(kit, stack, owner)?, knob))) {
            Some((tier, knob)) => _ = given.entry(tier).or_default().insert(knob.to_string(), value.clone()),
            None => problems.push(unknown_owner(kit, stack, key)),
        }
    }
    let mut tiers = Vec::new();
    for stub in kit.stubs.iter().filter(|_| recipe.target.is_none()) {
        let folder = format!("kits/{}/services/{}", kit.name, stub.service);
        let service = catalogue.kit_service(&kit.name, &stub.service)?;
        tiers.push(resolve_tier(
            (&stub.tier, folder, service),
            given.remove(stub.tier.as_str()).unwrap_or_default(),
            catalogue,
            problems,
        ));
    }
    for tier in &stack.tiers {
        let service = catalogue.service(&tier.service)?;
        let extended = catalogue.with_extensions(service.clone(), &kit.needs);
        let service = extended.unwrap_or_else(|found| {
            problems.extend(found.into_vec());
            service
        });
        let mut values = kit_values(kit, &tier.name, &service);
        values.extend(tier.set.clone());
        values.extend(given.remove(tier.name.as_str()).unwrap_or_default());
        let folder = format!("services/{}", tier.service);
        tiers.push(resolve_tier((&tier.name, folder, service), values, catalogue, problems));
    }
    Ok(tiers)
}

/// What the kit wants for a tier, of the knobs that the service has: another server's are not for this one.
fn kit_values(kit: &KitManifest, tier: &str, service: &ServiceManifest) -> Values {
    let own = |knob: &str| {
        let of_any_tier = tier_setting::all(service.instances.max);
        of_any_tier.iter().chain(&service.knobs).any(|known| known.name == knob)
    };
    let wanted = kit.set.iter().filter_map(|(key, value)| {
        let (owner, knob) = key.split_once('.')?;
        (owner == tier && own(knob)).then(|| (knob.to_string(), value.clone()))
    });
    wanted.collect()
}

fn resolve_tier(
    (name, folder, service): (&str, String, ServiceManifest),
    values: Values,
    catalogue: &Catalogue,
    problems: &mut Vec<Problem>,
) -> PlanTier {
    let prefix = format!("set.{name}.");
    let shared = tier_setting::all(service.instances.max);
    // Together, so that a mistyped name is told the nearest of both.
    let known = [shared.as_slice(), &service.knobs].concat();
    let values = setting::resolve(&known, &values, &prefix, problems);
    let is_shared = |knob: &str| shared.iter().any(|setting| setting.name == knob);
    let (given, values): (Values, Values) = values.into_iter().partition(|(knob, _)| is_shared(knob));
    problems.extend(tier_setting::mistakes(&given, &service, &prefix));
    let asked = tier_setting::read(&given);
    let link = asked.link.as_deref().map(|link| catalogue.link(link)).transpose();
    let link = link.unwrap_or_else(|found| {
        let key = format!("{prefix}{}", tier_setting::LINK);
        problems.extend(found.into_vec().into_iter().map(|problem| problem.key(&key)));
        None
    });
    PlanTier {
        name: name.to_string(),
        service,
        folder,
        values,
        instances: asked.instances,
        memory_limit_bytes: asked.memory_limit_bytes,
        cpu_limit_cores: asked.cpu_limit_cores,
        read_limit_per_s: asked.read_limit_per_s,
        own_host: link.map(|link| link.own_host()).or(asked.own_host),
        link: asked.link,
        hosts: Vec::new(),
    }
}

/// The tiers' names, each with its service's: the stack's, then the kit's stubs.
fn owners<'a>(kit: &'a KitManifest, stack: &'a StackManifest) -> impl Iterator<Item = (&'a str, &'a str)> {
    let tiers = stack.tiers.iter().map(|tier| (tier.name.as_str(), tier.service.as_str()));
    tiers.chain(kit.stubs.iter().map(|stub| (stub.tier.as_str(), stub.service.as_str())))
}

fn find_tier<'a>(kit: &'a KitManifest, stack: &'a StackManifest, owner: &str) -> Option<&'a str> {
    owners(kit, stack).find(|(tier, service)| *tier == owner || *service == owner).map(|(tier, _)| tier)
}

fn unknown_owner(kit: &KitManifest, stack: &StackManifest, key: &str) -> Problem {
    let owner = key.split('.').next().unwrap_or(key);
    let names: Vec<&str> = owners(kit, stack).flat_map(|(tier, service)| [tier, service]).collect();
    let problem =
        Problem::recipe(format!("`{owner}` is neither a tier nor a service of stack {}", stack.name))
            .key(format!("set.{key}"));
    match nearest(owner, names.iter().copied()) {
        Some(near) => problem.remedy(format!("`{near}`")),
        None => problem.remedy(format!("write tier.knob=value; the stack has {}", names.join(", "))),
    }
}

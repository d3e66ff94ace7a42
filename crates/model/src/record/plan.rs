//! A recipe resolved against the catalogue: every file found, every value checked, every cost known. Nothing has been
//! started yet.

mod databases;
mod guests;
mod machine;
mod needs;
mod outages;
mod populations;
mod targets;
mod tier;
mod tiers;
mod topology;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalogue::fault_file::Injection;
use crate::catalogue::kit::DEFAULT_MIX;
pub use crate::catalogue::load::Load;
use crate::catalogue::qos::{Measure, QosTarget};
use crate::catalogue::recipe::Recipe;
use crate::catalogue::setting::{self, GivenSettings, Values};
use crate::document::nearest;
use crate::problem::{Problem, Problems, Result};
use crate::{Acknowledge, Catalogue, FaultFile, KitManifest, StackManifest};
pub use guests::{Guest, number_of_guests};
pub use machine::MachineSetting;
pub use tier::PlanTier;

/// Everything that a run needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The workload, as it is under `mix`.
    pub kit: KitManifest,
    /// One of the kit's mixes instead of its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<String>,
    /// The size and its numbers.
    pub size: Size,
    /// The kit's parameters in force.
    pub params: Values,
    /// What the recipe set, of the parameters and of the tiers' knobs.
    #[serde(default)]
    pub given: GivenSettings,
    /// The composition.
    pub stack: StackManifest,
    /// The topology that says on which hosts tiers are, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// The guests, each with a stack like this one and a share of the load; empty where there is one stack on the bare machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<Guest>,
    /// Of one guest's plan: which one it is. See [`Plan::of_guest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
    /// How many guests were asked for beside what the topology says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guests_asked: Option<u32>,
    /// The tiers in the order in which they start.
    pub tiers: Vec<PlanTier>,
    /// Settings of the machine that are changed for the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine: Vec<MachineSetting>,
    /// How the users arrive and how long they stay.
    pub load: Load,
    /// What the run must meet.
    pub qos: Vec<QosTarget>,
    /// Which CPUs serve and which generate.
    pub placement: Placement,
    /// The web tier's TCP port, when a particular one was asked for.
    pub port: Option<u16>,
    /// Seed of the data set where it is not the load's: a study's trials differ in their users' draws and start from the
    /// same data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_seed: Option<u64>,
    /// The URL of a server that somebody else started; then the stack has no tiers, and nothing is started.
    #[serde(default)]
    pub target: Option<String>,
    /// What is injected on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultFile>,
}

/// A data set's size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// As the kit calls it, or else as it was asked for: `small`, `30mb`, `browsers=20,items=1000`.
    pub label: String,
    /// The numbers that scripts see as `size.NAME`.
    pub values: BTreeMap<String, f64>,
}

/// Which CPUs serve and which generate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The generator's CPUs: one thread each.
    pub generator: Vec<usize>,
    /// The CPUs of all tiers.
    pub stack: Vec<usize>,
}

impl Placement {
    /// The default: a quarter of the CPUs, at least one, for the generator, apart from the stack's; on a single CPU
    /// both share it.
    pub fn of_machine(cpus: &[usize]) -> Placement {
        if cpus.len() < 2 {
            return Placement { generator: cpus.to_vec(), stack: cpus.to_vec() };
        }
        let split = cpus.len() - (cpus.len() / 4).max(1);
        Placement { generator: cpus[split..].to_vec(), stack: cpus[..split].to_vec() }
    }
}

impl Plan {
    /// Resolves `recipe` on a machine with the given CPUs. Every mistake is reported at once; `file` is where the
    /// recipe was read, for the messages.
    pub fn resolve(
        recipe: &Recipe,
        file: Option<&str>,
        catalogue: &Catalogue,
        cpus: &[usize],
    ) -> Result<Plan> {
        let mut problems = Vec::new();
        let mut kit = under_mix(recipe, catalogue.kit(&recipe.kit)?, &mut problems);
        kit.users.heuristic_freshness = recipe.heuristic_freshness.unwrap_or(kit.users.heuristic_freshness);
        let params = setting::resolve(&kit.params, &recipe.param, "param.", &mut problems);
        let needs = kit.needs_of(&params);
        kit.needs.extend(needs.keys().cloned());
        let stack = match &recipe.target {
            Some(url) => elsewhere(url, recipe, &kit, &mut problems),
            None => catalogue.stack(recipe.stack.as_deref().unwrap_or(&kit.default_stack))?,
        };
        problems.extend(needs::lacking(&kit, &needs, &params, &stack, catalogue));
        let size = resolve_size(recipe, &kit, &mut problems);
        let mut tiers = tiers::resolve(recipe, &kit, &stack, catalogue, &mut problems)?;
        let machine = machine::resolve(recipe, catalogue, &mut problems)?;
        topology::put_on_hosts(recipe, &mut tiers, catalogue, &mut problems)?;
        let placement = Placement::of_machine(cpus);
        let guests = guests::resolve(recipe, catalogue, placement.stack.len(), &mut problems)?;
        let qos = targets::resolve(recipe, &kit, catalogue, &mut problems);
        let mut load = crate::catalogue::load::request::resolve(recipe, &kit, &mut problems);
        // What is wrong with them has been told with the mix.
        load.populations = kit.populations().map(|all| all.shares()).unwrap_or_default();
        if recipe.users.is_none() && recipe.stages.is_empty() {
            // The kit's default number is for one stack; each guest has a user at least.
            load.users = load.users.max(guests.len() as u32);
        }
        if let Some(most) = kit.most_users(&size.values).filter(|_| recipe.users.is_none()) {
            // The kit's default number of users is for its default size.
            load.users = load.users.min((most as u32).saturating_mul(guests.len().max(1) as u32).max(1));
        }
        let fault = recipe.fault.as_deref().map(|name| catalogue.fault(name)).transpose()?;
        problems.extend(fault.iter().flat_map(|fault| fault.mistakes(&stack, recipe.target.is_some())));
        let fault = outages::resolve(recipe, fault, &tiers, &mut problems);
        problems.extend(guests::too_few_users(&guests, &load));
        problems.extend(guests::beyond_a_guest(&guests, &tiers));
        problems.extend(guests::not_for_each(&guests, fault.as_ref()));
        apply_think_unit(&mut kit, &params, &mut problems);
        check_users(&kit, &mut problems);
        check_acknowledge(&kit, &params, &mut problems);
        problems.extend(populations::misled_by_arrivals(&kit, &load));
        problems.extend(databases::only_one(&kit, &tiers));
        problems.extend(databases::never_shared_out(&kit, &tiers));
        // A size that there is not has been told of.
        let largest = guests::largest_share(&load, guests.len());
        problems.extend(too_many_users(&kit, &size, &largest).filter(|_| !size.values.is_empty()));
        if let Some(file) = file {
            problems.iter_mut().for_each(|problem| _ = problem.place.file.get_or_insert(file.to_string()));
        }
        Problems::check(problems)?;
        let target = recipe.target.clone();
        Ok(Plan {
            kit,
            mix: recipe.mix.clone().filter(|name| name != DEFAULT_MIX),
            size,
            params,
            given: GivenSettings { param: recipe.param.clone(), set: recipe.set.clone() },
            stack,
            topology: recipe.topology.clone(),
            guests,
            guest: None,
            guests_asked: recipe.guests,
            tiers,
            machine,
            load,
            qos,
            placement,
            port: recipe.port,
            data_seed: None,
            target,
            fault,
        })
    }

    /// Users who have been waiting for longer than this count as waiting; seconds.
    pub fn waiting_over_s(&self) -> f64 {
        let asked = self.qos.iter().find_map(|target| match target.measure {
            Measure::Waiting(over_s) => Some(over_s),
            _ => None,
        });
        asked.unwrap_or(10.0)
    }

    /// How the users' side acknowledges what it receives.
    pub fn acknowledge(&self) -> Acknowledge {
        // A plan is not resolved with a value that means neither.
        acknowledge(&self.kit, &self.params).unwrap_or_default()
    }

    /// The tier of that name.
    pub fn tier(&self, name: &str) -> Option<&PlanTier> {
        self.tiers.iter().find(|tier| tier.name == name)
    }

    /// What is done to the stack or to the machine on purpose.
    pub fn injections(&self) -> &[Injection] {
        self.fault.as_ref().map_or(&[], |fault| &fault.injections)
    }

    /// A server that is killed or cut off on purpose, where one is: whatever shares a stack that stands can't do with it.
    pub fn outage(&self) -> Option<&Injection> {
        let is_outage = |one: &&Injection| matches!(one, Injection::Kill { .. } | Injection::Cut { .. });
        self.injections().iter().find(is_outage)
    }

    /// The other servers on the host of an instance (from 1), where a topology put several on one: `data-1`.
    pub fn beside(&self, tier: &str, instance: u32) -> Vec<String> {
        let number = instance.saturating_sub(1) as usize;
        let Some(own) = self.tier(tier).and_then(|tier| tier.hosts.get(number)) else { return Vec::new() };
        let all = self.tiers.iter().flat_map(|tier| {
            tier.hosts.iter().enumerate().map(move |(number, host)| (tier.name.as_str(), number, host))
        });
        let others = all.filter(|(name, at, host)| *host == own && (*name != tier || *at != number));
        others.map(|(name, at, _)| format!("{name}-{}", at + 1)).collect()
    }

    /// The tier that the application asks for its data: of two databases the second, which has its rows on the first.
    pub fn database(&self) -> Option<&PlanTier> {
        self.tiers.iter().rfind(|tier| tier.service.database.is_some())
    }

    /// The tier whose instances have the rows of [`Plan::database`] between them, where that one has none of its own.
    pub fn shards(&self) -> Option<&PlanTier> {
        databases::shards(&self.tiers)
    }
}

/// The stack of a server that somebody else started: no tiers, and whatever the kit needs is taken to be there.
fn elsewhere(url: &str, recipe: &Recipe, kit: &KitManifest, problems: &mut Vec<Problem>) -> StackManifest {
    let given = [
        ("stack", recipe.stack.is_some()),
        ("topology", recipe.topology.is_some()),
        ("guests", recipe.guests.is_some()),
        ("set", !recipe.set.is_empty()),
        ("port", recipe.port.is_some()),
    ];
    for (key, _) in given.iter().filter(|(_, given)| *given) {
        let what = format!("`{key}` and `target` exclude each other");
        let why = "nothing is started for a target, so there is nothing to set";
        problems.push(Problem::recipe(what).key(*key).why(why));
    }
    let name = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or(url);
    StackManifest {
        format: 1,
        name: name.to_string(),
        title: format!("the server at {url}, not started by Plimsoll"),
        provides: kit.needs.clone(),
        tiers: Vec::new(),
    }
}

fn resolve_size(recipe: &Recipe, kit: &KitManifest, problems: &mut Vec<Problem>) -> Size {
    let asked = recipe.size.as_ref().unwrap_or(&kit.default_size);
    match kit.size(asked) {
        Ok(values) => Size { label: kit.size_label(asked, &values), values },
        Err(what) => {
            let remedy = format!("`plimsoll list {}` shows its sizes", kit.name);
            problems.push(Problem::recipe(what).key("size").remedy(remedy));
            Size { label: asked.clone(), values: BTreeMap::new() }
        }
    }
}

/// From here on `think` and `cycle` are seconds.
fn apply_think_unit(kit: &mut KitManifest, params: &Values, problems: &mut Vec<Problem>) {
    let Some(name) = kit.users.think_unit.take() else { return };
    let factor = match params.get(&name) {
        Some(setting::Value::Float(value)) => *value,
        Some(setting::Value::Int(value)) => *value as f64,
        _ => {
            let file = format!("kits/{}/kit.toml", kit.name);
            let what = format!("`{name}` is not a parameter of this kit that is a number");
            problems.push(Problem::recipe(what).file(file).key("users.think_unit"));
            return;
        }
    };
    kit.users.think = kit.users.think.map(|think| think.scaled(factor));
    kit.users.cycle = kit.users.cycle.map(|cycle| cycle.scaled(factor));
    kit.users.by_session.values_mut().for_each(|pause| *pause = pause.scaled(factor));
    kit.population.values_mut().for_each(|population| population.scale_pauses(factor));
}

/// What the parameter that the kit names for it says; absent when it says neither.
fn acknowledge(kit: &KitManifest, params: &Values) -> Option<Acknowledge> {
    let Some(name) = &kit.users.acknowledge else { return Some(Acknowledge::default()) };
    match params.get(name) {
        Some(setting::Value::Text(word)) => Acknowledge::of(word),
        _ => None,
    }
}

fn check_acknowledge(kit: &KitManifest, params: &Values, problems: &mut Vec<Problem>) {
    if acknowledge(kit, params).is_none() {
        let name = kit.users.acknowledge.as_deref().unwrap_or_default();
        let what = format!("`{name}` is not a parameter of this kit whose value is delayed or at_once");
        let file = format!("kits/{}/kit.toml", kit.name);
        problems.push(Problem::recipe(what).file(file).key("users.acknowledge"));
    }
}

/// The kit as it is under the mix that is asked for.
fn under_mix(recipe: &Recipe, kit: KitManifest, problems: &mut Vec<Problem>) -> KitManifest {
    let kit = kit.under(recipe.mix.as_deref()).unwrap_or_else(|| {
        problems.push(no_mix(&kit, recipe.mix.as_deref().unwrap_or_default()));
        kit
    });
    if let Err(found) = kit.populations() {
        let file = format!("kits/{}/kit.toml", kit.name);
        problems.extend(found.into_vec().into_iter().map(|problem| problem.file(file.clone())));
    }
    kit
}

fn no_mix(kit: &KitManifest, name: &str) -> Problem {
    let names: Vec<&str> = kit.mixes.keys().map(String::as_str).chain([DEFAULT_MIX]).collect();
    let remedy = match (nearest(name, names.iter().copied()), kit.mixes.is_empty()) {
        (Some(near), _) => format!("`{near}`"),
        (None, false) => format!("one of {}", names.join(", ")),
        (None, true) => "leave it out: there is only the default".to_string(),
    };
    Problem::recipe(format!("kit {} has no mix `{name}`", kit.name)).key("mix").remedy(remedy)
}

fn check_users(kit: &KitManifest, problems: &mut Vec<Problem>) {
    let file = format!("kits/{}/kit.toml", kit.name);
    let named = kit.users.by_session.iter().map(|(name, pause)| (format!("users.by_session.{name}"), *pause));
    let usual = [("users.think", kit.users.think), ("users.cycle", kit.users.cycle)];
    let usual = usual.into_iter().filter_map(|(key, pause)| Some((key.to_string(), pause?)));
    for (key, pause) in usual.chain(named) {
        if let Some(fault) = pause.fault() {
            problems.push(Problem::recipe(fault).file(file.clone()).key(key));
        }
    }
    if !kit.users.by_session.is_empty() && kit.users.think.is_none() && kit.users.cycle.is_none() {
        let what = "pauses by session need a `think` or a `cycle` that says which of the two they are";
        problems.push(Problem::recipe(what).file(file.clone()).key("users.by_session"));
    }
    if let Some(fault) = kit.users.lifetime.and_then(|lifetime| lifetime.distribution().fault()) {
        problems.push(Problem::recipe(fault).file(file.clone()).key("users.lifetime"));
    }
    if kit.users.think.is_some() && kit.users.cycle.is_some() {
        problems.push(Problem::recipe("think and cycle exclude each other").file(file).key("users"));
    }
}

/// More users than the data was loaded for would share what each should have alone.
fn too_many_users(kit: &KitManifest, size: &Size, load: &Load) -> Option<Problem> {
    let name = kit.users.loaded_for.as_ref().filter(|_| load.arrivals.is_none())?;
    let most = size.values.get(name).copied();
    let file = format!("kits/{}/kit.toml", kit.name);
    let Some(most) = most else {
        let what = format!("`{name}` is not a number of the size {}", size.label);
        return Some(Problem::recipe(what).file(file).key("users.loaded_for"));
    };
    let asked = f64::from(load.users);
    (asked > most).then(|| {
        let what = format!("{asked} users, but a data set of size {} is for {most}", size.label);
        let why = "they would share accounts and rows, and the result would be that of another workload";
        Problem::recipe(what).key("users").why(why).remedy(format!("--size with {name} of at least {asked}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_has_a_cpu_of_its_own_where_there_are_two() {
        let placement = Placement::of_machine(&[0, 1]);
        assert_eq!((placement.generator, placement.stack), (vec![1], vec![0]));
        let placement = Placement::of_machine(&[3]);
        assert_eq!((placement.generator, placement.stack), (vec![3], vec![3]));
        let placement = Placement::of_machine(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((placement.generator, placement.stack), (vec![6, 7], vec![0, 1, 2, 3, 4, 5]));
    }
}

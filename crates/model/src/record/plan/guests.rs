//! Guests: hosts with a whole copy of the stack each, side by side on one machine, which share the load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outages::OUTAGE;
use super::{MachineSetting, Plan, PlanTier};
use crate::catalogue::fault_file::Injection;
use crate::catalogue::load::{Arrivals, Load, Stage};
use crate::catalogue::machine_knob::CABLE;
use crate::catalogue::recipe::Recipe;
use crate::catalogue::topology_file::{GuestRequest, MAX_GUESTS};
use crate::problem::{Problem, Result};
use crate::{Catalogue, FaultFile};

/// Guests' users draw apart from each other: the distance between their seeds, odd and far from those of a study's trials.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Guest {
    /// Which, from 1.
    pub number: u32,
    /// How many cores' time all its servers may use together. No limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit_cores: Option<f64>,
    /// What all its servers may take together, page cache that they filled included. No limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
}

/// The guests that the recipe and its topology ask for, on a machine with that number of CPUs for stacks; mistakes are added to
/// `problems`.
///
/// # Errors
/// A topology that the catalogue doesn't have, or that is wrong by itself.
pub(super) fn resolve(
    recipe: &Recipe,
    catalogue: &Catalogue,
    cpus: usize,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Guest>> {
    let topology = recipe.topology.as_deref().map(|name| catalogue.topology(name)).transpose()?;
    let sizes = topology.map(|topology| topology.guests).unwrap_or_default();
    let sizes = match (recipe.guests, sizes.len()) {
        (None, _) => sizes,
        (Some(count), 0) => vec![GuestRequest { count, cpu: None, memory: None }],
        (Some(count), 1) => sizes.into_iter().map(|size| GuestRequest { count, ..size }).collect(),
        (Some(_), _) => {
            let what = "the topology has guests of several sizes, and says how many there are of each";
            problems.push(Problem::recipe(what).key("guests").remedy("leave `guests` out"));
            sizes
        }
    };
    if let Some(count) = recipe.guests.filter(|count| !(1..=MAX_GUESTS).contains(count)) {
        let what = format!("{count} guests: there are from 1 to {MAX_GUESTS}");
        problems.push(Problem::recipe(what).key("guests"));
        return Ok(Vec::new());
    }
    problems.extend(sizes.iter().filter_map(|size| beyond(size, cpus)));
    let alike = sizes.iter().flat_map(|size| (0..size.count).map(move |_| size));
    let guests: Vec<Guest> = alike
        .enumerate()
        .map(|(at, size)| Guest {
            number: at as u32 + 1,
            cpu_limit_cores: size.cpu,
            // What is no number of bytes was told as the topology was read.
            memory_limit_bytes: size.memory_bytes().ok().flatten(),
        })
        .collect();
    if !guests.is_empty() {
        problems.extend(excluded(recipe));
    }
    Ok(guests)
}

/// How many guests the recipe and its topology ask for; 0 for one stack on the bare machine.
///
/// # Errors
/// A topology that the catalogue doesn't have, or that is wrong by itself.
pub fn number_of_guests(recipe: &Recipe, catalogue: &Catalogue) -> Result<usize> {
    // What is wrong with them is for the plan to say.
    resolve(recipe, catalogue, usize::MAX, &mut Vec::new()).map(|guests| guests.len())
}

/// More CPU time than there is.
fn beyond(size: &GuestRequest, cpus: usize) -> Option<Problem> {
    let cores = size.cpu.filter(|cores| *cores > cpus as f64)?;
    let what = format!("a guest with {cores} cores, and this machine has {cpus} for stacks");
    let why = "the guest would have what there is, and the result would be called that of a larger one";
    Some(Problem::recipe(what).key("guest.cpu").why(why).remedy(format!("{cpus} or less")))
}

/// What there is once, and not for each guest.
fn excluded(recipe: &Recipe) -> Vec<Problem> {
    let port = recipe.port.map(|port| {
        let what = format!("port {port} is one, and every guest has a web server");
        Problem::recipe(what).key("port").remedy("leave it out: each has a free one")
    });
    let outages = [("kill", &recipe.kill), ("cut", &recipe.cut)];
    let outages = outages.into_iter().filter(|(_, asked)| !asked.is_empty()).map(|(key, _)| {
        Problem::recipe("it doesn't say in which of the guests")
            .key(key)
            .why("in all of them at once it would be no outage of one server")
            .remedy("without guests")
    });
    let sessions = recipe.sessions.map(|_| {
        Problem::recipe("a number of sessions instead of a length, with guests")
            .key("sessions")
            .why("the guests would end at different times, and what the last ones do alone is no part of all")
            .remedy("steady = \"60s\"")
    });
    port.into_iter().chain(outages).chain(sessions).collect()
}

/// A tier that may have more than its guest: of two limits the smaller one holds, and the other would be told.
pub(super) fn beyond_a_guest(guests: &[Guest], tiers: &[PlanTier]) -> Vec<Problem> {
    let smallest = |limit: fn(&Guest) -> Option<f64>| guests.iter().filter_map(limit).reduce(f64::min);
    let cpu = smallest(|guest| guest.cpu_limit_cores);
    let memory = smallest(|guest| guest.memory_limit_bytes.map(|bytes| bytes as f64));
    let beyond = |own: Option<f64>, all: Option<f64>| own.zip(all).is_some_and(|(own, all)| own > all);
    let problem = |tier: &PlanTier, setting: &str| {
        Problem::recipe(format!("tier {} may take more than its guest", tier.name))
            .key(format!("set.{}.cgroup.{setting}", tier.name))
            .why("the guest's limit holds for all its tiers together")
            .remedy("a smaller one, or none")
    };
    let of_tier = |tier: &PlanTier| {
        let own_memory = tier.memory_limit_bytes.map(|bytes| bytes as f64);
        let cpu = beyond(tier.cpu_limit_cores, cpu).then(|| problem(tier, "cpu"));
        cpu.into_iter().chain(beyond(own_memory, memory).then(|| problem(tier, "memory"))).collect::<Vec<_>>()
    };
    tiers.iter().flat_map(of_tier).collect()
}

/// A fault that is done once to a machine, or to one server in the middle of a run, and not to each guest's stack alike.
pub(super) fn not_for_each(guests: &[Guest], fault: Option<&FaultFile>) -> Option<Problem> {
    let once = |one: &Injection| {
        matches!(one, Injection::Kill { .. } | Injection::Cut { .. } | Injection::CpuHog { .. })
    };
    // What the recipe itself kills or cuts off was told of.
    let fault = fault
        .filter(|fault| fault.name != OUTAGE && !guests.is_empty() && fault.injections.iter().any(once))?;
    let what = format!("fault {} is for one stack, and there are {} guests", fault.name, guests.len());
    Some(Problem::recipe(what).key("fault").why("each of them would do it again").remedy("without guests"))
}

/// A guest without a user would have nothing to do, and an equal part in the result.
pub(super) fn too_few_users(guests: &[Guest], load: &Load) -> Option<Problem> {
    let (count, users) = (guests.len() as u32, load.users);
    (load.arrivals.is_none() && users < count).then(|| {
        let what = format!("{users} users for {count} guests");
        Problem::recipe(what).key("users").why("some would have none").remedy(format!("{count} or more"))
    })
}

/// The load of the guest that has most of it.
pub(super) fn largest_share(load: &Load, guests: usize) -> Load {
    share(load, 0, guests.max(1) as u32)
}

/// The part of `load` that the guest at that place, from 0, has of that number of guests: user i is guest i mod N's.
fn share(load: &Load, place: u32, guests: u32) -> Load {
    let part = |all: u64| (all + u64::from(guests - 1 - place)) / u64::from(guests);
    let of_rate = |rate: f64| rate / f64::from(guests);
    let open = load.arrivals.is_some();
    let level = |level: f64| if open { of_rate(level) } else { part(level.round() as u64) as f64 };
    Load {
        users: part(u64::from(load.users)) as u32,
        seed: load.seed.wrapping_add(SEED_STEP.wrapping_mul(u64::from(place))),
        arrivals: load.arrivals.map(|arrivals| Arrivals {
            from_per_s: of_rate(arrivals.from_per_s),
            to_per_s: of_rate(arrivals.to_per_s),
            ..arrivals
        }),
        stages: load.stages.iter().map(|stage| Stage { level: level(stage.level), ..*stage }).collect(),
        sessions: load.sessions.map(part),
        ..load.clone()
    }
}

impl Plan {
    /// The plan of one of its guests: the same stack with its share of the load, its limits, and the same data as the others'. What is
    /// changed of the machine is changed for the first one, and stays for all; of cables each has its own.
    pub fn of_guest(&self, guest: &Guest) -> Plan {
        let place = guest.number.saturating_sub(1);
        let is_its_own = |setting: &&MachineSetting| place == 0 || setting.file.contains(CABLE);
        let machine = self.machine.iter().filter(is_its_own).cloned().collect();
        Plan {
            load: share(&self.load, place, self.guests.len().max(1) as u32),
            data_seed: Some(self.data_seed.unwrap_or(self.load.seed)),
            guests: Vec::new(),
            guest: Some(guest.clone()),
            machine,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_dealt_round_over_guests_and_rates_are_shared_evenly() {
        let load = Load { users: 10, sessions: Some(7), ..Load::default() };
        let shares: Vec<Load> = (0..4).map(|place| share(&load, place, 4)).collect();
        assert_eq!(shares.iter().map(|one| one.users).collect::<Vec<_>>(), [3, 3, 2, 2]);
        assert_eq!(shares.iter().filter_map(|one| one.sessions).sum::<u64>(), 7);
        let seeds: std::collections::BTreeSet<u64> = shares.iter().map(|one| one.seed).collect();
        assert_eq!(seeds.len(), 4, "no two guests' users draw the same");
        let arrivals = Arrivals {
            pattern: Default::default(),
            arriving: Default::default(),
            from_per_s: 100.0,
            to_per_s: 200.0,
        };
        let open = share(&Load { arrivals: Some(arrivals), ..load }, 1, 4);
        assert_eq!(open.arrivals.map(|one| (one.from_per_s, one.to_per_s)), Some((25.0, 50.0)));
    }

    #[test]
    fn stages_are_shared_like_the_users_they_are_of() {
        let stage = |level| Stage { level, ramp_s: 1.0, hold_s: 2.0 };
        let load = Load { users: 5, stages: vec![stage(5.0), stage(2.0)], ..Load::default() };
        let levels = |place| share(&load, place, 2).stages.iter().map(|one| one.level).collect::<Vec<_>>();
        assert_eq!((levels(0), levels(1)), (vec![3.0, 1.0], vec![2.0, 1.0]));
    }
}

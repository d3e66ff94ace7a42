//! `catalogue/topologies/NAME.toml`: on which hosts the instances of a stack's tiers are, and which guests have a whole stack each.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::units;

/// The link of a host that doesn't name one.
pub const CABLE: &str = "cable";

/// Hosts and who is on them, and guests (`--topology NAME`). A tier that isn't named stays where it is: on this machine's network, or on
/// hosts of its own. With neither hosts nor guests it is the machine as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopologyFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people.
    pub title: String,
    /// The hosts.
    #[serde(default, rename = "host", skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRequest>,
    /// The guests: each has a whole copy of the stack, its hosts among it, and of its data.
    #[serde(default, rename = "guest", skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<GuestRequest>,
}

/// A `[[guest]]`: one, or several alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuestRequest {
    /// How many there are. `--guests` is another number, where there is only one `[[guest]]`.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub count: u32,
    /// How many cores' time all servers of the guest may use together. No limit when absent.
    pub cpu: Option<f64>,
    /// What all servers of the guest may take together, page cache that they filled included: `2500mb`. No limit when absent.
    pub memory: Option<String>,
}

/// The most guests at once.
pub const MAX_GUESTS: u32 = 64;

/// A `[[host]]`: one, or several alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostRequest {
    /// Its name; of several the first is `NAME-1`.
    pub name: String,
    /// How many there are.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub count: u32,
    /// How many instances of each tier are on them in all, dealt round: the first is on the first of them.
    pub tiers: BTreeMap<String, u32>,
    /// The link of the catalogue by which each is joined to all others; a cable of this machine when absent. `net.link` of one of its
    /// tiers is another one.
    #[serde(default = "cable")]
    pub link: String,
}

fn one() -> u32 {
    1
}

fn cable() -> String {
    CABLE.to_string()
}

impl HostRequest {
    /// The name of the host that instance `number` of a tier is on, from 0.
    pub fn host_of(&self, number: u32) -> String {
        match self.count {
            0 | 1 => self.name.clone(),
            count => format!("{}-{}", self.name, number % count + 1),
        }
    }
}

impl TopologyFile {
    /// What is wrong with it, whatever the stack.
    pub fn mistakes(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let (mut names, mut tiers) = (BTreeSet::new(), BTreeSet::new());
        let mut wrong = |host: &HostRequest, what: String| {
            found.push(Problem::recipe(format!("host {}: {what}", host.name)).key("host"));
        };
        for host in &self.hosts {
            let all: BTreeSet<String> = (0..host.count).map(|number| host.host_of(number)).collect();
            if host.name.is_empty() || all.into_iter().any(|name| !names.insert(name)) {
                wrong(host, "there are two of that name".to_string());
            }
            let most = host.tiers.values().copied().max().unwrap_or(0);
            if host.count == 0 || host.count > most {
                wrong(host, format!("{} of them, and nothing would be on some", host.count));
            }
            for (tier, instances) in &host.tiers {
                if !tiers.insert(tier) {
                    wrong(host, format!("tier `{tier}` is on another one already"));
                }
                if *instances == 0 {
                    wrong(host, format!("0 instances of tier `{tier}`"));
                }
            }
        }
        found.extend(self.guests.iter().enumerate().flat_map(|(at, guest)| guest.mistakes(at + 1)));
        let guests: u32 = self.guests.iter().map(|guest| guest.count).fold(0, u32::saturating_add);
        if guests > MAX_GUESTS {
            let what = format!("{guests} guests, and there can be {MAX_GUESTS}");
            found.push(Problem::recipe(what).key("guest"));
        }
        found
    }
}

impl GuestRequest {
    /// The limit of its memory.
    pub fn memory_bytes(&self) -> Result<Option<u64>, String> {
        self.memory.as_deref().map(units::size_bytes).transpose()
    }

    fn mistakes(&self, number: usize) -> Vec<Problem> {
        let wrong = |key: &str, what: String| {
            Problem::recipe(format!("[[guest]] {number}: {what}")).key(format!("guest.{key}"))
        };
        let count = (self.count == 0).then(|| wrong("count", "there would be none of it".to_string()));
        let cpu = self.cpu.filter(|cores| !(cores.is_finite() && *cores > 0.0));
        let cpu = cpu.map(|cores| wrong("cpu", format!("{cores} cores are no CPU time")));
        let memory = self.memory_bytes().err().map(|what| wrong("memory", what));
        let none = (self.memory_bytes() == Ok(Some(0))).then(|| wrong("memory", "that is none".to_string()));
        count.into_iter().chain(cpu).chain(memory).chain(none).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, count: u32, tiers: &[(&str, u32)]) -> HostRequest {
        let tiers = tiers.iter().map(|(tier, instances)| (tier.to_string(), *instances)).collect();
        HostRequest { name: name.to_string(), count, tiers, link: cable() }
    }

    #[test]
    fn instances_are_dealt_round_over_hosts() {
        let hosts = |count| (0..3).map(|number| host("node", count, &[]).host_of(number)).collect::<Vec<_>>();
        assert_eq!(hosts(2), ["node-1", "node-2", "node-1"]);
        assert_eq!(hosts(1), ["node", "node", "node"]);
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let hosts =
            vec![host("a", 1, &[("db", 2)]), host("a", 1, &[("db", 1), ("data", 0)]), host("b", 0, &[])];
        let file = TopologyFile { format: 1, name: "x".into(), title: "X".into(), hosts, guests: Vec::new() };
        let said: Vec<String> = file.mistakes().iter().map(Problem::to_string).collect();
        let parts =
            ["two of that name", "0 instances of tier `data`", "tier `db` is on another", "nothing would be"];
        assert_eq!(said.len(), parts.len(), "{said:#?}");
        assert!(parts.iter().all(|part| said.iter().any(|one| one.contains(part))), "{said:#?}");
        let beside =
            vec![host("a", 2, &[("db", 2)]), host("a-1", 1, &[("web", 1)]), host("b", 3, &[("data", 2)])];
        let other = TopologyFile { hosts: beside, ..file };
        assert_eq!(other.mistakes().len(), 2, "a second a-1, and a b that is empty: {:#?}", other.mistakes());
    }

    #[test]
    fn a_guest_has_some_cpu_time_and_some_memory_and_there_are_not_too_many() {
        let guest = |count, cpu, memory: &str| GuestRequest { count, cpu, memory: Some(memory.to_string()) };
        let of = |guests: Vec<GuestRequest>| {
            let file =
                TopologyFile { format: 1, name: "x".into(), title: "X".into(), hosts: Vec::new(), guests };
            file.mistakes().iter().map(|one| one.place.key.clone().unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(of(Vec::new()), Vec::<String>::new(), "the machine as it is");
        assert_eq!(of(vec![guest(2, Some(0.5), "1gb")]), Vec::<String>::new());
        let wrong = vec![guest(0, Some(-1.0), "much"), guest(65, Some(f64::NAN), "0")];
        let keys = ["guest.count", "guest.cpu", "guest.memory", "guest.cpu", "guest.memory", "guest"];
        assert_eq!(of(wrong), keys);
    }
}

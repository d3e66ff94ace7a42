//! `catalogue/topologies/NAME.toml`: on which hosts the instances of a stack's tiers are.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The link of a host that doesn't name one.
pub const CABLE: &str = "cable";

/// Hosts and who is on them (`--topology NAME`). A tier that isn't named stays where it is: on this machine's network, or on hosts of
/// its own.
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
    #[serde(rename = "host")]
    pub hosts: Vec<HostRequest>,
}

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
        if self.hosts.is_empty() {
            found.push(Problem::recipe("it has no [[host]]").key("host"));
            return found;
        }
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
        found
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
        let file = TopologyFile { format: 1, name: "x".into(), title: "X".into(), hosts };
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
}

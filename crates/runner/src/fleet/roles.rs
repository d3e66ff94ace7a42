//! What an agent of a fleet is for: driving users, watching tiers of its machine, or both; as `hosts.toml` says it and the fleet's
//! folder keeps it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fleet::bus::Name;
use fleet::permissions::Role;
use fleet::{WatchedBy, WatchedTier};
use model::record::instrument::INSTRUMENT;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Larger ones say nothing more.
const MAX_WEIGHT: u32 = 10_000;

/// What is no tier's name: figures of the machine, of the run and of what carries packets have these.
const TAKEN: [&str; 3] = ["host", "run", observe::NETWORK];

/// By what a tier's processes are found, as `hosts.toml` says it: one of these.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TierEntry {
    /// A systemd unit: mariadb.service.
    unit: Option<String>,
    /// A cgroup, as systemd-cgls shows it: /system.slice/apache2.service.
    cgroup: Option<String>,
    /// A file with the number of a process; it and all below it are the tier.
    pid_file: Option<PathBuf>,
}

/// What an agent is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Roles {
    /// Whether it drives users.
    pub(super) load: bool,
    /// Its share of them beside the others'; its CPUs, where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) weight: Option<u32>,
    /// What it watches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tiers: Vec<WatchedTier>,
}

impl Default for Roles {
    /// Of an agent that was placed before there were others, or is started by hand.
    fn default() -> Roles {
        Roles { load: true, weight: None, tiers: Vec::new() }
    }
}

impl Roles {
    /// What a machine's table says; what is wrong with it goes to `wrong`, by its key.
    pub(super) fn of(
        roles: Option<&[String]>,
        weight: Option<u32>,
        tiers: &BTreeMap<String, TierEntry>,
        wrong: &mut dyn FnMut(String, &str),
    ) -> Roles {
        let mut read = Vec::new();
        for word in roles.unwrap_or(&[Role::Load.word().to_string()]) {
            match Role::read(word) {
                Ok(role) => read.push(role),
                Err(why) => wrong(why, "roles"),
            }
        }
        if roles.is_some_and(<[String]>::is_empty) {
            wrong("it is for nothing: `load`, `observe`, or both".to_string(), "roles");
        }
        let (load, observes) = (read.contains(&Role::Load), read.contains(&Role::Observe));
        if observes && tiers.is_empty() {
            let what = "its role is `observe`, and [host.tiers] doesn't say what: database = { unit = \"mariadb.service\" }";
            wrong(what.to_string(), "tiers");
        }
        if !observes && !tiers.is_empty() {
            wrong("it has tiers, and its roles don't have `observe`".to_string(), "tiers");
        }
        if weight.is_some_and(|weight| weight == 0 || weight > MAX_WEIGHT) {
            wrong(format!("a weight is between 1 and {MAX_WEIGHT}"), "weight");
        }
        if weight.is_some() && !load {
            wrong("it has a weight, and its roles don't have `load`".to_string(), "weight");
        }
        let mut found = Vec::new();
        for (name, entry) in tiers {
            match tier(name, entry) {
                Ok(tier) => found.push(tier),
                Err(why) => wrong(why, &format!("tiers.{name}")),
            }
        }
        Roles { load, weight, tiers: found }
    }

    /// By their words.
    pub(super) fn all(&self) -> Vec<Role> {
        let has = |role: &Role| match role {
            Role::Load => self.load,
            Role::Observe => !self.tiers.is_empty(),
        };
        Role::ALL.into_iter().filter(has).collect()
    }

    /// The names of the tiers that it watches.
    pub(super) fn watches(&self) -> Vec<String> {
        self.tiers.iter().map(|tier| tier.tier.clone()).collect()
    }
}

fn tier(name: &str, entry: &TierEntry) -> Result<WatchedTier, String> {
    let tier = Name::of(name)?.to_string();
    if INSTRUMENT.contains(&name) || TAKEN.contains(&name) {
        return Err(format!("`{name}` is the name of something else that runs have figures of"));
    }
    let ways = [
        entry.unit.clone().map(WatchedBy::Unit),
        entry.cgroup.clone().map(WatchedBy::Cgroup),
        entry.pid_file.clone().map(WatchedBy::PidFile),
    ];
    let mut ways = ways.into_iter().flatten();
    let (Some(by), None) = (ways.next(), ways.next()) else {
        return Err("it has one of `unit`, `cgroup` and `pid_file`".to_string());
    };
    by.check()?;
    Ok(WatchedTier { tier, by })
}

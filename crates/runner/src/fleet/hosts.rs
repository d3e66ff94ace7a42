//! `hosts.toml`: the machines on which a fleet's agents are placed.

use std::collections::BTreeMap;
use std::path::Path;

use fleet::bus::Name;
use model::{Problem, Problems, Result, document};
use schemars::JsonSchema;
use serde::Deserialize;

use super::init::agent_name;
use super::roles::{Roles, TierEntry};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HostsFile {
    /// A configuration of ssh instead of the user's own.
    ssh_config: Option<String>,
    /// The machines.
    #[serde(default)]
    host: Vec<HostEntry>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    /// How ssh calls it: load1, or somebody@10.0.0.7.
    ssh: String,
    /// The agent's name; the machine's, where it isn't said.
    name: Option<String>,
    /// The CPUs on which it generates load: 1-3, or 0,2; all, where it isn't said.
    cpus: Option<String>,
    /// `agent.toml` of that machine's operator, by its path there.
    config: Option<String>,
    /// What its agent is for: load, observe, or both; load, where it isn't said.
    roles: Option<Vec<String>>,
    /// Its share of the users beside the others'; the number of its CPUs, where it isn't said.
    weight: Option<u32>,
    /// What it watches, by the tiers' names.
    #[serde(default)]
    tiers: BTreeMap<String, TierEntry>,
}

/// A machine for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) ssh: String,
    pub(super) agent: Name,
    pub(super) cpus: Option<Vec<usize>>,
    pub(super) config: Option<String>,
    pub(super) roles: Roles,
}

/// All of `hosts.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hosts {
    pub(super) ssh_config: Option<String>,
    pub(super) hosts: Vec<Host>,
}

/// Reads the file.
///
/// # Errors
/// All that is wrong with it.
pub(super) fn read(path: &Path) -> Result<Hosts> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problem::recipe(format!("failed to read: {error}")).file(&name))?;
    of_text(&name, &text)
}

fn of_text(file: &str, text: &str) -> Result<Hosts> {
    let read: HostsFile = document::read(file, text)?;
    let mut problems = Vec::new();
    let mut wrong = |what: String, key: &str| problems.push(Problem::recipe(what).file(file).key(key));
    let mut hosts: Vec<Host> = Vec::new();
    for entry in read.host {
        let agent = entry.name.clone().unwrap_or_else(|| machine_of(&entry.ssh));
        let agent = agent_name(&agent).map_err(|why| wrong(format!("{}: {why}", entry.ssh), "name"));
        let cpus = entry.cpus.as_deref().map(cpus).transpose();
        let cpus = cpus.map_err(|why| wrong(format!("{}: {why}", entry.ssh), "cpus"));
        let of_host = &mut |why: String, key: &str| wrong(format!("{}: {why}", entry.ssh), key);
        let roles = Roles::of(entry.roles.as_deref(), entry.weight, &entry.tiers, of_host);
        let (Ok(agent), Ok(cpus)) = (agent, cpus) else { continue };
        if hosts.iter().any(|host| host.agent == agent) {
            wrong(format!("two agents are called {agent}: their results could not be told apart"), "name");
        }
        for tier in roles.watches() {
            if let Some(other) = hosts.iter().find(|host| host.roles.watches().contains(&tier)) {
                let what = format!(
                    "{} and {} both watch a tier called {tier}: each has a name of its own, such as {tier}-2",
                    other.ssh, entry.ssh
                );
                wrong(what, &format!("tiers.{tier}"));
            }
        }
        hosts.push(Host { ssh: entry.ssh, agent, cpus, config: entry.config, roles });
    }
    if hosts.is_empty() && problems.is_empty() {
        problems.push(Problem::recipe("it names no machine").file(file).remedy("[[host]]\nssh = \"load1\""));
    }
    Problems::check(problems)?;
    Ok(Hosts { ssh_config: read.ssh_config, hosts })
}

/// `load1` of `somebody@load1.example`, as far as that may be a name.
fn machine_of(ssh: &str) -> String {
    let machine = ssh.rsplit('@').next().unwrap_or(ssh);
    machine.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

/// `1-3,5`.
fn cpus(text: &str) -> std::result::Result<Vec<usize>, String> {
    let wrong = || format!("`{text}` is no list of CPUs: 1-3, or 0,2");
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|cpu| *cpu < MAX_CPUS);
        let (first, last) = (number(first).ok_or_else(wrong)?, number(last).ok_or_else(wrong)?);
        if last < first {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// As many as the kernel can be built for.
const MAX_CPUS: usize = 8192;

#[cfg(test)]
mod tests {
    use fleet::{WatchedBy, WatchedTier};

    use super::*;

    #[test]
    fn machines_are_read_with_their_agents_names_and_cpus() {
        let text = "ssh_config = \"here\"\n[[host]]\nssh = \"somebody@load1.example\"\n\
                    [[host]]\nssh = \"load2\"\nname = \"two\"\ncpus = \"1-3,5\"\nconfig = \"agent.toml\"\n";
        let read = of_text("hosts.toml", text).unwrap_or_else(|problems| panic!("{problems}"));
        let host = |ssh: &str, agent: &str, cpus: Option<Vec<usize>>, config: Option<&str>| Host {
            ssh: ssh.to_string(),
            agent: Name::of(agent).expect("a name"),
            cpus,
            config: config.map(str::to_string),
            roles: Roles::default(),
        };
        let one = host("somebody@load1.example", "load1-example", None, None);
        let two = host("load2", "two", Some(vec![1, 2, 3, 5]), Some("agent.toml"));
        assert_eq!(read, Hosts { ssh_config: Some("here".to_string()), hosts: vec![one, two] });
    }

    #[test]
    fn a_host_drives_users_by_its_weight_or_watches_tiers_or_does_both() {
        let text = "[[host]]\nssh = \"load1\"\nweight = 3\n\
                    [[host]]\nssh = \"db1\"\nroles = [\"observe\"]\n[host.tiers]\n\
                    database = { unit = \"mariadb.service\" }\ncache = { cgroup = \"/system.slice/memcached.service\" }\n\
                    [[host]]\nssh = \"web1\"\nroles = [\"load\", \"observe\"]\n[host.tiers]\n\
                    app = { pid_file = \"/run/php/fpm.pid\" }\n";
        let read = of_text("hosts.toml", text).unwrap_or_else(|problems| panic!("{problems}"));
        let tier = |name: &str, by| WatchedTier { tier: name.to_string(), by };
        let unit = tier("database", WatchedBy::Unit("mariadb.service".to_string()));
        let cgroup = tier("cache", WatchedBy::Cgroup("/system.slice/memcached.service".to_string()));
        let app = tier("app", WatchedBy::PidFile("/run/php/fpm.pid".into()));
        let expected = [
            Roles { load: true, weight: Some(3), tiers: Vec::new() },
            Roles { load: false, weight: None, tiers: vec![cgroup, unit] },
            Roles { load: true, weight: None, tiers: vec![app] },
        ];
        let roles: Vec<Roles> = read.hosts.into_iter().map(|host| host.roles).collect();
        assert_eq!(roles, expected);
        let words = |roles: &Roles| roles.all().iter().map(|role| role.word()).collect::<Vec<_>>().join(" ");
        assert_eq!(roles.iter().map(words).collect::<Vec<_>>(), ["load", "observe", "load observe"]);
    }

    #[test]
    fn all_that_is_wrong_with_roles_and_tiers_is_said_at_once() {
        let text = "[[host]]\nssh = \"h1\"\nroles = [\"watch\"]\n[[host]]\nssh = \"h2\"\nroles = [\"observe\"]\nweight = 2\n\
                    [[host]]\nssh = \"h3\"\n[host.tiers]\ndatabase = { unit = \"db.service\" }\n\
                    [[host]]\nssh = \"h4\"\nweight = 0\n[[host]]\nssh = \"h5\"\nroles = []\n\
                    [[host]]\nssh = \"h6\"\nroles = [\"observe\"]\n[host.tiers]\ngenerator = { unit = \"x.service\" }\n\
                    a_b = { unit = \"x.service\" }\nnone = {}\nboth = { unit = \"x.service\", cgroup = \"/x\" }\n\
                    away = { cgroup = \"/../x\" }\ndatabase = { pid_file = \"/run/db.pid\" }\n";
        let said = of_text("hosts.toml", text).expect_err("nothing is right").to_string();
        for part in [
            "h1: `watch` is no role: load, observe",
            "h2: its role is `observe`, and [host.tiers] doesn't say what",
            "h2: it has a weight, and its roles don't have `load`",
            "h3: it has tiers, and its roles don't have `observe`",
            "h4: a weight is between 1 and 10000",
            "h5: it is for nothing",
            "h6: `generator` is the name of something else",
            "h6: `a_b` is no name",
            "h6: it has one of `unit`, `cgroup` and `pid_file`",
            "tiers.both",
            "`/../x` is no cgroup",
            "h3 and h6 both watch a tier called database",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let said = of_text("hosts.toml", "[[host]]\nssh = \"h\"\n[host.tiers]\ndb = { unti = \"x\" }\n");
        let said = said.expect_err("there is no such key").to_string();
        assert!(said.contains("hosts.toml:4") && said.contains("`unit`"), "{said}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let text = "[[host]]\nssh = \"load1\"\nname = \"a_1\"\n[[host]]\nssh = \"load2\"\ncpus = \"3-1\"\n\
                    [[host]]\nssh = \"load3\"\n[[host]]\nssh = \"me@load3\"\n";
        let said = of_text("hosts.toml", text).expect_err("nothing is right").to_string();
        for part in ["`a_1` is no name", "`3-1` is no list of CPUs", "two agents are called load3"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let said = of_text("hosts.toml", "[[host]]\nssh = \"load1\"\nwaight = 3\n").expect_err("no such key");
        assert!(said.to_string().contains("hosts.toml:3"), "{said}");
        let said = of_text("hosts.toml", "").expect_err("nobody").to_string();
        assert!(said.contains("names no machine"), "{said}");
    }
}

//! `hosts.toml`: the machines on which a fleet's agents are placed.

use std::path::Path;

use fleet::bus::Name;
use model::{Problem, Problems, Result, document};
use schemars::JsonSchema;
use serde::Deserialize;

use super::init::agent_name;

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
}

/// A machine for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) ssh: String,
    pub(super) agent: Name,
    pub(super) cpus: Option<Vec<usize>>,
    pub(super) config: Option<String>,
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
        let (Ok(agent), Ok(cpus)) = (agent, cpus) else { continue };
        if hosts.iter().any(|host| host.agent == agent) {
            wrong(format!("two agents are called {agent}: their results could not be told apart"), "name");
        }
        hosts.push(Host { ssh: entry.ssh, agent, cpus, config: entry.config });
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
        };
        let one = host("somebody@load1.example", "load1-example", None, None);
        let two = host("load2", "two", Some(vec![1, 2, 3, 5]), Some("agent.toml"));
        assert_eq!(read, Hosts { ssh_config: Some("here".to_string()), hosts: vec![one, two] });
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let text = "[[host]]\nssh = \"load1\"\nname = \"a_1\"\n[[host]]\nssh = \"load2\"\ncpus = \"3-1\"\n\
                    [[host]]\nssh = \"load3\"\n[[host]]\nssh = \"me@load3\"\n";
        let said = of_text("hosts.toml", text).expect_err("nothing is right").to_string();
        for part in ["`a_1` is no name", "`3-1` is no list of CPUs", "two agents are called load3"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let said = of_text("hosts.toml", "[[host]]\nssh = \"load1\"\nweight = 3\n").expect_err("no such key");
        assert!(said.to_string().contains("hosts.toml:3"), "{said}");
        let said = of_text("hosts.toml", "").expect_err("nobody").to_string();
        assert!(said.contains("names no machine"), "{said}");
    }
}

//! The machines of a fleet, asked by ssh, several at a time.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

use fleet::bus::Name;
use model::{Problem, Problems, Result};
use testbed::ssh::Facts;

use super::busy;
use crate::environment::Environment;
use crate::fleet::folder::FleetFolder;
use crate::fleet::look::{Look, LookAsked, TargetAsked};
use crate::fleet::placed::{PlacedAgent, PlacedFile};
use crate::fleet::status::FleetStatus;

/// Machines that are asked at the same time, each by a thread and an ssh.
const MAX_AT_ONCE: usize = 32;

/// A machine on which an agent was placed.
#[derive(Debug, Clone)]
pub struct MachineHealth {
    /// The agent.
    pub agent: String,
    /// How ssh calls the machine.
    pub ssh: String,
    /// The agent drives users, so that its generator and its way to the target count.
    pub drives: bool,
    /// What the machine is, or why it can't be asked.
    pub facts: std::result::Result<Facts, String>,
    /// What the agent's own program sees there, or why it doesn't; nothing where the machine can't be asked.
    pub look: Option<std::result::Result<Look, String>>,
    /// Why its generator wasn't driven against a server that does nothing.
    pub not_loaded: Option<String>,
}

/// What one machine is asked.
struct Visit<'a> {
    agent: &'a PlacedAgent,
    question: LookAsked,
    not_loaded: Option<String>,
}

/// Asks all machines, in the order in which they were placed. Agents that are on one machine are asked one after the other.
///
/// # Errors
/// What was placed can't be read; the user's wish to stop.
pub(super) fn look_at_all(
    folder: &FleetFolder,
    (status, taken): (&FleetStatus, Option<&str>),
    (target, is_quick): (Option<TargetAsked>, bool),
    env: &mut Environment<'_>,
) -> Result<Vec<MachineHealth>> {
    let placed = PlacedFile::read(folder)?.agents;
    let visit = |agent| {
        let not_loaded = why_not_loaded(agent, (status, taken), is_quick);
        let target = target.clone().filter(|_| agent.roles.load);
        Visit { agent, question: LookAsked::of(agent.roles.load && not_loaded.is_none(), target), not_loaded }
    };
    let visits: Vec<Visit<'_>> = placed.iter().map(visit).collect();
    let machines = by_machine(&placed);
    let (waiting, number) = (Mutex::new(machines.into_iter()), visits.len());
    let (tell, hear) = channel();
    let (interrupt, progress) = (env.interrupt, &mut *env.progress);
    let mut found: Vec<Option<MachineHealth>> = vec![None; number];
    thread::scope(|scope| {
        let (visits, waiting) = (&visits, &waiting);
        for _ in 0..number.min(MAX_AT_ONCE) {
            let tell = tell.clone();
            scope.spawn(move || {
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some(indexes) = next() {
                    for index in indexes {
                        let is_wanted = || interrupt.count() == 0;
                        if !is_wanted() || tell.send((index, visits[index].make(&is_wanted))).is_err() {
                            return;
                        }
                    }
                }
            });
        }
        drop(tell);
        progress.step("looking at its machines");
        for (done, (index, health)) in hear.iter().enumerate() {
            found[index] = Some(health);
            progress.advance(
                &format!("looked at {} of {number} machines", done + 1),
                (done + 1) as f64 / number as f64,
            );
        }
    });
    interrupt.check()?;
    Ok(found.into_iter().flatten().collect())
}

/// The indexes of the agents of each machine: what has the same boot is one.
fn by_machine(placed: &[PlacedAgent]) -> Vec<Vec<usize>> {
    let mut machines: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, agent) in placed.iter().enumerate() {
        let boot = agent.process.as_ref().map(|process| process.boot_id.clone());
        machines.entry(boot.unwrap_or_else(|| format!("agent {index}"))).or_default().push(index);
    }
    machines.into_values().collect()
}

fn why_not_loaded(
    agent: &PlacedAgent,
    (status, taken): (&FleetStatus, Option<&str>),
    is_quick: bool,
) -> Option<String> {
    if !agent.roles.load {
        return Some("it drives no users".to_string());
    }
    let name = Name::of(&agent.agent).ok();
    let status = status.agents.iter().find(|known| Some(&known.agent) == name.as_ref());
    let of_a_run = status.and_then(busy).or_else(|| taken.map(str::to_string));
    of_a_run.or_else(|| is_quick.then(|| "--quick".to_string()))
}

impl Visit<'_> {
    fn make(&self, is_wanted: &dyn Fn() -> bool) -> MachineHealth {
        let PlacedAgent { agent, ssh, roles, .. } = self.agent;
        let facts = self.agent.host().and_then(|host| host.facts()).map_err(|problems| sentence(&problems));
        let look = facts.is_ok().then(|| self.look(is_wanted));
        MachineHealth {
            agent: agent.clone(),
            ssh: ssh.clone(),
            drives: roles.load,
            facts,
            look,
            not_loaded: self.not_loaded.clone(),
        }
    }

    fn look(&self, is_wanted: &dyn Fn() -> bool) -> std::result::Result<Look, String> {
        let PlacedAgent { program, args, .. } = self.agent;
        if args.is_empty() {
            return Err(
                "an earlier build placed its agent, or never heard that it began: fleet up again".to_string()
            );
        }
        let args = [args.as_slice(), &["--look".to_string()]].concat();
        let asked = || -> Result<std::result::Result<Look, String>> {
            let answer = self.agent.host()?.ask(program, &args, &self.question.encode(), is_wanted)?;
            Ok(Look::read(&answer))
        };
        asked().unwrap_or_else(|problems| Err(sentence(&problems)))
    }
}

/// What went wrong, with what to try.
fn sentence(problems: &Problems) -> String {
    let words = |problem: &Problem| {
        let remedy = problem.remedy.as_ref().map(|remedy| format!(" ({remedy})"));
        format!("{}{}", problem.what, remedy.unwrap_or_default())
    };
    problems.iter().map(words).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_that_share_a_machine_are_asked_one_after_the_other() {
        let agent = |boot: Option<&str>| {
            let process = boot.map(|boot| {
                serde_json::json!({ "pid": 7, "start_ticks": 1, "boot_id": boot, "folder": "/cache/a" })
            });
            let entry = serde_json::json!({
                "agent": "a", "ssh": "load1", "ssh_config": null, "folder": "fleets/a", "process": process,
            });
            serde_json::from_value::<PlacedAgent>(entry).expect("one as builds of before wrote it")
        };
        let placed = [agent(Some("b1")), agent(None), agent(Some("b2")), agent(Some("b1")), agent(None)];
        let mut machines = by_machine(&placed);
        machines.sort();
        assert_eq!(machines, [vec![0, 3], vec![1], vec![2], vec![4]]);
        let question = LookAsked::of(false, None);
        let visit = Visit { agent: &placed[0], question, not_loaded: None };
        let said = visit.look(&|| true).expect_err("nobody knows its program");
        assert!(said.contains("fleet up again"), "{said}");
    }
}

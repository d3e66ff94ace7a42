//! The agents that drove a run: a row each, the same for every form of a page.

use model::RunRecord;
use model::record::{AgentResult, FleetResult, ObserverResult};
use serde::Serialize;

use crate::figures;

/// The columns of an agent's row.
pub(crate) const COLUMNS: [&str; 8] =
    ["Agent", "CPUs", "users", "CPU", "busiest thread", "send lag", "began late", "clock ahead by"];

/// An agent's row.
#[derive(Debug, Serialize)]
pub(crate) struct AgentRow {
    /// A cell for each of [`COLUMNS`].
    pub(crate) cells: Vec<String>,
    /// Why it was given up.
    pub(crate) lost: Option<String>,
}

/// The agents of a run that a fleet drove.
#[derive(Debug, Serialize)]
pub(crate) struct AgentTable {
    columns: [&'static str; 8],
    rows: Vec<AgentRow>,
    observers: Vec<ObserverRow>,
}

/// An agent that watched tiers of its machine.
#[derive(Debug, Serialize)]
pub(crate) struct ObserverRow {
    /// What it watched.
    pub(crate) words: String,
    /// Why it was given up.
    pub(crate) lost: Option<String>,
}

/// The table of a run's agents; absent where there were none.
pub(crate) fn table(record: &RunRecord) -> Option<AgentTable> {
    let fleet = record.fleet.as_ref()?;
    Some(AgentTable { columns: COLUMNS, rows: rows(fleet), observers: observers(fleet) })
}

/// A row for each agent, in their order.
pub(crate) fn rows(fleet: &FleetResult) -> Vec<AgentRow> {
    fleet.agents.iter().map(row).collect()
}

/// Who watched what, in the order of the fleet.
pub(crate) fn observers(fleet: &FleetResult) -> Vec<ObserverRow> {
    let row = |one: &ObserverResult| {
        let ObserverResult { agent, tiers, readings, lost } = one;
        let words = format!("{agent} watched {} ({readings} readings)", tiers.join(", "));
        ObserverRow { words, lost: lost.clone() }
    };
    fleet.observers.iter().map(row).collect()
}

fn row(agent: &AgentResult) -> AgentRow {
    let cpus: Vec<String> = agent.cpus.iter().map(ToString::to_string).collect();
    let bound = figures::time(Some(agent.offset_bound_s));
    let cells = vec![
        agent.agent.clone(),
        cpus.join(", "),
        figures::percent(Some(agent.users_ratio)),
        figures::percent(agent.cpu_ratio),
        figures::percent(agent.busiest_thread_ratio),
        figures::time(agent.lag_p99_s),
        figures::time(agent.late_s),
        format!("{} ± {bound}", ahead(agent.offset_s)),
    ];
    AgentRow { cells, lost: agent.lost.clone() }
}

/// An offset, which may be a day or none.
fn ahead(offset_s: f64) -> String {
    let size = figures::time(Some(offset_s.abs()));
    if offset_s < 0.0 { format!("-{size}") } else { size }
}

/// `driven by 2 agents on this machine (local:2)`: who drove the users, in a few words.
pub(crate) fn words(fleet: &FleetResult) -> String {
    let agents = match fleet.agents.len() {
        1 => "1 agent".to_string(),
        several => format!("{several} agents"),
    };
    let name = &fleet.fleet;
    let driven = match name.starts_with("local:") {
        true => format!("driven by {agents} on this machine ({name})"),
        false => format!("driven by {agents} of fleet {name}"),
    };
    let lost = |agent: &AgentResult| format!("{} lost after {} s", agent.agent, agent.seconds);
    let lost: Vec<String> = fleet.lost().map(lost).collect();
    [vec![driven], lost].concat().join("; ")
}

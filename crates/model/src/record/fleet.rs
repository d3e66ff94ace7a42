//! The agents that drove a run's users, where a fleet did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fleet as a run had it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetResult {
    /// Its name; `local:N` for N agents that were started on this machine for the run.
    pub fleet: String,
    /// Each agent with a part in the run, in the order in which their seconds were added up.
    pub agents: Vec<AgentResult>,
    /// Each agent that watched tiers on its machine; it may be among those above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<ObserverResult>,
    /// The number of agents that the run was allowed to lose (`--tolerate`).
    #[serde(default, skip_serializing_if = "is_none_tolerated")]
    pub tolerated: u32,
}

fn is_none_tolerated(tolerated: &u32) -> bool {
    *tolerated == 0
}

impl FleetResult {
    /// The agents that were given up.
    pub fn lost(&self) -> impl Iterator<Item = &AgentResult> {
        self.agents.iter().filter(|agent| agent.lost.is_some())
    }

    /// Some were given up, and the others went on: from then on the load was smaller than the one asked for.
    pub fn is_degraded(&self) -> bool {
        (1..=self.tolerated as usize).contains(&self.lost().count())
    }
}

/// An agent that watched tiers of its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverResult {
    /// Its name.
    pub agent: String,
    /// The tiers, by the names that `hosts.toml` gave them.
    pub tiers: Vec<String>,
    /// The number of its readings: one as the run began, one at the end of each second, and one at its end.
    pub readings: u32,
    /// Why it was given up; the run went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// An agent of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentResult {
    /// Its name.
    pub agent: String,
    /// The CPUs on which it generated load.
    pub cpus: Vec<usize>,
    /// Its share of the users.
    pub users_ratio: f64,
    /// By how much its CLOCK_MONOTONIC was ahead of the controller's.
    pub offset_s: f64,
    /// How far the truth can be from that.
    pub offset_bound_s: f64,
    /// By how much that changed at least until the run's end; absent where nobody answered then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_s: Option<f64>,
    /// How long after the time that was set the last of its threads began; absent where it didn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_s: Option<f64>,
    /// The number of seconds that came of it.
    pub seconds: u32,
    /// CPU of its generator's threads over the steady state, as a share of its CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<f64>,
    /// CPU of the busiest of them, as a share of one CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_thread_ratio: Option<f64>,
    /// Send lag: the median, over the seconds of the steady state, of each second's 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_p99_s: Option<f64>,
    /// Why it was given up, and the run with it unless that was tolerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// What an agent's generator saw of itself in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentSecond {
    /// The second's number, 0-based.
    pub second: u32,
    /// CPU time of its threads.
    pub cpu_s: f64,
    /// Of the busiest one.
    pub busiest_thread_cpu_s: f64,
    /// Its send lag's 99th percentile; absent where nothing was sent.
    pub lag_p99_s: Option<f64>,
}

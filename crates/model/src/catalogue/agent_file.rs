//! `agent.toml`: what the operator of a load machine, or of a server's host, lets a fleet do with it.

use schemars::JsonSchema;
use serde::Deserialize;

/// What an agent may do. What it doesn't say, it doesn't limit, but for targets: without any, load goes to the agent's own machine
/// alone.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentFile {
    /// What its agent may be for: `load`, `observe`; without it, what whoever starts the agent says, and `load` where nobody does.
    pub roles: Option<Vec<String>>,
    /// Public keys of the controllers that it obeys.
    pub controllers: Vec<String>,
    /// Machines that may be under load: names, which the agent looks up itself, addresses, networks such as 10.0.0.0/24.
    pub targets: Vec<String>,
    /// The most users that are this agent's at a time.
    pub max_users: Option<u32>,
    /// The most arrivals a second that are this agent's.
    pub max_rate: Option<f64>,
    /// The longest run: 30min.
    pub max_duration: Option<String>,
}

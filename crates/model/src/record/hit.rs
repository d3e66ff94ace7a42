//! What `plimsoll hit` says: one request repeated, and the instrument's judgement of itself, as `--json` prints it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::load::Arrivals;
use crate::record::interval::Wire;
use crate::record::{Evidence, GeneratorResult, Outcome, PhaseResults, TimeSummary, ValidityCheck, Verdict};

/// The version of [`HitRecord`]; counts up when a reader of the old one would misread the new one.
pub const HIT_FORMAT: u32 = 1;

/// One request repeated. Everything but `generator` and `validity` is over all of it, from the first user's start to
/// the last answer; those two are over its whole seconds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HitRecord {
    /// [`HIT_FORMAT`].
    pub format: u32,
    /// RFC 3339, UTC.
    pub started: String,
    /// The version of Plimsoll that made it.
    pub plimsoll: String,
    /// The command line, so that it can be repeated.
    pub command: Vec<String>,
    /// `GET`, `POST`, any token.
    pub method: String,
    /// Where the requests went.
    pub url: String,
    /// The server's address or socket.
    pub server: String,
    /// The host that `--allow-target` allowed; absent on this machine.
    pub allowed: Option<String>,
    /// Users, each with a connection of its own and without think time; with arrivals the most that may be there at once.
    pub connections: u32,
    /// Requests were to arrive by themselves, however long the answers took; absent where each connection asked again as
    /// soon as it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// The generator's CPUs, a thread on each.
    pub generator_cpus: Vec<usize>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the figures are a result, and why not.
    pub verdict: Verdict,
    /// From the first user's start to the last answer; seconds.
    pub elapsed_s: f64,
    /// Requests that were answered, whatever the status.
    pub requests: u64,
    /// [`Self::requests`] per second of [`Self::elapsed_s`].
    pub per_s: f64,
    /// Answered with a status below 400.
    pub completed: u64,
    /// Answers by status, those of failures too.
    #[serde(default)]
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by kind; kinds without any are absent.
    pub errors: BTreeMap<String, u64>,
    /// Sent, and never answered: whether the server saw them is unknown.
    pub unanswered: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Connections opened.
    pub connects: u64,
    /// What else happened on the wire, TLS handshakes among it.
    #[serde(default)]
    pub wire: Wire,
    /// Where the time of requests went.
    #[serde(default)]
    pub phases: PhaseResults,
    /// Of what completed, from the intended start.
    pub response: TimeSummary,
    /// Of what completed, from the actual start.
    pub service: TimeSummary,
    /// CPU time of the generator for one answered request, user and system; seconds.
    pub cpu_s_per_request: Option<f64>,
    /// What the instrument saw of itself.
    pub generator: GeneratorResult,
    /// Each check of the instrument by itself.
    pub validity: Vec<ValidityCheck>,
    /// The first few offending answers. They come from the server: treat them as hostile text.
    pub evidence: Vec<Evidence>,
}

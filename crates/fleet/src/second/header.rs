//! What of a second's message is JSON: all but the histograms.

use std::collections::BTreeMap;

use model::record::Evidence;
use model::record::interval::{OperationName, Pauses, SessionEnd};
use serde::{Deserialize, Serialize};

/// Where a histogram is among the message's: its first byte and how many there are.
pub(super) type Span = (usize, usize);

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) second: u32,
    /// How many rows earlier messages have named.
    pub(super) known: usize,
    /// The rows after these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) names: Vec<OperationName>,
    #[serde(default)]
    pub(super) operations: Vec<Operation>,
    /// By the names of `model`'s fields; 0 where there is none.
    #[serde(default)]
    pub(super) figures: BTreeMap<String, f64>,
    #[serde(default)]
    pub(super) distributions: BTreeMap<String, Span>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) counters: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) choices: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pauses: Vec<PausesNumbers>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) last_sessions: Vec<SessionNumbers>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) evidence: Vec<Evidence>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Operation {
    pub(super) row: usize,
    pub(super) completed: u64,
    pub(super) bytes: u64,
    pub(super) errors: [u64; 6],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) service: Option<Span>,
}

/// Drawn, their sum in seconds, ended, what was asked for in seconds, what became of it in seconds.
pub(super) type PausesNumbers = (u64, f64, u64, f64, f64);

/// The operation's row, the end and the length in nanoseconds.
pub(super) type SessionNumbers = (usize, u64, u64);

impl Header {
    /// All that it counts.
    pub(super) fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        let of_rows =
            self.operations.iter().flat_map(|one| [one.completed, one.bytes].into_iter().chain(one.errors));
        let pauses = self.pauses.iter().flat_map(|(drawn, _, ended, ..)| [*drawn, *ended]);
        of_rows.chain(self.counters.values().copied()).chain(self.choices.iter().copied()).chain(pauses)
    }

    /// A header of that version or an older one.
    pub(super) fn read(bytes: &[u8], version: u32) -> Result<Header, String> {
        /// Looked at before anything else, which may be of a version that has it otherwise.
        #[derive(Deserialize)]
        struct OfVersion {
            version: u32,
        }
        let damaged = |error: serde_json::Error| format!("its header is damaged: {error}");
        let found = serde_json::from_slice::<OfVersion>(bytes).map_err(damaged)?.version;
        if found > version {
            return Err(format!("it is of version {found}, and this program knows {version} and older ones"));
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }
}

pub(super) fn numbers_of_pauses(pauses: &Pauses) -> PausesNumbers {
    let Pauses { drawn, drawn_sum_s, ended, asked_sum_s, took_sum_s } = *pauses;
    (drawn, drawn_sum_s, ended, asked_sum_s, took_sum_s)
}

pub(super) fn pauses_of_numbers(numbers: &PausesNumbers) -> Pauses {
    let (drawn, drawn_sum_s, ended, asked_sum_s, took_sum_s) = *numbers;
    Pauses { drawn, drawn_sum_s, ended, asked_sum_s, took_sum_s }
}

pub(super) fn numbers_of_session(session: &SessionEnd) -> SessionNumbers {
    (session.operation, session.ended_ns, session.took_ns)
}

pub(super) fn session_of_numbers(numbers: &SessionNumbers) -> SessionEnd {
    let (operation, ended_ns, took_ns) = *numbers;
    SessionEnd { operation, ended_ns, took_ns }
}

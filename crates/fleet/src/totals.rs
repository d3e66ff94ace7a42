//! What an agent says at its end: sums over the whole run, for checks of consistency.

use std::collections::{BTreeMap, BTreeSet};

use engine::Totals;
use model::record::Evidence;
use model::record::interval::OperationName;
use serde::{Deserialize, Serialize};

/// Counts up when a reader of the old ones would misread the new ones.
const VERSION: u32 = 1;

/// The engine's totals in a form that can be sent.
#[derive(Debug, Serialize, Deserialize)]
struct End {
    version: u32,
    names: Vec<OperationName>,
    unanswered: Vec<u64>,
    statuses: BTreeMap<u16, u64>,
    told: BTreeMap<String, Option<String>>,
    unknown: BTreeSet<String>,
    elapsed_s: f64,
}

/// The message. What seconds have told already (what completed and failed, counters, connections, evidence) is not in it.
///
/// # Errors
/// A time that is no number.
pub fn encode(totals: &Totals) -> Result<Vec<u8>, String> {
    let totals = totals.clone();
    let end = End {
        version: VERSION,
        names: totals.names,
        unanswered: totals.unanswered,
        statuses: totals.statuses,
        told: totals.told,
        unknown: totals.unknown,
        elapsed_s: totals.elapsed_s,
    };
    serde_json::to_vec(&end).map_err(|error| error.to_string())
}

/// Reads such a message; what seconds tell is empty.
///
/// # Errors
/// What is wrong with it.
pub fn decode(bytes: &[u8]) -> Result<Totals, String> {
    let damaged = |error: serde_json::Error| format!("it is no end of an agent: {error}");
    let found: End = serde_json::from_slice(bytes).map_err(damaged)?;
    if found.version > VERSION {
        return Err(format!(
            "it is of version {}, and this program knows {VERSION} and older ones",
            found.version
        ));
    }
    if found.unanswered.len() > found.names.len() {
        return Err("it is no end of an agent: it counts rows that it doesn't name".to_string());
    }
    Ok(Totals {
        names: found.names,
        unanswered: found.unanswered,
        statuses: found.statuses,
        told: found.told,
        unknown: found.unknown,
        elapsed_s: found.elapsed_s,
        completed: Vec::new(),
        failed: Vec::new(),
        counters: BTreeMap::new(),
        connects: 0,
        evidence: Vec::<Evidence>::new(),
    })
}

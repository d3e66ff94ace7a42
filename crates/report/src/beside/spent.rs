//! Where the time of a mean operation went in each of the runs: their ledgers side by side.

use model::RunRecord;
use model::record::diagnosis::Doing;
use schemars::JsonSchema;
use serde::Serialize;

use crate::explained::{self, Part};

/// A part of a mean operation's time, in each of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpentPart {
    /// web, app, db, cache; absent for what no tier accounts for.
    pub tier: Option<String>,
    /// What its threads did.
    pub doing: Option<Doing>,
    /// In each of the runs; absent where the run has no ledger, or none of it.
    pub runs: Vec<Option<SpentTime>>,
}

/// How much of it a run spent there.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpentTime {
    /// Seconds of a mean operation.
    pub s_per_operation: f64,
    /// Of the whole: of the response time, or of all parts where they add up to more.
    pub share_ratio: f64,
    /// What it is in that run, with the call that it waited in: `db: waiting for a disk (fsync)`.
    pub name: String,
}

impl SpentPart {
    /// Its name in all runs: that of each where they agree, else without the call that they waited in.
    pub(crate) fn name(&self) -> String {
        let mut names = self.runs.iter().flatten().map(|time| time.name.as_str());
        let first = names.next().unwrap_or_default();
        match (&self.tier, self.doing) {
            (Some(tier), Some(doing)) if names.any(|name| name != first) => {
                format!("{tier}: {}", doing.title())
            }
            _ => first.to_string(),
        }
    }
}

/// The parts that can be seen in any of `records`: those of `base` in its order, others after them, and last what no tier
/// accounts for.
pub(super) fn of(records: &[&RunRecord], base: usize) -> Vec<SpentPart> {
    let of_each: Vec<Vec<Part>> = records.iter().map(|record| parts(record)).collect();
    let in_order = of_each.get(base).into_iter().chain(&of_each).flatten();
    let mut keys: Vec<(Option<String>, Option<Doing>)> = Vec::new();
    for part in in_order.filter(|part| part.is_seen()) {
        let key = (part.tier.clone(), part.doing);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|(tier, _)| tier.is_none());
    keys.into_iter()
        .map(|(tier, doing)| {
            let runs = of_each.iter().map(|parts| spent(parts, tier.as_deref(), doing)).collect();
            SpentPart { tier, doing, runs }
        })
        .collect()
}

fn parts(record: &RunRecord) -> Vec<Part> {
    let ledger = record.diagnosis.as_ref().and_then(|diagnosis| diagnosis.ledger.as_ref());
    ledger.map(explained::all_parts).unwrap_or_default()
}

fn spent(parts: &[Part], tier: Option<&str>, doing: Option<Doing>) -> Option<SpentTime> {
    let part = parts.iter().find(|part| part.tier.as_deref() == tier && part.doing == doing)?;
    let Part { s_per_operation, share_ratio, ref name, .. } = *part;
    Some(SpentTime { s_per_operation, share_ratio, name: name.clone() })
}

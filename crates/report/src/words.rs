//! Identifiers and counts as people read them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use model::RunRecord;
use model::record::interval::Wire;
use model::record::{PopulationResult, Setup, UntimedResult};
use model::units;

use crate::headline::sentence;
use crate::{figures, fleet};

/// `, mix browsing`, where it is not the kit's own.
pub(crate) fn mix(setup: &Setup) -> String {
    setup.mix.as_ref().map(|mix| format!(", mix {mix}")).unwrap_or_default()
}

/// Who the users were, and who drove them: what of it has to be said.
pub(crate) fn of_users(record: &RunRecord) -> [Option<String>; 3] {
    [record.fleet.as_ref().map(fleet::words), populations(record), freshness(&record.setup)]
}

/// `readers: 90 users, 1 234 sessions begun (20.6/s); editors: 10 users, …`: what each population did; absent where all users are
/// alike.
pub(crate) fn populations(record: &RunRecord) -> Option<String> {
    let one = |population: &PopulationResult| {
        let PopulationResult { name, users, sessions, sessions_per_s, .. } = population;
        let users =
            users.map(|users| format!("{} users, ", figures::count(users.into()))).unwrap_or_default();
        let per_s = units::significant(*sessions_per_s);
        format!("{name}: {users}{} sessions begun ({per_s}/s)", figures::count(*sessions))
    };
    let all: Vec<String> = record.populations.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// That users' caches asked again for whatever didn't say for how long it is fresh; absent where they did as browsers do.
pub(crate) fn freshness(setup: &Setup) -> Option<String> {
    (setup.heuristic_freshness == Some(false)).then(|| {
        "users' caches took nothing to be fresh that didn't say so (heuristic_freshness off)".to_string()
    })
}

/// What became of the core of the server that was ended for a wait, which the verdict tells, or that none was ended; absent where
/// none was to be.
pub(crate) fn aborted(record: &RunRecord, directory: &Path) -> Option<String> {
    match (&record.aborted, &record.setup.abort_on) {
        (Some(one), _) => Some(sentence(&wording::core(&one.core, &directory.display().to_string()))),
        (None, Some(wait)) => Some(sentence(&wording::not_aborted(wait, record.calls.is_some()))),
        (None, None) => None,
    }
}

/// What is in no row: how many operations, their share and how long they took.
pub(crate) fn untimed(untimed: &UntimedResult) -> String {
    let UntimedResult { mean_s, p50_s, p95_s, p99_s, max_s, .. } = *untimed;
    let times = [("mean", mean_s), ("p50", p50_s), ("p95", p95_s), ("p99", p99_s), ("max", max_s)];
    let known = times.into_iter().filter(|(_, time)| time.is_some());
    let known: Vec<String> = known.map(|(name, time)| format!("{name} {}", figures::time(time))).collect();
    format!("{}: {}", wording::abandoned(untimed), known.join(", "))
}

/// `12 timeout, 3 status`: errors by their kind.
pub(crate) fn errors<K: Display>(by_kind: &BTreeMap<K, u64>) -> String {
    let kinds = by_kind.iter().map(|(kind, errors)| format!("{} {kind}", figures::count(*errors)));
    kinds.collect::<Vec<_>>().join(", ")
}

/// What happened on the wire beside plain requests and answers, in a sentence; absent when nothing did.
pub(crate) fn wire(wire: &Wire) -> Option<String> {
    let some = |count: u64, one: &str, many: &str| {
        (count > 0).then(|| format!("{} {}", figures::count(count), if count == 1 { one } else { many }))
    };
    let resumed = some(wire.resumptions, "resumed", "resumed");
    let handshakes = some(wire.handshakes, "TLS handshake", "TLS handshakes");
    let parts = [
        handshakes.map(|all| resumed.map_or(all.clone(), |resumed| format!("{all} ({resumed})"))),
        some(wire.redirects, "redirect followed", "redirects followed"),
        some(wire.cache_hits, "request spared by a user's cache", "requests spared by users' caches"),
        some(
            wire.not_modified,
            "answer \u{201c}not modified\u{201d}",
            "answers \u{201c}not modified\u{201d}",
        ),
        some(wire.challenges, "request repeated with credentials", "requests repeated with credentials"),
        some(
            wire.exhausted,
            "connection that this machine had no port or descriptor for",
            "connections that this machine had no port or descriptor for",
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_happened_on_the_wire_is_told() {
        assert_eq!(wire(&Wire::default()), None);
        let some = Wire { handshakes: 1200, resumptions: 1, redirects: 1, ..Wire::default() };
        assert_eq!(wire(&some).as_deref(), Some("1 200 TLS handshakes (1 resumed), 1 redirect followed"));
        let none_resumed = Wire { handshakes: 1, ..Wire::default() };
        assert_eq!(wire(&none_resumed).as_deref(), Some("1 TLS handshake"));
    }
}

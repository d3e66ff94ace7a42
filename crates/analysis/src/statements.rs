//! The statements that a database's clients spent the steady state in.

use std::collections::BTreeMap;

use model::record::statements::{StatementFacts, StatementResult, StatementSeen};

use crate::steady::Steady;

/// How many of a tier are told.
const MAX_SHOWN: usize = 5;

/// The dearest statements of each database, by the clients that were seen in them, with what is `known` of some. A database is
/// looked at once a second.
pub fn statements(
    seen: &[(f64, StatementSeen)],
    known: &[StatementFacts],
    steady: &Steady,
) -> Vec<StatementResult> {
    let (from_s, to_s) = steady.span_s();
    let mut tiers: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for (_, one) in seen.iter().filter(|(at_s, _)| *at_s > from_s && *at_s <= to_s) {
        *tiers.entry(&one.tier).or_default().entry(&one.digest).or_default() += one.clients;
    }
    let of_tier = |(tier, digests): (&str, BTreeMap<&str, u64>)| {
        let all: u64 = digests.values().sum();
        let mut dearest: Vec<(&str, u64)> = digests.into_iter().collect();
        dearest.sort_by_key(|(_, clients)| std::cmp::Reverse(*clients));
        let result = |(digest, clients): (&str, u64)| {
            let facts = known.iter().find(|one| one.tier == tier && one.digest == digest);
            StatementResult {
                tier: tier.to_string(),
                digest: digest.to_string(),
                clients: steady.per_second(clients as f64),
                share_ratio: clients as f64 / all.max(1) as f64,
                seen: clients,
                example: facts.map(|facts| facts.example.clone()),
                plan: facts.map(|facts| facts.plan.clone()).unwrap_or_default(),
            }
        };
        dearest.into_iter().take(MAX_SHOWN).map(result).collect::<Vec<_>>()
    };
    tiers.into_iter().flat_map(of_tier).collect()
}

#[cfg(test)]
mod tests {
    use model::Interval;

    use super::*;

    #[test]
    fn only_looks_of_the_steady_state_count_and_the_dearest_come_first() {
        let seconds: Vec<Interval> = (0..20).map(Interval::empty).collect();
        let steady = Steady::of(&seconds, 10.0, 20.0);
        let one = |digest: &str, clients| StatementSeen { tier: "db".into(), digest: digest.into(), clients };
        let mut seen: Vec<_> = (0..20).map(|at| (f64::from(at) + 0.5, one("SELECT ?", 3))).collect();
        seen.extend([(5.5, one("COMMIT", 100)), (12.5, one("COMMIT", 10))]);
        let known = StatementFacts {
            tier: "db".into(),
            digest: "COMMIT".into(),
            example: "COMMIT".into(),
            plan: Vec::new(),
        };
        let found = statements(&seen, &[known], &steady);
        let shown: Vec<(&str, f64, f64)> =
            found.iter().map(|one| (one.digest.as_str(), one.clients, one.share_ratio)).collect();
        assert_eq!(shown, [("SELECT ?", 3.0, 0.75), ("COMMIT", 1.0, 0.25)]);
        assert_eq!(found[1].example.as_deref(), Some("COMMIT"));
        assert_eq!(found[0].example, None);
    }
}

//! The statements that a database's clients spent the steady state in.

use std::collections::BTreeMap;

use model::record::statements::{RowWait, RowWaitResult, StatementFacts, StatementResult, StatementSeen};

use crate::steady::Steady;

/// How many of a tier are told.
const MAX_SHOWN: usize = 5;
/// How many of those that one statement waited for.
const MAX_HOLDERS: usize = 3;

/// The dearest statements of each database, by the clients that were seen in them, with what is `known` of some. A database is
/// looked at once a second.
pub fn statements(
    seen: &[(f64, StatementSeen)],
    known: &[StatementFacts],
    steady: &Steady,
) -> Vec<StatementResult> {
    let (from_s, to_s) = steady.span_s();
    let mut tiers: BTreeMap<&str, BTreeMap<&str, Sum<'_>>> = BTreeMap::new();
    for (_, one) in seen.iter().filter(|(at_s, _)| *at_s > from_s && *at_s <= to_s) {
        let sum = tiers.entry(&one.tier).or_default().entry(&one.digest).or_default();
        sum.clients += one.clients;
        for waited in &one.row_waits {
            *sum.row_waits.entry(&waited.wait).or_default() += waited.clients;
        }
    }
    let of_tier = |(tier, digests): (&str, BTreeMap<&str, Sum<'_>>)| {
        let all: u64 = digests.values().map(|sum| sum.clients).sum();
        let mut dearest: Vec<(&str, Sum<'_>)> = digests.into_iter().collect();
        dearest.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.clients));
        let result = |(digest, sum): (&str, Sum<'_>)| {
            let clients = sum.clients;
            let facts = known.iter().find(|one| one.tier == tier && one.digest == digest);
            StatementResult {
                tier: tier.to_string(),
                digest: digest.to_string(),
                clients: steady.per_second(clients as f64),
                share_ratio: clients as f64 / all.max(1) as f64,
                seen: clients,
                example: facts.map(|facts| facts.example.clone()),
                plan: facts.map(|facts| facts.plan.clone()).unwrap_or_default(),
                row_waits: sum.row_waits(steady),
            }
        };
        dearest.into_iter().take(MAX_SHOWN).map(result).collect::<Vec<_>>()
    };
    tiers.into_iter().flat_map(of_tier).collect()
}

/// Clients that were in statements that look alike.
#[derive(Debug, Default)]
struct Sum<'a> {
    clients: u64,
    row_waits: BTreeMap<&'a RowWait, u64>,
}

impl Sum<'_> {
    /// For whom they waited, the longest first.
    fn row_waits(&self, steady: &Steady) -> Vec<RowWaitResult> {
        let mut longest: Vec<(&RowWait, u64)> =
            self.row_waits.iter().map(|(wait, seen)| (*wait, *seen)).collect();
        longest.sort_by_key(|(_, seen)| std::cmp::Reverse(*seen));
        let result = |(wait, seen): (&RowWait, u64)| RowWaitResult {
            table: wait.table.clone(),
            holder: wait.holder.clone(),
            clients: steady.per_second(seen as f64),
            seen,
        };
        longest.into_iter().take(MAX_HOLDERS).map(result).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::Interval;
    use model::record::statements::RowWaitSeen;

    use super::*;

    fn statement(digest: &str, clients: u64) -> StatementSeen {
        StatementSeen { tier: "db".into(), digest: digest.into(), clients, row_waits: Vec::new() }
    }

    #[test]
    fn only_looks_of_the_steady_state_count_and_the_dearest_come_first() {
        let seconds: Vec<Interval> = (0..20).map(Interval::empty).collect();
        let steady = Steady::of(&seconds, 10.0, 20.0);
        let mut looks: Vec<_> = (0..20).map(|at| (f64::from(at) + 0.5, statement("SELECT ?", 3))).collect();
        looks.extend([(5.5, statement("COMMIT", 100)), (12.5, statement("COMMIT", 10))]);
        let known = StatementFacts {
            tier: "db".into(),
            digest: "COMMIT".into(),
            example: "COMMIT".into(),
            plan: Vec::new(),
        };
        let found = statements(&looks, &[known], &steady);
        let shown: Vec<(&str, f64, f64)> =
            found.iter().map(|one| (one.digest.as_str(), one.clients, one.share_ratio)).collect();
        assert_eq!(shown, [("SELECT ?", 3.0, 0.75), ("COMMIT", 1.0, 0.25)]);
        assert_eq!(found[1].example.as_deref(), Some("COMMIT"));
        assert_eq!(found[0].example, None);
    }
    #[test]
    fn those_who_waited_for_a_row_are_told_with_whom_they_waited_for() {
        let seconds: Vec<Interval> = (0..20).map(Interval::empty).collect();
        let steady = Steady::of(&seconds, 10.0, 20.0);
        let wait = |holder: Option<&str>, clients| RowWaitSeen {
            wait: RowWait { table: "shop.products".into(), holder: holder.map(Into::into) },
            clients,
        };
        let update = "UPDATE products SET stock = stock - ?";
        let look = |row_waits| StatementSeen { row_waits, ..statement(update, 8) };
        let mut looks = vec![(5.5, look(vec![wait(None, 100)]))];
        looks.extend(
            (10..20).map(|at| (f64::from(at) + 0.5, look(vec![wait(Some("COMMIT"), 5), wait(None, 2)]))),
        );
        let found = statements(&looks, &[], &steady);
        let waits: Vec<(Option<&str>, f64, u64)> =
            found[0].row_waits.iter().map(|one| (one.holder.as_deref(), one.clients, one.seen)).collect();
        assert_eq!(waits, [(Some("COMMIT"), 5.0, 50), (None, 2.0, 20)]);
    }
}

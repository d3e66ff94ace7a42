//! What a JVM's threads with a request were at in the steady state.

use std::collections::BTreeMap;

use model::record::threads::{ThreadPlace, ThreadsResult, ThreadsSeen};

use crate::steady::Steady;

/// How many places of a tier are told.
const MAX_SHOWN: usize = 6;

/// Where the threads of each tier were seen, the most frequent places first.
pub fn threads(seen: &[(f64, ThreadsSeen)], steady: &Steady) -> Vec<ThreadsResult> {
    let (from_s, to_s) = steady.span_s();
    let mut tiers: BTreeMap<&str, BTreeMap<&ThreadPlace, u64>> = BTreeMap::new();
    for (_, one) in seen.iter().filter(|(at_s, _)| *at_s > from_s && *at_s <= to_s) {
        *tiers.entry(&one.tier).or_default().entry(&one.place).or_default() += one.threads;
    }
    let of_tier = |(tier, places): (&str, BTreeMap<&ThreadPlace, u64>)| {
        let all: u64 = places.values().sum();
        let mut frequent: Vec<(&ThreadPlace, u64)> = places.into_iter().collect();
        frequent.sort_by_key(|(_, seen)| std::cmp::Reverse(*seen));
        let result = |(place, seen): (&ThreadPlace, u64)| ThreadsResult {
            tier: tier.to_string(),
            place: place.clone(),
            share_ratio: seen as f64 / all.max(1) as f64,
            seen,
        };
        frequent.into_iter().take(MAX_SHOWN).map(result).collect::<Vec<_>>()
    };
    tiers.into_iter().flat_map(of_tier).collect()
}

#[cfg(test)]
mod tests {
    use model::Interval;
    use model::record::threads::ThreadState;

    use super::*;

    fn look(at_s: f64, call: &str, threads: u64) -> (f64, ThreadsSeen) {
        let place =
            ThreadPlace { state: ThreadState::Runnable, call: call.to_string(), lock: None, holder: None };
        (at_s, ThreadsSeen { tier: "web".to_string(), place, threads })
    }

    #[test]
    fn only_looks_of_the_steady_state_count_and_the_most_frequent_place_comes_first() {
        let seconds: Vec<Interval> = (0..20).map(Interval::empty).collect();
        let steady = Steady::of(&seconds, 10.0, 20.0);
        let looks = [
            look(5.0, "Ramp.up", 99),
            look(11.0, "Cart.add", 1),
            look(11.0, "Net.poll", 2),
            look(16.0, "Net.poll", 1),
            look(21.0, "Ramp.down", 99),
        ];
        let found = threads(&looks, &steady);
        let told: Vec<(&str, f64, u64)> =
            found.iter().map(|one| (one.place.call.as_str(), one.share_ratio, one.seen)).collect();
        assert_eq!(told, [("Net.poll", 0.75, 3), ("Cart.add", 0.25, 1)]);
    }
}

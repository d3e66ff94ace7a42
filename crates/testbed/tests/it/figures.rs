//! What a tier's servers tell of themselves, watched until enough was seen.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::ServerJob;
use observe::Servers;
use testbed::Tier;

/// What one tier tells: of each series the largest value, as long as `work` goes on and not all was seen that `lacks` names.
pub(crate) fn largest_values(
    tier: &Tier,
    work: impl Fn(),
    lacks: impl Fn(&BTreeMap<String, f64>) -> Vec<String>,
) -> BTreeMap<String, f64> {
    let jobs: [ServerJob; 1] = [tier.job.clone()];
    let (mut servers, began) = (Servers::start(&jobs), Instant::now());
    let mut seen: BTreeMap<String, f64> = BTreeMap::new();
    while !lacks(&seen).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "not seen: {:?}; seen: {seen:#?}", lacks(&seen));
        work();
        for series in servers.sample(began.elapsed().as_secs_f64()) {
            let most = series.points.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max);
            seen.entry(series.name).and_modify(|value| *value = value.max(most)).or_insert(most);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    seen
}

/// Those of `wanted` that never were so large.
pub(crate) fn smaller(seen: &BTreeMap<String, f64>, wanted: &[(&str, f64)]) -> Vec<String> {
    let small = wanted.iter().filter(|(name, least)| seen.get(*name).is_none_or(|most| most < least));
    small.map(|(name, least)| format!("{name}: {least}")).collect()
}

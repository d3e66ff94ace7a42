//! The kit's own figures.

use model::OperationKind;
use model::interval::OperationName;
use model::kit::{Metric, Per};
use model::record::MetricResult;

use crate::steady::Steady;

/// A figure for each of `metrics` over the steady state; a share of something that never happened is left out.
pub fn metrics(metrics: &[Metric], steady: &Steady, names: &[OperationName]) -> Vec<MetricResult> {
    let value = |metric: &Metric| {
        let counted = count(&metric.of, steady, names) as f64;
        match &metric.per {
            Per::Total => Some(counted),
            Per::Second => Some(steady.per_second(counted)),
            Per::Minute => Some(60.0 * steady.per_second(counted)),
            Per::Mean | Per::Percentile(_) => None,
            Per::Of(other) => {
                let base = count(other, steady, names);
                (base > 0).then(|| counted / base as f64)
            }
        }
    };
    let result = |metric: &Metric| {
        Some(MetricResult {
            name: metric.name.clone(),
            title: metric.title.clone(),
            value: value(metric)?,
            unit: metric.unit.clone(),
        })
    };
    metrics.iter().filter_map(result).collect()
}

/// Completions of the operation or session of that name, else the session's counter, which is 0 until it first counts.
fn count(of: &str, steady: &Steady, names: &[OperationName]) -> u64 {
    let completions = [OperationKind::Operation, OperationKind::Session]
        .iter()
        .find_map(|kind| names.iter().position(|name| name.kind == *kind && name.name == of));
    match completions {
        Some(index) => steady.whole().operations.get(index).map_or(0, |seen| seen.completed),
        None => steady.whole().counters.get(of).copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Interval, OperationInterval};

    fn value(of: &str, per: Per) -> Option<f64> {
        let seen = OperationInterval { completed: 40, ..OperationInterval::empty() };
        let mut second = Interval { operations: vec![seen], ..Interval::empty(0) };
        second.counters.insert("rollbacks".to_string(), 2);
        let run = [second, Interval::empty(1)];
        let names = [OperationName { kind: OperationKind::Operation, name: "Purchase".to_string() }];
        let metric = Metric {
            name: "m".to_string(),
            title: "M".to_string(),
            unit: String::new(),
            of: of.to_string(),
            per,
            times: 1.0,
            at_least: None,
            at_most: None,
            why: None,
        };
        let found = metrics(&[metric], &Steady::of(&run, 0.0, 2.0), &names);
        found.first().map(|result| result.value)
    }

    #[test]
    fn a_count_becomes_a_total_a_rate_or_a_share() {
        let share = |of: &str| Per::Of(of.to_string());
        assert_eq!(value("Purchase", Per::Total), Some(40.0));
        assert_eq!(value("Purchase", Per::Second), Some(20.0));
        assert_eq!(value("Purchase", Per::Minute), Some(1200.0));
        assert_eq!(value("rollbacks", share("Purchase")), Some(0.05));
        assert_eq!(value("never", Per::Total), Some(0.0), "a counter that never counted is 0");
        assert_eq!(value("rollbacks", share("never")), None, "a share of nothing has no value");
    }
}

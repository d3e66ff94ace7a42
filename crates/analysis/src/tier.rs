//! CPU and memory by tier over the steady state.

use model::record::TierResult;

use crate::series::SeriesSeen;
use crate::signals::names::{CPU, CPU_SYSTEM, MEMORY};
use crate::steady::Steady;

/// A tier and where its figures come from, as the observer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierSource {
    /// web, app, db, cache, generator.
    pub tier: String,
    /// `cgroup2 cpu.stat`, `/proc`.
    pub source: String,
}

/// A row for each of `sources`, in their order, from the tier's series of CPU time and memory. `completed` is the number of operations that completed, for the CPU time of one.
pub fn tiers(
    series: &[SeriesSeen],
    sources: &[TierSource],
    steady: &Steady,
    completed: u64,
) -> Vec<TierResult> {
    let row = |source: &TierSource| {
        let of_tier = |name: &str| {
            series.iter().find(|one| one.tier.as_ref() == Some(&source.tier) && one.name == name)
        };
        let mean = |name: &str| of_tier(name)?.mean;
        let cpu_cores = mean(CPU);
        TierResult {
            tier: source.tier.clone(),
            cpu_cores,
            cpu_system_cores: mean(CPU_SYSTEM),
            cpu_s_per_operation: cpu_cores
                .filter(|_| completed > 0)
                .map(|cores| cores * steady.length_s() / completed as f64),
            memory_bytes: of_tier(MEMORY).and_then(|memory| memory.max).map(|bytes| bytes as u64),
            source: source.source.clone(),
        }
    };
    sources.iter().map(row).collect()
}

/// No point stands for more than this number of seconds before it: what is read least often is read every 5 s, and after a
/// longer silence nobody knows what was.
const LONGEST_S: f64 = 15.0;

/// The mean over `span` of a series of rates in which each point holds since the point before it: weighted by the
/// time that each lies inside the span, because samples are never exactly a second apart. Absent when no point does.
pub(crate) fn time_mean(points: &[(f64, f64)], span: (f64, f64)) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    let mut since = f64::NEG_INFINITY;
    for (at, value) in points {
        let start = if since.is_finite() { since.max(at - LONGEST_S) } else { at - 1.0 };
        let inside = (at.min(span.1) - start.max(span.0)).max(0.0);
        sum += value * inside;
        weight += inside;
        since = *at;
    }
    (weight > 0.0).then(|| sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Interval;
    use model::record::Series;

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        Series {
            name: name.to_string(),
            tier: Some("db".to_string()),
            unit: "cores".to_string(),
            points: points.to_vec(),
        }
    }

    #[test]
    fn a_mean_weighs_samples_by_their_time_inside_the_span() {
        let table = [
            (vec![(1.0, 1.0), (2.0, 3.0)], Some(2.0), "each second counts the same"),
            (vec![(0.5, 8.0), (2.0, 2.0)], Some(3.5), "0.5 s of 8 and 1.5 s of 2"),
            (vec![(1.0, 1.0), (3.0, 3.0)], Some(2.0), "only half of the second sample lies inside"),
            (vec![(2.5, 4.0)], Some(4.0), "a first sample holds for the second before it"),
            (vec![(9.0, 1.0), (10.0, 1.0)], None, "nothing lies inside"),
            (vec![], None, "nothing was sampled"),
        ];
        for (points, expected, why) in table {
            assert_eq!(time_mean(&points, (0.0, 2.0)), expected, "{why}: {points:?}");
        }
    }

    #[test]
    fn a_tier_has_its_cores_its_cpu_time_per_operation_and_its_largest_memory() {
        let run = [Interval::empty(0), Interval::empty(1), Interval::empty(2)];
        let steady = Steady::of(&run, 1.0, 3.0);
        let series = [
            series("cpu.cores", &[(1.0, 0.9), (2.0, 0.4), (3.0, 0.6)]),
            series("cpu.system_cores", &[(1.0, 0.9), (2.0, 0.1), (3.0, 0.1)]),
            series("memory.bytes", &[(1.0, 999.0), (2.0, 100.0), (3.0, 200.0)]),
        ];
        let source = |tier: &str| TierSource { tier: tier.to_string(), source: "/proc".to_string() };
        let seen = series.map(|one| SeriesSeen::of(&one, &steady, &Steady::new(0.0, 0.0)));
        let rows = tiers(&seen, &[source("db"), source("web")], &steady, 100);
        let close =
            |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-12);
        assert!(close(rows[0].cpu_cores, 0.5) && close(rows[0].cpu_system_cores, 0.1), "{rows:?}");
        assert!(close(rows[0].cpu_s_per_operation, 0.01), "1 CPU second for 100 operations: {rows:?}");
        assert_eq!(rows[0].memory_bytes, Some(200));
        assert_eq!((rows[1].cpu_cores, rows[1].memory_bytes), (None, None), "nothing was observed of web");
    }
}

//! What the instrument saw of itself and of the machine around it.

use model::record::GeneratorResult;

use crate::little::Little;
use crate::series::SeriesSeen;
use crate::signals::names::{FOREIGN, STEAL};
use crate::steady::Steady;
use crate::times::summary;

/// How the machine's CPUs were shared over the steady state, as far as it was observed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostShares {
    /// Steal time as a share of all CPUs.
    pub steal_ratio: Option<f64>,
    /// Cores used by processes that are neither tiers nor the generator.
    pub foreign_cores: Option<f64>,
}

/// Means over the steady state of the host's series of steal time and of foreign CPU time.
pub fn host_shares(series: &[SeriesSeen]) -> HostShares {
    let mean = |name: &str| series.iter().find(|one| one.tier.is_none() && one.name == name)?.mean;
    HostShares { steal_ratio: mean(STEAL), foreign_cores: mean(FOREIGN) }
}

/// The generator over the steady state. `cpus` is the number of CPUs it may use, which is its number of threads;
/// `connects` counts the whole run.
pub fn generator(
    steady: &Steady,
    little: &Little,
    cpus: usize,
    connects: u64,
    host: HostShares,
) -> GeneratorResult {
    let whole = steady.whole();
    let cores = cpus.max(1) as f64;
    let busiest: f64 = steady.seconds().iter().map(|second| second.busiest_thread_cpu_s).sum();
    GeneratorResult {
        cpu_ratio: steady.per_second(whole.generator_cpu_s) / cores,
        busiest_thread_ratio: steady.per_second(busiest),
        cpu_wait_ratio: steady.per_second(whole.generator_wait_s) / cores,
        lag: summary(&whole.lag),
        connects,
        exhausted: whole.wire.exhausted,
        steal_ratio: host.steal_ratio,
        foreign_cores: host.foreign_cores,
        users_mean: little.users_mean(),
        users_by_little: little.users_by_little(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Interval;
    use model::record::Series;

    #[test]
    fn cpu_is_a_share_of_the_generators_own_cpus() {
        let second = |number| Interval {
            generator_cpu_s: 1.2,
            busiest_thread_cpu_s: if number % 2 == 0 { 0.9 } else { 0.7 },
            generator_wait_s: 0.2,
            ..Interval::empty(number)
        };
        let run: Vec<Interval> = (0..10).map(second).collect();
        let steady = Steady::of(&run, 0.0, 10.0);
        let host = HostShares { steal_ratio: Some(0.03), foreign_cores: None };
        let found = generator(&steady, &Little::of(&steady), 2, 7, host);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(found.cpu_ratio, 0.6) && close(found.busiest_thread_ratio, 0.8), "{found:?}");
        assert!(close(found.cpu_wait_ratio, 0.1) && found.steal_ratio == Some(0.03), "{found:?}");
    }

    #[test]
    fn the_hosts_shares_come_from_its_own_series_only() {
        let series = |tier: Option<&str>, value| Series {
            name: "cpu.steal_ratio".to_string(),
            tier: tier.map(str::to_string),
            unit: "ratio".to_string(),
            points: vec![(0.0, value), (1.0, value), (2.0, value)],
        };
        let run = [Interval::empty(0), Interval::empty(1)];
        let steady = Steady::of(&run, 0.0, 2.0);
        let seen = [series(Some("db"), 0.9), series(None, 0.04)];
        let found = host_shares(&seen.map(|one| SeriesSeen::of(&one, &steady, &Steady::new(0.0, 0.0))));
        assert_eq!(found, HostShares { steal_ratio: Some(0.04), foreign_cores: None });
    }
}

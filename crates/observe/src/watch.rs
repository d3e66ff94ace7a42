//! All probes of a run, read together once a second.

use std::time::Duration;

use model::record::Series;

use crate::host::{HostMore, HostProbe, HostSample};
use crate::job::{Job, OBSERVERS, TierJob};
use crate::points::Points;
use crate::process::{self, ProcessTable};
use crate::server::Servers;
use crate::tier::{Threads, TierMore, TierProbe, TierSample};

/// Beyond this many, the busy share of each single CPU is left out: it would be most of the data.
pub(crate) const CPUS_SHOWN: usize = 32;

/// Reads every tier, the host and the observers themselves. A point of a rate holds for the time since the point
/// before it. The series are in `docs/reference/series.md`.
#[derive(Debug)]
pub struct Watch {
    /// The observers last.
    tiers: Vec<TierProbe>,
    generator: u32,
    host: Option<HostProbe>,
    servers: Servers,
    threads: Option<Threads>,
    more: Vec<TierMore>,
    machine: HostMore,
    last: Option<Snapshot>,
}

#[derive(Debug)]
struct Snapshot {
    at_s: f64,
    tiers: Vec<Option<TierSample>>,
    generator_cpu_s: Option<f64>,
    host: Option<HostSample>,
}

impl Watch {
    /// A watch over the tiers of `job`, the host and this process, which is the observer.
    pub fn new(job: &Job) -> Watch {
        let of_job = |tier: &TierJob| TierProbe::new(&tier.name, tier.cgroup.clone(), &tier.pids);
        let mut tiers: Vec<TierProbe> = job.tiers.iter().map(of_job).collect();
        tiers.push(TierProbe::of_self(OBSERVERS));
        // All instances of a tier share one group.
        let grouped =
            job.tiers.iter().filter_map(|tier| Some((tier, tier.cgroup.as_ref()?, *tier.pids.first()?)));
        let more = grouped.map(|(tier, group, main)| TierMore::open(&tier.name, group, main)).collect();
        Watch {
            tiers,
            generator: job.generator,
            host: HostProbe::open(),
            servers: Servers::start(&job.servers),
            threads: Threads::open(job),
            more,
            machine: HostMore::open(&job.stack_cpus),
            last: None,
        }
    }

    /// Reads everything at `at_s` seconds of the run and gives the new points, a series each. The first call gives
    /// only what is no rate. Calls that are less than a millisecond apart give nothing new.
    pub fn sample(&mut self, at_s: f64) -> Vec<Series> {
        if self.last.as_ref().is_some_and(|last| at_s - last.at_s < 1e-3) {
            return Vec::new();
        }
        let now = self.snapshot(at_s);
        let mut points = Points::at(at_s);
        self.memory(&now, &mut points);
        if let Some(last) = &self.last {
            self.rates(last, &now, &mut points);
        }
        self.last = Some(now);
        self.machine.sample(at_s, &mut points);
        self.more.iter_mut().for_each(|tier| tier.sample(at_s, &mut points));
        if let Some(threads) = &mut self.threads {
            threads.sample(&mut points);
            threads.queues(&mut points);
        }
        points.found.extend(self.servers.sample(at_s));
        points.found
    }

    /// Each tier with where its CPU time comes from.
    pub fn sources(&self) -> Vec<(String, String)> {
        self.tiers.iter().map(|tier| (tier.name().to_string(), tier.source().to_string())).collect()
    }

    /// What can't be seen on this machine, and why.
    pub fn unseen(&self) -> Vec<String> {
        let host = self.host.is_none().then(|| "the machine's CPUs: /proc/stat can't be read".to_string());
        let threads = match &self.threads {
            Some(threads) => threads.unseen(),
            None => vec!["what threads do: this kernel has no /proc/PID/syscall".to_string()],
        };
        host.into_iter().chain(threads).chain(self.machine.unseen()).collect()
    }

    /// How long until the next look between two samples; for ever when there is nothing to look at.
    pub(crate) fn next_look(&self) -> Option<Duration> {
        self.threads.as_ref().and_then(Threads::patience)
    }

    /// A look between two samples.
    pub(crate) fn look(&mut self) {
        if let Some(threads) = &mut self.threads {
            threads.look();
        }
    }

    fn snapshot(&mut self, at_s: f64) -> Snapshot {
        let needs_table = self.tiers.iter().any(TierProbe::needs_table);
        let table = if needs_table { ProcessTable::scan() } else { ProcessTable::default() };
        Snapshot {
            at_s,
            tiers: self.tiers.iter_mut().map(|tier| tier.sample(&table)).collect(),
            generator_cpu_s: process::own_cpu_s(self.generator),
            host: self.host.as_mut().and_then(HostProbe::sample),
        }
    }

    fn memory(&self, now: &Snapshot, points: &mut Points) {
        for (tier, sample) in self.tiers.iter().zip(&now.tiers) {
            let bytes = sample.and_then(|sample| sample.memory_bytes).map(|bytes| bytes as f64);
            points.add_known("memory.bytes", Some(tier.name()), "bytes", bytes);
        }
    }

    fn rates(&self, last: &Snapshot, now: &Snapshot, points: &mut Points) {
        let elapsed_s = now.at_s - last.at_s;
        let mut known_cores = 0.0;
        for (index, tier) in self.tiers.iter().enumerate() {
            if let (Some(now), Some(last)) = (&now.tiers[index], &last.tiers[index]) {
                let cores = (now.cpu_s() - last.cpu_s()) / elapsed_s;
                known_cores += cores;
                points.add("cpu.cores", Some(tier.name()), "cores", cores);
                let system = (now.system_s - last.system_s) / elapsed_s;
                points.add("cpu.system_cores", Some(tier.name()), "cores", system);
            }
        }
        if let (Some(now), Some(last)) = (now.generator_cpu_s, last.generator_cpu_s) {
            known_cores += (now - last).max(0.0) / elapsed_s;
        }
        if let (Some(now), Some(last)) = (&now.host, &last.host) {
            host_rates(last, now, known_cores, points);
        }
    }
}

/// The host's own clock ticks are the measure of its time, so that a late reading spoils no share.
fn host_rates(last: &HostSample, now: &HostSample, known_cores: f64, points: &mut Points) {
    let all = now.all.since(&last.all);
    let (total_s, cpus) = (all.total_s(), now.each.len());
    if total_s <= 0.0 || cpus == 0 {
        return;
    }
    let busy_cores = all.busy_s() / total_s * cpus as f64;
    points.add("cpu.busy_cores", None, "cores", busy_cores);
    points.add("cpu.foreign_cores", None, "cores", (busy_cores - known_cores).max(0.0));
    points.add("cpu.steal_ratio", None, "ratio", all.steal_s / total_s);
    for (number, times) in now.each.iter().filter(|_| cpus <= CPUS_SHOWN) {
        let Some((_, earlier)) = last.each.iter().find(|(other, _)| other == number) else { continue };
        let spent = times.since(earlier);
        if spent.total_s() > 0.0 {
            points.add(&format!("cpu{number}.busy_ratio"), None, "ratio", spent.busy_s() / spent.total_s());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::CpuTimes;

    fn value(series: &[Series], name: &str, tier: Option<&str>) -> Option<f64> {
        let found = series.iter().find(|one| one.name == name && one.tier.as_deref() == tier);
        found.map(|one| one.points[0].1)
    }

    #[test]
    fn foreign_cores_are_what_is_busy_beyond_tiers_and_generator() {
        let times = |user_s, idle_s, steal_s| CpuTimes { user_s, system_s: 0.0, idle_s, steal_s };
        let last = HostSample { all: times(0.0, 0.0, 0.0), each: vec![(0, times(0.0, 0.0, 0.0)); 2] };
        let each = vec![(0, times(1.0, 0.0, 0.0)), (1, times(0.5, 0.4, 0.1))];
        let now = HostSample { all: times(1.5, 0.4, 0.1), each };
        let mut points = Points::at(1.0);
        host_rates(&last, &now, 0.6, &mut points);
        let close = |name, expected: f64| {
            assert!(
                value(&points.found, name, None).is_some_and(|found| (found - expected).abs() < 1e-9),
                "{name}"
            );
        };
        close("cpu.busy_cores", 1.5);
        close("cpu.foreign_cores", 0.9);
        close("cpu.steal_ratio", 0.05);
        close("cpu0.busy_ratio", 1.0);
    }

    #[test]
    fn the_first_reading_has_no_rates_and_a_tier_that_is_gone_has_none_at_all() {
        let gone = TierJob { name: "web".to_string(), pids: vec![u32::MAX], ..TierJob::default() };
        let job = Job { tiers: vec![gone], generator: std::process::id(), ..Job::default() };
        let mut watch = Watch::new(&job);
        let first = watch.sample(0.0);
        assert!(first.iter().all(|series| !series.name.starts_with("cpu.")), "{first:?}");
        assert!(watch.sample(0.0).is_empty(), "no time has passed");
        let second = watch.sample(1.0);
        assert!(value(&second, "cpu.cores", Some(OBSERVERS)).is_some(), "{second:?}");
        assert_eq!(value(&second, "cpu.cores", Some("web")), None, "{second:?}");
        assert_eq!(watch.sources()[0], ("web".to_string(), "/proc".to_string()));
        assert_eq!(watch.sources()[1].0, OBSERVERS);
    }
}

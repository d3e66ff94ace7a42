//! All probes of a run, read together once a second.

use std::collections::BTreeMap;

use model::record::Series;

use crate::host::{HostProbe, HostSample};
use crate::own::{OwnProbe, OwnSample};
use crate::process::ProcessTable;
use crate::tier::{TierProbe, TierSample};

/// The tier that stands for this process.
const GENERATOR: &str = "generator";

/// Beyond this many, the busy share of each single CPU is left out: it would be most of the data.
const CPUS_SHOWN: usize = 32;

/// Reads every tier, the host and this process. A point of a rate holds for the time since the point before it.
///
/// | series | of | unit |
/// |---|---|---|
/// | `cpu.cores`, `cpu.system_cores` | each tier, `generator` | cores |
/// | `memory.bytes` | each tier, `generator` | bytes |
/// | `cpu.wait_cores` | `generator` | cores: seconds per second that its threads waited for a CPU |
/// | `cpu.busy_cores`, `cpu.foreign_cores` | host | cores |
/// | `cpu.steal_ratio` | host | ratio of all CPUs |
/// | `cpuN.busy_ratio` | host | ratio of that CPU |
#[derive(Debug)]
pub struct Watch {
    tiers: Vec<TierProbe>,
    host: Option<HostProbe>,
    own: OwnProbe,
    last: Option<Snapshot>,
    series: BTreeMap<(String, Option<String>), Series>,
}

#[derive(Debug)]
struct Snapshot {
    at_s: f64,
    tiers: Vec<Option<TierSample>>,
    host: Option<HostSample>,
    own: OwnSample,
    waits: BTreeMap<u32, f64>,
}

impl Watch {
    /// A watch over these tiers, the host and this process.
    pub fn new(tiers: Vec<TierProbe>) -> Watch {
        Watch { tiers, host: HostProbe::open(), own: OwnProbe::open(), last: None, series: BTreeMap::new() }
    }

    /// Reads everything at `at_s` seconds of the run and gives the new points, a series each. The first call gives
    /// only memory: a rate needs two. Calls that are less than a millisecond apart give nothing new.
    pub fn sample(&mut self, at_s: f64) -> Vec<Series> {
        if self.last.as_ref().is_some_and(|last| at_s - last.at_s < 1e-3) {
            return Vec::new();
        }
        let now = self.snapshot(at_s);
        let mut points = Points { at_s, found: Vec::new() };
        self.memory(&now, &mut points);
        if let Some(last) = &self.last {
            self.rates(last, &now, &mut points);
        }
        self.last = Some(now);
        for one in &points.found {
            let key = (one.name.clone(), one.tier.clone());
            self.series
                .entry(key)
                .or_insert_with(|| Series { points: Vec::new(), ..one.clone() })
                .points
                .extend_from_slice(&one.points);
        }
        points.found
    }

    /// All points until now.
    pub fn series(&self) -> Vec<Series> {
        self.series.values().cloned().collect()
    }

    /// Each tier, and `generator`, with where its CPU time comes from.
    pub fn sources(&self) -> Vec<(String, &'static str)> {
        let tiers = self.tiers.iter().map(|tier| (tier.name().to_string(), tier.source()));
        tiers.chain([(GENERATOR.to_string(), "clock_gettime")]).collect()
    }

    fn snapshot(&mut self, at_s: f64) -> Snapshot {
        let needs_table = self.tiers.iter().any(TierProbe::needs_table);
        let table = if needs_table { ProcessTable::scan() } else { ProcessTable::default() };
        let waits = self.own.threads().into_iter().filter_map(|thread| Some((thread.id, thread.wait_s?)));
        Snapshot {
            at_s,
            waits: waits.collect(),
            tiers: self.tiers.iter_mut().map(|tier| tier.sample(&table)).collect(),
            own: self.own.sample(),
            host: self.host.as_mut().and_then(HostProbe::sample),
        }
    }

    fn memory(&self, now: &Snapshot, points: &mut Points) {
        for (tier, sample) in self.tiers.iter().zip(&now.tiers) {
            if let Some(bytes) = sample.and_then(|sample| sample.memory_bytes) {
                points.add("memory.bytes", Some(tier.name()), "bytes", bytes as f64);
            }
        }
        if let Some(bytes) = now.own.memory_bytes {
            points.add("memory.bytes", Some(GENERATOR), "bytes", bytes as f64);
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
        let own_cores = (now.own.cpu_s - last.own.cpu_s) / elapsed_s;
        known_cores += own_cores;
        points.add("cpu.cores", Some(GENERATOR), "cores", own_cores);
        let system = (now.own.system_s - last.own.system_s).max(0.0) / elapsed_s;
        points.add("cpu.system_cores", Some(GENERATOR), "cores", system);
        // A thread that began in between has waited only since then; one that ended takes its account with it.
        let waited: f64 = now.waits.iter().map(|(id, wait)| wait - last.waits.get(id).unwrap_or(&0.0)).sum();
        points.add("cpu.wait_cores", Some(GENERATOR), "cores", waited.max(0.0) / elapsed_s);
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

struct Points {
    at_s: f64,
    found: Vec<Series>,
}

impl Points {
    fn add(&mut self, name: &str, tier: Option<&str>, unit: &str, value: f64) {
        self.found.push(Series {
            name: name.to_string(),
            tier: tier.map(str::to_string),
            unit: unit.to_string(),
            points: vec![(self.at_s, value)],
        });
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
        let mut points = Points { at_s: 1.0, found: Vec::new() };
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
        let mut watch = Watch::new(vec![TierProbe::new("web", None, u32::MAX)]);
        let first = watch.sample(0.0);
        assert!(first.iter().all(|series| series.name == "memory.bytes"), "{first:?}");
        assert!(watch.sample(0.0).is_empty(), "no time has passed");
        let second = watch.sample(1.0);
        assert!(value(&second, "cpu.cores", Some(GENERATOR)).is_some(), "{second:?}");
        assert_eq!(value(&second, "cpu.cores", Some("web")), None, "{second:?}");
        assert_eq!(watch.sources()[0], ("web".to_string(), "/proc"));
    }
}

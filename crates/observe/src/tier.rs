//! A tier as the kernel sees it, one file an observer: each reads one source and gives its series.

mod cable;
mod cpu_wait;
mod disk;
mod instances;
mod memory_limit;
mod pressure;
mod processes;
mod quota;
mod share;
mod threads;
mod usage;

use std::path::{Path, PathBuf};

use model::Signal;

use crate::cgroup;
use crate::job::TierJob;
use crate::points::Points;
use cable::Cable;
use cpu_wait::CpuWait;
use disk::Disk;
use memory_limit::MemoryLimit;
use pressure::Pressure;
use processes::Processes;
use quota::Quota;

pub(crate) use cpu_wait::CPU_WAIT;
pub(crate) use instances::Instances;
pub(crate) use threads::{Around, Call, Place, Thing, Threads, doing, image};
pub(crate) use usage::{CPU, CPU_SYSTEM, MEMORY, Usage};

/// Every signal of a tier but those of its server.
pub(crate) fn signals() -> impl Iterator<Item = Signal> {
    let all = [
        usage::SIGNALS,
        cable::SIGNALS,
        instances::SIGNALS,
        cpu_wait::SIGNALS,
        quota::SIGNALS,
        pressure::SIGNALS,
        memory_limit::SIGNALS,
        processes::SIGNALS,
        disk::SIGNALS,
        threads::SIGNALS,
    ];
    all.into_iter().flatten().copied().cloned().chain(threads::of_doings())
}

/// What holds a tier back, and what it does to the disk: of one that has a cgroup of its own.
#[derive(Debug)]
pub(crate) struct Tier {
    name: String,
    group: PathBuf,
    processes: Processes,
    memory_limit: Option<MemoryLimit>,
    quota: Quota,
    pressure: Pressure,
    cpu_wait: CpuWait,
    disk: Disk,
    cable: Option<Cable>,
}

impl Tier {
    /// The tier of `job`; `None` where it has no cgroup or no process. All its instances share one group.
    pub(crate) fn of(job: &TierJob) -> Option<Tier> {
        let main = *job.pids.first()?;
        let tier = Tier::open(&job.name, job.cgroup.as_ref()?, main);
        Some(Tier { cable: job.own_host.as_ref().map(|host| Cable::of(host, main)), ..tier })
    }

    fn open(name: &str, group: &Path, main: u32) -> Tier {
        Tier {
            name: name.to_string(),
            group: group.to_path_buf(),
            processes: Processes::default(),
            memory_limit: MemoryLimit::of(group, main),
            quota: Quota::of(group, main),
            pressure: Pressure::open(group),
            cpu_wait: CpuWait::of(group),
            disk: Disk::default(),
            cable: None,
        }
    }

    /// Adds what is seen now.
    pub(crate) fn sample(&mut self, points: &mut Points) {
        let (tier, ids) = (self.name.as_str(), cgroup::processes(&self.group));
        self.processes.sample(tier, &ids, points);
        if let Some(limit) = &mut self.memory_limit {
            limit.sample(tier, points);
        }
        self.quota.sample(tier, points);
        self.disk.sample(tier, &ids, points);
        if let Some(cable) = &mut self.cable {
            cable.sample(tier, points);
        }
        self.pressure.sample(tier, points);
        self.cpu_wait.sample(tier, points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttling_and_pressure_are_shares_of_the_time_between_two_readings() {
        let group = tempfile::tempdir().expect("a temporary directory");
        let write = |file: &str, text: &str| std::fs::write(group.path().join(file), text).expect("writable");
        let state = |throttled_us: u32, stalled_us: u32| {
            write("cpu.stat", &format!("usage_usec 1\nthrottled_usec {throttled_us}\n"));
            write("cpu.pressure", &format!("some avg10=0 avg60=0 avg300=0 total={stalled_us}\n"));
        };
        write("cpu.max", "50000 100000\n");
        write("cgroup.procs", &format!("{}\n", std::process::id()));
        write("cgroup.threads", &format!("{}\n", std::process::id()));
        state(0, 0);
        let mut tier = Tier::open("db", group.path(), std::process::id());
        tier.sample(&mut Points::at(0.0));
        state(500_000, 250_000);
        let mut points = Points::at(2.0);
        tier.sample(&mut points);
        let value = |name: &str| points.found.iter().find(|one| one.name == name).map(|one| one.points[0].1);
        assert_eq!(value("cpu.throttled_ratio"), Some(0.25));
        assert_eq!(value("cpu.quota_cores"), Some(0.5));
        assert_eq!(value("pressure.cpu_ratio"), Some(0.125));
        assert_eq!(value("processes.count"), Some(1.0));
    }
}

//! What holds a tier back: its CPU quota, its limit of memory, how long it waits for CPUs, PSI, and what it does to the
//! disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::memory_limit::MemoryLimit;
use crate::cgroup;
use crate::points::Points;
use crate::reread::Reread;

/// So many threads are asked each second how long they waited for a CPU; of more, as many in turn.
const THREADS_EACH: usize = 64;
/// Descriptors are counted every so many seconds: each is an entry of a directory.
const DESCRIPTORS_EVERY: u64 = 5;
/// Of so many processes, in turn.
const PROCESSES_EACH: usize = 16;

/// Reads what [`crate::TierProbe`] doesn't.
#[derive(Debug)]
pub(crate) struct TierMore {
    name: String,
    group: PathBuf,
    main: u32,
    quota: Option<Quota>,
    limit: Option<MemoryLimit>,
    pressure: Vec<(&'static str, Reread)>,
    last: Option<Last>,
    waits: HashMap<u32, (f64, f64)>,
    disk: HashMap<u32, (f64, f64)>,
    turn: usize,
    samples: u64,
}

#[derive(Debug, Clone)]
struct Last {
    at_s: f64,
    throttled_s: Option<f64>,
    stalled_s: Vec<Option<f64>>,
}

/// Where a tier's CPU quota stands: a cgroup of v2 with a controller, or one of v1.
#[derive(Debug)]
struct Quota {
    group: PathBuf,
    stat: Reread,
}

impl TierMore {
    /// Of the tier whose processes are all in `group`.
    pub(crate) fn open(name: &str, group: &Path, main: u32) -> TierMore {
        let files = [
            ("pressure.cpu_ratio", "cpu.pressure"),
            ("pressure.io_ratio", "io.pressure"),
            ("pressure.memory_ratio", "memory.pressure"),
        ];
        let pressure =
            files.into_iter().filter_map(|(name, file)| Some((name, Reread::open(group.join(file))?)));
        TierMore {
            name: name.to_string(),
            group: group.to_path_buf(),
            main,
            quota: None,
            limit: None,
            pressure: pressure.collect(),
            last: None,
            waits: HashMap::new(),
            disk: HashMap::new(),
            turn: 0,
            samples: 0,
        }
    }

    /// Adds what was seen at `at_s` seconds of the run.
    pub(crate) fn sample(&mut self, at_s: f64, points: &mut Points) {
        let processes = cgroup::processes(&self.group);
        let tier = self.name.clone();
        points.add("processes.count", Some(&tier), "processes", processes.len() as f64);
        // A quota may be set while the tier runs.
        if self.quota.is_none() && self.samples.is_multiple_of(DESCRIPTORS_EVERY) {
            self.quota = Quota::of(&self.group, self.main);
        }
        if self.limit.is_none() && self.samples == 0 {
            self.limit = MemoryLimit::of(&self.group, self.main);
        }
        if let Some(limit) = &mut self.limit {
            limit.sample(&tier, at_s, points);
        }
        let quota = self.quota.as_mut();
        let (quota_cores, throttled_s) =
            quota.map_or((None, None), |quota| (quota.cores(), quota.throttled_s()));
        points.add_known("cpu.quota_cores", Some(&tier), "cores", quota_cores);
        let stalled = self.pressure.iter_mut().map(|(_, file)| stalled_s(file.text()?, "some")).collect();
        let now = Last { at_s, throttled_s, stalled_s: stalled };
        if let Some(last) = self.last.replace(now.clone()) {
            let elapsed_s = at_s - last.at_s;
            let share =
                |now: Option<f64>, last: Option<f64>| Some(((now? - last?) / elapsed_s).clamp(0.0, 1.0));
            let throttled = share(now.throttled_s, last.throttled_s);
            points.add_known("cpu.throttled_ratio", Some(&tier), "ratio", throttled);
            self.disk(&processes, elapsed_s, points);
            for (index, (name, _)) in self.pressure.iter().enumerate() {
                let stalled = share(now.stalled_s[index], last.stalled_s[index]);
                points.add_known(name, Some(&tier), "ratio", stalled);
            }
        }
        let waiting = self.waiting_cores(at_s);
        points.add_known("cpu.wait_cores", Some(&tier), "cores", waiting);
        if self.samples.is_multiple_of(DESCRIPTORS_EVERY) {
            descriptors(&processes, &tier, points);
        }
        self.samples += 1;
    }

    /// Bytes from and to the disk, of the tier's first processes: a server that has many has its files in the first.
    fn disk(&mut self, processes: &[u32], elapsed_s: f64, points: &mut Points) {
        let read =
            |id: &u32| Some((*id, disk_bytes(&std::fs::read_to_string(format!("/proc/{id}/io")).ok()?)?));
        let now: HashMap<u32, (f64, f64)> = processes.iter().take(PROCESSES_EACH).filter_map(read).collect();
        let both: Vec<_> = now.iter().filter_map(|(id, now)| Some((now, self.disk.get(id)?))).collect();
        if !both.is_empty() {
            let sum =
                |of: fn(&(f64, f64)) -> f64| both.iter().map(|(now, then)| of(now) - of(then)).sum::<f64>();
            points.add("io.read_bytes", Some(&self.name), "bytes/s", sum(|one| one.0) / elapsed_s);
            points.add("io.written_bytes", Some(&self.name), "bytes/s", sum(|one| one.1) / elapsed_s);
        }
        self.disk = now;
    }

    /// Seconds a second that threads were ready without a CPU: from the account of each that could be asked twice,
    /// scaled to all.
    fn waiting_cores(&mut self, at_s: f64) -> Option<f64> {
        let ids = cgroup::threads(&self.group);
        let (count, from) = (ids.len(), self.turn);
        let asked = ids.iter().cycle().skip(from % count.max(1)).take(count.min(THREADS_EACH));
        let (mut sum, mut known) = (0.0, 0);
        for id in asked {
            let text = std::fs::read_to_string(format!("/proc/{id}/schedstat"));
            let Some((_, waited_s)) = text.ok().as_deref().and_then(crate::instrument::parse_schedstat)
            else {
                continue;
            };
            if let Some((then_s, then_waited_s)) = self.waits.insert(*id, (at_s, waited_s))
                && at_s - then_s > 1e-3
            {
                sum += (waited_s - then_waited_s).max(0.0) / (at_s - then_s);
                known += 1;
            }
        }
        self.turn = (from + THREADS_EACH) % count.max(1);
        if self.waits.len() > 2 * count + THREADS_EACH {
            self.waits.retain(|id, _| ids.contains(id));
        }
        (known > 0).then(|| sum * count as f64 / f64::from(known))
    }
}

impl Quota {
    fn of(group: &Path, main: u32) -> Option<Quota> {
        let found = [Some(group.to_path_buf()), cgroup::v1_of(main, "cpu")];
        found.into_iter().flatten().find_map(|group| {
            let mut quota = Quota { stat: Reread::open(group.join("cpu.stat"))?, group };
            quota.cores().map(|_| quota)
        })
    }

    /// `None` where there is no limit.
    fn cores(&mut self) -> Option<f64> {
        let text = |file: &str| std::fs::read_to_string(self.group.join(file)).ok();
        if let Some(both) = text("cpu.max") {
            return quota_of(&both);
        }
        quota_of(&format!("{} {}", text("cpu.cfs_quota_us")?.trim(), text("cpu.cfs_period_us")?.trim()))
    }

    /// v2 counts microseconds, v1 nanoseconds.
    fn throttled_s(&mut self) -> Option<f64> {
        let text = self.stat.text()?;
        let micro = cgroup::field(text, "throttled_usec").map(|micro| micro as f64 / 1e6);
        micro.or_else(|| Some(cgroup::field(text, "throttled_time")? as f64 / 1e9))
    }
}

/// `read_bytes` and `write_bytes` of `/proc/PID/io`: what really went to the disk, or will.
fn disk_bytes(text: &str) -> Option<(f64, f64)> {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some((value("read_bytes:")?, value("write_bytes:")?))
}

/// `QUOTA PERIOD` in microseconds; `max` and -1 are no limit.
fn quota_of(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Seconds in all that some (or all) tasks waited (Documentation/accounting/psi.rst: `some avg10=… total=MICROSECONDS`).
pub(crate) fn stalled_s(text: &str, whose: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.split(' ').next() == Some(whose))?;
    let micro: f64 = line.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(micro / 1e6)
}

fn descriptors(processes: &[u32], tier: &str, points: &mut Points) {
    let (mut sum, mut fullest, mut asked) = (0usize, 0.0f64, 0usize);
    for id in processes.iter().take(PROCESSES_EACH) {
        let Ok(entries) = std::fs::read_dir(format!("/proc/{id}/fd")) else { continue };
        let count = entries.count();
        (sum, asked) = (sum + count, asked + 1);
        let limits = std::fs::read_to_string(format!("/proc/{id}/limits")).unwrap_or_default();
        if let Some(limit) = descriptor_limit(&limits) {
            fullest = fullest.max(count as f64 / limit);
        }
    }
    if asked > 0 {
        let all = sum as f64 * processes.len() as f64 / asked as f64;
        points.add("descriptors.count", Some(tier), "descriptors", all);
        points.add("descriptors.used_ratio", Some(tier), "ratio", fullest);
    }
}

/// The soft limit of open files in `/proc/PID/limits`.
fn descriptor_limit(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_cores_and_no_limit_is_none() {
        assert_eq!(quota_of("50000 100000\n"), Some(0.5));
        assert_eq!(quota_of("max 100000"), None);
        assert_eq!(quota_of("-1 100000"), None);
    }

    #[test]
    fn pressure_and_limits_are_read_by_name() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 \
                    total=1000000\n";
        assert_eq!((stalled_s(text, "some"), stalled_s(text, "full")), (Some(2.5), Some(1.0)));
        let io = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        assert_eq!(disk_bytes(io), Some((4096.0, 8192.0)));
        let limits = "Limit      Soft Limit   Hard Limit   Units\nMax open files     64     1024     files\n";
        assert_eq!(descriptor_limit(limits), Some(64.0));
    }

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
        let mut more = TierMore::open("db", group.path(), std::process::id());
        more.sample(0.0, &mut Points::at(0.0));
        state(500_000, 250_000);
        let mut points = Points::at(2.0);
        more.sample(2.0, &mut points);
        let value = |name: &str| points.found.iter().find(|one| one.name == name).map(|one| one.points[0].1);
        assert_eq!(value("cpu.throttled_ratio"), Some(0.25));
        assert_eq!(value("cpu.quota_cores"), Some(0.5));
        assert_eq!(value("pressure.cpu_ratio"), Some(0.125));
        assert_eq!(value("processes.count"), Some(1.0));
    }
}

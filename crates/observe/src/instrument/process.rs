//! This process: its CPU time, and of each thread how long it ran and how long it waited for a CPU.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

use crate::process::{parse_stat, resident_bytes, ticks_per_s};
use crate::reread::Reread;

/// What one thread has used since it started.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ThreadUsage {
    /// Its id.
    pub(crate) id: u32,
    /// Its name, at most 15 bytes.
    pub(crate) name: String,
    /// CPU seconds.
    pub(crate) cpu_s: f64,
    /// Seconds in which it could have run but had to wait for its CPU; absent where the kernel doesn't tell.
    pub(crate) wait_s: Option<f64>,
}

/// What this process has used since it started.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OwnSample {
    /// CPU seconds of all its threads, also of those that ended.
    pub(crate) cpu_s: f64,
    /// Of which in the kernel.
    pub(crate) system_s: f64,
    /// Resident memory in bytes.
    pub(crate) memory_bytes: Option<u64>,
}

/// Reads this process.
#[derive(Debug)]
pub(crate) struct OwnProbe {
    stat: Option<Reread>,
    ticks_per_s: f64,
}

impl OwnProbe {
    /// A probe of this process.
    pub(crate) fn open() -> OwnProbe {
        OwnProbe { stat: Reread::open("/proc/self/stat"), ticks_per_s: ticks_per_s() }
    }

    /// What it has used until now, children not included.
    pub(crate) fn sample(&mut self) -> OwnSample {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let cpu_s = used.tv_sec as f64 + used.tv_nsec as f64 / 1e9;
        let stat = self.stat.as_mut().and_then(Reread::text);
        let kernel_ticks =
            stat.and_then(|text| text.rsplit_once(')')?.1.split_ascii_whitespace().nth(12)?.parse().ok());
        OwnSample {
            cpu_s,
            system_s: kernel_ticks.map_or(0.0, |ticks: f64| ticks / self.ticks_per_s).min(cpu_s),
            memory_bytes: resident_bytes([std::process::id()].into_iter()),
        }
    }

    /// Each living thread: some 30 µs for each.
    pub(crate) fn threads(&self) -> Vec<ThreadUsage> {
        let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let read = |entry: fs::DirEntry| {
            let path = entry.path();
            let text = |file: &str| fs::read_to_string(path.join(file)).ok();
            let schedule = text("schedstat").as_deref().and_then(parse_schedstat);
            let cpu_s = match schedule {
                Some((cpu_s, _)) => cpu_s,
                None => {
                    parse_stat(&text("stat")?, self.ticks_per_s).map(|used| used.user_s + used.system_s)?
                }
            };
            Some(ThreadUsage {
                id: entry.file_name().to_str()?.parse().ok()?,
                name: text("comm")?.trim().to_string(),
                cpu_s,
                wait_s: schedule.map(|(_, wait_s)| wait_s),
            })
        };
        entries.filter_map(read).collect()
    }
}

/// Seconds on a CPU and seconds of waiting for one (Documentation/scheduler/sched-stats.rst); all zero where the
/// kernel keeps no account.
pub(crate) fn parse_schedstat(text: &str) -> Option<(f64, f64)> {
    let mut fields = text.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
    let (ran, waited, slices) = (fields.next()??, fields.next()??, fields.next()??);
    (slices > 0).then_some((ran as f64 / 1e9, waited as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn schedstat_gives_running_and_waiting() {
        assert_eq!(parse_schedstat("1500000000 250000000 42\n"), Some((1.5, 0.25)));
        assert_eq!(parse_schedstat("0 0 0\n"), None, "a kernel without the account says only zeros");
        assert_eq!(parse_schedstat("1"), None);
    }

    #[test]
    fn burning_cpu_shows_in_this_process_and_in_the_thread_that_burns() {
        let mut probe = OwnProbe::open();
        let before = probe.sample();
        let thread = std::thread::Builder::new().name("burner".to_string()).spawn(|| {
            let probe = OwnProbe::open();
            let own = |threads: Vec<ThreadUsage>| threads.into_iter().find(|thread| thread.name == "burner");
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(100) {
                std::hint::black_box(start);
            }
            own(probe.threads())
        });
        let burner = thread.expect("a thread").join().expect("it does not panic").expect("it is in the list");
        let used = probe.sample().cpu_s - before.cpu_s;
        assert!(burner.cpu_s > 0.0 && burner.cpu_s <= used + 1e-3, "{burner:?}, process {used}");
        let wall = burner.cpu_s + burner.wait_s.unwrap_or(0.1);
        assert!(wall > 0.08, "it ran or waited for 0.1 s: {burner:?}");
    }
}

//! All CPUs of the machine, from `/proc/stat` (proc(5)).

use crate::process::ticks_per_s;
use crate::reread::Reread;

/// Seconds that a CPU, or all of them together, have spent since the machine started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuTimes {
    /// In user mode, nice and guests included.
    pub user_s: f64,
    /// In the kernel, interrupts included.
    pub system_s: f64,
    /// Doing nothing, waiting for a disk included.
    pub idle_s: f64,
    /// Ready to run while the hypervisor ran something else.
    pub steal_s: f64,
}

impl CpuTimes {
    /// Seconds at work.
    pub fn busy_s(&self) -> f64 {
        self.user_s + self.system_s
    }

    /// Seconds in all.
    pub fn total_s(&self) -> f64 {
        self.busy_s() + self.idle_s + self.steal_s
    }

    /// What was spent since `earlier`.
    pub fn since(&self, earlier: &CpuTimes) -> CpuTimes {
        let less = |now: f64, then: f64| (now - then).max(0.0);
        CpuTimes {
            user_s: less(self.user_s, earlier.user_s),
            system_s: less(self.system_s, earlier.system_s),
            idle_s: less(self.idle_s, earlier.idle_s),
            steal_s: less(self.steal_s, earlier.steal_s),
        }
    }
}

/// The machine's CPUs at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostSample {
    /// All together.
    pub all: CpuTimes,
    /// Each by its number; one that is offline is missing.
    pub each: Vec<(usize, CpuTimes)>,
}

/// Reads `/proc/stat`.
#[derive(Debug)]
pub struct HostProbe {
    stat: Reread,
    ticks_per_s: f64,
}

impl HostProbe {
    /// `None` where `/proc` is not to be read.
    pub fn open() -> Option<HostProbe> {
        Some(HostProbe { stat: Reread::open("/proc/stat")?, ticks_per_s: ticks_per_s() })
    }

    /// The CPUs now.
    pub fn sample(&mut self) -> Option<HostSample> {
        parse(self.stat.text()?, self.ticks_per_s)
    }
}

fn parse(text: &str, ticks_per_s: f64) -> Option<HostSample> {
    let mut sample = HostSample::default();
    let mut seen = false;
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("cpu") else { break };
        let (number, times) = rest.split_once(' ')?;
        let times = parse_times(times, ticks_per_s)?;
        match number.parse() {
            Ok(number) => sample.each.push((number, times)),
            Err(_) => (sample.all, seen) = (times, true),
        }
    }
    seen.then_some(sample)
}

/// `user nice system idle iowait irq softirq steal guest guest_nice`; user and nice contain the guests.
fn parse_times(text: &str, ticks_per_s: f64) -> Option<CpuTimes> {
    let ticks: Vec<f64> = text
        .split_ascii_whitespace()
        .map_while(|field| field.parse::<u64>().ok())
        .map(|ticks| ticks as f64)
        .collect();
    let s = |index: usize| ticks.get(index).copied().unwrap_or(0.0) / ticks_per_s;
    (ticks.len() >= 4).then(|| CpuTimes {
        user_s: s(0) + s(1),
        system_s: s(2) + s(5) + s(6),
        idle_s: s(3) + s(4),
        steal_s: s(7),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "\
cpu  300 20 100 1000 50 5 25 30 40 0
cpu0 200 10 60 400 20 5 20 20 40 0
cpu3 100 10 40 600 30 0 5 10 0 0
intr 12345 0 0
ctxt 99
";

    #[test]
    fn times_are_seconds_and_guests_are_not_counted_twice() {
        let sample = parse(STAT, 100.0).expect("a right text");
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(close(sample.all.busy_s(), 4.5) && close(sample.all.steal_s, 0.3), "{sample:?}");
        assert!(close(sample.all.total_s(), 15.3), "{sample:?}");
        assert_eq!(sample.each.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn what_was_spent_is_never_negative() {
        let sample = parse(STAT, 100.0).expect("a right text").all;
        assert_eq!(
            CpuTimes::default().since(&sample),
            CpuTimes::default(),
            "idle is known to go back on some kernels"
        );
        assert_eq!(sample.since(&CpuTimes::default()), sample);
    }

    #[test]
    fn a_text_without_cpus_is_no_sample() {
        assert_eq!(parse("intr 1 2 3\n", 100.0), None);
        assert_eq!(parse("cpu  1 2\n", 100.0), None);
    }
}

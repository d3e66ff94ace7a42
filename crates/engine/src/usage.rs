//! What a thread of the generator costs: its CPU time, and the time it was runnable but had to wait for a CPU.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::time::{ClockId, clock_gettime};

/// Reads the calling thread's own usage.
#[derive(Debug)]
pub(crate) struct ThreadUsage {
    schedstat: Option<File>,
    cpu_ns: u64,
    wait_ns: u64,
}

impl ThreadUsage {
    /// For the calling thread, from now on.
    pub(crate) fn of_this_thread() -> ThreadUsage {
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        let mut usage = ThreadUsage { schedstat, cpu_ns: 0, wait_ns: 0 };
        usage.since_last();
        usage
    }

    /// (CPU seconds, seconds waited for a CPU) since the last call.
    pub(crate) fn since_last(&mut self) -> (f64, f64) {
        let cpu_ns = thread_cpu_ns();
        let wait_ns = self.waited_ns().unwrap_or(self.wait_ns);
        let cpu_s = cpu_ns.saturating_sub(self.cpu_ns) as f64 / 1e9;
        let wait_s = wait_ns.saturating_sub(self.wait_ns) as f64 / 1e9;
        (self.cpu_ns, self.wait_ns) = (cpu_ns, wait_ns);
        (cpu_s, wait_s)
    }

    /// The second figure of schedstat: nanoseconds on a run queue.
    fn waited_ns(&self) -> Option<u64> {
        let mut buffer = [0; 64];
        let length = self.schedstat.as_ref()?.read_at(&mut buffer, 0).ok()?;
        let text = std::str::from_utf8(&buffer[..length]).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burnt_cpu_is_seen() {
        let mut usage = ThreadUsage::of_this_thread();
        let from = thread_cpu_ns();
        while thread_cpu_ns() - from < 20_000_000 {
            std::hint::spin_loop();
        }
        let (cpu_s, wait_s) = usage.since_last();
        assert!((0.02..2.0).contains(&cpu_s), "{cpu_s} s of CPU");
        assert!(wait_s >= 0.0);
    }
}

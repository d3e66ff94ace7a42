//! Memory of the whole machine, from `/proc/meminfo` and `/proc/vmstat`.

use model::{Signal, signals};

use super::number::number;
use crate::cgroup::field;
use crate::points::Points;
use crate::rates::Rates;
use crate::reread::Reread;

signals! {
    AVAILABLE =
        Signal::of_machine("memory.available_bytes", "bytes", "memory that can be had without reclaiming");
    SWAPPED = Signal::of_machine("swap.pages", "pages/s", "pages swapped in and out");
    MAJOR_FAULTS = Signal::of_machine("faults.major", "faults/s", "pages that had to be read from disk");
}

pub(super) const FILES: [&str; 2] = ["/proc/vmstat", "/proc/meminfo"];

/// Reads how much memory there is left, and what the want of it brings about.
#[derive(Debug)]
pub(super) struct Memory {
    vmstat: Option<Reread>,
    meminfo: Option<Reread>,
    rates: Rates,
}

impl Memory {
    pub(super) fn open() -> Memory {
        let [vmstat, meminfo] = FILES.map(Reread::open);
        Memory { vmstat, meminfo, rates: Rates::default() }
    }

    pub(super) fn sample(&mut self, points: &mut Points) {
        let available = self.meminfo.as_mut().and_then(Reread::text).and_then(available_bytes);
        points.add_known(&AVAILABLE, None, available);
        let counts = self.vmstat.as_mut().and_then(Reread::text);
        let count = |name: &str| counts.and_then(|text| field(text, name)).map(|count| count as f64);
        let swapped = count("pswpin").zip(count("pswpout")).map(|(read, written)| read + written);
        let major = count("pgmajfault");
        self.rates.add(&SWAPPED, swapped, points);
        self.rates.add(&MAJOR_FAULTS, major, points);
    }
}

/// `MemAvailable:   123456 kB`
fn available_bytes(meminfo: &str) -> Option<f64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(number(line.split_ascii_whitespace().next())? * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kibibytes_become_bytes() {
        assert_eq!(available_bytes("MemTotal: 9 kB\nMemAvailable:   2 kB\n"), Some(2048.0));
        assert_eq!(available_bytes("MemTotal: 9 kB\n"), None);
    }
}

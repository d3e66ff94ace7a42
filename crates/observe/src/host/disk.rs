//! The busiest disk, from `/proc/diskstats` (Documentation/admin-guide/iostats.rst).

use std::collections::HashMap;

use model::{Signal, signals};

use super::number::number;
use crate::points::Points;
use crate::reread::Reread;

signals! {
    BUSY = Signal::of_machine(
        "disk.busy_ratio", "ratio", "share of the time in which the busiest disk was busy"
    )
    .shown_first();
    QUEUE = Signal::of_machine("disk.queue", "requests", "requests at the busiest disk");
    READ = Signal::of_machine("disk.read_bytes", "bytes/s", "read from the busiest disk");
    WRITTEN = Signal::of_machine("disk.written_bytes", "bytes/s", "written to the busiest disk");
    LATENCY = Signal::of_machine("disk.latency_s", "s", "time of a request at the busiest disk");
}

pub(super) const FILE: &str = "/proc/diskstats";

/// Reads what the disks do.
#[derive(Debug)]
pub(super) struct Disk {
    file: Reread,
    /// Of each disk, and when that was read.
    last: HashMap<String, (f64, Done)>,
}

/// What a disk has done since the machine started: requests, bytes read and written, seconds that the requests waited,
/// seconds with any request, and seconds weighted by how many there were.
type Done = [f64; 6];

/// Where the seconds with any request stand.
const BUSY_S: usize = 4;

impl Disk {
    pub(super) fn open() -> Option<Disk> {
        Some(Disk { file: Reread::open(FILE)?, last: HashMap::new() })
    }

    pub(super) fn sample(&mut self, points: &mut Points) {
        let Some(text) = self.file.text() else { return };
        let at_s = points.at_s();
        let per_s = |(name, done): (&str, Done)| {
            let (then_s, before) = self.last.insert(name.to_string(), (at_s, done))?;
            Some(std::array::from_fn(|index| (done[index] - before[index]).max(0.0) / (at_s - then_s)))
        };
        let grown: Vec<Done> = disks(text).into_iter().filter_map(per_s).collect();
        let busiest = grown.into_iter().max_by(|one, other| one[BUSY_S].total_cmp(&other[BUSY_S]));
        let Some([requests, read, written, waited_s, busy_s, queued_s]) = busiest else { return };
        points.add(&BUSY, None, busy_s.min(1.0));
        points.add(&QUEUE, None, queued_s);
        points.add(&READ, None, read);
        points.add(&WRITTEN, None, written);
        points.add(&LATENCY, None, if requests > 0.0 { waited_s / requests } else { 0.0 });
    }
}

/// Whole disks only: a partition's name is its disk's with a number, and would count twice.
fn disks(text: &str) -> Vec<(&str, Done)> {
    let mut found: Vec<(&str, Done)> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(name), Some(_)) = (fields.get(2), fields.get(13)) else { continue };
        let of_another = found.iter().any(|(disk, _)| is_part(name, disk));
        if of_another || name.starts_with("loop") || name.starts_with("ram") {
            continue;
        }
        let at = |index: usize| number(fields.get(index).copied()).unwrap_or(0.0);
        let (bytes_per_sector, ms_per_s) = (512.0, 1e3);
        let waited_s = (at(6) + at(10)) / ms_per_s;
        found.push((
            name,
            [
                at(3) + at(7),
                at(5) * bytes_per_sector,
                at(9) * bytes_per_sector,
                waited_s,
                at(12) / ms_per_s,
                at(13) / ms_per_s,
            ],
        ));
    }
    found
}

/// Whether `name` is a partition of `disk`: `sda1`, `nvme0n1p1`; `dm-10` is none of `dm-1`.
fn is_part(name: &str, disk: &str) -> bool {
    let Some(rest) = name.strip_prefix(disk) else { return false };
    let rest = if disk.ends_with(|c: char| c.is_ascii_digit()) {
        rest.strip_prefix('p').unwrap_or("")
    } else {
        rest
    };
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_told_from_a_disk_whose_name_is_longer() {
        for (name, disk) in [("sda1", "sda"), ("nvme0n1p2", "nvme0n1")] {
            assert!(is_part(name, disk), "{name} is a part of {disk}");
        }
        for (name, disk) in [("dm-10", "dm-1"), ("sdaa", "sda"), ("nvme0n10", "nvme0n1"), ("sda", "sda")] {
            assert!(!is_part(name, disk), "{name} is no part of {disk}");
        }
    }

    #[test]
    fn each_whole_disk_has_its_counts_in_bytes_and_seconds() {
        let text = "254 0 vda 10 0 8 40 20 0 16 60 1 500 700 0\n254 1 vda1 9 0 8 40 20 0 16 60 1 500 700 0\n";
        assert_eq!(disks(text), [("vda", [30.0, 4096.0, 8192.0, 0.1, 0.5, 0.7])]);
    }
}

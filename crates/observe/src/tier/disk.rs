//! What a tier reads from the disk and writes to it, from `/proc/PID/io` (proc(5)).

use std::collections::HashMap;

use model::{Signal, signals};

use super::processes::MAX_PROCESSES;
use crate::points::Points;

signals! {
    READ = Signal::of_tier("io.read_bytes", "bytes/s", "read from the disk");
    WRITTEN = Signal::of_tier("io.written_bytes", "bytes/s", "written to the disk");
}

/// Reads the account of the tier's first processes: a server that has many has its files in the first.
#[derive(Debug, Default)]
pub(super) struct Disk {
    last_s: f64,
    last: HashMap<u32, (f64, f64)>,
}

impl Disk {
    pub(super) fn sample(&mut self, tier: &str, processes: &[u32], points: &mut Points) {
        let read =
            |id: &u32| Some((*id, disk_bytes(&std::fs::read_to_string(format!("/proc/{id}/io")).ok()?)?));
        let now: HashMap<u32, (f64, f64)> = processes.iter().take(MAX_PROCESSES).filter_map(read).collect();
        let both: Vec<_> = now.iter().filter_map(|(id, now)| Some((now, self.last.get(id)?))).collect();
        if !both.is_empty() {
            let elapsed_s = points.at_s() - self.last_s;
            let sum =
                |of: fn(&(f64, f64)) -> f64| both.iter().map(|(now, then)| of(now) - of(then)).sum::<f64>();
            points.add(&READ, Some(tier), sum(|one| one.0) / elapsed_s);
            points.add(&WRITTEN, Some(tier), sum(|one| one.1) / elapsed_s);
        }
        (self.last_s, self.last) = (points.at_s(), now);
    }
}

/// `read_bytes` and `write_bytes`: what really went to the disk, or will.
fn disk_bytes(text: &str) -> Option<(f64, f64)> {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some((value("read_bytes:")?, value("write_bytes:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_by_name() {
        let io = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        assert_eq!(disk_bytes(io), Some((4096.0, 8192.0)));
    }
}

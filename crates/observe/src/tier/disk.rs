//! What a tier reads from the disk and writes to it, from `/proc/PID/io` (proc(5)).

use std::collections::HashMap;

use model::{Signal, signals};

use crate::points::Points;

signals! {
    READ = Signal::of_tier("io.read_bytes", "bytes/s", "read from the disk");
    WRITTEN = Signal::of_tier("io.written_bytes", "bytes/s", "written to the disk");
}

/// The accounts of this number of processes are read each second; where there are more, all of them are read that much less often.
const PROCESSES_PER_S: f64 = 64.0;

/// Reads the accounts of all processes of the tier: a sum without some of them would be another figure.
#[derive(Debug, Default)]
pub(super) struct Disk {
    last_s: f64,
    last: HashMap<u32, (f64, f64)>,
}

impl Disk {
    pub(super) fn sample(&mut self, tier: &str, processes: &[u32], points: &mut Points) {
        let pause_s = processes.len() as f64 / PROCESSES_PER_S;
        // What is due each second is not late by a hair.
        if !self.last.is_empty() && points.at_s() < self.last_s + pause_s - 0.5 {
            return;
        }
        let read =
            |id: &u32| Some((*id, disk_bytes(&std::fs::read_to_string(format!("/proc/{id}/io")).ok()?)?));
        let now: HashMap<u32, (f64, f64)> = processes.iter().filter_map(read).collect();
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
    use std::io::{Read, Write};
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Writers that wait for a line, write a megabyte, and wait for the next.
    fn writers(number: usize, directory: &Path) -> Vec<Child> {
        let start = |number| {
            let file = directory.join(format!("{number}"));
            let script = "read go; printf %01000000d 0 > \"$0\"; echo done; read go";
            let mut command = Command::new("sh");
            command.arg("-c").arg(script).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
            command.spawn().expect("a shell starts")
        };
        (0..number).map(start).collect()
    }

    #[test]
    fn what_each_of_many_processes_writes_is_in_the_sum() {
        let own = std::env::current_exe().expect("a program has a path");
        // On a disk: what is written to memory alone is in no account.
        let directory = tempfile::tempdir_in(own.parent().expect("its directory")).expect("it is writable");
        let mut writers = writers(40, directory.path());
        let ids: Vec<u32> = writers.iter().map(Child::id).collect();
        let mut disk = Disk::default();
        disk.sample("web", &ids, &mut Points::at(0.0));
        for writer in &mut writers {
            let input = writer.stdin.as_mut().expect("it was asked for");
            input.write_all(b"go\n").expect("it listens");
            let output = writer.stdout.as_mut().expect("it was asked for");
            output.read_exact(&mut [0; 5]).expect("it says when it is done");
        }
        let mut early = Points::at(0.1);
        disk.sample("web", &ids, &mut early);
        assert!(early.found.is_empty(), "the accounts of many are read less often: {:?}", early.found);
        let mut points = Points::at(2.0);
        disk.sample("web", &ids, &mut points);
        for writer in &mut writers {
            writer.kill().expect("it lives");
            writer.wait().expect("it ends");
        }
        let written = points.found.iter().find(|one| one.name == "io.written_bytes").expect("it was read");
        let written_bytes = written.points[0].1 * 2.0;
        assert!((4e7..5e7).contains(&written_bytes), "{written_bytes} of 40 MB");
    }

    #[test]
    fn bytes_are_read_by_name() {
        let io = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";
        assert_eq!(disk_bytes(io), Some((4096.0, 8192.0)));
    }
}

//! A tier's CPU and memory.

use std::path::PathBuf;

use crate::cgroup;
use crate::instrument::OwnProbe;
use crate::process::{ProcessTable, resident_bytes};
use crate::reread::Reread;

/// Where summing up the memory of every process costs more than this many reads, it is done every fifth time only.
const PROCESSES_EACH_TIME: usize = 16;
const OTHERWISE_EVERY: u64 = 5;

/// What a tier has used since it started.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierSample {
    /// CPU seconds in user mode; never falls.
    pub user_s: f64,
    /// CPU seconds in the kernel; never falls.
    pub system_s: f64,
    /// Memory held now, where it was read this time; bytes.
    pub memory_bytes: Option<u64>,
}

impl TierSample {
    /// All CPU seconds.
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Reads one tier: from its cgroup where it has one, else from its main processes and everything below them.
#[derive(Debug)]
pub struct TierProbe {
    name: String,
    group: Option<Group>,
    /// Where it is this very process, and has no cgroup.
    own: Option<OwnProbe>,
    main_processes: Vec<u32>,
    floor: (f64, f64),
    reads: u64,
    processes: usize,
}

#[derive(Debug)]
struct Group {
    directory: PathBuf,
    cpu: Reread,
    memory: Option<Reread>,
}

impl Group {
    fn open(directory: PathBuf) -> Option<Group> {
        let mut cpu = Reread::open(directory.join("cpu.stat"))?;
        cgroup::parse_cpu_stat(cpu.text()?)?;
        let memory = Reread::open(directory.join("memory.stat"));
        Some(Group { directory, cpu, memory })
    }
}

impl TierProbe {
    /// A probe of tier `name`, whose processes are all in `cgroup2_dir`, or else `main_processes` and those below them.
    pub fn new(name: &str, cgroup2_dir: Option<PathBuf>, main_processes: &[u32]) -> TierProbe {
        let group = cgroup2_dir.and_then(Group::open);
        let (name, main_processes) = (name.to_string(), main_processes.to_vec());
        TierProbe { name, group, own: None, main_processes, floor: (0.0, 0.0), reads: 0, processes: 0 }
    }

    /// A probe of this process: by its cgroup where that holds nothing else.
    pub fn of_self(name: &str) -> TierProbe {
        let id = std::process::id();
        let alone = |group: &PathBuf| cgroup::processes(group) == [id];
        let probe = TierProbe::new(name, cgroup::cgroup2_of(id).filter(alone), &[id]);
        let own = probe.group.is_none().then(OwnProbe::open);
        TierProbe { own, ..probe }
    }

    /// web, app, db, cache.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the CPU time comes from, for the result.
    pub fn source(&self) -> &'static str {
        match (&self.group, &self.own) {
            (Some(_), _) => "cgroup2 cpu.stat",
            (None, Some(_)) => "clock_gettime",
            (None, None) => "/proc",
        }
    }

    /// Whether [`Self::sample`] needs a table of the machine's processes.
    pub fn needs_table(&self) -> bool {
        self.group.is_none() && self.own.is_none()
    }

    /// What the tier has used until now; `None` when it is gone. `table` may be empty unless
    /// [`Self::needs_table`].
    pub fn sample(&mut self, table: &ProcessTable) -> Option<TierSample> {
        let (user_s, system_s) = match (&mut self.group, &mut self.own) {
            (Some(group), _) => cgroup::parse_cpu_stat(group.cpu.text()?)?,
            (None, Some(own)) => {
                let used = own.sample();
                (used.cpu_s - used.system_s, used.system_s)
            }
            (None, None) => table.trees_cpu_s(&self.main_processes)?,
        };
        // Between the end of a child and the wait for it a process tree seems to have used less than before.
        self.floor = (self.floor.0.max(user_s), self.floor.1.max(system_s));
        let memory_bytes = self.memory(table);
        self.reads += 1;
        Some(TierSample { user_s: self.floor.0, system_s: self.floor.1, memory_bytes })
    }

    fn memory(&mut self, table: &ProcessTable) -> Option<u64> {
        if let Some(memory) = self.group.as_mut().and_then(|group| group.memory.as_mut()) {
            return cgroup::parse_memory_stat(memory.text()?);
        }
        if self.processes > PROCESSES_EACH_TIME && !self.reads.is_multiple_of(OTHERWISE_EVERY) {
            return None;
        }
        let processes = match (&self.group, &self.own) {
            (Some(group), _) => cgroup::processes(&group.directory),
            (None, Some(_)) => self.main_processes.clone(),
            (None, None) => table.trees(&self.main_processes),
        };
        self.processes = processes.len();
        resident_bytes(processes.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn group(cpu: &str, memory: Option<&str>) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join("cpu.stat"), cpu).expect("it is writable");
        if let Some(memory) = memory {
            fs::write(directory.path().join("memory.stat"), memory).expect("it is writable");
        }
        directory
    }

    #[test]
    fn a_tier_with_a_cgroup_is_read_from_it() {
        let directory = group("usage_usec 30\nuser_usec 2000000\nsystem_usec 500000\n", Some("anon 4096\n"));
        let mut probe = TierProbe::new("db", Some(directory.path().to_path_buf()), &[]);
        let sample = probe.sample(&ProcessTable::default()).expect("the files are there");
        assert_eq!(sample, TierSample { user_s: 2.0, system_s: 0.5, memory_bytes: Some(4096) });
        assert_eq!(probe.source(), "cgroup2 cpu.stat");
    }

    #[test]
    fn cpu_time_never_falls() {
        let directory = group("user_usec 2000000\nsystem_usec 500000\n", Some("anon 1\n"));
        let mut probe = TierProbe::new("db", Some(directory.path().to_path_buf()), &[]);
        probe.sample(&ProcessTable::default()).expect("the files are there");
        fs::write(directory.path().join("cpu.stat"), "user_usec 1900000\nsystem_usec 600000\n")
            .expect("it is writable");
        let sample = probe.sample(&ProcessTable::default()).expect("the files are there");
        assert_eq!((sample.user_s, sample.system_s), (2.0, 0.6));
    }

    #[test]
    fn a_cgroup_that_can_not_be_read_leaves_the_process_tree() {
        let directory = group("nonsense\n", None);
        let mut probe = TierProbe::new("web", Some(directory.path().to_path_buf()), &[std::process::id()]);
        assert_eq!((probe.source(), probe.needs_table()), ("/proc", true));
        let sample = probe.sample(&ProcessTable::scan()).expect("this process lives");
        assert!(sample.memory_bytes.is_some_and(|bytes| bytes > 100_000), "{sample:?}");
        let mut gone = TierProbe::new("web", None, &[u32::MAX]);
        assert_eq!(gone.sample(&ProcessTable::scan()), None);
    }
}

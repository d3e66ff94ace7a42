//! A tier's CPU and memory: from its cgroup where it has one, else from its processes.

use std::path::PathBuf;

use model::{Signal, signals};

use crate::cgroup;
use crate::instrument::OwnProbe;
use crate::points::Points;
use crate::process::{ProcessTable, resident_bytes};
use crate::reread::Reread;

signals! {
    pub(crate) CPU = Signal::of_tier("cpu.cores", "cores", "CPU used");
    pub(crate) CPU_SYSTEM = Signal::of_tier("cpu.system_cores", "cores", "CPU used in the kernel");
    pub(crate) MEMORY = Signal::of_tier("memory.bytes", "bytes", "anonymous and mapped memory").shown_first();
}

/// Where summing up the memory of every process costs more than this many reads, it is done every fifth time only.
const PROCESSES_EACH_TIME: usize = 16;
const OTHERWISE_EVERY: u64 = 5;

/// Reads what one tier uses.
#[derive(Debug)]
pub(crate) struct Usage {
    name: String,
    group: Option<Group>,
    /// Where it is this very process, and has no cgroup.
    own: Option<OwnProbe>,
    main_processes: Vec<u32>,
    floor: (f64, f64),
    reads: u64,
    processes: usize,
    last: Option<(f64, Used)>,
}

/// What a tier has used since it started.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Used {
    /// CPU seconds in user mode; never falls.
    user_s: f64,
    /// CPU seconds in the kernel; never falls.
    system_s: f64,
    /// Memory held now, where it was read this time.
    memory_bytes: Option<u64>,
}

impl Used {
    fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
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

impl Usage {
    /// That of tier `name`, whose processes are all in `cgroup2_dir`, or else `main_processes` and those below them.
    pub(crate) fn of(name: &str, cgroup2_dir: Option<PathBuf>, main_processes: &[u32]) -> Usage {
        Usage {
            name: name.to_string(),
            group: cgroup2_dir.and_then(Group::open),
            own: None,
            main_processes: main_processes.to_vec(),
            floor: (0.0, 0.0),
            reads: 0,
            processes: 0,
            last: None,
        }
    }

    /// That of this process: by its cgroup where that holds nothing else.
    pub(crate) fn of_self(name: &str) -> Usage {
        let id = std::process::id();
        let alone = |group: &PathBuf| cgroup::processes(group) == [id];
        let usage = Usage::of(name, cgroup::cgroup2_of(id).filter(alone), &[id]);
        let own = usage.group.is_none().then(OwnProbe::open);
        Usage { own, ..usage }
    }

    /// web, app, db, cache.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where the CPU time comes from, for the result.
    pub(crate) fn source(&self) -> &'static str {
        match (&self.group, &self.own) {
            (Some(_), _) => "cgroup2 cpu.stat",
            (None, Some(_)) => "clock_gettime",
            (None, None) => "/proc",
        }
    }

    /// Whether [`Self::sample`] needs a table of the machine's processes.
    pub(crate) fn needs_table(&self) -> bool {
        self.group.is_none() && self.own.is_none()
    }

    /// Adds what is seen now, and gives the CPU time a second since the last sample; zero where that is not known. `table`
    /// may be empty unless [`Self::needs_table`].
    pub(crate) fn sample(&mut self, table: &ProcessTable, points: &mut Points) -> f64 {
        let now = self.read(table).map(|used| (points.at_s(), used));
        let last = std::mem::replace(&mut self.last, now);
        let memory = now.and_then(|(_, used)| used.memory_bytes).map(|bytes| bytes as f64);
        points.add_known(&MEMORY, Some(&self.name), memory);
        let Some(((then_s, before), (now_s, after))) = last.zip(now) else { return 0.0 };
        let cores = (after.cpu_s() - before.cpu_s()) / (now_s - then_s);
        points.add(&CPU, Some(&self.name), cores);
        let system_cores = (after.system_s - before.system_s) / (now_s - then_s);
        points.add(&CPU_SYSTEM, Some(&self.name), system_cores);
        cores
    }

    /// What the tier has used until now; `None` when it is gone.
    fn read(&mut self, table: &ProcessTable) -> Option<Used> {
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
        Some(Used { user_s: self.floor.0, system_s: self.floor.1, memory_bytes })
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
        let mut usage = Usage::of("db", Some(directory.path().to_path_buf()), &[]);
        let sample = usage.read(&ProcessTable::default()).expect("the files are there");
        assert_eq!(sample, Used { user_s: 2.0, system_s: 0.5, memory_bytes: Some(4096) });
        assert_eq!(usage.source(), "cgroup2 cpu.stat");
    }

    #[test]
    fn cpu_time_never_falls() {
        let directory = group("user_usec 2000000\nsystem_usec 500000\n", Some("anon 1\n"));
        let mut usage = Usage::of("db", Some(directory.path().to_path_buf()), &[]);
        usage.read(&ProcessTable::default()).expect("the files are there");
        fs::write(directory.path().join("cpu.stat"), "user_usec 1900000\nsystem_usec 600000\n")
            .expect("it is writable");
        let sample = usage.read(&ProcessTable::default()).expect("the files are there");
        assert_eq!((sample.user_s, sample.system_s), (2.0, 0.6));
    }

    #[test]
    fn a_cgroup_that_can_not_be_read_leaves_the_process_tree() {
        let directory = group("nonsense\n", None);
        let mut usage = Usage::of("web", Some(directory.path().to_path_buf()), &[std::process::id()]);
        assert_eq!((usage.source(), usage.needs_table()), ("/proc", true));
        let sample = usage.read(&ProcessTable::scan()).expect("this process lives");
        assert!(sample.memory_bytes.is_some_and(|bytes| bytes > 100_000), "{sample:?}");
        let mut gone = Usage::of("web", None, &[u32::MAX]);
        assert_eq!(gone.read(&ProcessTable::scan()), None);
    }
}

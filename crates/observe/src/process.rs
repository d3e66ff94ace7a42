//! Processes from `/proc/PID/stat` and `statm` (proc(5)): CPU time, parent, memory.

use std::collections::HashMap;

/// What one process has used since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ProcessUsage {
    /// The parent's id.
    pub(crate) parent: u32,
    /// CPU seconds in user mode, with those of children that ended and were waited for.
    pub(crate) user_s: f64,
    /// CPU seconds in the kernel, with those of children that ended and were waited for.
    pub(crate) system_s: f64,
}

/// The fields of `/proc/PID/stat` that matter; `ticks_per_s` is the kernel's USER_HZ. The name in parentheses may
/// itself hold spaces and parentheses, so fields are counted from the last one.
pub(crate) fn parse_stat(text: &str, ticks_per_s: f64) -> Option<ProcessUsage> {
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().take(15).collect();
    let ticks = |index: usize| fields.get(index)?.parse::<i64>().ok().map(|ticks| ticks.max(0) as f64);
    Some(ProcessUsage {
        parent: fields.get(1)?.parse().ok()?,
        user_s: (ticks(11)? + ticks(13)?) / ticks_per_s,
        system_s: (ticks(12)? + ticks(14)?) / ticks_per_s,
    })
}

/// What all threads of one process have used, also those that ended, without its children.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OwnUsage {
    /// When it started, in ticks since boot.
    pub(crate) start: u64,
    /// CPU seconds.
    pub(crate) cpu_s: f64,
    /// Of which in the kernel.
    pub(crate) system_s: f64,
}

/// CPU seconds of the thread that asks.
pub(crate) fn thread_cpu_s() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// CPU seconds of all threads of process `id`, also of those that ended; its children are not counted.
pub(crate) fn own_cpu_s(id: u32) -> Option<f64> {
    own_usage(id).map(|used| used.cpu_s)
}

/// The same with when it started; absent where there is no such process, or it has ended and nobody has waited for it.
pub(crate) fn own_usage(id: u32) -> Option<OwnUsage> {
    parse_own(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?, ticks_per_s())
}

/// Whether a process of that number is there and hasn't ended.
pub fn is_living(id: u32) -> bool {
    own_usage(id).is_some()
}

fn parse_own(stat: &str, ticks_per_s: f64) -> Option<OwnUsage> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().take(20).collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let (user, system) = (ticks(11)?, ticks(12)?);
    let living = !matches!(fields.first(), Some(&("Z" | "X")));
    living.then_some(OwnUsage {
        start: ticks(19)?,
        cpu_s: (user + system) as f64 / ticks_per_s,
        system_s: system as f64 / ticks_per_s,
    })
}

/// Every process of the machine at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessTable {
    processes: HashMap<u32, ProcessUsage>,
}

impl ProcessTable {
    /// Reads all of `/proc`: some 10 µs for each process of the machine. Processes that end meanwhile are left out.
    pub(crate) fn scan() -> ProcessTable {
        let ticks_per_s = ticks_per_s();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let read = |entry: std::fs::DirEntry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((id, parse_stat(&text, ticks_per_s)?))
        };
        ProcessTable { processes: entries.filter_map(read).collect() }
    }

    /// `roots` and everything below them, the roots first; one that is gone is left out.
    pub(crate) fn trees(&self, roots: &[u32]) -> Vec<u32> {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for (id, usage) in &self.processes {
            children.entry(usage.parent).or_default().push(*id);
        }
        let living = roots.iter().copied().filter(|root| self.processes.contains_key(root));
        let mut found: Vec<u32> = living.collect();
        let mut next = 0;
        while let Some(id) = found.get(next).copied() {
            found.extend(children.remove(&id).unwrap_or_default());
            next += 1;
        }
        found
    }

    /// User and kernel CPU seconds of `roots` and everything below them; `None` when all are gone.
    pub(crate) fn trees_cpu_s(&self, roots: &[u32]) -> Option<(f64, f64)> {
        let trees = self.trees(roots);
        let used = trees.iter().filter_map(|id| self.processes.get(id));
        (!trees.is_empty())
            .then(|| used.fold((0.0, 0.0), |sum, one| (sum.0 + one.user_s, sum.1 + one.system_s)))
    }
}

/// Resident memory of several processes in bytes, each page that they share counted about once: the private part of
/// each, and the largest shared part. (Exact shares, PSS, cost a page-table walk.) Pages that a fork still shares with
/// its parent count for both.
pub(crate) fn resident_bytes(processes: impl Iterator<Item = u32>) -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    let (mut private, mut shared, mut seen) = (0, 0, false);
    for id in processes {
        let text = std::fs::read_to_string(format!("/proc/{id}/statm")).ok();
        if let Some((resident, of_which_shared)) = text.as_deref().and_then(parse_statm) {
            seen = true;
            private += resident.saturating_sub(of_which_shared);
            shared = shared.max(of_which_shared);
        }
    }
    seen.then_some((private + shared) * page)
}

/// Resident and shared pages.
fn parse_statm(text: &str) -> Option<(u64, u64)> {
    let mut fields = text.split_ascii_whitespace().skip(1).map(|field| field.parse().ok());
    Some((fields.next()??, fields.next()??))
}

/// USER_HZ: the unit of times in `/proc`.
pub(crate) fn ticks_per_s() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "4711 (a (strange) name) S 42 4711 4711 0 -1 4194560 1 2 3 4 250 50 30 20 20 0 12 0 99 1 2 3";

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let expected = ProcessUsage { parent: 42, user_s: 2.8, system_s: 0.7 };
        assert_eq!(parse_stat(STAT, 100.0), Some(expected));
        let own = OwnUsage { start: 99, cpu_s: 3.0, system_s: 0.5 };
        assert_eq!(parse_own(STAT, 100.0), Some(own), "without its children");
        assert_eq!(parse_own(&STAT.replace(" S 42", " Z 42"), 100.0), None, "it has ended");
    }

    #[test]
    fn a_text_cut_short_is_no_process() {
        for text in
            ["", "4711", "4711 (name", "4711 (name) S 42", "4711 (name) S x 1 1 0 -1 0 0 0 0 0 1 1 1 1"]
        {
            assert_eq!(parse_stat(text, 100.0), None, "{text:?}");
        }
    }

    #[test]
    fn a_tree_is_the_root_and_all_below_it_and_nothing_else() {
        let one = |parent| ProcessUsage { parent, user_s: 1.0, system_s: 0.5 };
        let table = [(1, 0), (10, 1), (11, 10), (12, 11), (20, 1), (21, 20)];
        let processes = table.map(|(id, parent)| (id, one(parent))).into();
        let table = ProcessTable { processes };
        let mut tree = table.trees(&[10]);
        assert_eq!(tree[0], 10);
        tree.sort_unstable();
        assert_eq!(tree, [10, 11, 12]);
        assert_eq!(table.trees_cpu_s(&[10]), Some((3.0, 1.5)));
        assert_eq!(table.trees_cpu_s(&[99]), None, "it is gone");
        let mut both = table.trees(&[20, 10, 99]);
        assert_eq!(both[..2], [20, 10]);
        both.sort_unstable();
        assert_eq!(both, [10, 11, 12, 20, 21]);
        assert_eq!(table.trees_cpu_s(&[20, 10, 99]), Some((5.0, 2.5)), "of those that are left");
    }

    #[test]
    fn resident_and_shared_pages_are_the_second_and_third_number() {
        assert_eq!(parse_statm("1000 300 120 5 0 80 0\n"), Some((300, 120)));
        assert_eq!(parse_statm("1000"), None);
    }

    #[test]
    fn this_process_is_in_the_table_and_has_memory() {
        let id = std::process::id();
        assert_eq!(ProcessTable::scan().trees(&[id]).first(), Some(&id));
        assert!(resident_bytes([id].into_iter()).is_some_and(|bytes| bytes > 100_000));
        assert_eq!(resident_bytes([u32::MAX].into_iter()), None, "a process that is gone has no figure");
    }
}

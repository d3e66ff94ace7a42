//! What this machine lets an observer see, each by trying it, and what is lost without it.

use std::fs;
use std::path::Path;

use crate::cgroup;
use crate::sockets::Sockets;

/// One way to see something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facility {
    /// What it is called.
    pub name: &'static str,
    /// How it was found; absent where it can't be used.
    pub found: Option<String>,
    /// What can't be seen without it.
    pub lost: &'static str,
}

/// Every facility, tried now. `base` is where labs make their cgroups.
pub fn facilities(base: Option<&Path>) -> Vec<Facility> {
    let one = |name, found: Option<String>, lost| Facility { name, found, lost };
    let yes = |can: bool, how: &str| can.then(|| how.to_string());
    let reads = |path: &str| fs::read_to_string(path).is_ok();
    let steal = fs::read_to_string("/proc/stat")
        .is_ok_and(|text| text.lines().next().is_some_and(|line| line.split_ascii_whitespace().count() > 8));
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let schedstat = schedstat.as_deref().and_then(crate::instrument::parse_schedstat);
    let delays = fs::read_to_string("/proc/sys/kernel/task_delayacct").unwrap_or_default();
    vec![
        one("cgroup v2", base.map(|base| base.display().to_string()), "CPU time of tiers, exactly"),
        one("cgroup v2 controllers", v2_controllers(), "CPU quota by cgroup v2; v1 is tried instead"),
        one("cgroup v1 controllers", v1_controllers(), "CPU quota by cgroup v1; needed only without v2's"),
        one(
            "PSI",
            yes(reads("/proc/pressure/cpu"), "/proc/pressure"),
            "pressure.*: shares of time with tasks waiting",
        ),
        one("PSI of cgroups", pressure_of_groups(), "pressure.* of tiers"),
        one(
            "schedstat",
            yes(schedstat.is_some(), "/proc/PID/schedstat"),
            "cpu.wait_cores: waiting for a CPU",
        ),
        one("system calls", system_calls(), "threads.*: what threads wait for, and with it the ledger"),
        one("memory of processes", memory(), "threads.client and threads.callee of poll(2)"),
        one(
            "sock_diag",
            yes(Sockets::open().is_some(), "netlink"),
            "listen.queue, and whom threads wait for",
        ),
        one("BPF", counts_calls(), "the ledger of calls: `explain --calls`, calls.*, waits.*"),
        one("steal", yes(steal, "/proc/stat"), "CPU time that the hypervisor took"),
        one(
            "delay accounting",
            yes(delays.trim() == "1", "kernel.task_delayacct = 1"),
            "nothing: it isn't used yet",
        ),
        one("perf", perf(), "where threads compute: `explain --folded`"),
    ]
}

fn v2_controllers() -> Option<String> {
    let text = fs::read_to_string(cgroup::cgroup2_mount()?.join("cgroup.controllers")).ok()?;
    Some(text.trim().to_string()).filter(|list| list.split(' ').any(|one| one == "cpu"))
}

fn v1_controllers() -> Option<String> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let named = text.lines().filter_map(|line| line.split(':').nth(1)).filter(|list| !list.is_empty());
    let list: Vec<&str> = named.filter(|list| !list.contains('=')).collect();
    (!list.is_empty()).then(|| list.join(" "))
}

/// The root has none of its own, so a group below it is asked; the first is as good as any.
fn pressure_of_groups() -> Option<String> {
    let mount = cgroup::cgroup2_mount()?;
    let has = |group: &Path| group.join("cpu.pressure").exists();
    let below = fs::read_dir(&mount).ok()?.flatten().map(|entry| entry.path());
    (has(&mount) || below.filter(|path| path.is_dir()).any(|group| has(&group)))
        .then(|| "cpu.pressure".to_string())
}

/// Of another process: the parent. As root of any; else only where tracing is allowed.
fn system_calls() -> Option<String> {
    fs::read_to_string(format!("/proc/{}/syscall", std::os::unix::process::parent_id())).ok()?;
    Some("/proc/PID/syscall".to_string())
}

fn memory() -> Option<String> {
    fs::File::open(format!("/proc/{}/mem", std::os::unix::process::parent_id())).ok()?;
    Some("/proc/PID/mem".to_string())
}

/// By loading the programs: rights, the kernel's types and its verifier are asked at once.
fn counts_calls() -> Option<String> {
    crate::calls::try_out().ok()?;
    Some("loaded and let go again".to_string())
}

fn perf() -> Option<String> {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    Some(format!("perf_event_paranoid = {}", level.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_facility_is_named_once_and_says_what_is_lost() {
        let all = facilities(None);
        let mut names: Vec<&str> = all.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|one| !one.lost.is_empty()));
        assert_eq!(all[0].found, None, "no directory was given");
        assert!(all.iter().any(|one| one.name == "steal" && one.found.is_some()), "{all:?}");
    }
}

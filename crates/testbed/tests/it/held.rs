//! What is done to a stack on purpose is really done, and gone with the stack.

use std::fs;
use std::path::{Path, PathBuf};

use model::catalogue::fault_file::{Expected, FaultFile, Injection};
use model::record::plan::Guest;
use model::{Plan, Recipe};
use testkit::ending::skip;

use crate::bench::{Bench, LIGHTTPD, get};
use crate::tiny::overlay;
use crate::waiting::wait_until;

/// A page that takes some tens of milliseconds of CPU time.
const BUSY: &str =
    "<?php for ($n = 0, $i = 0; $i < 2000000; $i++) { $n += $i; } echo $n > 0 ? 'done' : '';\n";

/// The root of a hierarchy that has all controllers in it (v2), if that is what this machine has.
fn unified() -> Option<&'static Path> {
    let root = Path::new("/sys/fs/cgroup");
    let offered = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    offered.split_whitespace().any(|one| one == "cpu").then_some(root)
}

/// Whether CPU time can be limited here, in a hierarchy of the controller's own (v1) or in the unified one.
pub(crate) fn controllers_are_there() -> bool {
    let there = unified().is_some() || Path::new("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").exists();
    there || skip("there is no controller of CPU time here")
}

/// Groups of a lab in the controllers' hierarchies.
pub(crate) fn groups_of(id: &str) -> Vec<PathBuf> {
    let own = || {
        let all = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
        all.filter(|dir| dir.file_name() != "unified").map(|dir| dir.path()).collect()
    };
    let hierarchies: Vec<PathBuf> = unified().map_or_else(own, |root| vec![root.to_path_buf()]);
    let labs = hierarchies
        .into_iter()
        .flat_map(|dir| fs::read_dir(dir.join("plimsoll")).into_iter().flatten().flatten())
        .map(|lab| lab.path());
    let ours = |lab: &PathBuf| lab.file_name().is_some_and(|name| name.to_string_lossy().starts_with(id));
    labs.filter(ours).collect()
}

/// How many microseconds a group may compute of each 20 ms; none without a limit.
fn quota_us(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let (quota, period) = match read("cpu.max") {
        Some(both) => {
            both.trim().split_once(' ').map(|(quota, period)| (quota.to_string(), period.to_string()))
        }
        None => read("cpu.cfs_quota_us").zip(read("cpu.cfs_period_us")),
    }
    .expect("a group with a controller of CPU time");
    let quota = quota.trim().parse().ok();
    assert!(quota.is_none() || period.trim() == "20000", "a period of {period}");
    quota
}

/// What limits the writes of a group: `8:0 40` or `8:0 … wiops=40`.
fn write_limit(group: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok().filter(|text| !text.trim().is_empty());
    read("io.max").or_else(|| read("blkio.throttle.write_iops_device"))
}

fn throttled(group: &Path) -> u64 {
    let stat = fs::read_to_string(group.join("cpu.stat")).unwrap_or_default();
    let count = stat.lines().find_map(|line| line.strip_prefix("nr_throttled "));
    count.and_then(|count| count.parse().ok()).unwrap_or_default()
}

#[test]
fn a_tier_with_a_quota_is_throttled_until_it_is_lifted_and_the_group_goes_with_the_stack() {
    let Some(mut bench) = Bench::new("quota", LIGHTTPD) else { return };
    if !controllers_are_there() {
        return;
    }
    bench.catalogue.overlay(overlay(&[("kits/tiny/app/busy.php", BUSY)]));
    let plan = bench.plan(LIGHTTPD, &[]);
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    stack.set_cpu_quota("app", Some(0.05)).unwrap_or_else(|problems| panic!("{problems}"));
    let groups = groups_of(&bench.id);
    assert_eq!(groups.len(), 1, "{groups:?}");
    let group = groups[0].join("1/app");
    let address = stack.web_address().expect("an address");
    wait_until("the quota is felt", || {
        assert!(get(address, "/busy.php").contains("done"));
        throttled(&group) > 0
    });
    let inside = fs::read_to_string(group.join("cgroup.procs")).expect("a group");
    assert!(inside.lines().count() >= 2, "PHP-FPM and its children: {inside}");
    stack.set_cpu_quota("app", None).expect("it is lifted");
    assert_eq!(quota_us(&group), None);
    drop(stack);
    assert!(!group.exists(), "the group goes with its stack");
    bench.lab.close().expect("a clean end");
    assert_eq!(groups_of(&bench.id), Vec::<PathBuf>::new());
}

#[test]
fn a_tier_that_is_set_to_half_a_core_has_no_more_from_its_start() {
    let Some(mut bench) = Bench::new("half", LIGHTTPD) else { return };
    let plan = bench.plan(LIGHTTPD, &[("app.cgroup.cpu", "0.5")]);
    if !controllers_are_there() {
        let said = bench.lab.check_limits(&plan).expect_err("there is no controller").to_string();
        assert!(said.contains("--set app.cgroup.cpu=0"), "{said}");
        return;
    }
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let groups = groups_of(&bench.id);
    assert_eq!(groups.len(), 1, "{groups:?}");
    let of_stack = groups[0].join("1");
    let read = |tier: &str, name: &str| fs::read_to_string(of_stack.join(tier).join(name)).expect("a group");
    assert_eq!(quota_us(&of_stack.join("app")), Some(10_000), "half of a period of 20 ms");
    for tier in ["db", "app", "web"] {
        let inside = read(tier, "cgroup.procs");
        let pid = stack.tier(tier).expect("a tier").pid.to_string();
        assert!(inside.lines().any(|line| line == pid), "{tier}: {pid} is not among {inside}");
        let weight = if unified().is_some() { "cpu.weight" } else { "cpu.shares" };
        assert_eq!(read(tier, weight), read("app", weight), "{tier} weighs as the others do");
    }
    for tier in ["db", "web"] {
        assert_eq!(quota_us(&of_stack.join(tier)), None, "{tier} has no limit of its own");
    }
    drop(stack);
    assert!(!of_stack.exists(), "the groups go with their stack");
}

#[test]
fn all_tiers_of_a_guest_have_one_limit_of_cpu_time_and_of_memory_between_them() {
    const MEMORY_BYTES: u64 = 512 << 20;
    let Some(mut bench) = Bench::new("guest", LIGHTTPD) else { return };
    if !controllers_are_there() {
        return;
    }
    let guest = Guest { number: 2, cpu_limit_cores: Some(0.5), memory_limit_bytes: Some(MEMORY_BYTES) };
    let plan = Plan { guest: Some(guest), ..bench.plan(LIGHTTPD, &[("app.cgroup.cpu", "0.25")]) };
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let pids = ["db", "app", "web"].map(|tier| stack.tier(tier).expect("a tier").pid);
    let groups: Vec<PathBuf> = groups_of(&bench.id).into_iter().map(|lab| lab.join("1")).collect();
    let with = |names: [&str; 2]| {
        let found = groups.iter().find(|group| names.iter().any(|name| group.join(name).exists()));
        found.unwrap_or_else(|| panic!("none of {groups:?} has {names:?}"))
    };
    let cpu = with(["cpu.max", "cpu.cfs_quota_us"]);
    assert_eq!(quota_us(cpu), Some(10_000), "half of a period of 20 ms for all of them");
    assert_eq!(quota_us(&cpu.join("app")), Some(5_000), "of which one tier has half at most");
    let memory = with(["memory.max", "memory.limit_in_bytes"]);
    let limit = ["memory.max", "memory.limit_in_bytes"].map(|name| fs::read_to_string(memory.join(name)));
    let limit = limit.into_iter().flatten().next().expect("a limit");
    assert_eq!(limit.trim(), MEMORY_BYTES.to_string());
    for group in [cpu, memory] {
        let inside = processes_below(group);
        assert!(pids.iter().all(|pid| inside.contains(pid)), "{pids:?} in {}: {inside:?}", group.display());
    }
    drop(stack);
    assert!(groups.iter().all(|group| !group.exists()), "the groups go with their stack: {groups:?}");
}

/// The processes in a group and in those below it.
fn processes_below(group: &Path) -> Vec<u32> {
    let own = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let mut all: Vec<u32> = own.lines().filter_map(|line| line.parse().ok()).collect();
    let inner = fs::read_dir(group).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    inner.for_each(|entry| all.extend(processes_below(&entry.path())));
    all
}

#[test]
fn a_faults_injections_are_there_when_the_stack_stands() {
    let Some(mut bench) = Bench::new("injected", LIGHTTPD) else { return };
    let mut plan = bench.plan(LIGHTTPD, &[]);
    let mut injections = vec![Injection::Descriptors { tier: "web".into(), limit: 64 }];
    let held = controllers_are_there();
    if held {
        injections.push(Injection::CpuQuota { tier: "db".into(), cores: 0.25 });
        injections.push(Injection::DiskWrites { tier: "db".into(), per_s: 40 });
    }
    plan.fault = Some(FaultFile {
        format: 1,
        name: "three".into(),
        title: "three".into(),
        why: "for a test".into(),
        quick: false,
        expect: Expected::Healthy,
        busy_ratio: None,
        recipe: Recipe::default(),
        injections,
    });
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let limits = |tier: &str| {
        let pid = stack.tier(tier).expect("a tier").pid;
        fs::read_to_string(format!("/proc/{pid}/limits")).expect("its limits")
    };
    let files = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("Max open files")).expect("a line");
        line.split_whitespace().nth(3).expect("a soft limit").to_string()
    };
    assert_eq!(files(&limits("web")), "64");
    assert_ne!(files(&limits("app")), "64", "only the tier that is named");
    if held {
        let groups: Vec<PathBuf> = groups_of(&bench.id)
            .iter()
            .map(|group| group.join("1/db"))
            .filter(|group| group.exists())
            .collect();
        let with_cpu =
            |group: &&PathBuf| group.join("cpu.max").exists() || group.join("cpu.cfs_quota_us").exists();
        let quotas: Vec<_> = groups.iter().filter(with_cpu).map(|group| quota_us(group)).collect();
        assert_eq!(quotas, [Some(5_000)]);
        let writes: Vec<String> = groups.iter().filter_map(|group| write_limit(group)).collect();
        let right = |text: &String| [" 40", "=40"].iter().any(|end| text.trim().ends_with(end));
        assert!(writes.len() == 1 && writes.iter().all(right), "{writes:?}");
    }
    drop(stack);
    bench.lab.close().expect("a clean end");
    assert_eq!(groups_of(&bench.id), Vec::<PathBuf>::new());
}

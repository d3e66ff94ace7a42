//! What is done to a stack on purpose is really done, and gone with the stack.

use std::fs;
use std::path::{Path, PathBuf};

use model::Recipe;
use model::fault_file::{Expected, FaultFile, Injection};
use testkit::ending::skip;

use crate::bench::{Bench, LIGHTTPD, get};
use crate::tiny::overlay;
use crate::waiting::wait_until;

/// A page that takes some tens of milliseconds of CPU time.
const BUSY: &str =
    "<?php for ($n = 0, $i = 0; $i < 2000000; $i++) { $n += $i; } echo $n > 0 ? 'done' : '';\n";

/// Whether CPU time can be limited here in a hierarchy of the controller's own.
pub(crate) fn controllers_are_there() -> bool {
    let there = Path::new("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").exists();
    there || skip("there is no v1 controller of CPU time here")
}

/// Groups of a lab in the controllers' own hierarchies.
pub(crate) fn groups_of(id: &str) -> Vec<PathBuf> {
    let hierarchies = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let labs = hierarchies.filter(|dir| dir.file_name() != "unified").flat_map(|dir| {
        fs::read_dir(dir.path().join("plimsoll")).into_iter().flatten().flatten().map(|lab| lab.path())
    });
    let ours = |lab: &PathBuf| lab.file_name().is_some_and(|name| name.to_string_lossy().starts_with(id));
    labs.filter(ours).collect()
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
    let quota = fs::read_to_string(group.join("cpu.cfs_quota_us")).expect("a group");
    assert_eq!(quota.trim(), "-1");
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
    assert_eq!(read("app", "cpu.cfs_quota_us").trim(), "10000", "half of a period of 20 ms");
    for tier in ["db", "app", "web"] {
        let inside = read(tier, "cgroup.procs");
        let pid = stack.tier(tier).expect("a tier").pid.to_string();
        assert!(inside.lines().any(|line| line == pid), "{tier}: {pid} is not among {inside}");
        assert_eq!(read(tier, "cpu.shares"), read("app", "cpu.shares"), "{tier} weighs as the others do");
    }
    for tier in ["db", "web"] {
        assert_eq!(read(tier, "cpu.cfs_quota_us").trim(), "-1", "{tier} has no limit of its own");
    }
    drop(stack);
    assert!(!of_stack.exists(), "the groups go with their stack");
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
        let groups = groups_of(&bench.id);
        let read = |name: &str| {
            let paths = groups.iter().map(|group| group.join("1/db").join(name));
            paths.filter_map(|path| fs::read_to_string(path).ok()).collect::<String>()
        };
        assert_eq!(read("cpu.cfs_quota_us").trim(), "5000");
        assert!(read("blkio.throttle.write_iops_device").trim().ends_with(" 40"));
    }
    drop(stack);
    bench.lab.close().expect("a clean end");
    assert_eq!(groups_of(&bench.id), Vec::<PathBuf>::new());
}

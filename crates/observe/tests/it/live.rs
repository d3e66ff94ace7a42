//! A child that burns CPU, seen through its cgroup where one can be made, and through its process tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use observe::{Job, TierJob, Watch, cgroup2_mount};
use testkit::ending::skip;

/// A shell whose child burns CPU; killed by its id when dropped.
struct Burner(Child);

impl Burner {
    /// Starts inside `group`, so that everything it ever forks is in it.
    fn start(group: Option<&Path>) -> Burner {
        let enter = group.map(|group| format!("echo $$ > {}/cgroup.procs; ", group.display()));
        let script =
            format!("{}(while :; do :; done) & child=$!; read end; kill $child", enter.unwrap_or_default());
        let child = Command::new("sh").arg("-c").arg(script).stdin(Stdio::piped()).spawn();
        Burner(child.expect("sh exists"))
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("it is our child");
    }
}

/// A cgroup of our own, removed when dropped.
struct Group(PathBuf);

impl Group {
    /// `None` where this user may not make one.
    fn make() -> Option<Group> {
        let path = cgroup2_mount()?.join(format!("observe-test-{}", std::process::id()));
        fs::create_dir(&path).ok()?;
        let group = Group(path);
        fs::OpenOptions::new().write(true).open(group.0.join("cgroup.procs")).ok()?;
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let empty = || fs::read_to_string(self.0.join("cgroup.procs")).is_ok_and(|text| text.is_empty());
        let deadline = Instant::now() + Duration::from_secs(10);
        while !empty() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        _ = fs::remove_dir(&self.0);
    }
}

/// Samples until the tier has burnt half a CPU second, and gives what the watch then says.
fn watch_until_burnt(cgroup: Option<PathBuf>, pid: u32) -> (f64, f64, f64, Watch) {
    let tier = TierJob { name: "web".to_string(), cgroup, pids: vec![pid], ..TierJob::default() };
    let mut watch = Watch::new(&Job { tiers: vec![tier], generator: std::process::id(), ..Job::default() });
    let start = Instant::now();
    let (mut burnt_s, mut bytes) = (0.0, 0.0);
    watch.sample(0.0);
    let mut last = 0.0;
    while burnt_s < 0.5 {
        assert!(start.elapsed() < Duration::from_secs(60), "only {burnt_s} CPU seconds seen in a minute");
        std::thread::park_timeout(Duration::from_millis(20));
        let at = start.elapsed().as_secs_f64();
        for series in watch.sample(at) {
            match (series.name.as_str(), series.tier.as_deref()) {
                ("cpu.cores", Some("web")) => burnt_s += series.points[0].1 * (at - last),
                ("memory.bytes", Some("web")) => bytes = series.points[0].1,
                _ => {}
            }
        }
        last = at;
    }
    (burnt_s, last, bytes, watch)
}

fn check(burnt_s: f64, elapsed_s: f64, bytes: f64) {
    assert!(burnt_s <= 1.05 * elapsed_s + 0.05, "one loop burnt {burnt_s} CPU seconds in {elapsed_s} s");
    assert!((100_000.0..1e9).contains(&bytes), "{bytes} bytes of two shells");
}

#[test]
fn cpu_burnt_in_a_process_tree_is_found_in_it() {
    let burner = Burner::start(None);
    let (burnt_s, elapsed_s, bytes, watch) = watch_until_burnt(None, burner.0.id());
    check(burnt_s, elapsed_s, bytes);
    assert_eq!(watch.sources()[0].1, "/proc");
}

#[test]
fn cpu_burnt_in_a_cgroup_is_found_in_it() {
    let Some(group) = Group::make() else {
        skip("no cgroup v2 directory can be made here");
        return;
    };
    let burner = Burner::start(Some(&group.0));
    let (burnt_s, elapsed_s, bytes, watch) = watch_until_burnt(Some(group.0.clone()), burner.0.id());
    check(burnt_s, elapsed_s, bytes);
    assert_eq!(watch.sources()[0].1, "cgroup2 cpu.stat");
    drop(burner);
}

#[test]
fn a_reading_costs_less_than_a_thousandth_of_a_second_each_second() {
    let mut watch = Watch::new(&Job::default());
    let own = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    watch.sample(0.0);
    let before = own();
    let readings = 200;
    (1..=readings).for_each(|second| _ = watch.sample(f64::from(second)));
    let after = own();
    let spent_s = (after.tv_sec - before.tv_sec) as f64 + (after.tv_nsec - before.tv_nsec) as f64 / 1e9;
    println!("{:.0} µs of CPU a reading", spent_s / f64::from(readings) * 1e6);
    assert!(spent_s / f64::from(readings) < 1e-3, "{spent_s} s for {readings} readings");
}

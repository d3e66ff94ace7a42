//! A child that burns CPU, seen through its cgroup where one can be made, and through its process tree.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::{SignalRegistry, Subject};
use observe::{Job, OwnWatch, TierJob, Watch, cgroup2_mount};
use testkit::ending::{Question, not_judged, skip};

/// A shell whose child burns CPU; killed by its id when dropped.
struct Burner {
    shell: Child,
    started: Instant,
    ended: bool,
}

impl Burner {
    /// Starts inside `group`, so that everything it ever forks is in it.
    fn start(group: Option<&Path>) -> Burner {
        let enter = group.map(|group| format!("echo $$ > {}/cgroup.procs; ", group.display()));
        let script = format!(
            "{}(while :; do :; done) & child=$!; read end; kill $child; wait",
            enter.unwrap_or_default()
        );
        let started = Instant::now();
        let shell =
            Command::new("sh").arg("-c").arg(script).stdin(Stdio::piped()).spawn().expect("sh exists");
        Burner { shell, started, ended: false }
    }

    /// Ends it; the CPU seconds of the shell and of its child, as the kernel adds them up for whoever waits for them.
    fn end(mut self) -> f64 {
        self.ended = true;
        drop(self.shell.stdin.take());
        let pid = i32::try_from(self.shell.id()).expect("a process number");
        // SAFETY: all zeros are a value of these numbers.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the status may be asked for by nobody; `used` lives longer than the call, and the child is ours and was
        // not waited for.
        let waited = unsafe { libc::wait4(pid, std::ptr::null_mut(), 0, &raw mut used) };
        assert_eq!(waited, pid, "it is our child");
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(used.ru_utime) + seconds(used.ru_stime)
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        if !self.ended {
            drop(self.shell.stdin.take());
            self.shell.wait().expect("it is our child");
        }
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

/// What a watch said of a tier.
struct Seen {
    burnt_s: f64,
    bytes: f64,
    first: Instant,
    last: Instant,
    source: String,
}

/// Samples until the tier has burnt a CPU second, and gives what the watch then says.
fn watch_until_burnt(cgroup: Option<PathBuf>, pid: u32) -> Seen {
    let tier = TierJob { name: "web".to_string(), cgroup, pids: vec![pid], ..TierJob::default() };
    let mut watch = Watch::new(&Job { tiers: vec![tier], generator: std::process::id(), ..Job::default() });
    let start = Instant::now();
    let (mut burnt_s, mut bytes) = (0.0, 0.0);
    watch.sample(0.0);
    let mut last = 0.0;
    while burnt_s < 1.0 {
        assert!(start.elapsed() < Duration::from_secs(60), "only {burnt_s} CPU seconds seen in a minute");
        std::thread::park_timeout(Duration::from_millis(20));
        let at = start.elapsed().as_secs_f64();
        for series in watch.sample(at) {
            match (series.name.as_str(), series.tier.as_deref()) {
                ("cpu.cores", Some("web")) => {
                    burnt_s += series.points[0].1 * (at - last);
                    last = at;
                }
                ("memory.bytes", Some("web")) => bytes = series.points[0].1,
                _ => {}
            }
        }
    }
    let source = watch.sources()[0].1.to_string();
    Seen { burnt_s, bytes, first: start, last: start + Duration::from_secs_f64(last), source }
}

/// Holds what was seen against what the kernel says when the child has ended, from both sides. What the one loop burnt
/// before the first look and after the last one is no more than the time that these took; `slack_s` is what rounding does.
/// `false` where nobody looked for so long that little would follow.
fn holds(seen: &Seen, burner: Burner, slack_s: f64) -> bool {
    let before_s = seen.first.saturating_duration_since(burner.started).as_secs_f64();
    let used_s = burner.end();
    let unseen_s = before_s + seen.last.elapsed().as_secs_f64();
    let burnt_s = seen.burnt_s;
    let least_s = used_s - unseen_s - slack_s;
    if unseen_s > 0.1 * used_s {
        return false;
    }
    assert!(burnt_s <= used_s + slack_s, "{burnt_s} CPU seconds were seen, and {used_s} were used");
    assert!(
        burnt_s >= least_s,
        "{burnt_s} CPU seconds were seen, and {used_s} were used, {unseen_s} at most unseen"
    );
    assert!((100_000.0..1e9).contains(&seen.bytes), "{} bytes of two shells", seen.bytes);
    true
}

/// Tries until the machine leaves the test alone.
fn try_a_few_times(judged: impl FnMut() -> bool) {
    const TRIES: usize = 5;
    if !std::iter::repeat_with(judged).take(TRIES).any(|judged| judged) {
        not_judged(Question::Truth, "the machine was busy: too much went by between two looks");
    }
}

#[test]
fn cpu_burnt_in_a_process_tree_is_found_in_it() {
    try_a_few_times(|| {
        let burner = Burner::start(None);
        let seen = watch_until_burnt(None, burner.shell.id());
        assert_eq!(seen.source, "/proc");
        // Of each of the two processes two counters in ticks of 10 ms, at both ends.
        holds(&seen, burner, 0.08)
    });
}

#[test]
fn cpu_burnt_in_a_cgroup_is_found_in_it() {
    let Some(group) = Group::make() else {
        skip("no cgroup v2 directory can be made here");
        return;
    };
    try_a_few_times(|| {
        let burner = Burner::start(Some(&group.0));
        let seen = watch_until_burnt(Some(group.0.clone()), burner.shell.id());
        assert_eq!(seen.source, "cgroup2 cpu.stat");
        holds(&seen, burner, 0.03)
    });
}

#[test]
fn every_series_that_is_read_is_declared_with_its_unit_and_each_signal_once() {
    let declared = SignalRegistry::new(observe::signals(), []);
    let burner = Burner::start(None);
    let group = cgroup2_mount().filter(|mount| fs::read_to_string(mount.join("cpu.stat")).is_ok());
    let tier = TierJob {
        name: "web".to_string(),
        cgroup: group,
        pids: vec![burner.shell.id()],
        ..TierJob::default()
    };
    let mut watch = Watch::new(&Job { tiers: vec![tier], ..Job::default() });
    let mut own = OwnWatch::open();
    let mut names = HashSet::new();
    for second in 0..3 {
        for series in watch.sample(f64::from(second)).into_iter().chain(own.sample(f64::from(second))) {
            let signal = declared.find(Subject::of(series.tier.as_deref(), &series.name), &series.name);
            assert_eq!(signal.map(|signal| signal.unit.as_ref()), Some(series.unit.as_str()), "{series:?}");
            names.insert((series.tier, series.name));
        }
    }
    assert!(names.len() > 30, "{names:?}");
    let mut once = HashSet::new();
    for signal in declared.built_in() {
        assert!(once.insert((signal.subject, &signal.name)), "{} is declared twice", signal.name);
        assert!(!signal.help.is_empty() && !signal.unit.is_empty(), "{signal:?}");
    }
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

//! What a step says of each tier in a few figures, for rules and charts.

use model::record::calls::{CallCount, CallStep, CellTime, EVENT_WAITS};
use model::record::diagnosis::Doing;
use model::{Signal, signals};

use crate::points::Points;

signals! {
    BLOCKS = Signal::of_tier("calls.blocks", "1/s", "how often its threads blocked");
    DISK = Signal::of_tier(
        "calls.disk_ratio", "ratio", "share of its threads' time at work in which they waited for a disk, as the kernel counts"
    );
    PATH_DISK = Signal::of_tier(
        "calls.path_disk_ratio", "ratio", "the same for a disk under a path: open, stat, readlink"
    );
    KERNEL_LOCK = Signal::of_tier(
        "calls.kernel_lock_ratio", "ratio", "share of its threads' time at work in which they waited for a lock inside the kernel"
    );
    STALL = Signal::of_tier(
        "calls.stall_ratio",
        "ratio",
        "share of its event loops' time in which they were blocked but where they wait for events: all their connections wait"
    );
    PROGRAMS = Signal::of_tier("calls.programs", "programs/s", "programs that its processes started (execve)");
    FORK = Signal::of_tier("calls.fork_s", "s", "CPU time in which a process or thread was made: grows with what is copied");
    OUTSIDE = Signal::of_tier(
        "waits.outside_ratio", "ratio", "share of its threads' time at work in which they waited for an address that is no tier's"
    );
}

/// A thread that is blocked there for this share of its blocked time is a loop.
const LOOP_RATIO: f64 = 0.5;
/// The call in which threads of a pool wait for work.
const POOL: &str = "futex";
/// Calls that name a file by its path.
const BY_PATH: [&str; 9] =
    ["open", "openat", "openat2", "stat", "lstat", "newfstatat", "statx", "readlink", "access"];

/// Calls that make a process or thread.
const FORK_CALLS: [&str; 4] = ["fork", "vfork", "clone", "clone3"];

/// What is known of a tier's event loops.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loops<'a> {
    /// It has some.
    pub(super) are_there: bool,
    /// Beginnings of the names of the threads that are; any may be when empty.
    pub(super) threads: &'a [String],
}

/// Adds the figures of every tier of `step`, whose callees that are no tiers `is_outside` knows by name, and whose event loops
/// `loops` gives by tier.
pub(super) fn add<'a>(
    step: &CallStep,
    is_outside: impl Fn(&str) -> bool,
    loops: impl Fn(&str) -> Loops<'a>,
    points: &mut Points,
) {
    for lives in &step.lives {
        let tier = lives.tier.as_str();
        let own: Vec<&CellTime> = step.times.iter().filter(|time| time.cell.tier == tier).collect();
        let seconds = |is: &dyn Fn(&CellTime) -> bool| -> f64 {
            own.iter().filter(|time| is(time)).map(|time| time.s).sum()
        };
        let blocks: u64 = own.iter().filter(|time| !time.cell.call.is_empty()).map(|time| time.count).sum();
        points.add(&BLOCKS, Some(tier), blocks as f64 / step.took_s);
        let at_work_s = seconds(&|time| !matches!(time.cell.doing, Doing::Idle | Doing::WaitingForClient));
        if at_work_s > 0.0 {
            let mut ratio = |signal: &Signal, is: &dyn Fn(&CellTime) -> bool| {
                points.add(signal, Some(tier), seconds(is) / at_work_s);
            };
            let on_disk = |time: &CellTime| time.cell.doing == Doing::WaitingForDisk;
            ratio(&DISK, &on_disk);
            ratio(&PATH_DISK, &|time| on_disk(time) && BY_PATH.contains(&time.cell.call.as_str()));
            ratio(&KERNEL_LOCK, &|time| time.cell.kernel_lock);
            ratio(&OUTSIDE, &|time| {
                time.cell.doing == Doing::WaitingForCallee && is_outside(&time.cell.object)
            });
        }
        points.add_known(&STALL, Some(tier), stall_ratio(&own, loops(tier)));
        if step.counted_s > 0.0 {
            let (programs, _) = counted(step, tier, &["execve"]);
            points.add(&PROGRAMS, Some(tier), programs as f64 / step.counted_s);
            let (forks, cpu_s) = counted(step, tier, &FORK_CALLS);
            points.add_known(&FORK, Some(tier), (forks > 0).then(|| cpu_s / forks as f64));
        }
    }
}

/// How many of these calls a tier made while calls were counted, and their CPU seconds.
fn counted(step: &CallStep, tier: &str, calls: &[&str]) -> (u64, f64) {
    let are = |count: &&CallCount| count.tier == tier && calls.contains(&count.call.as_str());
    let add = |(number, cpu_s), count: &CallCount| (number + count.count, cpu_s + count.cpu_s);
    step.counts.iter().filter(are).fold((0, 0.0), add)
}

/// Of the threads that are loops; absent where there is none. A loop is seen waiting for events, but for one that is always blocked
/// elsewhere: those of a server that has loops are known by that, unless some of its threads wait for work as those of a pool do.
fn stall_ratio(own: &[&CellTime], loops: Loops<'_>) -> Option<f64> {
    let mut names: Vec<&str> = own.iter().map(|time| time.cell.thread.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .retain(|name| loops.threads.is_empty() || loops.threads.iter().any(|start| name.starts_with(start)));
    let (mut stalled_s, mut all_s) = (0.0, 0.0);
    for name in names {
        let of_thread = || own.iter().filter(|time| time.cell.thread == name);
        // A master process, or a thread of a pool, that waits for work.
        let elsewhere = |time: &&CellTime| {
            time.cell.doing == Doing::Idle
                && !time.cell.call.is_empty()
                && !EVENT_WAITS.contains(&time.cell.call.as_str())
        };
        let blocked = |time: &&&CellTime| !time.cell.call.is_empty() && !elsewhere(time);
        let in_loop = |time: &&&CellTime| {
            EVENT_WAITS.contains(&time.cell.call.as_str()) && time.cell.doing == Doing::Idle
        };
        let blocked_s: f64 = of_thread().filter(blocked).map(|time| time.s).sum();
        let loop_s: f64 = of_thread().filter(in_loop).map(|time| time.s).sum();
        let has_pool = of_thread().any(|time| elsewhere(time) && time.cell.call == POOL);
        if loop_s > LOOP_RATIO * blocked_s || (loops.are_there && !has_pool) {
            stalled_s += blocked_s - loop_s;
            all_s += of_thread().filter(|time| !elsewhere(time)).map(|time| time.s).sum::<f64>();
        }
    }
    (all_s > 0.0).then(|| stalled_s / all_s)
}

#[cfg(test)]
mod tests {
    use model::record::calls::{Cell, ThreadLives};

    use super::*;

    fn time(thread: &str, doing: Doing, call: &str, object: &str, s: f64) -> CellTime {
        let text = |text: &str| text.to_string();
        let (call, object, thread) = (text(call), text(object), text(thread));
        let kernel_lock = object == "lock";
        CellTime {
            cell: Cell { tier: text("web"), thread, doing, call, object, kernel_lock },
            count: 10,
            s,
            max_s: s,
        }
    }

    fn figures(times: Vec<CellTime>, has_loops: bool) -> Vec<(String, f64)> {
        figures_with(times, Loops { are_there: has_loops, threads: &[] })
    }

    fn figures_with(times: Vec<CellTime>, loops: Loops<'_>) -> Vec<(String, f64)> {
        let lives =
            vec![ThreadLives { tier: "web".to_string(), threads: 2, lived_s: 2.0, cgroup_cpu_s: None }];
        let step = CallStep { at_s: 2.0, took_s: 2.0, lives, times, ..CallStep::default() };
        let mut points = Points::at(2.0);
        add(&step, |name| name != "db", |_| loops, &mut points);
        points.found.into_iter().map(|series| (series.name, series.points[0].1)).collect()
    }

    #[test]
    fn shares_are_of_the_time_at_work_and_a_loop_that_waits_for_a_disk_stalls() {
        let found = figures(
            vec![
                time("nginx", Doing::Running, "", "", 0.2),
                time("nginx", Doing::Idle, "epoll_wait", "", 0.9),
                time("nginx", Doing::WaitingForDisk, "openat", "a", 0.1),
                time("nginx", Doing::WaitingForDisk, "sendfile", "b", 0.1),
                time("php", Doing::WaitingForCallee, "recvfrom", "db", 0.3),
                time("php", Doing::WaitingForCallee, "connect", "10.0.0.9:443", 0.2),
                time("php", Doing::WaitingForLock, "openat", "lock", 0.1),
            ],
            false,
        );
        let value = |name: &str| {
            let found = found.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
            found.map(|value| (value * 1e4).round() / 1e4)
        };
        assert_eq!(value("calls.blocks"), Some(30.0), "six kinds of ten each in two seconds");
        assert_eq!(value("calls.disk_ratio"), Some(0.2));
        assert_eq!(value("calls.path_disk_ratio"), Some(0.1));
        assert_eq!(value("calls.kernel_lock_ratio"), Some(0.1));
        assert_eq!(value("waits.outside_ratio"), Some(0.2));
        assert_eq!(value("calls.stall_ratio"), Some(0.1538), "0.2 of the loop's 1.3 s");
    }

    #[test]
    fn a_loop_that_never_gets_to_wait_for_events_is_one_all_the_same_and_the_master_beside_it_is_none() {
        let stalled = |times: Vec<CellTime>, has_loops| {
            let found = figures(times, has_loops);
            found.iter().find(|(name, _)| name == "calls.stall_ratio").map(|(_, value)| *value)
        };
        let master = || time("nginx", Doing::Idle, "rt_sigsuspend", "", 2.0);
        let on_disk = |s| time("nginx", Doing::WaitingForDisk, "sendfile", "a", s);
        assert_eq!(stalled(vec![master(), on_disk(2.0)], true), Some(1.0));
        assert_eq!(stalled(vec![master(), on_disk(2.0)], false), None, "nobody says that there are loops");
        let in_loop = time("nginx", Doing::Idle, "epoll_wait", "", 1.5);
        assert_eq!(stalled(vec![master(), in_loop.clone(), on_disk(0.5)], false), Some(0.25));
        let in_pool = time("nginx", Doing::Idle, "futex", "", 1.0);
        assert_eq!(
            stalled(vec![master(), in_loop, in_pool, on_disk(30.0)], true),
            None,
            "a pool waits for the disk"
        );
    }

    #[test]
    fn helpers_that_are_blocked_are_no_loops_where_the_loops_have_a_name() {
        let times = || {
            vec![
                time("loop", Doing::Idle, "epoll_wait", "", 0.7),
                time("loop", Doing::WaitingForDisk, "openat", "a", 0.3),
                time("helper", Doing::Idle, "recvmsg", "socket pair", 0.5),
                time("helper", Doing::WaitingForDisk, "pread64", "b", 8.0),
            ]
        };
        let stalled = |threads: &[String]| {
            let found = figures_with(times(), Loops { are_there: true, threads });
            let (_, value) =
                found.iter().find(|(name, _)| name == "calls.stall_ratio").expect("there is a loop");
            (value * 1e3).round() / 1e3
        };
        assert_eq!(stalled(&["loop".to_string()]), 0.3);
        assert_eq!(stalled(&[]), 0.922, "any thread of the server may be a loop: 8.3 of 9 s");
    }

    #[test]
    fn programs_and_forks_are_those_of_the_time_in_which_calls_were_counted() {
        let count = |call: &str, count, cpu_s| CallCount {
            tier: "web".into(),
            thread: "loop".into(),
            call: call.into(),
            count,
            cpu_s,
        };
        let counts = vec![count("execve", 20, 0.01), count("clone", 30, 0.06), count("vfork", 10, 0.02)];
        let lives =
            vec![ThreadLives { tier: "web".to_string(), threads: 2, lived_s: 2.0, cgroup_cpu_s: None }];
        let mut step = CallStep { took_s: 2.0, counted_s: 0.5, lives, counts, ..CallStep::default() };
        let figure = |step: &CallStep, name: &str| {
            let mut points = Points::at(2.0);
            add(step, |_| false, |_| Loops::default(), &mut points);
            points.found.iter().find(|series| series.name == name).map(|series| series.points[0].1)
        };
        assert_eq!(figure(&step, "calls.programs"), Some(40.0), "20 in half a second");
        assert_eq!(figure(&step, "calls.fork_s"), Some(0.002), "0.08 s for 40");
        step.counts.truncate(1);
        assert_eq!(figure(&step, "calls.fork_s"), None, "none was made");
        step.counted_s = 0.0;
        assert_eq!(figure(&step, "calls.programs"), None, "nobody counted");
    }

    #[test]
    fn a_tier_that_does_nothing_has_no_shares_and_one_without_a_loop_can_not_stall() {
        let found = figures(vec![time("php", Doing::WaitingForClient, "accept4", "client", 1.0)], false);
        assert_eq!(found, [("calls.blocks".to_string(), 5.0)]);
    }
}

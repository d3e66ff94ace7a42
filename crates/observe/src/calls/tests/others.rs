//! The counts held against those of other tools.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use model::record::diagnosis::Doing;
use testkit::ending::skip;

use super::super::*;
use super::{DONE_WORD, Group, Planted, counting, plants, seconds_of, step_in_window};

/// The number of each call by strace's summary: `% time seconds usecs/call calls [errors] syscall`.
fn summary(text: &str) -> std::collections::BTreeMap<String, u64> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        Some(((*words.last()?).to_string(), words.get(3)?.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn counts_of_calls_are_those_of_strace() {
    let Some(group) = Group::make("strace") else { return };
    let Some(mut calls) = counting(&group, CallCounting::Blocks, Room::OF_RUNS) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let mut child = Planted::start(&plants::CALLER, &group, directory.path());
    let told = directory.path().join("summary");
    let strace = Command::new("strace")
        .args(["-c", "-f", "-o"])
        .arg(&told)
        .args(["-p", &child.child.id().to_string()])
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut strace) = strace else {
        skip("strace is not installed");
        return;
    };
    // Of its main thread, which is started first, strace speaks first; the test's own thread makes the calls.
    let mut said = BufReader::new(strace.stderr.take().expect("it was asked for"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it can be heard");
    assert!(line.contains("attached"), "{line}");
    let step = step_in_window(&mut calls, &mut child);
    // SAFETY: a signal to a child of ours that nobody has waited for.
    unsafe { libc::kill(strace.id().cast_signed(), libc::SIGINT) };
    strace.wait().expect("it lets go and ends");
    let theirs = summary(&fs::read_to_string(&told).expect("it wrote its summary"));
    for call in ["openat", "read", "close", "getppid"] {
        let own: u64 = step.counts.iter().filter(|count| count.call == call).map(|count| count.count).sum();
        let other = theirs.get(call).copied().unwrap_or(0);
        assert!(own >= plants::ROUNDS, "{call}: {own}; strace: {theirs:?}");
        assert!(own.abs_diff(other) * 100 <= other, "{call}: {own} counted here, {other} by strace");
    }
}

/// Seconds that threads were ready without a CPU by `perf sched latency`, whose rows are
/// `name:thread | runtime ms | count | avg: delay ms | …`.
fn delay_s(text: &str, threads: &[u32]) -> f64 {
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [task, _, count, delay, ..] = columns.as_slice() else { return None };
        let thread: u32 = task.rsplit(':').next()?.parse().ok()?;
        let count: f64 = count.parse().ok()?;
        let delay_ms: f64 = delay.strip_prefix("avg:")?.trim().strip_suffix("ms")?.trim().parse().ok()?;
        threads.contains(&thread).then_some(count * delay_ms / 1e3)
    };
    text.lines().filter_map(row).sum()
}

/// Every thread of a process.
fn threads_of(process: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).expect("it lives").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// `perf sched record` while it lives; it has begun when this returns.
struct Perf {
    child: Child,
    data: PathBuf,
}

impl Perf {
    fn record(data: PathBuf) -> Option<Perf> {
        let mut child = Command::new("perf")
            .args(["sched", "record", "-q", "-o"])
            .arg(&data)
            .args(["--", "sh", "-c", "echo begun; exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let said = BufReader::new(child.stdout.as_mut()?).read_line(&mut line);
        (said.is_ok() && line.trim() == "begun").then_some(Perf { child, data })
    }

    /// What it tells of each thread.
    fn latency(mut self) -> String {
        drop(self.child.stdin.take());
        self.child.wait().expect("it ends with its command");
        let told = Command::new("perf").args(["sched", "latency", "-p", "-i"]).arg(&self.data).output();
        String::from_utf8_lossy(&told.expect("it ran before").stdout).into_owned()
    }
}

#[test]
fn time_without_a_cpu_is_that_of_perf_sched() {
    let Some(group) = Group::make("perf") else { return };
    let Some(mut calls) = counting(&group, CallCounting::Blocks, Room::OF_RUNS) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    // Both on one CPU, so that one of them waits.
    let everywhere = rustix::thread::sched_getaffinity(None).expect("a thread may ask");
    let first = (0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| everywhere.is_set(*cpu)).expect("it runs");
    let mut one = rustix::thread::CpuSet::new();
    one.set(first);
    rustix::thread::sched_setaffinity(None, &one).expect("a thread may choose");
    let mut children = [0, 1].map(|_| Planted::start(&plants::SPINNER, &group, directory.path()));
    rustix::thread::sched_setaffinity(None, &everywhere).expect("and choose again");
    let Some(perf) = Perf::record(directory.path().join("sched.data")) else {
        skip("perf is not installed, or may not record here");
        return;
    };
    _ = calls.sample(0.0).expect("it can be read");
    children.iter_mut().for_each(|child| {
        child.child.stdin.as_mut().expect("it was asked for").write_all(b"go\n").expect("it listens");
    });
    children.iter_mut().for_each(|child| _ = child.hear(DONE_WORD));
    calls.pause_s = 0.0;
    let step = calls.sample(2.0).expect("it can be read").expect("the second reading is a step");
    let threads: Vec<u32> = children.iter().flat_map(|child| threads_of(child.child.id())).collect();
    let text = perf.latency();
    let theirs_s = delay_s(&text, &threads);
    let own_s = seconds_of(&step, |cell| cell.doing == Doing::WaitingForCpu);
    assert!(theirs_s > 0.3, "one of two waits: {theirs_s} s of {threads:?} in\n{text}");
    assert!((own_s / theirs_s - 1.0).abs() <= 0.05, "{own_s} s counted here, {theirs_s} s by perf:\n{text}");
}

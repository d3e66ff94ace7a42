//! A process that disturbs nobody: on the CPUs that it is given, and there only while they have nothing else to do.

use std::fs;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

/// How the kernel chooses between threads (sched(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    Other,
    Idle,
}

/// Keeps every thread of this process, and those that these start, on `cpus` and behind everything else there. What can't be had
/// is left as it is: it is a courtesy.
pub fn keep_process_quiet(cpus: &[usize]) {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for thread in threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        set(Pid::from_raw(thread), cpus, Policy::Idle);
    }
}

/// Takes that back for the calling thread, and for processes that it starts.
pub fn be_usual(cpus: &[usize]) {
    set(None, cpus, Policy::Other);
}

/// Of a thread; the calling one where none is named.
fn set(thread: Option<Pid>, cpus: &[usize], policy: Policy) {
    let mut allowed = CpuSet::new();
    cpus.iter().for_each(|cpu| allowed.set(*cpu));
    _ = sched_setaffinity(thread, &allowed);
    let policy = match policy {
        Policy::Other => libc::SCHED_OTHER,
        Policy::Idle => libc::SCHED_IDLE,
    };
    let priority = libc::sched_param { sched_priority: 0 };
    // SAFETY: the call reads `priority`, which outlives it, and nothing else.
    _ = unsafe {
        libc::sched_setscheduler(thread.map_or(0, |pid| pid.as_raw_nonzero().get()), policy, &priority)
    };
}

//! The CPUs of this machine that are ours.

use std::sync::OnceLock;

/// The CPUs that this process might use when it was asked for the first time: those of its jobs and checks, also where it keeps itself
/// on fewer later.
pub fn allowed() -> Vec<usize> {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(now).clone()
}

fn now() -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    let list: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|cpu| allowed.as_ref().is_some_and(|set| set.is_set(*cpu)))
        .collect();
    if list.is_empty() { vec![0] } else { list }
}

//! The CPUs of this machine that are ours.

/// The CPUs that this process may use.
pub fn allowed() -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    let list: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|cpu| allowed.as_ref().is_some_and(|set| set.is_set(*cpu)))
        .collect();
    if list.is_empty() { vec![0] } else { list }
}

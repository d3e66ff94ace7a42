//! The process's own memory, as the kernel counts it.

/// Resident bytes now.
pub(crate) fn now_bytes() -> u64 {
    field_bytes("VmRSS:")
}

/// The most resident bytes so far.
pub(crate) fn peak_bytes() -> u64 {
    field_bytes("VmHWM:")
}

fn field_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is there");
    let line = status.lines().find(|line| line.starts_with(name)).expect("the kernel tells it");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("it is a number");
    kib * 1024
}

//! Waiting on conditions, and what the machine shows of a lab.

use std::fs;
use std::time::{Duration, Instant};

/// Waits until `condition` holds; says `what` did not happen otherwise.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen within 30 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processes whose environment says that they belong to the lab: (number, command line). Zombies have neither.
pub(crate) fn processes_of(lab_id: &str) -> Vec<(u32, String)> {
    let mark = format!("PLIMSOLL_INSTANCE={lab_id}.");
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes())) {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

/// Processes of a user.
pub(crate) fn processes_of_user(uid: u32) -> Vec<u32> {
    let line = format!("Uid:\t{uid}\t");
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries
        .filter(|entry| {
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            status.contains(&line) && !status.contains("State:\tZ")
        })
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

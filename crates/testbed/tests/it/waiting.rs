//! Waiting on conditions, and what the machine shows of a lab.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use testbed::{Death, Stack};

/// Waits until `condition` holds; says `what` did not happen otherwise.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen within 30 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a server of the stack has died; what was noticed then.
pub(crate) fn deaths(stack: &mut Stack) -> Vec<Death> {
    let mut deaths = Vec::new();
    wait_until("the death", || {
        deaths = stack.deaths();
        !deaths.is_empty()
    });
    deaths
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process number")).expect("not zero");
    kill_process(pid, signal).expect("the process can be signalled");
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

/// Whether a lab's servers run as a user of their own, as they do where we are root.
pub(crate) fn own_user(uid: u32) -> bool {
    uid != rustix::process::geteuid().as_raw()
}

/// Processes of a user, zombies left out.
pub(crate) fn processes_of_user(uid: u32) -> Vec<u32> {
    let line = format!("Uid:\t{uid}\t");
    let status = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let runs = |pid: &u32| status(pid).contains(&line) && !status(pid).contains("State:\tZ");
    process_numbers().into_iter().filter(runs).collect()
}

/// Processes that hold a file or socket below `dir` open or work in it, whatever their environment says.
pub(crate) fn processes_in(dir: &Path) -> Vec<u32> {
    let below = |link: &Path| fs::read_link(link).is_ok_and(|target| target.starts_with(dir));
    let holds = |pid: &u32| {
        let process = Path::new("/proc").join(pid.to_string());
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        below(&process.join("cwd")) || files.into_iter().any(|file| below(&file.path()))
    };
    process_numbers().into_iter().filter(holds).collect()
}

fn process_numbers() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

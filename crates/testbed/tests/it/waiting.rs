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
    let own = |pid: &u32| lab_of(*pid).is_some_and(|lab| lab.starts_with(&format!("{lab_id}.")));
    let command = |pid: u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        (pid, String::from_utf8_lossy(&words).replace('\0', " "))
    };
    process_numbers().into_iter().filter(own).map(command).collect()
}

/// Whether a lab's servers run as a user of their own, as they do where we are root.
pub(crate) fn own_user(uid: u32) -> bool {
    uid != rustix::process::geteuid().as_raw()
}

/// Processes of a user that a lab had, zombies left out, and those of other labs: as soon as a lab is gone, its user may be
/// the next one's.
pub(crate) fn processes_of_user(uid: u32, lab_id: &str) -> Vec<u32> {
    let line = format!("Uid:\t{uid}\t");
    let status = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let runs = |pid: &u32| status(pid).contains(&line) && !status(pid).contains("State:\tZ");
    let another_s = |pid: &u32| lab_of(*pid).is_some_and(|lab| !lab.starts_with(&format!("{lab_id}.")));
    process_numbers().into_iter().filter(|pid| runs(pid) && !another_s(pid)).collect()
}

/// By its environment: `ID.` and something drawn.
fn lab_of(pid: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let mark = variables.find_map(|variable| variable.strip_prefix(b"PLIMSOLL_INSTANCE="))?;
    Some(String::from_utf8_lossy(mark).into_owned())
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

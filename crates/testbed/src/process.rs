//! Processes as the kernel shows them, and how those of one lab are told from all others.
//!
//! A process is identified by its number *and* its start time, since numbers are used again; never by its name.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use model::{Problem, Result};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// The variable that every process of a lab inherits; its value says which instance it belongs to.
pub(crate) const MARKER: &str = "PLIMSOLL_INSTANCE";

/// One process of this boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The process's number.
    pub pid: u32,
    /// Field 22 of `/proc/PID/stat`: clock ticks from boot to its start.
    pub start_ticks: u64,
}

impl Identity {
    /// The identity of a process that runs now, a zombie included.
    pub fn of(pid: u32) -> Option<Identity> {
        read_row(pid).map(|row| row.identity)
    }

    /// Whether it still runs; a zombie does not.
    pub fn runs(self) -> bool {
        read_row(self.pid).is_some_and(|row| row.identity == self && !row.zombie)
    }

    /// Asks it to end as Ctrl-C does, if it is still the same process.
    pub fn interrupt(self) -> bool {
        self.signal(Signal::INT)
    }

    /// Sends a signal, if it is still the same process.
    pub(crate) fn signal(self, signal: Signal) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return false };
        // The descriptor pins the process, so that checking its start time afterwards rules a reused number out.
        let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
        self.runs() && pidfd_send_signal(&pinned, signal).is_ok()
    }
}

/// The boot that start times count from.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}

/// One line of the process table.
struct Row {
    identity: Identity,
    parent: u32,
    session: u32,
    zombie: bool,
}

fn read_row(pid: u32) -> Option<Row> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too.
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_whitespace().collect();
    Some(Row {
        identity: Identity { pid, start_ticks: fields.get(19)?.parse().ok()? },
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        zombie: matches!(fields.first(), Some(&("Z" | "X"))),
    })
}

fn table() -> Vec<Row> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(read_row).collect()
}

/// Real user of a process. Not the owner of `/proc/PID`, which is root for a process that can't be dumped.
fn user_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().next()?.parse().ok()
}

fn marker_of(pid: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let found = environment
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(found.to_vec()).ok()
}

/// All processes of a lab or of one instance, for machines without a cgroup of our own.
pub(crate) struct Family<'a> {
    /// The processes that we started, each the leader of a session of its own.
    pub(crate) started: &'a [Identity],
    /// What their marker begins with.
    pub(crate) marker: &'a str,
    /// The user that they run as; nobody else's process is ever touched.
    pub(crate) uid: u32,
}

impl Family<'_> {
    /// Those that run now: what we started, its sessions, whoever carries the marker, and all their descendants. One
    /// that leaves its session *and* overwrites its environment *and* is orphaned escapes; a cgroup has no such gap.
    pub(crate) fn living(&self) -> Vec<Identity> {
        let rows = table();
        let by_pid: HashMap<u32, Identity> =
            rows.iter().map(|row| (row.identity.pid, row.identity)).collect();
        let started: HashSet<Identity> = self.started.iter().copied().collect();
        // A session's number stays taken while it has members. Where the number is a process that we did not start,
        // the session is not ours.
        let sessions: HashSet<u32> = started
            .iter()
            .filter(|leader| by_pid.get(&leader.pid).is_none_or(|now| now == *leader))
            .map(|leader| leader.pid)
            .collect();
        let mut ours: HashSet<u32> = rows
            .iter()
            .filter(|row| {
                let pid = row.identity.pid;
                started.contains(&row.identity)
                    || (user_of(pid) == Some(self.uid)
                        && (sessions.contains(&row.session)
                            || marker_of(pid).is_some_and(|marker| marker.starts_with(self.marker))))
            })
            .map(|row| row.identity.pid)
            .collect();
        loop {
            let before = ours.len();
            let children = rows.iter().filter(|row| ours.contains(&row.parent)).map(|row| row.identity.pid);
            let children: Vec<u32> = children.collect();
            ours.extend(children);
            if ours.len() == before {
                break;
            }
        }
        let me = std::process::id();
        rows.iter()
            .filter(|row| ours.contains(&row.identity.pid) && !row.zombie && row.identity.pid != me)
            .filter(|row| user_of(row.identity.pid) == Some(self.uid))
            .map(|row| row.identity)
            .collect()
    }

    /// Kills until none is left; how many there were at first.
    pub(crate) fn end(&self) -> Result<usize> {
        let first = self.living();
        let mut left = first.clone();
        let deadline = Instant::now() + Duration::from_secs(20);
        while !left.is_empty() {
            left.iter().for_each(|process| _ = process.signal(Signal::KILL));
            if Instant::now() > deadline {
                let pids: Vec<String> = left.iter().map(|process| process.pid.to_string()).collect();
                let what = format!("processes {} do not end although they were killed", pids.join(", "));
                return Err(Problem::environment(what)
                    .remedy("wait for their disk or network I/O to finish, then `plimsoll clean`")
                    .into());
            }
            std::thread::sleep(Duration::from_millis(2));
            left = self.living();
        }
        Ok(first.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_number_is_another_process() {
        let me = Identity::of(std::process::id()).expect("this process runs");
        assert!(me.runs());
        let other = Identity { start_ticks: me.start_ticks + 1, ..me };
        assert!(!other.runs());
        assert!(
            !other.signal(Signal::KILL),
            "a signal must not reach a process that started at another time"
        );
    }

    #[test]
    fn a_process_of_another_user_is_never_of_the_family() {
        let init = Identity::of(1).expect("process 1 runs");
        let family = Family { started: &[init], marker: "none", uid: 4_000_000_000 };
        assert_eq!(family.living(), Vec::new());
    }
}

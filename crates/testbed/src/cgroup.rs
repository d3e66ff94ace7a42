//! Groups of processes in the unified hierarchy (cgroup v2): everything in one can be ended at once, and its CPU time
//! is counted as one.
//!
//! No controller is needed for either, so a bare cgroup2 mount beside v1 controllers serves as well as a pure v2
//! machine.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Problem, Result};
use rustix::process::Signal;

use crate::disk;
use crate::process::Identity;

/// The name of the group of what builds an application or a server.
pub(crate) const BUILD: &str = "build";

/// A directory of this machine's unified hierarchy in which groups can be made; `None` where there is none, or no
/// right to.
pub(crate) fn writable_base() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    candidates(&mounts, &own).into_iter().map(|base| base.join("plimsoll")).find(|base| {
        fs::create_dir_all(base).is_ok()
            && OpenOptions::new().write(true).open(base.join("cgroup.procs")).is_ok()
    })
}

/// The hierarchy's root, then the group that we are in (delegated to us, where a user session is).
fn candidates(mounts: &str, own: &str) -> Vec<PathBuf> {
    let Some((root, mount)) = mounts.lines().find_map(unified_mount) else { return Vec::new() };
    let mut found = vec![mount.clone()];
    if let Some(path) = own.lines().find_map(|line| line.strip_prefix("0::")) {
        let inside = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path);
        found.push(mount.join(inside.trim_start_matches('/')));
    }
    found
}

/// (root, mount point) of a line of mountinfo, if it is a cgroup2 file system.
fn unified_mount(line: &str) -> Option<(String, PathBuf)> {
    let (left, right) = line.split_once(" - ")?;
    let fields: Vec<&str> = left.split(' ').collect();
    let unescaped = |text: &str| text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    (right.split(' ').next() == Some("cgroup2"))
        .then(|| Some((unescaped(fields.get(3)?), PathBuf::from(unescaped(fields.get(4)?)))))?
}

/// Makes a group. Its parent may be removed meanwhile by a lab that was the last one, so this tries again.
pub(crate) fn make(path: &Path) -> Result<()> {
    let mut result = Ok(());
    for _ in 0..10 {
        result = fs::create_dir_all(path);
        if result.is_ok() {
            break;
        }
    }
    result.map_err(|error| disk::failed("make the cgroup", path, &error).into())
}

/// What a child writes its number to, to enter the group.
pub(crate) fn entrance(path: &Path) -> Option<OwnedFd> {
    OpenOptions::new().write(true).open(path.join("cgroup.procs")).ok().map(OwnedFd::from)
}

/// Whether a process is in the group or below it.
pub(crate) fn holds(group: &Path, pid: u32) -> bool {
    members(group).contains(&pid)
}

/// The processes in a group and below it.
pub(crate) fn members(group: &Path) -> Vec<u32> {
    let mut found: Vec<u32> = fs::read_to_string(group.join("cgroup.procs"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect();
    found.extend(below(group).iter().flat_map(|inner| members(inner)));
    found
}

fn below(group: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Ends everything in the group and below it; how many processes there were. A group that is gone has none.
pub(crate) fn end(group: &Path) -> Result<usize> {
    let first = members(group).len();
    let deadline = Instant::now() + Duration::from_secs(20);
    while populated(group) {
        // `cgroup.kill` (Linux 5.14) is atomic; before it, each member is killed until none is left.
        if fs::write(group.join("cgroup.kill"), "1").is_err() {
            let identities = members(group).into_iter().filter_map(Identity::of);
            identities.for_each(|process| _ = process.signal(Signal::KILL));
        }
        if Instant::now() > deadline {
            let what =
                format!("the processes of cgroup {} do not end although they were killed", group.display());
            return Err(Problem::environment(what)
                .remedy("wait for their disk or network I/O to finish, then `plimsoll clean`")
                .into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(first)
}

fn populated(group: &Path) -> bool {
    match fs::read_to_string(group.join("cgroup.events")) {
        Ok(events) => events.lines().any(|line| line == "populated 1"),
        // A hierarchy of v1 does not tell.
        Err(_) => members(group).into_iter().filter_map(Identity::of).any(Identity::runs),
    }
}

/// Removes a group and those below it, then the parent if no other lab uses it.
pub(crate) fn remove(group: &Path) -> Result<()> {
    below(group).iter().try_for_each(|inner| remove_one(inner))?;
    remove_one(group)?;
    if let Some(parent) = group.parent().filter(|parent| parent.ends_with("plimsoll")) {
        _ = fs::remove_dir(parent);
    }
    Ok(())
}

fn remove_one(group: &Path) -> Result<()> {
    below(group).iter().try_for_each(|inner| remove_one(inner))?;
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match fs::remove_dir(group) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            // A group stays busy for a moment after its last process has died.
            Err(error) if error.kind() == ErrorKind::ResourceBusy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(disk::failed("remove the cgroup", group, &error).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_unified_mount_beside_v1_controllers_is_found() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let own = "1:cpu:/\n0::/\n";
        assert_eq!(candidates(mounts, own)[0], Path::new("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn on_a_pure_v2_machine_the_own_group_is_the_second_choice() {
        let mounts = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
        let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice\n";
        let found = candidates(mounts, own);
        assert_eq!(found[0], Path::new("/sys/fs/cgroup"));
        assert_eq!(
            found[1],
            Path::new("/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice")
        );
    }

    #[test]
    fn a_mount_of_a_part_of_the_hierarchy_is_counted_from_that_part() {
        let mounts = "35 24 0:30 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(candidates(mounts, "0::/box/job\n")[1], Path::new("/sys/fs/cgroup/job"));
        assert!(candidates("1 2 0:1 / /proc rw - proc proc rw\n", "0::/\n").is_empty());
    }
}

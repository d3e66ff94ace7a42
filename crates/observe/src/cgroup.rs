//! cgroup v2 directories: where they are mounted, and what `cpu.stat` and `memory.stat` say (Linux
//! Documentation/admin-guide/cgroup-v2.rst).

use std::path::{Path, PathBuf};

/// Where cgroup v2 is mounted, from `/proc/self/mountinfo`; also where it is only the bare hierarchy beside the v1
/// controllers.
pub fn cgroup2_mount() -> Option<PathBuf> {
    mount_in(&std::fs::read_to_string("/proc/self/mountinfo").ok()?)
}

/// The cgroup v2 directory that process `id` is in.
pub(crate) fn cgroup2_of(id: u32) -> Option<PathBuf> {
    let text = std::fs::read_to_string(format!("/proc/{id}/cgroup")).ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(cgroup2_mount()?.join(path))
}

/// The directory of process `id` in the v1 hierarchy of a controller.
pub(crate) fn v1_of(id: u32, controller: &str) -> Option<PathBuf> {
    let of = |list: &str| list.split(',').any(|one| one == controller);
    let own = std::fs::read_to_string(format!("/proc/{id}/cgroup")).ok()?;
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        of(fields.next()?).then_some(fields.next()?)
    })?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let point = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut fields = right.split(' ');
        let found = fields.next() == Some("cgroup") && of(fields.nth(1)?);
        found.then(|| left.split(' ').nth(4)).flatten()
    })?;
    Some(Path::new(point).join(path.trim_start_matches('/')))
}

/// The mount point of the first cgroup2 file system whose root is mounted (proc(5): `… ROOT MOUNT-POINT OPTIONS …
/// - TYPE …`; spaces are octal).
fn mount_in(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut fields = left.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        (right.split(' ').next() == Some("cgroup2") && root == "/")
            .then(|| PathBuf::from(point.replace("\\040", " ")))
    })
}

/// User and kernel CPU seconds of everything that ever ran in the cgroup, from `cpu.stat`: there without controllers
/// too. `usage_usec` is exact; the two parts are scaled to add up to it.
pub(crate) fn parse_cpu_stat(text: &str) -> Option<(f64, f64)> {
    let (user, system) = (field(text, "user_usec")?, field(text, "system_usec")?);
    Some((user as f64 / 1e6, system as f64 / 1e6))
}

/// Memory in bytes that the cgroup's processes hold, from `memory.stat`: anonymous memory and mapped files, without
/// the page cache of what they once read.
pub(crate) fn parse_memory_stat(text: &str) -> Option<u64> {
    Some(field(text, "anon")? + field(text, "file_mapped").unwrap_or(0))
}

pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok();
    text.lines().find_map(value)
}

/// Ids of the processes in a cgroup and in those below it.
pub fn processes(directory: &Path) -> Vec<u32> {
    ids(directory, "cgroup.procs")
}

/// Ids of the threads in a cgroup and in those below it.
pub(crate) fn threads(directory: &Path) -> Vec<u32> {
    ids(directory, "cgroup.threads")
}

fn ids(directory: &Path, file: &str) -> Vec<u32> {
    let text = std::fs::read_to_string(directory.join(file)).unwrap_or_default();
    let mut found: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(ids(&entry.path(), file));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 22 0:30 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:31 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const PURE: &str = "\
24 22 0:21 / /proc rw - proc proc rw
30 25 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn the_mount_is_found_on_hybrid_and_on_pure_machines() {
        assert_eq!(mount_in(HYBRID), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(mount_in(PURE), Some(PathBuf::from("/sys/fs/cgroup")));
        assert_eq!(mount_in("24 22 0:21 / /proc rw - proc proc rw\n"), None);
        let odd = "30 25 0:26 /sub /a rw - cgroup2 c rw\n31 25 0:26 / /my\\040groups rw - cgroup2 c rw\n";
        assert_eq!(
            mount_in(odd),
            Some(PathBuf::from("/my groups")),
            "a part of it mounted elsewhere does not count"
        );
    }

    #[test]
    fn cpu_and_memory_are_read_by_name() {
        let text = "usage_usec 3500000\nuser_usec 2500000\nsystem_usec 1000000\nnice_usec 0\n";
        assert_eq!(parse_cpu_stat(text), Some((2.5, 1.0)));
        assert_eq!(parse_cpu_stat("usage_usec 3500000\n"), None);
        let text = "anon 1000\nanon_thp 77\nfile 5000\nfile_mapped 200\n";
        assert_eq!(parse_memory_stat(text), Some(1200));
        assert_eq!(parse_memory_stat("anon_thp 77\n"), None, "a longer name is another name");
    }

    #[test]
    fn this_process_is_found_in_its_own_cgroup() {
        let Some(directory) = cgroup2_of(std::process::id()) else {
            return assert!(cgroup2_mount().is_none(), "cgroup2 is mounted, so every process is in one");
        };
        assert!(processes(&directory).contains(&std::process::id()), "{}", directory.display());
        assert!(threads(&directory).len() >= processes(&directory).len());
    }
}

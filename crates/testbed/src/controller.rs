//! Controllers of the kernel that hold a group of processes back: CPU time, reads and writes of a disk, memory. Where a controller has a
//! hierarchy of its own (v1) that one is used, and else the unified one, if the controller is free there.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::{Problem, Result};

use crate::disk;

/// CFS hands the quota out once a period. Shorter than the default of 100 ms, so that a small quota is a slow CPU and
/// not a long stop.
const PERIOD_US: u64 = 20_000;
/// The kernel refuses a quota below 1 ms (v1 and v2).
const MIN_QUOTA_US: u64 = 1_000;
/// The least that a group can be limited to, in cores; a smaller limit would silently be this one.
pub(crate) const MIN_CORES: f64 = MIN_QUOTA_US as f64 / PERIOD_US as f64;
/// The largest weight of a v1 group (`MAX_SHARES`).
const MAX_SHARES: &str = "262144";

/// What is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Cpu,
    Disk,
    Memory,
}

/// Where a controller's groups are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// The group of ours that all groups are made in.
    pub(crate) base: PathBuf,
    /// The unified one, in which the tiers' groups are already.
    pub(crate) unified: bool,
}

impl Controller {
    /// Its names in v1 and v2.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Controller::Cpu => ("cpu", "cpu"),
            Controller::Disk => ("blkio", "io"),
            Controller::Memory => ("memory", "memory"),
        }
    }

    /// Where its groups can be made on this machine; `unified` is where the labs' groups are.
    pub(crate) fn find(self, unified: Option<&Path>) -> Result<Hierarchy> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let bases = legacy_bases(&mounts, &own, self.names().0);
        // Another lab that was the last one may remove it between the two: so this tries again.
        let usable = |base: &PathBuf| {
            (0..10).any(|_| {
                fs::create_dir_all(base).is_ok()
                    && OpenOptions::new().write(true).open(base.join("cgroup.procs")).is_ok()
            })
        };
        let legacy = bases.into_iter().map(|base| base.join("plimsoll")).find(usable);
        if let Some(base) = legacy {
            return Ok(Hierarchy { base, unified: false });
        }
        let free = unified.filter(|group| self.is_free(group));
        free.map(|group| Hierarchy { base: group.to_path_buf(), unified: true }).ok_or_else(|| {
            let name = self.names().1;
            Problem::environment(format!("this machine lets no group be made with the controller `{name}`"))
                .why("without it, nothing can be taken from a tier")
                .remedy("run as root, or have the controller delegated (systemd: Delegate=yes)")
                .into()
        })
    }

    /// Whether the unified hierarchy has the controller for groups in `group`, after asking for it from the top.
    fn is_free(self, group: &Path) -> bool {
        let name = self.names().1;
        let mut above: Vec<&Path> =
            group.ancestors().take_while(|dir| dir.join("cgroup.procs").exists()).collect();
        above.reverse();
        for dir in above {
            let offered = fs::read_to_string(dir.join("cgroup.controllers")).unwrap_or_default();
            if !offered.split_whitespace().any(|one| one == name) {
                return false;
            }
            // Refused where it is on already by somebody else's choice; the next level says whether it came.
            _ = fs::write(dir.join("cgroup.subtree_control"), format!("+{name}"));
        }
        true
    }
}

/// The hierarchy's root, then the group that we are in.
fn legacy_bases(mounts: &str, own: &str, controller: &str) -> Vec<PathBuf> {
    let Some((root, mount)) = mounts.lines().find_map(|line| legacy_mount(line, controller)) else {
        return Vec::new();
    };
    let mut found = vec![mount.clone()];
    let path = own.lines().find_map(|line| {
        let (names, path) = line.split_once(':')?.1.split_once(':')?;
        names.split(',').any(|name| name == controller).then_some(path)
    });
    if let Some(path) = path {
        let inside = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path);
        found.push(mount.join(inside.trim_start_matches('/')));
    }
    found.dedup();
    found
}

/// (root, mount point) of a line of mountinfo, if it is the v1 hierarchy of `controller`.
fn legacy_mount(line: &str, controller: &str) -> Option<(String, PathBuf)> {
    let (left, right) = line.split_once(" - ")?;
    let fields: Vec<&str> = left.split(' ').collect();
    let mut right = right.split(' ');
    let ours = right.next() == Some("cgroup")
        && right.nth(1).is_some_and(|options| options.split(',').any(|option| option == controller));
    ours.then(|| Some((fields.get(3)?.to_string(), PathBuf::from(fields.get(4)?))))?
}

impl Hierarchy {
    /// Lets the processes of a group use the time of `cores` CPUs; `None` lifts the limit.
    pub(crate) fn limit_cpu(&self, group: &Path, cores: Option<f64>) -> Result<()> {
        let quota_us = cores.map(|cores| ((cores * PERIOD_US as f64) as u64).max(MIN_QUOTA_US));
        if self.unified {
            let quota = quota_us.map_or("max".to_string(), |us| us.to_string());
            return write(&group.join("cpu.max"), &format!("{quota} {PERIOD_US}"));
        }
        write(&group.join("cpu.cfs_period_us"), &PERIOD_US.to_string())?;
        write(&group.join("cpu.cfs_quota_us"), &quota_us.map_or("-1".to_string(), |us| us.to_string()))
    }

    /// A group weighs as much as a single process of its parent, however many are in it: the groups above the tiers'
    /// get all weight that there is, so that the tier has what its quota leaves it.
    pub(crate) fn outweigh(&self, group: &Path) {
        if !self.unified {
            _ = fs::write(group.join("cpu.shares"), MAX_SHARES);
        }
    }

    /// Lets the processes of a group take `bytes` of memory, the page cache that they fill included, and no swap instead.
    pub(crate) fn limit_memory(&self, group: &Path, bytes: u64) -> Result<()> {
        let bytes = bytes.to_string();
        let (limit, swap, swap_bytes) = match self.unified {
            true => ("memory.max", "memory.swap.max", "0"),
            // Memory and swap together: no less than memory alone.
            false => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes.as_str()),
        };
        write(&group.join(limit), &bytes)?;
        // Absent where the kernel doesn't account swap; then it doesn't belong to any group.
        if group.join(swap).exists() { write(&group.join(swap), swap_bytes) } else { Ok(()) }
    }

    /// Lets the processes of a group do `per_s` writes a second on the disk that holds `on`.
    pub(crate) fn limit_writes(&self, group: &Path, on: &Path, per_s: u64) -> Result<()> {
        self.limit_disk(group, on, ("wiops", "blkio.throttle.write_iops_device"), Some(per_s))
    }

    /// The same of reads; `None` lifts that. What is in the page cache is read from no disk, and short bursts pass.
    pub(crate) fn limit_reads(&self, group: &Path, on: &Path, per_s: Option<u64>) -> Result<()> {
        self.limit_disk(group, on, ("riops", "blkio.throttle.read_iops_device"), per_s)
    }

    fn limit_disk(&self, group: &Path, on: &Path, names: (&str, &str), per_s: Option<u64>) -> Result<()> {
        let device = disk_of(on)?;
        if self.unified {
            let most = per_s.map_or("max".to_string(), |per_s| per_s.to_string());
            return write(&group.join("io.max"), &format!("{device} {}={most}", names.0));
        }
        write(&group.join(names.1), &format!("{device} {}", per_s.unwrap_or(0)))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| disk::failed("write", path, &error).into())
}

/// `MAJOR:MINOR` of the whole disk that holds a path: partitions can't be throttled.
pub(crate) fn disk_of(path: &Path) -> Result<String> {
    let whole = whole_disk(path)?;
    Ok(fs::read_to_string(whole.join("dev")).map_err(|_| no_disk(path))?.trim().to_string())
}

/// The name of the whole disk that holds a path: `vda`.
pub(crate) fn disk_name(path: &Path) -> Result<String> {
    let whole = whole_disk(path)?;
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned());
    name.ok_or_else(|| no_disk(path).into())
}

fn no_disk(path: &Path) -> Problem {
    let what = format!("{} is on no disk whose reads and writes can be counted", path.display());
    Problem::environment(what).remedy("a PLIMSOLL_HOME on a disk: not tmpfs, not a network")
}

/// Its directory below /sys.
fn whole_disk(path: &Path) -> Result<PathBuf> {
    let about = fs::metadata(path).map_err(|error| disk::failed("read", path, &error))?;
    let (major, minor) = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let device = fs::canonicalize(device).map_err(|_| no_disk(path))?;
    let whole = if device.join("partition").exists() { device.parent().unwrap_or(&device) } else { &device };
    Ok(whole.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                          33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n\
                          41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    #[test]
    fn a_controllers_own_hierarchy_is_told_from_others_with_a_similar_name() {
        let own = "2:cpuacct:/\n1:cpu:/box\n0::/\n";
        let found = legacy_bases(HYBRID, own, "cpu");
        assert_eq!(found, [Path::new("/sys/fs/cgroup/cpu"), Path::new("/sys/fs/cgroup/cpu/box")]);
        assert_eq!(legacy_bases(HYBRID, own, "blkio"), Vec::<PathBuf>::new());
        let joined = "9 1 0:1 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
        assert_eq!(legacy_bases(joined, "", "cpu"), [Path::new("/sys/fs/cgroup/cpu,cpuacct")]);
    }

    #[test]
    fn a_quota_is_written_in_the_words_of_its_hierarchy() {
        let dir = tempfile::tempdir().expect("a directory");
        let group = dir.path();
        let unified = Hierarchy { base: group.to_path_buf(), unified: true };
        unified.limit_cpu(group, Some(0.3)).expect("it is written");
        let text = |name: &str| fs::read_to_string(group.join(name)).expect("a file");
        assert_eq!(text("cpu.max"), "6000 20000");
        unified.limit_cpu(group, None).expect("it is lifted");
        assert_eq!(text("cpu.max"), "max 20000");
        let legacy = Hierarchy { unified: false, ..unified };
        legacy.limit_cpu(group, Some(0.001)).expect("it is written");
        assert_eq!(
            (text("cpu.cfs_period_us").as_str(), text("cpu.cfs_quota_us").as_str()),
            ("20000", "1000")
        );
        legacy.limit_cpu(group, None).expect("it is lifted");
        assert_eq!(text("cpu.cfs_quota_us"), "-1");
    }

    #[test]
    fn a_controller_that_is_not_offered_from_the_top_down_is_not_free() {
        let dir = tempfile::tempdir().expect("a directory");
        let inner = dir.path().join("lab");
        fs::create_dir(&inner).expect("a directory");
        for (group, offered) in [(dir.path(), "cpu io\n"), (&inner, "io\n")] {
            fs::write(group.join("cgroup.procs"), "").expect("a file");
            fs::write(group.join("cgroup.controllers"), offered).expect("a file");
        }
        assert!(Controller::Disk.is_free(&inner) && !Controller::Cpu.is_free(&inner));
        let asked = fs::read_to_string(dir.path().join("cgroup.subtree_control")).expect("it was asked for");
        assert_eq!(asked, "+cpu");
    }
}

//! Kills for memory: how often the kernel has ended processes of a tier because they reached the limit of its group.

use std::fs;
use std::path::{Path, PathBuf};

use model::MemoryKill;

/// What the kernel says of a group with a limit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kills {
    /// Processes that it ended so far.
    pub(crate) count: u64,
    pub(crate) kill: MemoryKill,
}

/// Of the first of a tier's groups that limits its memory, if it has one; in v2 that may be the one above, of all tiers of a guest.
pub(crate) fn of(groups: &[PathBuf]) -> Option<Kills> {
    let above = |group: &PathBuf| unified(group.parent()?);
    groups.iter().find_map(|group| unified(group).or_else(|| legacy(group)).or_else(|| above(group)))
}

/// v2. Kernels before 5.19 don't keep the most that was used: then what is used now has to do.
fn unified(group: &Path) -> Option<Kills> {
    let count = field(&group.join("memory.events"), "oom_kill")?;
    let used = number(&group.join("memory.peak")).or_else(|| number(&group.join("memory.current")));
    kills(count, number(&group.join("memory.max"))?, used)
}

/// v1; before Linux 4.13 it kept no count.
fn legacy(group: &Path) -> Option<Kills> {
    let count = field(&group.join("memory.oom_control"), "oom_kill")?;
    let used = number(&group.join("memory.max_usage_in_bytes"));
    kills(count, number(&group.join("memory.limit_in_bytes"))?, used)
}

fn kills(count: u64, limit_bytes: u64, used_bytes: Option<u64>) -> Option<Kills> {
    Some(Kills { count, kill: MemoryKill { limit_bytes, used_bytes: used_bytes? } })
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn field(path: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kills_in(files: &[(&str, &str)]) -> Option<Kills> {
        let dir = tempfile::tempdir().expect("a directory");
        files.iter().for_each(|(name, text)| fs::write(dir.path().join(name), text).expect("a file"));
        of(&[dir.path().join("none"), dir.path().to_path_buf()])
    }

    #[test]
    fn both_versions_of_the_kernel_s_files_are_read() {
        let expected = Some(Kills { count: 2, kill: MemoryKill { limit_bytes: 1000, used_bytes: 990 } });
        let events = ("memory.events", "low 0\nhigh 0\nmax 31\noom 3\noom_kill 2\noom_group_kill 0\n");
        assert_eq!(kills_in(&[events, ("memory.max", "1000\n"), ("memory.peak", "990\n")]), expected);
        assert_eq!(kills_in(&[events, ("memory.max", "1000\n"), ("memory.current", "990\n")]), expected);
        assert_eq!(kills_in(&[events, ("memory.max", "max\n"), ("memory.peak", "990\n")]), None, "no limit");
        let control = ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        let (limit, used) = (("memory.limit_in_bytes", "1000\n"), ("memory.max_usage_in_bytes", "990\n"));
        assert_eq!(kills_in(&[control, limit, used]), expected);
        assert_eq!(kills_in(&[]), None);
    }

    #[test]
    fn a_kill_for_what_all_tiers_of_a_guest_took_is_found_in_the_group_above_them() {
        let dir = tempfile::tempdir().expect("a directory");
        let tier = dir.path().join("db");
        fs::create_dir(&tier).expect("a directory");
        for (group, limit) in [(dir.path(), "1000\n"), (tier.as_path(), "max\n")] {
            let files = [("memory.events", "oom_kill 1\n"), ("memory.max", limit), ("memory.peak", "990\n")];
            files.iter().for_each(|(name, text)| fs::write(group.join(name), text).expect("a file"));
        }
        let found = of(&[tier]).expect("the guest has a limit");
        assert_eq!((found.count, found.kill.limit_bytes), (1, 1000));
    }
}

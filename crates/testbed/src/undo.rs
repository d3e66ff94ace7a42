//! Undo: the replay of a ledger, last change first. Used by a lab that ends well, by the keeper of one that does not,
//! and by the next start for those whose keeper died too.

use std::path::Path;

use model::{Problems, Result};

use crate::ledger::Entry;
use crate::machine::file::put_back;
use crate::process::{Family, Identity, boot_id};
use crate::unmount::unmount;
use crate::{cgroup, disk, subnet};

/// Ends every process of a ledger and takes every change back; how many processes still ran. Goes on after a
/// failure, so that one stubborn file does not keep servers alive.
pub(crate) fn undo(entries: &[Entry]) -> Result<usize> {
    let mut problems = Vec::new();
    let mut note = |result: Result<usize>| match result {
        Ok(count) => count,
        Err(found) => {
            problems.extend(found.into_vec());
            0
        }
    };
    let same_boot =
        entries.iter().any(|entry| matches!(entry, Entry::Opened { boot, .. } if *boot == boot_id()));
    let mut ended = 0;
    if same_boot {
        for entry in entries {
            if let Entry::Cgroup { path } = entry {
                ended += note(cgroup::end(path));
            }
        }
        ended += note(end_by_identity(entries));
    }
    for entry in entries.iter().rev() {
        match entry {
            Entry::Cgroup { path } if same_boot => _ = note(cgroup::remove(path).map(|()| 0)),
            Entry::Cable { name, owner } if same_boot => _ = note(subnet::remove(name, owner).map(|()| 0)),
            Entry::Machine { path, found } if same_boot => {
                _ = note(put_back(path, found, owner(entries)).map(|()| 0));
            }
            Entry::Mount { path } if same_boot => _ = note(unmount(path).map(|()| 0)),
            Entry::Directory { path } => _ = note(remove_tree(path).map(|()| 0)),
            _ => {}
        }
    }
    Problems::check(problems)?;
    Ok(ended)
}

/// The lab's mark.
fn owner(entries: &[Entry]) -> &str {
    let mark = entries.iter().find_map(|entry| match entry {
        Entry::Opened { marker, .. } => Some(marker.as_str()),
        _ => None,
    });
    mark.unwrap_or_default()
}

/// What a cgroup did not hold: everything, on a machine without one.
fn end_by_identity(entries: &[Entry]) -> Result<usize> {
    let opened = entries.iter().find_map(|entry| match entry {
        Entry::Opened { marker, uid, .. } => Some((marker.as_str(), *uid)),
        _ => None,
    });
    let Some((marker, uid)) = opened else { return Ok(0) };
    let servers = Family { started: &started(entries, |_| true), marker, uid }.end()?;
    // What builds something has the tool's user and not the lab's, and may have started more before it died.
    let builds = started(entries, |tier| tier == cgroup::BUILD);
    let own = rustix::process::geteuid().as_raw();
    if builds.is_empty() || own == uid {
        return Ok(servers);
    }
    let marker = format!("{marker}/0/{}/", cgroup::BUILD);
    Ok(servers + Family { started: &builds, marker: &marker, uid: own }.end()?)
}

/// The processes of a ledger that were started for one of the tiers that are `wanted`.
fn started(entries: &[Entry], wanted: impl Fn(&str) -> bool) -> Vec<Identity> {
    let process = |entry: &Entry| match entry {
        Entry::Process { tier, process } if wanted(tier) => Some(*process),
        _ => None,
    };
    entries.iter().filter_map(process).collect()
}

/// A directory that a dying server still writes into can be non-empty again, so this tries more than once.
fn remove_tree(path: &Path) -> Result<()> {
    disk::remove_dir(path).or_else(|_| disk::remove_dir(path))
}

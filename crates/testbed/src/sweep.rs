//! What dead labs left: found by their ledgers' free locks and undone.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Problems, Result};

use crate::ledger::Ledger;
use crate::{disk, undo};

/// What a sweep found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Labs that were dead, by id: now nothing of them is left.
    pub labs: Vec<String>,
    /// Processes of theirs that still ran.
    pub processes: usize,
    /// Labs that live, by id: untouched.
    pub alive: Vec<String>,
}

/// Where the labs of a home are.
pub(crate) fn instances(home: &Path) -> PathBuf {
    home.join("instances")
}

/// Finishes what dead labs under `home` left: processes, cgroups, sockets, directories. A lab whose tool or keeper lives
/// is left alone.
///
/// # Errors
/// What could not be undone, after everything else was.
pub fn sweep(home: &Path) -> Result<Swept> {
    let mut swept = Swept::default();
    let mut problems = Vec::new();
    let folder = instances(home);
    // Ledgers first: a directory without one is a leftover only if no lab has made one since.
    for name in names(&folder, Some(".ledger")) {
        match finish(&folder.join(format!("{name}.ledger"))) {
            Ok(Some(processes)) => {
                swept.processes += processes;
                swept.labs.push(name);
            }
            Ok(None) => swept.alive.push(name),
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    for name in names(&folder, None) {
        if !folder.join(format!("{name}.ledger")).exists() && folder.join(&name).exists() {
            match disk::remove_dir(&folder.join(&name)) {
                Ok(()) => swept.labs.push(name),
                Err(found) => problems.extend(found.into_vec()),
            }
        }
    }
    Problems::check(problems)?;
    Ok(swept)
}

/// Undoes one dead lab; `None` if it lives.
pub(crate) fn finish(path: &Path) -> Result<Option<usize>> {
    let Some(ledger) = Ledger::lock(path)? else { return Ok(None) };
    let processes = undo::undo(&ledger.entries()?)?;
    _ = disk::remove_file(&path.with_extension("keeper.log"));
    ledger.remove()?;
    Ok(Some(processes))
}

/// Names of the files with `ending`, or of the directories, in a folder.
fn names(folder: &Path, ending: Option<&str>) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() == ending.is_none()))
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            ending.map_or(Some(name.clone()), |ending| name.strip_suffix(ending).map(str::to_string))
        })
        .collect();
    names.sort();
    names
}

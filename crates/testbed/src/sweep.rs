//! What dead labs left: found by their ledgers' free locks and undone. A folder without a ledger is removed only if it
//! has a lab's mark: a home may be a directory in which its owner has an `instances` of another kind.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use model::{Problem, Problems, Result};

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
    /// What no lab made, although it lies where labs are: untouched.
    pub foreign: Vec<PathBuf>,
}

/// The file in a lab's directory by which it is known as one, whatever became of its ledger.
const MARK: &str = ".plimsoll-lab";

/// Marks a directory that was just made as a lab's.
pub(crate) fn mark(dir: &Path) -> Result<()> {
    let path = dir.join(MARK);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o400).open(&path);
    made.map(drop).map_err(|error| disk::failed("write", &path, &error).into())
}

/// Whether a directory is a lab's.
fn is_marked(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join(MARK)).is_ok_and(|meta| meta.is_file())
}

/// Removes what a lab of this name left; refuses a directory that no lab made.
pub(crate) fn make_room(dir: &Path) -> Result<()> {
    match fs::symlink_metadata(dir) {
        Ok(meta) if !meta.is_dir() || !is_marked(dir) => Err(foreign(dir).into()),
        _ => disk::remove_dir(dir),
    }
}

fn foreign(path: &Path) -> Problem {
    Problem::environment(format!("{} is there already, and no run of Plimsoll made it", path.display()))
        .key("PLIMSOLL_HOME")
        .why("a run would put its own there and remove it afterwards")
        .remedy("move it, or set PLIMSOLL_HOME to a directory of Plimsoll's own")
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
        if !is_ledger(&folder.join(format!("{name}.ledger"))) {
            swept.foreign.push(folder.join(format!("{name}.ledger")));
            continue;
        }
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
        if folder.join(format!("{name}.ledger")).exists() || !folder.join(&name).exists() {
            continue;
        }
        if is_marked(&folder.join(&name)) {
            match disk::remove_dir(&folder.join(&name)) {
                Ok(()) => swept.labs.push(name),
                Err(found) => problems.extend(found.into_vec()),
            }
        } else {
            swept.foreign.push(folder.join(name));
        }
    }
    Problems::check(problems)?;
    Ok(swept)
}

/// Undoes one dead lab; `None` if it lives.
pub(crate) fn finish(path: &Path) -> Result<Option<usize>> {
    let Some(ledger) = Ledger::lock(path)? else { return Ok(None) };
    if !is_ledger(path) {
        return Err(foreign(path).into());
    }
    let processes = undo::undo(&ledger.entries()?)?;
    _ = disk::remove_file(&path.with_extension("keeper.log"));
    ledger.remove()?;
    Ok(Some(processes))
}

/// Whether a file is a ledger of ours, if only its torn beginning: other programs' files have that ending too.
fn is_ledger(path: &Path) -> bool {
    const BEGINNING: &[u8] = br#"{"entry":"opened""#;
    let mut start = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(BEGINNING.len() as u64).read_to_end(&mut start));
    opened.is_ok() && BEGINNING.starts_with(&start)
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

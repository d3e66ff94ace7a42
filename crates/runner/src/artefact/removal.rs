//! Removing what is kept, and what was left half made.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Problem, Result};

use crate::artefact::cache::{DATA_SETS, PRODUCTS};

/// Whether any data set, file set or anything built may be kept below `home`.
pub fn is_anything_kept(home: &Path) -> bool {
    folders(home).iter().any(|folder| folder.exists())
}

/// Removes all data sets, file sets and what was built, but for what a living plimsoll is making. What is kept loses its name
/// first: what is removed only in part is never used.
pub fn remove_all(home: &Path) -> Result<()> {
    let all = folders(home).into_iter().flat_map(|folder| names(&folder));
    for (folder, name) in all.filter(|(folder, name)| !is_being_made(folder, name)) {
        let path = folder.join(&name);
        if name.starts_with('.') {
            remove(&path)?;
            continue;
        }
        let nameless = folder.join(format!(".removed-{name}"));
        fs::rename(&path, &nameless).map_err(|error| failed(&path, &error))?;
        remove(&nameless)?;
    }
    Ok(())
}

/// Removes what killed plimsolls left half made, and the logs of what failed to start or to build.
pub fn remove_unfinished(home: &Path) -> Result<()> {
    let unfinished = folders(home).into_iter().flat_map(|folder| names(&folder));
    let is_left = |folder: &Path, name: &str| name.starts_with('.') && !is_being_made(folder, name);
    for (folder, name) in unfinished.filter(|(folder, name)| is_left(folder, name)) {
        remove(&folder.join(name))?;
    }
    remove(&home.join("failed"))
}

/// Whether a living plimsoll makes it right now, or holds the right to: half of it would be gone when it gets its name.
fn is_being_made(folder: &Path, name: &str) -> bool {
    let of_half = |name: &str| {
        let rest = name.strip_prefix(".half-").or_else(|| name.strip_prefix(".broken-"))?;
        rest.rsplit_once('-').map(|(id, _)| format!(".{id}.lock"))
    };
    let lock = of_half(name).or_else(|| name.ends_with(".lock").then(|| name.to_string()));
    let held = |lock: String| {
        let file = fs::File::open(folder.join(lock)).ok()?;
        Some(matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
    };
    lock.and_then(held).unwrap_or(false)
}

fn folders(home: &Path) -> [PathBuf; 2] {
    [DATA_SETS, PRODUCTS].map(|name| home.join(name))
}

fn names(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| (folder.to_path_buf(), entry.file_name().to_string_lossy().into_owned())).collect()
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(path, &error).into()),
        _ => Ok(()),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Problem {
    Problem::environment(format!("failed to remove: {error}")).file(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_living_plimsoll_is_making_stays_and_what_dead_ones_left_goes() {
        let home = tempfile::tempdir().expect("a folder");
        let built = home.path().join(PRODUCTS);
        let left = [".half-shop-1a-77", ".broken-shop-1a-77", ".half-tpcw-2b-78"];
        left.iter().for_each(|name| fs::create_dir_all(built.join(name)).expect("a folder"));
        let lock = |id: &str| fs::File::create(built.join(format!(".{id}.lock"))).expect("a file");
        let (held, _dead) = (lock("shop-1a"), lock("tpcw-2b"));
        held.try_lock().expect("nobody has it");
        let there = || {
            let mut names: Vec<String> = names(&built).into_iter().map(|(_, name)| name).collect();
            names.sort();
            names
        };
        let living = [".broken-shop-1a-77", ".half-shop-1a-77", ".shop-1a.lock"];
        remove_unfinished(home.path()).expect("it can be removed");
        assert_eq!(there(), living);
        remove_all(home.path()).expect("it can be removed");
        assert_eq!(there(), living);
        held.unlock().expect("it was held");
        remove_unfinished(home.path()).expect("it can be removed");
        assert_eq!(there(), Vec::<String>::new());
    }
}

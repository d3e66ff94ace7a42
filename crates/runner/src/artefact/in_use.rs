//! Who uses a kept file set. Where the page cache is a setting, one run at a time does: another one's reads would fill the
//! cache that is to be cold, its eviction would empty the one that is to be warm. Other runs share the set.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Problem, Result};

use crate::artefact::cache::DATA_SETS;
use crate::environment::Environment;

const PAUSE: Duration = Duration::from_millis(100);

/// How a run uses a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Beside others who share it.
    Shared,
    /// While nobody else does.
    Alone,
}

/// Waits until the kept set `id` can be used by `who`. It is in use as long as what is given back lives, and free again
/// when this process ends, however it does.
pub(crate) fn take(id: &str, who: &str, how: Use, env: &mut Environment<'_>) -> Result<File> {
    let path = path(id, env);
    let folder = path.parent().unwrap_or(&path);
    let opened = fs::create_dir_all(folder).and_then(|()| open(&path));
    let mut file = opened.map_err(|error| failed(&path, &error))?;
    wait(&file, id, how, env)?;
    sign(&mut file, who).map_err(|error| failed(&path, &error))?;
    Ok(file)
}

/// Lets others share the set that `file` has alone. The kernel gives it free first (flock(2)): whoever comes in between
/// is waited for.
pub(crate) fn share(file: &File, id: &str, env: &mut Environment<'_>) -> Result<()> {
    wait(file, id, Use::Shared, env)
}

fn wait(file: &File, id: &str, how: Use, env: &mut Environment<'_>) -> Result<()> {
    let path = path(id, env);
    let mut told = false;
    while !try_lock(file, how).map_err(|error| failed(&path, &error))? {
        let text = format!("file set {id} is in use by {}; waiting until it ends", holder(&path));
        if !told {
            env.progress.note(&text);
            told = true;
        }
        env.interrupt.check()?;
        env.progress.advance(&text, 0.0);
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

fn path(id: &str, env: &Environment<'_>) -> PathBuf {
    env.home.join(DATA_SETS).join(format!(".{id}.use"))
}

fn failed(path: &Path, error: &io::Error) -> Problem {
    Problem::environment(format!("failed to lock the file set: {error}")).file(path.display().to_string())
}

/// The file stays when it is free: two who wait for one that is removed would each lock their own.
fn open(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).open(path)
}

fn try_lock(file: &File, how: Use) -> io::Result<bool> {
    let tried = match how {
        Use::Shared => file.try_lock_shared(),
        Use::Alone => file.try_lock(),
    };
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Leaves the holder's name for those who wait.
fn sign(file: &mut File, who: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(format!("{who} (process {})", std::process::id()).as_bytes())
}

/// Of several who share it the last one that came.
fn holder(path: &Path) -> String {
    let name = fs::read_to_string(path).unwrap_or_default();
    if name.is_empty() { "another run".to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_needs_a_set_alone_waits_for_all_others_and_all_others_for_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(".set.use");
        let open = || open(&path).expect("it can be made");
        let can = |how| try_lock(&open(), how).expect("it can be locked");
        let first = open();
        assert!(try_lock(&first, Use::Shared).expect("it is free"));
        assert!(can(Use::Shared) && !can(Use::Alone));
        drop(first);
        let alone = open();
        assert!(try_lock(&alone, Use::Alone).expect("nobody has it any more"));
        assert!(!can(Use::Shared) && !can(Use::Alone));
        assert!(try_lock(&alone, Use::Shared).expect("it is given to others too"));
        assert!(can(Use::Shared) && !can(Use::Alone));
        drop(alone);
        assert!(can(Use::Alone), "what ends gives it back");
    }

    #[test]
    fn who_has_it_is_told_to_those_who_wait() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(".set.use");
        assert_eq!(holder(&path), "another run");
        for who in ["20261121-101500-static-0a1b", "short"] {
            sign(&mut open(&path).expect("it can be made"), who).expect("it can be written");
            assert_eq!(holder(&path), format!("{who} (process {})", std::process::id()));
        }
    }
}

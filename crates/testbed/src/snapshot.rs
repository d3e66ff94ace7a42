//! Copies of data directories: the same start state every time, on disk before a run begins.
//!
//! A copy shares its blocks with the original where the file system can (reflink); elsewhere the kernel copies. What is
//! not whole is never used: a failed copy is removed, and a data set gets its name by one atomic rename.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::{Problem, Problems, Result, units};

use crate::{disk, guarded};

/// What a copy did.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyReport {
    /// Bytes in the files.
    pub bytes: u64,
    /// How many files.
    pub files: usize,
    /// Until everything was on disk.
    pub took: Duration,
    /// Whether all blocks are shared with the original.
    pub reflinked: bool,
}

/// Copies a directory; `to` must not exist. Files whose name matches a pattern of `leave_out` (a name, or one with `*`
/// at one end) are left out; sockets and pipes are too. Everything is synced to disk before this returns.
///
/// # Errors
/// A full disk, an unreadable file: the half copy is removed then.
pub fn copy(from: &Path, to: &Path, leave_out: &[String]) -> Result<CopyReport> {
    copy_for(from, to, leave_out, None)
}

/// As [`copy`], and the copy belongs to `owner`.
pub(crate) fn copy_for(
    from: &Path,
    to: &Path,
    leave_out: &[String],
    owner: Option<u32>,
) -> Result<CopyReport> {
    if to.exists() {
        return Err(
            Problem::bug(format!("{} exists already; a copy never mixes with it", to.display())).into()
        );
    }
    copy_tree(from, to, leave_out, owner).inspect_err(|_| _ = disk::remove_dir(to))
}

fn copy_tree(from: &Path, to: &Path, leave_out: &[String], owner: Option<u32>) -> Result<CopyReport> {
    let start = Instant::now();
    let mut tree = Tree::default();
    tree.read(from, Path::new(""), leave_out)?;
    for dir in &tree.dirs {
        disk::make_private_dir(&to.join(dir), owner)?;
    }
    let work = Work {
        from,
        to,
        owner,
        files: &tree.files,
        next: AtomicUsize::new(0),
        all_shared: AtomicBool::new(true),
        bytes: AtomicU64::new(0),
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).clamp(2, 4);
    let problems = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| work.run())).collect();
        let ends = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err(Problem::bug("a copying thread panicked").into()))
        });
        ends.filter_map(Result::err).flat_map(Problems::into_vec).collect::<Vec<Problem>>()
    });
    // All threads hit a full disk at once; saying it once is enough.
    Problems::check(problems.into_iter().take(1).collect())?;
    for dir in tree.dirs.iter().rev() {
        sync_dir(&to.join(dir))?;
    }
    to.parent().map_or(Ok(()), sync_dir)?;
    let reflinked = work.all_shared.load(Ordering::Relaxed) && !tree.files.is_empty();
    let bytes = work.bytes.load(Ordering::Relaxed);
    Ok(CopyReport { bytes, files: tree.files.len(), took: start.elapsed(), reflinked })
}

/// A directory's content, by paths relative to it: parents before children.
#[derive(Default)]
struct Tree {
    dirs: Vec<PathBuf>,
    files: Vec<(PathBuf, u64)>,
}

impl Tree {
    fn read(&mut self, root: &Path, inside: &Path, leave_out: &[String]) -> Result<()> {
        let dir = root.join(inside);
        let failed = |error: io::Error| disk::failed("read", &dir, &error);
        self.dirs.push(inside.to_path_buf());
        for entry in fs::read_dir(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let path = inside.join(&name);
            let meta = entry.metadata().map_err(failed)?;
            if leave_out.iter().any(|pattern| matches(pattern, &name.to_string_lossy())) {
                continue;
            }
            if meta.is_dir() {
                self.read(root, &path, leave_out)?;
            } else if meta.is_file() {
                self.files.push((path, meta.len()));
            } else if meta.is_symlink() {
                let what = format!(
                    "{} is a symbolic link; a data directory must hold its own files",
                    dir.join(&name).display()
                );
                return Err(Problem::environment(what).into());
            }
        }
        // The largest first, so that no thread is left alone with one at the end.
        self.files.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
        Ok(())
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == pattern,
    }
}

/// The files that the copying threads share.
struct Work<'a> {
    from: &'a Path,
    to: &'a Path,
    owner: Option<u32>,
    files: &'a [(PathBuf, u64)],
    next: AtomicUsize,
    all_shared: AtomicBool,
    bytes: AtomicU64,
}

impl Work<'_> {
    fn run(&self) -> Result<()> {
        while let Some((path, length)) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let target = self.to.join(path);
            let result = self.copy_file(&self.from.join(path), &target);
            match result {
                Ok(bytes) => self.bytes.fetch_add(bytes, Ordering::Relaxed),
                Err(error) => {
                    // The others stop at their next file.
                    self.next.store(self.files.len(), Ordering::Relaxed);
                    let what = format!("write {} of", units::show_bytes(*length));
                    return Err(disk::failed(&what, &target, &error).into());
                }
            };
        }
        Ok(())
    }

    fn copy_file(&self, from: &Path, to: &Path) -> io::Result<u64> {
        // What was a file when the tree was read may be something else by now.
        let unfollowed = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let mut source = OpenOptions::new().read(true).custom_flags(unfollowed).open(from)?;
        let mode = source.metadata()?.permissions().mode() & 0o777;
        let mut target = match self.owner {
            Some(_) => guarded::make(to, mode)?,
            None => OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?,
        };
        let bytes = if rustix::fs::ioctl_ficlone(&target, &source).is_ok() {
            source.metadata()?.len()
        } else {
            self.all_shared.store(false, Ordering::Relaxed);
            io::copy(&mut source, &mut target)?
        };
        if let Some(uid) = self.owner {
            fchown(&target, Some(uid), Some(uid))?;
        }
        target.sync_all()?;
        Ok(bytes)
    }
}

fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(|error| disk::failed("sync", path, &error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join("from/mysql")).expect("a directory");
        fs::write(dir.path().join("from/ibdata1"), vec![7; 300_000]).expect("a file");
        fs::write(dir.path().join("from/mysql/user.frm"), b"user").expect("a file");
        fs::write(dir.path().join("from/server.pid"), b"1").expect("a file");
        fs::write(dir.path().join("from/ibtmp1"), b"x").expect("a file");
        dir
    }

    #[test]
    fn a_copy_is_the_same_but_for_what_is_left_out() {
        let dir = source();
        let to = dir.path().join("to");
        let report = copy(&dir.path().join("from"), &to, &["*.pid".into(), "ibtmp1".into()]).expect("a copy");
        assert_eq!((report.files, report.bytes), (2, 300_004));
        assert_eq!(fs::read(to.join("ibdata1")).expect("a file"), vec![7; 300_000]);
        assert_eq!(fs::read(to.join("mysql/user.frm")).expect("a file"), b"user");
        assert!(!to.join("server.pid").exists() && !to.join("ibtmp1").exists());
    }

    #[test]
    fn a_copy_that_fails_leaves_nothing_half() {
        let dir = source();
        let to = dir.path().join("to");
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("from/mysql/link")).expect("a link");
        let refused = copy(&dir.path().join("from"), &to, &[]).expect_err("a link is refused");
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        assert!(!to.exists());
        fs::create_dir(&to).expect("a directory");
        assert!(
            copy(&dir.path().join("from"), &to, &[]).is_err(),
            "an existing directory is never mixed with"
        );
        assert!(to.exists(), "and not removed either: it is not ours");
    }
}

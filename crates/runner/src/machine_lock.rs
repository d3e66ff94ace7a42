//! One measurement at a time on a machine, whoever measures and wherever it is kept: two at once take from each other, and
//! both could look valid. The lock is on a file that all users of the machine can open; who holds it the kernel knows, so
//! that nothing about a dead process is ever left in it.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use model::{Problem, Result};
use rustix::fs::OFlags;

use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// The first of these directories that is there has the lock; they are writable for all.
const PLACES: [&str; 2] = ["/run/lock", "/tmp"];
const NAME: &str = "plimsoll-measuring.lock";
/// The kernel gives its table of locks out page by page, and skips rows where others come and go between two pages: in one
/// read of forty, with 180 locks taken and given back all the time.
const TABLE_READS: u32 = 10;

/// What is done while another measurement is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhileOthersMeasure {
    /// It is waited for.
    Wait,
    /// Nothing is measured.
    Refuse,
    /// Both are measured at once: for tests that assert nothing about time.
    MeasureBeside,
}

/// The right to measure on this machine, from when it is held until the process ends.
#[derive(Debug)]
pub struct MachineLock {
    meanwhile: WhileOthersMeasure,
    held: OnceLock<File>,
    /// Who listens has heard that measuring begins.
    begun: OnceLock<()>,
}

impl MachineLock {
    /// Not held yet.
    pub fn new(meanwhile: WhileOthersMeasure) -> MachineLock {
        MachineLock { meanwhile, held: OnceLock::new(), begun: OnceLock::new() }
    }

    /// Waits until nobody else measures, and keeps others from it; the first time `progress` hears that measuring begins.
    ///
    /// # Errors
    /// Another measurement is under way and is not to be waited for; the user's wish to stop; a lock that can't be made.
    pub fn hold(&self, interrupt: &Interrupt, progress: &mut dyn Progress) -> Result<()> {
        if self.meanwhile != WhileOthersMeasure::MeasureBeside && self.held.get().is_none() {
            let file = self.wait(interrupt, progress)?;
            self.held.get_or_init(|| file);
        }
        if self.begun.set(()).is_ok() {
            progress.begin();
        }
        Ok(())
    }

    fn wait(&self, interrupt: &Interrupt, progress: &mut dyn Progress) -> Result<File> {
        let dir = PLACES.map(Path::new).into_iter().find(|dir| dir.is_dir()).unwrap_or(Path::new("/tmp"));
        let path = dir.join(NAME);
        let failed = |error: &io::Error| {
            Problem::environment(format!("failed to lock: {error}"))
                .file(path.display().to_string())
                .why("nobody could tell whether another measurement disturbs this one")
                .remedy("every user of this machine must be able to read that file, and to make it where it is missing")
        };
        let file = open(&path).map_err(|error| failed(&error))?;
        let mut waits_for = String::new();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(failed(&error).into()),
                Err(TryLockError::WouldBlock) => {}
            }
            let other = holder(&file).unwrap_or_else(|| "a process that can't be seen from here".to_string());
            if self.meanwhile == WhileOthersMeasure::Refuse {
                return Err(Problem::environment(format!(
                    "another measurement is under way on this machine: {other}"
                ))
                .key("--no-wait")
                .why("two at once take from each other, and both could look valid")
                .remedy("wait for it: without --no-wait this is done")
                .into());
            }
            interrupt.check()?;
            if waits_for != other {
                progress.step(&format!("waiting for another measurement on this machine: {other}"));
                waits_for = other;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Opened to be read, which is enough for a lock, and is what another user's file allows.
fn open(path: &Path) -> io::Result<File> {
    let unfollowed = OFlags::NOFOLLOW.bits() as i32;
    loop {
        match OpenOptions::new().read(true).custom_flags(unfollowed).open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened,
        }
        match OpenOptions::new().write(true).create_new(true).open(path) {
            // Whatever this user's umask is.
            Ok(file) => file.set_permissions(Permissions::from_mode(0o644))?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Who holds the lock on a file, by number and command line.
fn holder(file: &File) -> Option<String> {
    (0..TABLE_READS).find_map(|_| holder_at_once(file))
}

fn holder_at_once(file: &File) -> Option<String> {
    let inode = file.metadata().ok()?.ino();
    let pid = holder_in(&fs::read_to_string("/proc/locks").ok()?, inode)?;
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(format!("process {pid} ({})", words.join(" ").trim()))
}

/// Of a table as proc_locks(5) has it: `1: FLOCK  ADVISORY  WRITE 402 fe:00:5326897 0 EOF`.
fn holder_in(table: &str, inode: u64) -> Option<u32> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let of_file = fields.get(5)?.rsplit(':').next()?.parse() == Ok(inode);
        let held = fields.get(1) == Some(&"FLOCK") && fields.get(3) == Some(&"WRITE");
        if of_file && held { fields.get(4)?.parse().ok() } else { None }
    };
    table.lines().find_map(row)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn whoever_holds_the_lock_is_found_while_other_locks_come_and_go() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = open(&dir.path().join(NAME)).expect("a new file");
        file.try_lock().expect("nobody else has it");
        let others: Vec<_> =
            (0..100).map(|n| open(&dir.path().join(n.to_string())).expect("a new file")).collect();
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    others.iter().for_each(|other| other.lock().expect("nobody else has it"));
                    others.iter().for_each(|other| other.unlock().expect("it is held"));
                }
            });
            let missed = (0..500).filter(|_| holder(&file).is_none()).count();
            ended.store(true, Ordering::Relaxed);
            assert_eq!(missed, 0, "of 500");
        });
    }

    #[test]
    fn whoever_holds_the_lock_is_found_by_its_file() {
        let table = "1: FLOCK  ADVISORY  WRITE 402 fe:00:53 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 7 fe:00:54 0 EOF\n\
                     3: POSIX  ADVISORY  WRITE 8 fe:00:54 0 EOF\n4: FLOCK  ADVISORY  WRITE 9 fe:00:54 0 EOF\n";
        assert_eq!(
            (holder_in(table, 53), holder_in(table, 54), holder_in(table, 5)),
            (Some(402), Some(9), None)
        );
        let dir = tempfile::tempdir().expect("a directory");
        let file = open(&dir.path().join(NAME)).expect("a new file");
        assert_eq!(holder(&file), None);
        file.try_lock().expect("nobody else has it");
        let again = open(&dir.path().join(NAME)).expect("the same file");
        let said = holder(&again).expect("this process");
        assert!(said.starts_with(&format!("process {} (", std::process::id())), "{said}");
    }
}

//! Waits of a tier's servers that take longer: a library that is preloaded into them (`delays/delays.c`), and a page in memory that says
//! by how much, which can change while they run.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use model::catalogue::fault_file::DelayedWait;
use model::{Problem, Result};

use crate::stack::Stack;
use crate::{disk, guarded};

/// Built from `delays/delays.c` by `scripts/delays.sh`.
const LIBRARY: &[u8] = include_bytes!("../delays/delays.so");
/// Of each wait by how many thousandths it is longer, 32 bits each, in the order of [`offset`].
const PAGE_BYTES: usize = 12;

/// What the environment of the servers of `tier` says, once their library and their page are there; `dir` is the stack's.
///
/// # Errors
/// A disk that is full.
pub(crate) fn prepare(dir: &Path, tier: &str) -> Result<Vec<(String, String)>> {
    let (library, page) = (dir.join("delays.so"), page(dir, tier));
    for (path, bytes) in [(&library, LIBRARY), (&page, &[0; PAGE_BYTES])] {
        // They are there already for another tier, or at a second try of this one.
        if !path.exists() {
            write(path, bytes)?;
        }
    }
    let of = |name: &str, path: &Path| (name.to_string(), path.display().to_string());
    Ok(vec![of("LD_PRELOAD", &library), of("PLIMSOLL_DELAYS", &page)])
}

fn page(dir: &Path, tier: &str) -> PathBuf {
    dir.join(format!("{tier}.delays"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = guarded::make(path, 0o644).and_then(|mut file| file.write_all(bytes));
    made.map_err(|error| disk::failed("write", path, &error).into())
}

fn offset(wait: DelayedWait) -> u64 {
    match wait {
        DelayedWait::Sleep => 0,
        DelayedWait::Lock => 4,
        DelayedWait::Sync => 8,
    }
}

/// Whether a process has the library: one that is linked statically takes none in, and nothing of it would take longer.
fn has_library(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("/delays.so"))
}

/// From now on such waits take longer by `ratio` of what each takes, in all processes that have this page.
fn set(page: &Path, wait: DelayedWait, ratio: f64) -> io::Result<()> {
    let thousandths = (ratio.max(0.0) * 1000.0).round() as u32;
    // It is ours, in a directory where nobody else may write.
    let file = OpenOptions::new().write(true).open(page)?;
    file.write_all_at(&thousandths.to_ne_bytes(), offset(wait))
}

impl Stack {
    /// Makes such waits of a tier longer by `ratio` of what each takes, from now on; 0 lifts that. The tier has to be one that the plan's
    /// fault delays, if by nothing: the library is there from its start.
    ///
    /// # Errors
    /// A tier that is not there, or whose servers have no library.
    pub fn set_delay(&mut self, tier: &str, wait: DelayedWait, ratio: f64) -> Result<()> {
        let found = self.tier(tier).ok_or_else(|| Problem::bug(format!("there is no tier `{tier}`")))?;
        if !found.pids.iter().all(|pid| has_library(*pid)) {
            let what = "a server runs without the library that makes its waits longer";
            let why = "it is linked statically, or was started without it";
            return Err(Problem::environment(what).tier(tier).why(why).into());
        }
        let dir = found.dir.parent().map(Path::to_path_buf).unwrap_or_default();
        let page = page(&dir, tier);
        set(&page, wait, ratio).map_err(|error| disk::failed("write", &page, &error).into())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    /// How long the program takes, from its start to its end, with such waits longer by `ratio`.
    fn took(command: &mut Command, wait: DelayedWait, ratio: f64) -> Duration {
        let dir = tempfile::tempdir().expect("a directory");
        let environment = prepare(dir.path(), "app").expect("they can be written");
        set(&page(dir.path(), "app"), wait, ratio).expect("it is there");
        let began = Instant::now();
        let output = command.envs(environment).current_dir(dir.path()).output().expect("it runs");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        began.elapsed()
    }

    #[test]
    fn a_process_sleeps_for_longer() {
        let took = took(Command::new("sleep").arg("0.1"), DelayedWait::Sleep, 3.0);
        assert!(took >= Duration::from_millis(400), "{took:?}");
    }

    #[test]
    fn the_lock_of_a_file_is_held_for_longer() {
        let program = "open F, '>', 'turn'; flock F, 2; select undef, undef, undef, 0.1; flock F, 8";
        let took = took(Command::new("perl").args(["-e", program]), DelayedWait::Lock, 3.0);
        assert!(took >= Duration::from_millis(400), "{took:?}");
    }

    #[test]
    fn a_tier_is_prepared_again_without_losing_what_is_in_force() {
        let dir = tempfile::tempdir().expect("a directory");
        let first = prepare(dir.path(), "db").expect("they can be written");
        set(&page(dir.path(), "db"), DelayedWait::Sync, 0.15).expect("it is there");
        assert_eq!(prepare(dir.path(), "db").expect("they are there"), first);
        let bytes = std::fs::read(page(dir.path(), "db")).expect("it is there");
        assert_eq!(bytes[8..], 150_u32.to_ne_bytes());
    }
}

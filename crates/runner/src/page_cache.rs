//! The page cache when users start is a setting, not an accident: nothing of the file set is in it, or all that fits,
//! read from inside of the web tier, so that it counts as the server's memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::record::{PageCacheResult, Step};
use model::{Plan, Problem, Result, Value, units};
use testbed::Stack;
use testbed::page_cache::{self, Residency};

use crate::artefact::Use;
use crate::artefact::file_set::FileSet;
use crate::environment::{Environment, Helpers};

/// The states that a kit's parameter asks for.
const WARM: &str = "warm";
const COLD: &str = "cold";
const COLD_NAMES: &str = "cold-names";

/// Users go to this tier.
const TIER: &str = "web";
/// Longer than this, the console tells how far it is.
const SILENT: Duration = Duration::from_secs(2);
/// More of the file set than this in memory after it was evicted, and the run would measure another cache.
const MAX_LEFT_RATIO: f64 = 0.01;
/// Pages that somebody is just reading or sending stay: number of tries, with a pause between.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// Brings the page cache into the state that the kit's parameter asks for, and says what came of it; `None` where it asks
/// for none.
pub(crate) fn prepare(
    plan: &Plan,
    stack: &mut Stack,
    files: &FileSet,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<Option<PageCacheResult>> {
    let FileSet { root, paths, result, mounted, .. } = files;
    let Some(asked) = wanted_state(plan) else { return Ok(None) };
    let started = Instant::now();
    let (left_bytes, found) = match mounted {
        Some(mounted) => {
            mounted.anew()?;
            stack.limit_reads_of(plan, mounted.at())?;
            // To look at a file is to look up its name: what there is of the image in memory says as much.
            let found = page_cache::residency(&[mounted.image().to_path_buf()])?;
            (found.resident_bytes, found)
        }
        None => {
            let left_bytes = evict(paths, root, asked)?;
            if asked == WARM {
                // Filling the cache is no part of the run: a slow disk's reads would take a minute of every trial.
                stack.lift_read_limits_of(plan, root)?;
                warm(stack, paths.clone(), result.bytes, env)?;
                stack.limit_reads_of(plan, root)?;
            }
            (left_bytes, page_cache::residency(paths)?)
        }
    };
    let took_s = started.elapsed().as_secs_f64();
    let resident_ratio = found.resident_bytes as f64 / found.bytes.max(1) as f64;
    let resident_bytes = found.resident_bytes;
    steps.push(Step { name: format!("{asked} page cache"), took_s });
    env.progress.done(&format!(
        "page cache {asked}: {} of the file set's {} in memory ({:.1} %)",
        units::show_bytes(resident_bytes),
        units::show_bytes(found.bytes),
        resident_ratio * 100.0
    ));
    let asked = asked.to_string();
    Ok(Some(PageCacheResult { asked, left_bytes, resident_bytes, resident_ratio, took_s }))
}

/// Takes the file set out of memory; how many bytes of it stay there, which are few.
fn evict(paths: &[PathBuf], root: &Path, asked: &str) -> Result<u64> {
    let mut left = Residency::default();
    for tried in 0..TRIES {
        if tried > 0 {
            std::thread::sleep(PAUSE);
        }
        page_cache::evict(paths, root)?;
        left = page_cache::residency(paths)?;
        if is_out(left) {
            break;
        }
    }
    if is_out(left) { Ok(left.resident_bytes) } else { Err(not_evicted(left, root, asked).into()) }
}

fn is_out(left: Residency) -> bool {
    left.resident_bytes as f64 <= left.bytes as f64 * MAX_LEFT_RATIO
}

fn not_evicted(left: Residency, root: &Path, asked: &str) -> Problem {
    let what = format!(
        "{} of the file set's {} can't be evicted from the page cache, which is to be {asked}",
        units::show_bytes(left.resident_bytes),
        units::show_bytes(left.bytes)
    );
    let why = match asked {
        COLD => "the result would be that of a cache that is warm already",
        _ => "what the server sends from there would not count as its memory, whatever its limit",
    };
    Problem::environment(what).file(root.display().to_string()).why(why).remedy(
        "a PLIMSOLL_HOME on a disk's file system (files on tmpfs are nowhere but in memory), and nobody else who reads \
         these files at the same time",
    )
}

/// How a run uses the kept file set: alone where the state of its page cache is a setting.
pub(crate) fn use_of_set(plan: &Plan) -> Use {
    if wanted_state(plan).is_some() { Use::Alone } else { Use::Shared }
}

/// Whether each trial must begin with an empty cache: the one before has filled it.
pub(crate) fn is_cold(plan: &Plan) -> bool {
    matches!(wanted_state(plan), Some(COLD | COLD_NAMES))
}

/// Whether not only the files' data but also their names are to be on the disk alone.
pub(crate) fn has_cold_names(plan: &Plan) -> bool {
    wanted_state(plan) == Some(COLD_NAMES)
}

/// The value of the parameter that the kit names.
fn wanted_state(plan: &Plan) -> Option<&str> {
    let param = plan.kit.file_set.as_ref()?.page_cache.as_ref()?;
    match plan.params.get(param)? {
        Value::Text(asked) => Some(asked),
        _ => None,
    }
}

/// The last file of the kit's script is read first: where not all fit, the first ones remain.
fn warm(stack: &Stack, mut paths: Vec<PathBuf>, total: u64, env: &mut Environment<'_>) -> Result<()> {
    paths.reverse();
    let (progress, interrupt) = (&mut *env.progress, env.interrupt);
    let started = Instant::now();
    let mut on_read = |bytes: u64| {
        if started.elapsed() >= SILENT {
            let text =
                format!("reading the file set from inside of the {TIER} tier: {}", units::show_bytes(bytes));
            progress.advance(&text, bytes as f64 / total.max(1) as f64);
        }
    };
    let cancel = || interrupt.count() > 0;
    let program: (&Path, &[&str]) = (&env.settings.helpers.program, &[Helpers::READER]);
    stack.read_inside(TIER, program, &paths, &cancel, &mut on_read).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_that_stays_in_memory_is_let_pass_and_no_more() {
        let left = |resident_bytes| Residency { resident_bytes, bytes: 100_000 };
        assert!(is_out(left(0)) && is_out(left(1000)) && !is_out(left(1001)));
        assert!(is_out(Residency::default()), "empty files have no pages");
    }

    #[test]
    fn a_set_that_stays_in_memory_is_refused_with_its_place_the_reason_and_what_to_try() {
        let left = Residency { resident_bytes: 40_000_000, bytes: 51_000_000 };
        for (asked, why) in [("cold", "warm already"), ("warm", "not count as its memory")] {
            let problem = not_evicted(left, Path::new("/srv/plimsoll/datasets/set/files"), asked);
            let text = problem.to_string();
            for part in ["40.0 MB", "51.0 MB", asked, why, "/srv/plimsoll/datasets/set/files", "tmpfs"] {
                assert!(text.contains(part), "`{part}` is not said: {text}");
            }
        }
    }
}

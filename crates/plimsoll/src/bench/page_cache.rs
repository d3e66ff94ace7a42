//! The page cache when users start is a setting, not an accident: nothing of the file set is in it, or all that fits,
//! read from inside of the web tier, so that it counts as the server's memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::record::{PageCacheResult, Step};
use model::{Plan, Problem, Result, Value, units};
use testbed::{Stack, page_cache};

use crate::bench::file_set::FileSet;
use crate::context::Context;

/// Users go to this tier.
const TIER: &str = "web";
/// Longer than this, the console tells how far it is.
const SILENT: Duration = Duration::from_secs(2);

/// Brings the page cache into the state that the kit's parameter asks for, and says what came of it; `None` where it asks
/// for none.
pub(crate) fn prepare(
    plan: &Plan,
    stack: &Stack,
    files: &FileSet,
    steps: &mut Vec<Step>,
    context: &mut Context,
) -> Result<Option<PageCacheResult>> {
    let FileSet { root, paths, result } = files;
    let Some(asked) = asked(plan) else { return Ok(None) };
    let started = Instant::now();
    page_cache::evict(paths, root)?;
    let left_bytes = page_cache::residency(paths)?.resident_bytes;
    if asked == "warm" {
        warm(stack, paths.clone(), result.bytes, context)?;
    }
    let found = page_cache::residency(paths)?;
    let took_s = started.elapsed().as_secs_f64();
    let resident_ratio = found.resident_bytes as f64 / found.bytes.max(1) as f64;
    let resident_bytes = found.resident_bytes;
    steps.push(Step { name: format!("{asked} page cache"), took_s });
    context.console.done(&format!(
        "page cache {asked}: {} of the file set's {} in memory ({:.1} %)",
        units::show_bytes(resident_bytes),
        units::show_bytes(found.bytes),
        resident_ratio * 100.0
    ));
    let asked = asked.to_string();
    Ok(Some(PageCacheResult { asked, left_bytes, resident_bytes, resident_ratio, took_s }))
}

/// Whether each trial must begin with an empty cache: the one before has filled it.
pub(crate) fn is_cold(plan: &Plan) -> bool {
    asked(plan) == Some("cold")
}

/// The value of the parameter that the kit names.
fn asked(plan: &Plan) -> Option<&str> {
    let param = plan.kit.file_set.as_ref()?.page_cache.as_ref()?;
    match plan.params.get(param)? {
        Value::Text(asked) => Some(asked),
        _ => None,
    }
}

/// The last file of the kit's script is read first: where not all fit, the first ones remain.
fn warm(stack: &Stack, mut paths: Vec<PathBuf>, total: u64, context: &mut Context) -> Result<()> {
    paths.reverse();
    let program = std::env::current_exe()
        .map_err(|error| Problem::environment(format!("failed to find this program: {error}")))?;
    let (console, interrupt) = (&mut context.console, &context.interrupt);
    let started = Instant::now();
    let mut told = |bytes: u64| {
        if started.elapsed() >= SILENT {
            let text =
                format!("reading the file set from inside of the {TIER} tier: {}", units::show_bytes(bytes));
            console.progress(&text, bytes as f64 / total.max(1) as f64);
        }
    };
    let cancel = || interrupt.count() > 0;
    let program: (&Path, &[&str]) = (&program, &["reader"]);
    stack.read_inside(TIER, program, &paths, &cancel, &mut told).map(|_| ())
}

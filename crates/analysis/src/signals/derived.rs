//! Signals that relate series to each other.

use model::record::diagnosis::SignalSummary;
use model::record::instrument::INSTRUMENT;
use model::{Signal, signals};

use super::names::{CPU, CPU_WAIT, HOST_BUSY, STACK_BUSY};
use super::{Watched, figure, find, value_of};

signals! {
    ROWS_READ_PER_ROW = Signal::of_tier(
        "sql.rows_read_per_row", "rows", "rows read from one to the next for each row sent"
    );
    POOL_MISS = Signal::of_tier(
        "sql.pool_miss_ratio", "ratio", "pages that came from the disk, of those looked for in the buffer pool"
    );
    TMP_DISK = Signal::of_tier(
        "sql.tmp_disk_ratio", "ratio", "temporary tables that were written to the disk, of all"
    );
    SCRIPT_HITS = Signal::of_tier("opcache.hit_ratio", "ratio", "scripts that were compiled already");
    HEAP_USED = Signal::of_tier("heap.used_ratio", "ratio", "of a JVM's heap, what is in use");
    POOL_BUSY = Signal::of_tier(
        "pool.busy_ratio", "ratio", "of an application's pool of connections to the database, those that are taken"
    );
    SQL_WAITING = Signal::of_tier(
        "sql.waiting", "threads", "running statements that neither compute nor sleep, nor wait for a CPU, a row or a table"
    );
    FORK_GROWTH = Signal::of_tier(
        "calls.fork_growth", "times", "CPU time in which a process or thread was made, divided by the early one: grows with what is copied"
    );
    CPU_SHARE = Signal::of_tier("cpu.share_ratio", "ratio", "its share of the CPU time of all tiers");
    pub(crate) OPERATIONS_PER_S = Signal::of_run(
        "run.operations_per_s", "operations/s", "operations completed per second"
    );
}

/// A signal, its numerator and the sum of its denominators: both sides are means over the steady state.
static RATIOS: [(&Signal, &str, &[&str]); 6] = [
    (&ROWS_READ_PER_ROW, "sql.rows_read_next", &["sql.rows_sent"]),
    (&POOL_MISS, "sql.pool_reads", &["sql.pool_requests"]),
    (&TMP_DISK, "sql.tmp_disk_tables", &["sql.tmp_tables"]),
    (&SCRIPT_HITS, "opcache.hits", &["opcache.hits", "opcache.misses"]),
    (&HEAP_USED, "heap.used", &["heap.max"]),
    (&POOL_BUSY, "pool.busy", &["pool.size"]),
];

/// How many threads of a database are at work on statements.
const SQL_RUNNING: &str = "sql.running";
/// What they do that is known: what is left of them waits for a disk or a lock of its own.
const SQL_KNOWN: [&str; 7] = [
    CPU,
    CPU_WAIT,
    "sql.row_lock_now",
    "sql.metadata_lock_now",
    "sql.table_lock_now",
    "sql.user_lock_now",
    "sql.sleep_now",
];

/// The observers' own statement is always among those that run.
const OWN_STATEMENT: f64 = 1.0;

/// CPU time of one process or thread that is made.
const FORK: &str = "calls.fork_s";

/// Less than this of the denominator makes no ratio.
const MIN_DENOMINATOR: f64 = 1e-3;

/// The names of a tier's signals from which these follow.
pub(crate) fn wanted() -> impl Iterator<Item = &'static str> {
    let of_ratios = RATIOS.iter().flat_map(|(_, above, below)| below.iter().chain([above]));
    of_ratios.chain(&SQL_KNOWN).copied().chain([SQL_RUNNING, FORK])
}

/// Adds what follows from `signals`; what was watched itself stays.
pub(super) fn add(watched: &Watched<'_>, per_s: f64, signals: &mut Vec<SignalSummary>) {
    let tiers = tiers(signals);
    for tier in &tiers {
        for (signal, numerator, denominators) in RATIOS {
            if find(signals, Some(tier), &signal.name).is_none()
                && let Some(ratio) = ratio(signals, tier, numerator, denominators)
            {
                signals.push(of(tier, value_of(signal, ratio)));
            }
        }
        let fork = find(signals, Some(tier), FORK);
        let early = fork.and_then(|fork| fork.early).filter(|early_s| *early_s > 0.0);
        if let Some((fork, early_s)) = fork.zip(early) {
            let growth = fork.mean / early_s;
            signals.push(of(tier, value_of(&FORK_GROWTH, growth)));
        }
        if let Some(waiting) = waiting(signals, tier) {
            signals.push(of(tier, value_of(&SQL_WAITING, waiting)));
        }
    }
    let cores = |tier: &String| find(signals, Some(tier), CPU).map(|signal| signal.mean);
    let used: Vec<(String, f64)> =
        tiers.iter().filter_map(|tier| Some((tier.clone(), cores(tier)?))).collect();
    let all: f64 = used.iter().map(|(_, cores)| cores).sum();
    if all > 0.0 {
        let shares = used.iter().map(|(tier, cores)| of(tier, value_of(&CPU_SHARE, cores / all)));
        signals.extend(shares);
    }
    // Of hosts that are busy unlike each other, the busiest one holds the stack.
    let hosts = tiers.iter().filter_map(|tier| find(signals, Some(tier), HOST_BUSY));
    if let Some(busiest) = hosts.map(|signal| signal.mean).max_by(f64::total_cmp) {
        signals.push(figure(STACK_BUSY, "ratio", busiest));
    }
    if !used.is_empty() && find(signals, None, STACK_BUSY).is_none() && watched.stack_cpus > 0 {
        signals.push(figure(STACK_BUSY, "ratio", all / watched.stack_cpus as f64));
    }
    if per_s > 0.0 {
        signals.push(value_of(&OPERATIONS_PER_S, per_s));
    }
}

/// The tiers of the stack, without the instrument.
fn tiers(signals: &[SignalSummary]) -> Vec<String> {
    let mut tiers: Vec<String> = signals.iter().filter_map(|signal| signal.tier.clone()).collect();
    tiers.retain(|tier| !INSTRUMENT.contains(&tier.as_str()));
    tiers.sort();
    tiers.dedup();
    tiers
}

/// Mean statements that do nothing of [`SQL_KNOWN`].
fn waiting(signals: &[SignalSummary], tier: &str) -> Option<f64> {
    let mean = |name: &str| find(signals, Some(tier), name).map(|signal| signal.mean);
    let known: f64 = SQL_KNOWN.iter().filter_map(|name| mean(name)).sum();
    mean(CPU_WAIT).and(mean(SQL_RUNNING)).map(|busy| (busy - OWN_STATEMENT - known).max(0.0))
}

fn ratio(signals: &[SignalSummary], tier: &str, numerator: &str, denominators: &[&str]) -> Option<f64> {
    let above = find(signals, Some(tier), numerator)?.mean;
    let below = denominators.iter().map(|name| find(signals, Some(tier), name).map(|signal| signal.mean));
    let below = below.sum::<Option<f64>>()?;
    (below > MIN_DENOMINATOR).then(|| above / below)
}

fn of(tier: &str, signal: SignalSummary) -> SignalSummary {
    SignalSummary { tier: Some(tier.to_string()), ..signal }
}

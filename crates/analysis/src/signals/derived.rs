//! Signals that relate series to each other.

use model::diagnosis::Signal;

use super::{Watched, figure, find};

/// Name, unit, numerator and the sum of denominators: both sides are means over the steady state.
const RATIOS: [(&str, &str, &str, &[&str]); 6] = [
    ("sql.rows_read_per_row", "rows", "sql.rows_read_next", &["sql.rows_sent"]),
    ("sql.pool_miss_ratio", "ratio", "sql.pool_reads", &["sql.pool_requests"]),
    ("sql.tmp_disk_ratio", "ratio", "sql.tmp_disk_tables", &["sql.tmp_tables"]),
    ("opcache.hit_ratio", "ratio", "opcache.hits", &["opcache.hits", "opcache.misses"]),
    ("heap.used_ratio", "ratio", "heap.used", &["heap.max"]),
    ("pool.busy_ratio", "ratio", "pool.busy", &["pool.size"]),
];

/// What a database's busy threads do that is known exactly: what is left of them waits for a disk or a lock of its own.
const SQL_KNOWN: [&str; 3] = ["cpu.cores", "cpu.wait_cores", "sql.row_lock_now"];

/// The observers' own statement is always among those that run.
const OWN_STATEMENT: f64 = 1.0;

/// Less than this of the denominator makes no ratio.
const MIN_DENOMINATOR: f64 = 1e-3;

/// Adds what follows from `signals`; what was watched itself stays.
pub(super) fn add(watched: &Watched<'_>, per_s: f64, signals: &mut Vec<Signal>) {
    let tiers = tiers(signals);
    for tier in &tiers {
        for (name, unit, numerator, denominators) in RATIOS {
            if find(signals, Some(tier), name).is_none()
                && let Some(ratio) = ratio(signals, tier, numerator, denominators)
            {
                signals.push(of(tier, figure(name, unit, ratio)));
            }
        }
        if let Some(waiting) = waiting(signals, tier) {
            signals.push(of(tier, figure("sql.waiting", "threads", waiting)));
        }
    }
    let cores = |tier: &String| find(signals, Some(tier), "cpu.cores").map(|signal| signal.mean);
    let used: Vec<(String, f64)> =
        tiers.iter().filter_map(|tier| Some((tier.clone(), cores(tier)?))).collect();
    let all: f64 = used.iter().map(|(_, cores)| cores).sum();
    if all > 0.0 {
        let shares =
            used.iter().map(|(tier, cores)| of(tier, figure("cpu.share_ratio", "ratio", cores / all)));
        signals.extend(shares);
    }
    if !used.is_empty() && find(signals, None, "stack.busy_ratio").is_none() && watched.stack_cpus > 0 {
        signals.push(figure("stack.busy_ratio", "ratio", all / watched.stack_cpus as f64));
    }
    if per_s > 0.0 {
        signals.push(figure("run.operations_per_s", "operations/s", per_s));
    }
}

/// The tiers of the stack: neither the generator nor the observers.
fn tiers(signals: &[Signal]) -> Vec<String> {
    let mut tiers: Vec<String> = signals.iter().filter_map(|signal| signal.tier.clone()).collect();
    tiers.retain(|tier| tier != "generator" && tier != "observers");
    tiers.sort();
    tiers.dedup();
    tiers
}

/// Mean statements that neither compute, nor wait for a CPU, nor for a row.
fn waiting(signals: &[Signal], tier: &str) -> Option<f64> {
    let mean = |name: &str| find(signals, Some(tier), name).map(|signal| signal.mean);
    let known: f64 = SQL_KNOWN.iter().filter_map(|name| mean(name)).sum();
    mean("cpu.wait_cores").and(mean("sql.running")).map(|busy| (busy - OWN_STATEMENT - known).max(0.0))
}

fn ratio(signals: &[Signal], tier: &str, numerator: &str, denominators: &[&str]) -> Option<f64> {
    let above = find(signals, Some(tier), numerator)?.mean;
    let below = denominators.iter().map(|name| find(signals, Some(tier), name).map(|signal| signal.mean));
    let below = below.sum::<Option<f64>>()?;
    (below > MIN_DENOMINATOR).then(|| above / below)
}

fn of(tier: &str, signal: Signal) -> Signal {
    Signal { tier: Some(tier.to_string()), ..signal }
}

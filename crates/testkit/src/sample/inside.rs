//! What a made-up run's tiers, their servers and the machine tell about themselves.

use std::collections::BTreeMap;

use model::random::Random;
use model::record::diagnosis::SignalSummary;
use model::record::{CounterSetup, Series};

use super::load::{active_users, draws, slowness};
use super::{Ending, Shape};

/// How a figure moves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    /// With the users.
    Users,
    /// Little, until the stack stalls; then so much.
    Stall(f64),
    /// Always about the same.
    Even,
}

use Course::{Even, Stall, Users};

/// Series, unit, level with all users there, how it moves.
type Made = (&'static str, &'static str, f64, Course);

const OF_A_TIER: [Made; 14] = [
    ("cpu.system_cores", "cores", 0.09, Users),
    ("cpu.wait_cores", "cores", 0.04, Users),
    ("pressure.cpu_ratio", "ratio", 0.05, Users),
    ("pressure.io_ratio", "ratio", 0.004, Stall(0.11)),
    ("processes.count", "processes", 12.0, Even),
    ("threads.count", "threads", 34.0, Even),
    ("descriptors.count", "descriptors", 118.0, Users),
    ("descriptors.used_ratio", "ratio", 0.03, Users),
    ("io.read_bytes", "bytes/s", 0.0, Even),
    ("io.written_bytes", "bytes/s", 1.9e6, Users),
    ("threads.running", "threads", 0.5, Users),
    ("threads.idle", "threads", 22.0, Even),
    ("threads.other", "threads", 0.1, Even),
    ("listen.queue", "connections", 0.0, Stall(3.0)),
];

const OF_WEB: [Made; 12] = [
    ("threads.callee", "threads", 4.0, Stall(31.0)),
    ("threads.client", "threads", 26.0, Users),
    ("workers.busy", "workers", 5.4, Stall(34.0)),
    ("workers.idle", "workers", 31.0, Even),
    ("workers.keepalive", "workers", 27.0, Users),
    ("workers.reading", "workers", 0.3, Users),
    ("workers.writing", "workers", 5.1, Stall(33.0)),
    ("opcache.hits", "hits/s", 5200.0, Users),
    ("opcache.misses", "misses/s", 0.0, Even),
    ("opcache.memory_used_ratio", "ratio", 0.14, Even),
    ("opcache.restarts", "restarts/s", 0.0, Even),
    ("status.unanswered", "", 0.0, Even),
];

const OF_DB: [Made; 30] = [
    ("threads.lock", "threads", 0.2, Stall(24.0)),
    ("threads.disk", "threads", 0.4, Stall(1.6)),
    ("sql.running", "threads", 2.1, Stall(31.0)),
    ("sql.connected", "connections", 36.0, Users),
    ("sql.refused", "connections/s", 0.0, Even),
    ("sql.connects", "connections/s", 2.0, Users),
    ("sql.queries", "queries/s", 2140.0, Users),
    ("sql.row_lock_waits", "waits/s", 4.0, Stall(210.0)),
    ("sql.row_lock_time", "s/s", 0.11, Stall(23.6)),
    ("sql.row_lock_now", "transactions", 0.2, Stall(24.0)),
    ("sql.log_waits", "waits/s", 0.0, Even),
    ("sql.log_syncs", "syncs/s", 96.0, Users),
    ("sql.pool_requests", "requests/s", 41_800.0, Users),
    ("sql.pool_reads", "reads/s", 0.4, Users),
    ("sql.pool_waits", "waits/s", 0.0, Even),
    ("sql.pages_read", "pages/s", 0.4, Users),
    ("sql.pages_written", "pages/s", 118.0, Users),
    ("sql.data_syncs", "syncs/s", 101.0, Users),
    ("sql.opened_tables", "tables/s", 0.0, Even),
    ("sql.tmp_tables", "tables/s", 12.0, Users),
    ("sql.tmp_disk_tables", "tables/s", 0.0, Even),
    ("sql.rows_read_next", "rows/s", 1290.0, Users),
    ("sql.rows_read_key", "rows/s", 9120.0, Users),
    ("sql.rows_sent", "rows/s", 4890.0, Users),
    ("sql.full_joins", "queries/s", 0.0, Even),
    ("sql.full_scans", "queries/s", 12.0, Users),
    ("sql.slow_queries", "queries/s", 0.0, Stall(1.2)),
    ("sql.threads_created", "threads/s", 0.0, Even),
    ("sql.deadlocks", "deadlocks/s", 0.0, Stall(0.8)),
    ("sql.history_length", "undo logs", 140.0, Users),
];

const OF_THE_MACHINE: [Made; 30] = [
    ("cpu.busy_cores", "cores", 0.86, Users),
    ("cpu.user_cores", "cores", 0.61, Users),
    ("cpu.system_cores", "cores", 0.2, Users),
    ("cpu.softirq_cores", "cores", 0.05, Users),
    ("cpu.iowait_cores", "cores", 0.01, Stall(0.3)),
    ("cpu0.busy_ratio", "ratio", 0.75, Users),
    ("cpu1.busy_ratio", "ratio", 0.12, Users),
    ("stack.busy_ratio", "ratio", 0.75, Users),
    ("run_queue.tasks", "tasks", 2.1, Users),
    ("switches.per_s", "1/s", 9400.0, Users),
    ("forks.per_s", "1/s", 2.0, Even),
    ("pressure.cpu_ratio", "ratio", 0.09, Users),
    ("pressure.io_ratio", "ratio", 0.01, Stall(0.2)),
    ("pressure.memory_ratio", "ratio", 0.0, Even),
    ("memory.available_bytes", "bytes", 6.1e9, Even),
    ("swap.pages", "pages/s", 0.0, Even),
    ("faults.major", "faults/s", 0.0, Even),
    ("disk.busy_ratio", "ratio", 0.06, Stall(0.3)),
    ("disk.queue", "requests", 0.07, Stall(0.5)),
    ("disk.latency_s", "s", 0.0007, Stall(0.004)),
    ("disk.written_bytes", "bytes/s", 2.3e6, Users),
    ("net.bytes", "bytes/s", 3.4e6, Users),
    ("net.packets", "packets/s", 6200.0, Users),
    ("net.drops", "packets/s", 0.0, Even),
    ("tcp.listen_overflows", "1/s", 0.0, Even),
    ("tcp.listen_drops", "1/s", 0.0, Even),
    ("tcp.retransmits", "1/s", 0.1, Even),
    ("tcp.time_wait", "sockets", 44.0, Users),
    ("tcp.ports_used_ratio", "ratio", 0.004, Users),
    ("descriptors.used_ratio", "ratio", 0.001, Even),
];

/// The most that a figure can be by the sample's configuration.
const LIMITS: [(&str, f64); 5] = [
    ("workers.busy", 150.0),
    ("sql.connected", 200.0),
    ("descriptors.used_ratio", 1.0),
    ("opcache.memory_used_ratio", 1.0),
    ("tcp.ports_used_ratio", 1.0),
];

/// What was watched beside CPU and memory.
pub(super) fn series(shape: &Shape) -> Vec<Series> {
    let mut draw = draws(7);
    let mut all = Vec::new();
    let mut add = |tier: Option<&str>, made: &[Made]| {
        all.extend(made.iter().map(|one| of(shape, tier, one, &mut draw)));
    };
    add(Some("web"), &OF_A_TIER);
    add(Some("web"), &OF_WEB);
    add(Some("db"), &OF_A_TIER);
    add(Some("db"), &OF_DB);
    add(Some("observers"), &[("cpu.cores", "cores", 0.0046, Even), ("memory.bytes", "bytes", 8.4e6, Even)]);
    add(None, &OF_THE_MACHINE);
    all
}

fn of(shape: &Shape, tier: Option<&str>, (name, unit, level, course): &Made, draw: &mut Random) -> Series {
    let value = |second: u32, draw: &mut Random| {
        let share = active_users(shape, f64::from(second) + 0.5) / f64::from(shape.users);
        let stalled = shape.ending == Ending::Failed && slowness(shape, second) > 10.0;
        let value = match course {
            Users => level * share,
            Stall(_) if !stalled => level * share,
            Stall(high) => *high,
            Even => *level,
        };
        let noise = if *course == Even { 0.0 } else { 0.05 * draw.normal() };
        let value = (value * (1.0 + noise)).max(0.0);
        if unit.ends_with("ratio") { value.min(1.0) } else { value }
    };
    Series {
        name: name.to_string(),
        tier: tier.map(str::to_string),
        unit: unit.to_string(),
        points: (0..shape.measured_s())
            .map(|second| (f64::from(second) + 1.0, value(second, draw)))
            .collect(),
    }
}

/// The series over the steady state.
pub(super) fn signals(shape: &Shape, series: &[Series], operations_per_s: f64) -> Vec<SignalSummary> {
    let steady = f64::from(shape.ramp_up_s)..f64::from(shape.ramp_up_s + shape.steady_s);
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let signal = |one: &Series| {
        let within = |from: f64, to: f64| -> Vec<f64> {
            one.points.iter().filter(|(at, _)| *at > from && *at <= to).map(|(_, value)| *value).collect()
        };
        let values = within(steady.start, steady.end);
        let level = mean(&values)?;
        Some(SignalSummary {
            tier: one.tier.clone(),
            name: one.name.clone(),
            unit: one.unit.clone(),
            mean: level,
            max: values.iter().copied().fold(0.0, f64::max),
            early: mean(&within(0.0, steady.start / 3.0)),
            limit: LIMITS.iter().find(|(name, _)| *name == one.name).map(|(_, limit)| *limit),
            per_operation: one.unit.ends_with("/s").then(|| level / operations_per_s.max(1e-9)),
        })
    };
    series.iter().filter_map(signal).collect()
}

/// What the figures of a service mean, as its manifest says it.
pub(super) fn counters(service: &str) -> BTreeMap<String, CounterSetup> {
    let all: &[(&str, &str, bool)] = match service {
        "mariadb" => &[
            ("sql.running", "statements under way", true),
            ("sql.connected", "connections", true),
            ("sql.queries", "statements sent", true),
            ("sql.row_lock_time", "transactions that wait for a row, on average", false),
            ("sql.row_lock_waits", "waits for a row", false),
            ("sql.pool_reads", "reads that the buffer pool could not spare", true),
            ("sql.log_syncs", "times the log was made safe", false),
        ],
        _ => &[
            ("workers.busy", "processes that serve a request", true),
            ("workers.idle", "processes without work", false),
            ("workers.keepalive", "processes that an idle connection holds", true),
            ("opcache.hits", "scripts that were compiled already", false),
        ],
    };
    let setup = |help: &str, key: bool| CounterSetup { help: help.to_string(), key };
    all.iter().map(|(name, help, key)| (name.to_string(), setup(help, *key))).collect()
}

//! The seconds of a made-up run.

use model::random::Random;
use model::record::Series;
use model::record::interval::{
    LAST_SESSIONS, OperationInterval, OperationKind, OperationName, SessionEnd, record_ns,
};
use model::{ErrorKind, Interval};

use super::{Ending, Shape};

/// Name, share of the mix, median response time in ms, spread (sigma of the log-normal).
type Operation = (&'static str, f64, f64, f64);

const DVDSTORE: [Operation; 4] = [
    ("Login", 0.8, 7.2, 0.45),
    ("NewCustomer", 0.2, 9.5, 0.5),
    ("Browse", 3.0, 12.4, 0.6),
    ("Purchase", 1.0, 24.0, 0.7),
];

const BOOKSTORE: [Operation; 20] = [
    ("Home", 1.6, 8.0, 0.4),
    ("New Products", 0.5, 21.0, 0.6),
    ("Best Sellers", 0.5, 88.0, 0.8),
    ("Product Detail", 1.7, 6.1, 0.4),
    ("Search Request", 2.0, 3.4, 0.3),
    ("Search Results", 1.7, 34.0, 0.7),
    ("Shopping Cart", 1.1, 11.0, 0.5),
    ("Customer Registration", 0.3, 3.0, 0.3),
    ("Buy Request", 0.26, 14.0, 0.5),
    ("Buy Confirm", 0.12, 41.0, 0.8),
    ("Order Inquiry", 0.08, 2.9, 0.3),
    ("Order Display", 0.07, 19.0, 0.6),
    ("Admin Request", 0.01, 6.0, 0.4),
    ("Admin Confirm", 0.009, 140.0, 0.9),
    ("Author Detail", 0.4, 9.0, 0.4),
    ("Review List", 0.7, 13.0, 0.5),
    ("Review Post", 0.1, 17.0, 0.6),
    ("Wish List", 0.2, 10.0, 0.5),
    ("Recommendations", 0.6, 52.0, 0.7),
    ("Logout and delete the whole shopping history", 0.3, 4.0, 0.3),
];

/// Mean think time after a session, in seconds.
pub(super) const THINK_S: f64 = 0.25;

/// What the made-up users do.
pub struct Workload {
    operations: Vec<Operation>,
}

impl Workload {
    /// The DVD Store for up to four operations, a bookstore for more.
    pub fn new(shape: &Shape) -> Workload {
        let source: &[Operation] = if shape.operations <= DVDSTORE.len() { &DVDSTORE } else { &BOOKSTORE };
        let take = shape.operations.clamp(1, source.len());
        Workload { operations: source[..take].to_vec() }
    }

    /// The session, the operations, and a request for each.
    pub fn names(&self) -> Vec<OperationName> {
        let session = OperationName { kind: OperationKind::Session, name: "order_cycle".into() };
        let operations = self.operations.iter().map(|(name, ..)| name.to_string());
        let paths = self
            .operations
            .iter()
            .map(|(name, ..)| format!("/ds2/ds{}.php", name.to_lowercase().replace(' ', "")));
        std::iter::once(session)
            .chain(operations.map(|name| OperationName { kind: OperationKind::Operation, name }))
            .chain(paths.map(|name| OperationName { kind: OperationKind::Request, name }))
            .collect()
    }

    /// One second of the run; the same for the same arguments.
    pub fn interval(&self, shape: &Shape, second: u32) -> Interval {
        let mut draw = draws(u64::from(second) * 1_000 + shape.operations as u64);
        let mut interval = Interval::empty(second);
        let active = active_users(shape, f64::from(second) + 0.5);
        let mix: f64 = self.operations.iter().map(|(_, share, ..)| share).sum();
        let slow = slowness(shape, second);
        let cycle_s: f64 =
            self.operations.iter().map(|(_, share, median, _)| share * median / 1e3 * 1.25).sum::<f64>()
                * slow;
        let sessions = active / (cycle_s + THINK_S) * (1.0 + 0.03 * draw.normal());
        interval.operations.resize_with(1 + 2 * self.operations.len(), OperationInterval::empty);
        for (index, (_, share, median_ms, sigma)) in self.operations.iter().enumerate() {
            let expected = sessions * share;
            let count = (expected + expected.sqrt() * draw.normal() * 0.5).round().max(0.0) as u64;
            for _ in 0..count {
                let ns = median_ms * slow * (sigma * draw.normal()).exp() * 1e6;
                let (operation, request) = (1 + index, 1 + self.operations.len() + index);
                if let Some(kind) = failure(shape, second, index, &mut draw) {
                    interval.operations[operation].errors[kind] += 1;
                    interval.operations[request].errors[kind] += 1;
                    continue;
                }
                complete(&mut interval.operations[operation], ns, 0);
                complete(&mut interval.operations[request], ns * 0.97, 3_900);
                record_ns(&mut interval.phases.first_byte, (ns * 0.94) as u64);
                record_ns(&mut interval.phases.transfer, (ns * 0.03) as u64);
            }
        }
        for _ in 0..sessions.round().max(0.0) as u64 {
            let ns = cycle_s * (0.35 * draw.normal()).exp() * 1e9;
            complete(&mut interval.operations[0], ns, 0);
            interval.session_ended(ns / 1e9);
            interval.think_ended(draw.unit() * 2.0 * THINK_S);
            let ended_ns = u64::from(second) * 1_000_000_000 + interval.sessions_ended;
            interval.last_sessions.push(SessionEnd { operation: 0, ended_ns, took_ns: ns as u64 });
        }
        let surplus = interval.last_sessions.len().saturating_sub(LAST_SESSIONS);
        interval.last_sessions.drain(..surplus);
        let busy = active * cycle_s / (cycle_s + THINK_S);
        (interval.busy_user_s, interval.thinking_user_s) = (busy, active - busy);
        let late_ms = if shape.ending == Ending::Invalid { 6.0 } else { 0.12 };
        (0..100)
            .for_each(|_| record_ns(&mut interval.lag, (late_ms * (0.5 * draw.normal()).exp() * 1e6) as u64));
        let share = if shape.ending == Ending::Invalid { 0.93 } else { 0.11 };
        interval.generator_cpu_s = share * (active / f64::from(shape.users)) * (1.0 + 0.05 * draw.unit());
        interval.busiest_thread_cpu_s = interval.generator_cpu_s;
        interval.generator_wait_s = 0.004 * draw.unit();
        interval.connects = (sessions * mix * 0.02) as u64;
        for _ in 0..interval.connects {
            record_ns(&mut interval.phases.connect, (70_000.0 * (0.3 * draw.normal()).exp()) as u64);
        }
        if shape.ending == Ending::Failed {
            // The one that fails is served over TLS and sends its users around.
            for _ in 0..interval.connects {
                record_ns(&mut interval.phases.tls, (1_400_000.0 * (0.3 * draw.normal()).exp()) as u64);
            }
            interval.wire.handshakes = interval.connects;
            interval.wire.resumptions = interval.connects * 4 / 5;
            interval.wire.redirects = sessions.round().max(0.0) as u64;
            interval.wire.cache_hits = (sessions * 7.0).round().max(0.0) as u64;
            interval.wire.not_modified = (sessions * 0.6).round().max(0.0) as u64;
        }
        interval.counters.insert("orders".into(), sessions.round().max(0.0) as u64);
        interval
    }
}

fn complete(part: &mut OperationInterval, ns: f64, bytes: u64) {
    part.completed += 1;
    part.bytes += bytes;
    record_ns(&mut part.response, (ns * 1.01) as u64);
    record_ns(&mut part.service, ns as u64);
}

/// The index of the kind of error that befalls an operation, if one does.
fn failure(shape: &Shape, second: u32, operation: usize, draw: &mut Random) -> Option<usize> {
    let since = second.checked_sub(shape.ramp_up_s)?;
    if shape.ending != Ending::Failed
        || operation + 1 != shape.operations.min(4)
        || !(20..32).contains(&since)
    {
        return None;
    }
    let kind = match draw.unit() {
        u if u < 0.05 => ErrorKind::Status,
        u if u < 0.06 => ErrorKind::Timeout,
        u if u < 0.07 => ErrorKind::Check,
        _ => return None,
    };
    ErrorKind::ALL.iter().position(|known| *known == kind)
}

/// Whether a failed run is in its long stall: a third into the steady state, for 12 s.
fn stalled(shape: &Shape, since: u32) -> bool {
    (shape.steady_s / 3..shape.steady_s / 3 + 12).contains(&since)
}

/// How much slower the stack is in that second: a checkpoint now and then, and a long stall in a failed run.
pub(super) fn slowness(shape: &Shape, second: u32) -> f64 {
    let since = second.saturating_sub(shape.ramp_up_s);
    match shape.ending {
        Ending::Failed if stalled(shape, since) => 24.0,
        _ if since % 37 == 31 => 1.9,
        _ => 1.0,
    }
}

/// Users that have started and not yet ended at that moment.
pub(super) fn active_users(shape: &Shape, at_s: f64) -> f64 {
    let (up, steady, down) =
        (f64::from(shape.ramp_up_s), f64::from(shape.steady_s), f64::from(shape.ramp_down_s));
    // Without a ramp-down nobody is there after the steady state.
    let gone = ((at_s - up - steady).max(0.0) / down.max(f64::MIN_POSITIVE)).min(1.0);
    let share = if at_s < up { at_s / up } else { 1.0 - gone };
    f64::from(shape.users) * share
}

/// CPU and memory by tier, CPU of the host.
pub(super) fn series(shape: &Shape) -> Vec<Series> {
    let mut draw = draws(99);
    let mut make = |name: &str, tier: Option<&str>, unit: &str, level: f64, idle: f64| Series {
        name: name.into(),
        tier: tier.map(str::to_string),
        unit: unit.into(),
        points: (0..shape.measured_s())
            .map(|second| {
                let share = active_users(shape, f64::from(second) + 0.5) / f64::from(shape.users);
                let drag = if slowness(shape, second) > 1.0 { 1.25 } else { 1.0 };
                let value = idle + (level - idle) * share * drag * (1.0 + 0.04 * draw.normal());
                (f64::from(second) + 1.0, value.max(0.0))
            })
            .collect(),
    };
    let mut series = vec![
        make("cpu.cores", Some("web"), "cores", 0.46, 0.002),
        make("cpu.cores", Some("db"), "cores", 0.27, 0.01),
        make("memory.bytes", Some("web"), "bytes", 182e6, 60e6),
        make("memory.bytes", Some("db"), "bytes", 410e6, 240e6),
        make("cpu.steal_ratio", None, "ratio", 0.003, 0.001),
    ];
    series[2..4].iter_mut().for_each(|one| one.points.iter_mut().for_each(|point| point.1 = point.1.round()));
    series
}

/// The draws of a part of the sample.
pub(super) fn draws(seed: u64) -> Random {
    Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5ca1_ab1e)
}

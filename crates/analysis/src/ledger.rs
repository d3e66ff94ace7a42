//! The ledger: what the tiers' threads did while a mean operation was under way.
//!
//! By Little's law (Little, *Operations Research* 9, 1961) a mean of `n` threads doing something, with `x` operations
//! completed per second, is `n / x` seconds of a mean operation. Computing and waiting for a CPU come from the kernel's
//! exact accounts; the other states from its ledger of calls, or, where nothing was counted, from looks at threads.
//! Connections that wait to be opened, accepted, or read are counted in the same way: a mean of
//! `n` in the queue is `n / x` seconds before the tier. What a tier waits for its callee is replaced by what the callee did
//! meanwhile, its queue included, so that nothing is counted twice.

mod mechanisms;

use model::record::calls::CallLedger;
use model::record::diagnosis::{Doing, Ledger, LedgerPart, SignalSummary};
use model::{Signal, Subject, signals};

use self::mechanisms::{beyond, mechanisms};
pub(crate) use self::mechanisms::{waiting_methods, waits_of_loops};
use crate::signals::names::{CPU, CPU_WAIT};
use crate::signals::{CONNECTING, OPERATIONS_PER_S, RESPONSE, SEND_LAG, find, value_of};

signals! {
    UNACCOUNTED = Signal::of_run(
        "run.unaccounted_ratio", "ratio", "share of the response time that no tier accounts for"
    );
    UNSERVED = Signal::of_run(
        "run.unserved_ratio",
        "ratio",
        "share of the response time in which no thread had the request: in queues before tiers, or accounted for by none"
    );
}

/// What is said of a tier's parts of the response time, and of its own time at work.
const LEDGER: (&str, &str) = ("ledger.", "of the response time");
const WORK: (&str, &str) = ("work.", "of the time in which the tier was at work");
/// The same with what it makes others wait: requests queue before a tier while those that it has are at what its work is.
const CAUSED: (&str, &str) =
    ("caused.", "of the response time, the queue before the tier included as far as its work is that");

/// Counters by which a server says how many of its threads have work, how many of those are always the observer's own
/// question, and which of them only keep a connection. Threads beyond that number wait for work in ways that look like
/// locks or disks.
const BUSY: [(&str, f64, &str); 4] = [
    ("workers.busy", 1.0, "workers.keepalive"),
    ("children.busy", 0.0, ""),
    ("threads.busy", 0.0, ""),
    ("sql.running", 1.0, ""),
];

/// What no account of CPUs has, the most specific first: so it is believed when a server's own count leaves less room than
/// was seen.
const BLOCKED: [Doing; 4] = [Doing::WaitingForDisk, Doing::Sleeping, Doing::WaitingForLock, Doing::Other];

/// Waits that are the longer the more threads wait so: whoever waits for a thread that does waits for the same. Threads that sleep do so side by
/// side, and whoever waits for one of them waits because there are too few.
const IN_TURN: [Doing; 2] = [Doing::WaitingForDisk, Doing::WaitingForLock];

/// The ways in which a tier's threads wait for something.
pub(crate) fn waits() -> [Doing; 5] {
    let [disk, sleep, lock, other] = BLOCKED;
    [Doing::WaitingForCallee, disk, sleep, lock, other]
}

/// How many threads wait for a connection of a pool: whether that looks like a lock or like waiting for work depends on the pool.
const POOL: &str = "pool.waiting";

/// How many threads with a request a virtual machine says to wait: to enter what one thread at a time may be in, until another
/// thread wakes them, until a time. To the kernel they look like threads without work.
const JVM_BLOCKED: &str = "jvm.blocked";
const JVM_WAITING: &str = "jvm.waiting";
const JVM_TIMED: &str = "jvm.timed_waiting";

/// How many connections wait to be accepted.
const QUEUE: &str = "listen.queue";
/// How many of those that were accepted have a request that nobody has read yet.
const UNREAD: &str = "requests.unread";
/// How many are open to their clients alone, since the queue is full.
const HALF_OPEN: &str = "listen.half_open";
/// By whom users are played.
const GENERATOR: &str = "generator";

/// Counters by which an event loop says how many requests it has, or how many of them others than the loop are to work on, each with
/// how many of them are the observer's own question. Those that none of its threads works on, and no tier behind it, wait for
/// the loop, or for a thread of its pool.
const HANDLED: [(&str, f64); 2] = [("connections.handling", 1.0), ("requests.waiting", 0.0)];

/// What threads of a tier do in a ledger: of which waiting for the callee is there in any case, the two of CPUs are exact.
fn doings() -> impl Iterator<Item = Doing> {
    [Doing::Running, Doing::WaitingForCpu, Doing::WaitingForCallee].into_iter().chain(BLOCKED)
}

/// Every signal of a ledger.
pub(crate) fn declared() -> impl Iterator<Item = Signal> {
    let of_tiers = [LEDGER, WORK].into_iter().flat_map(|of| doings().map(move |doing| of_doing(of, doing)));
    let queued = of_doing(LEDGER, Doing::Queued);
    let caused = IN_TURN.map(|doing| of_doing(CAUSED, doing));
    of_tiers.chain([queued]).chain(caused).chain(SIGNALS.iter().copied().cloned())
}

/// The signal of a tier's share of its time at work.
pub(crate) fn of_work(doing: Doing) -> Signal {
    of_doing(WORK, doing)
}

fn of_doing((begin, of): (&str, &str), doing: Doing) -> Signal {
    let name = format!("{begin}{}", doing.word());
    let help = format!("{of}: {}", doing.title());
    Signal { subject: Subject::Tier, name: name.into(), unit: "ratio".into(), help: help.into(), key: false }
}

/// The signal of how many threads did something.
fn threads(doing: Doing) -> String {
    format!("threads.{}", doing.word())
}

/// The names of a tier's signals that a ledger is made of, but for those of its CPU.
pub(crate) fn wanted() -> impl Iterator<Item = String> {
    let of_servers = BUSY.iter().flat_map(|(busy, _, kept)| [*busy, *kept]).filter(|name| !name.is_empty());
    let looked_at = doings().filter(|doing| *doing != Doing::WaitingForCpu);
    let told = [POOL, JVM_BLOCKED, JVM_WAITING, JVM_TIMED];
    let handled = HANDLED.iter().map(|(name, _)| *name);
    of_servers
        .chain(handled)
        .chain(told)
        .chain([QUEUE, HALF_OPEN, UNREAD])
        .map(str::to_string)
        .chain(looked_at.map(threads))
}

/// Parts smaller than this share of the response time are left out.
const MIN_RATIO: f64 = 0.001;

/// What a ledger is made of.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The run's signals.
    pub signals: &'a [SignalSummary],
    /// What the kernel counted, where it did: of a tier whose account closes it is believed before looks at threads.
    pub calls: Option<&'a CallLedger>,
}

impl Seen<'_> {
    /// A mean, which is never below zero.
    fn mean(&self, tier: &str, name: &str) -> Option<f64> {
        find(self.signals, Some(tier), name).map(|signal| signal.mean.max(0.0))
    }

    /// The mean number of a tier's threads that did something; absent where nobody knows.
    fn threads(&self, tier: &str, doing: Doing) -> Option<f64> {
        self.counted(tier, doing).or_else(|| self.mean(tier, &threads(doing)))
    }

    /// The same where the kernel counted.
    fn counted(&self, tier: &str, doing: Doing) -> Option<f64> {
        let account = self.calls.and_then(|calls| calls.account(tier))?;
        Some(account.threads_doing(doing))
    }
}

/// What a tier's threads did, in mean threads, and how many connections waited for one.
#[derive(Debug, Clone)]
struct Work {
    tier: String,
    doing: Vec<(Doing, f64)>,
    callee: f64,
    /// Those that wait for another thread of the tier while that one waits for a callee.
    by_proxy: f64,
    queued: f64,
}

impl Work {
    /// What its threads did, but for the wait for the callee.
    fn own(&self) -> f64 {
        self.doing.iter().map(|(_, threads)| threads).sum()
    }

    /// All that a caller sees of it.
    fn all(&self) -> f64 {
        self.own() + self.callee + self.by_proxy + self.queued
    }
}

/// The ledger of a run by its signals. `tiers` are named in the order in which they start: each calls those before it.
/// Absent where nobody looked at the tiers' threads, or nothing completed.
pub fn ledger(tiers: &[&str], seen: Seen<'_>) -> Option<Ledger> {
    let per_s = find(seen.signals, None, &OPERATIONS_PER_S.name)?.mean;
    let response_s = find(seen.signals, None, &RESPONSE.name)?.mean;
    let watched = |tier: &&str| seen.threads(tier, Doing::Running).is_some();
    if per_s <= 0.0 || response_s <= 0.0 || !tiers.iter().any(watched) {
        return None;
    }
    let mut parts = Vec::new();
    let mut accounted_s = 0.0;
    let mut behind_s = 0.0;
    let mut works = works(tiers, seen);
    // A connection that waits for its first packet to be sent again is in no queue.
    if let (Some(front), Some(connecting)) = (works.last_mut(), find(seen.signals, None, &CONNECTING.name)) {
        front.queued += connecting.mean * per_s;
    }
    for work in &works {
        let explained_s = behind_s;
        behind_s = work.all() / per_s;
        let beyond = beyond(work, &works, seen.calls);
        let beyond_s = match &beyond {
            Some(beyond) => beyond.iter().map(|one| one.threads).sum::<f64>() / per_s,
            None => (work.callee / per_s - explained_s).max(0.0),
        };
        let beyond = beyond.unwrap_or_default();
        let doing = work.doing.iter().map(|(doing, threads)| (*doing, threads / per_s));
        let others = [(Doing::WaitingForCallee, beyond_s), (Doing::Queued, work.queued / per_s)];
        for (doing, s_per_operation) in doing.chain(others) {
            accounted_s += s_per_operation;
            let share_ratio = s_per_operation / response_s;
            if share_ratio >= MIN_RATIO {
                let mechanisms = mechanisms(&work.tier, doing, &beyond, seen.calls);
                let tier = work.tier.clone();
                parts.push(LedgerPart { tier, doing, s_per_operation, share_ratio, mechanisms });
            }
        }
    }
    if let Some(part) = of_generator(seen) {
        accounted_s += part.s_per_operation;
        let share_ratio = part.s_per_operation / response_s;
        parts.extend((share_ratio >= MIN_RATIO).then_some(LedgerPart { share_ratio, ..part }));
    }
    parts.sort_by(|one, other| other.s_per_operation.total_cmp(&one.s_per_operation));
    Some(Ledger { response_s, parts, unaccounted_s: (response_s - accounted_s).max(0.0) })
}

/// What an answer waited for the load generator to read it: time of the instrument, and no tier's. Whatever comes at a moment that it
/// doesn't choose waits as long as its own probe does. Looks at its sockets would see what the look itself holds up.
fn of_generator(seen: Seen<'_>) -> Option<LedgerPart> {
    let lag = find(seen.signals, None, &SEND_LAG.name)?;
    Some(LedgerPart {
        tier: GENERATOR.to_string(),
        doing: Doing::Queued,
        s_per_operation: lag.mean.max(0.0),
        share_ratio: 0.0,
        mechanisms: Vec::new(),
    })
}

/// Signals that tell the ledger to rules: `ledger.WORD` as shares of the response time, `work.WORD` as shares of the
/// time in which the tier was at work (there `callee` is the whole wait), `caused.WORD` of waits with their part of the queue before
/// the tier, `run.unaccounted_ratio`, `run.unserved_ratio`.
pub fn signals(ledger: &Ledger, tiers: &[&str], seen: Seen<'_>) -> Vec<SignalSummary> {
    let works = works(tiers, seen);
    let mut found = Vec::new();
    for tier in tiers {
        let mut add = |signal: Signal, value: f64| {
            found.push(SignalSummary { tier: Some(tier.to_string()), ..value_of(&signal, value) });
        };
        let share = |doing| {
            let of = |part: &&LedgerPart| part.tier == *tier && part.doing == doing;
            ledger.parts.iter().find(of).map(|part| part.share_ratio)
        };
        // That a tier did hardly any of it is evidence, too, where somebody looked.
        let least = seen.threads(tier, Doing::Running).map(|_| 0.0);
        for doing in doings().chain([Doing::Queued]) {
            if let Some(share_ratio) = share(doing).or(least) {
                add(of_doing(LEDGER, doing), share_ratio);
            }
        }
        let Some(work) = works.iter().find(|work| work.tier == *tier) else { continue };
        let callee = work.callee + work.by_proxy;
        let all = work.own() + callee;
        if all > 0.0 {
            for (doing, threads) in work.doing.iter().chain([&(Doing::WaitingForCallee, callee)]) {
                add(of_work(*doing), threads / all);
            }
        }
        let queued = if all > 0.0 { work.queued / all } else { 0.0 };
        for doing in IN_TURN {
            if let Some(share_ratio) = share(doing).or(least) {
                // The figures are of different looks: together they may be more than all of it.
                add(of_doing(CAUSED, doing), (share_ratio * (1.0 + queued)).min(1.0));
            }
        }
    }
    let unaccounted_ratio = ledger.unaccounted_s / ledger.response_s;
    let before_tiers = |part: &&LedgerPart| part.doing == Doing::Queued && part.tier != GENERATOR;
    let queued = ledger.parts.iter().filter(before_tiers);
    let queued_ratio: f64 = queued.map(|part| part.share_ratio).sum();
    found.push(value_of(&UNACCOUNTED, unaccounted_ratio));
    found.push(value_of(&UNSERVED, unaccounted_ratio + queued_ratio));
    found
}

/// Whether a signal is one of those of [`signals`].
pub(crate) fn is_of_ledger(signal: &SignalSummary) -> bool {
    [LEDGER.0, WORK.0, CAUSED.0, &UNACCOUNTED.name, &UNSERVED.name]
        .iter()
        .any(|begin| signal.name.starts_with(begin))
}

/// What each tier's threads did, in the order of `tiers`.
fn works(tiers: &[&str], seen: Seen<'_>) -> Vec<Work> {
    let mut works: Vec<Work> = Vec::new();
    for tier in tiers {
        let behind: f64 = works.iter().map(|work| work.own() + work.queued).sum();
        let mut work = work(tier, behind, seen);
        let handled = HANDLED.iter().find_map(|(name, own)| Some(seen.mean(tier, name)? - own));
        let seen_behind = works.last().map_or(0.0, Work::all).max(behind);
        let at_work = work.own() + work.callee.max(seen_behind);
        work.queued += handled.map_or(0.0, |handled| (handled - at_work).max(0.0));
        works.push(work);
    }
    works
}

/// What a tier's threads did while those behind it did `behind`, in mean threads.
fn work(tier: &str, behind: f64, seen: Seen<'_>) -> Work {
    let mean = |name: &str| seen.mean(tier, name);
    let threads = |doing: Doing| seen.threads(tier, doing);
    let running = mean(CPU).or_else(|| threads(Doing::Running)).unwrap_or(0.0);
    // The kernel's own account loses what threads waited that have ended; its ledger of calls doesn't.
    let counted = seen.counted(tier, Doing::WaitingForCpu).unwrap_or(0.0);
    let waiting = mean(CPU_WAIT).or_else(|| threads(Doing::WaitingForCpu)).unwrap_or(0.0).max(counted);
    let mut doing = vec![(Doing::Running, running), (Doing::WaitingForCpu, waiting)];
    let callee = threads(Doing::WaitingForCallee).unwrap_or(0.0);
    let busy = BUSY
        .iter()
        .find_map(|(name, own, kept)| Some((mean(name)? - own - mean(kept).unwrap_or(0.0)).max(0.0)));
    let of = |name: &str| mean(name).unwrap_or(0.0);
    let mut room = busy.map_or(f64::INFINITY, |busy| (busy - running - waiting - callee).max(0.0));
    // Whoever waits for a connection of the pool does so for a time at most.
    let pooled = of(POOL).min(of(JVM_TIMED));
    let (woken, timed) = (of(JVM_WAITING), of(JVM_TIMED) - pooled);
    // A client of the program's own may wait for the callee on another thread, which looks as if it had no work.
    let by_proxy = (behind - callee).clamp(0.0, woken + timed).min(room);
    room -= by_proxy;
    let left = if by_proxy > 0.0 { 1.0 - by_proxy / (woken + timed) } else { 1.0 };
    for state in BLOCKED {
        let told = match state {
            Doing::WaitingForLock => of(JVM_BLOCKED) + (woken * left).max(of(POOL) - pooled) + pooled,
            Doing::Sleeping => timed * left,
            _ => 0.0,
        };
        let threads = threads(state).unwrap_or(0.0).max(told).min(room);
        // Without a count of its own by the server, nobody knows whether something else is work.
        let counts = state != Doing::Other || busy.is_some();
        if counts {
            room -= threads;
            doing.push((state, threads));
        }
    }
    // A request whose thread is awake and has no CPU yet is unread, too, and is that thread's time already.
    let unread = (of(UNREAD) - waiting).max(0.0);
    Work { tier: tier.to_string(), doing, callee, by_proxy, queued: of(QUEUE) + of(HALF_OPEN) + unread }
}

#[cfg(test)]
mod tests;

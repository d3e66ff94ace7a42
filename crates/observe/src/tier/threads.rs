//! What the tiers' threads do: a few of them, drawn anew, are looked at some ten times a second.
//!
//! The principal type is [`Threads`]. A look at a thread reads `/proc/TID/syscall` and, where that says that it waits
//! on a descriptor, what that descriptor is. What was seen is scaled to mean numbers of threads (`threads.WORD`), so
//! that divided by the throughput it is seconds per operation (Little's law). Looks are drawn with chance, in threads
//! and in time, so that no rhythm of the servers can hide from them.

mod call;
mod judge;
mod look;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use model::record::diagnosis::Doing;
use model::{Signal, Subject, signals};

use crate::cgroup;
use crate::job::{Job, TierJob};
use crate::points::Points;
use crate::process::{ProcessTable, thread_cpu_s};
use crate::random::Random;
use crate::sockets::{Sockets, TcpListener, UnixSocket, Unserved};
use look::{Look, TierContext};

pub(crate) use call::{Call, Place};
pub(crate) use judge::{Around, Thing, doing};
pub(crate) use look::image;

signals! {
    COUNT = Signal::of_tier("threads.count", "threads", "its threads");
    QUEUE = Signal::of_tier("listen.queue", "connections", "connections that wait to be accepted").shown_first();
    UNREAD = Signal::of_tier(
        "requests.unread",
        "connections",
        "TCP connections with bytes of their client that nobody has read yet: of an event loop, requests that wait for it"
    );
    HALF_OPEN = Signal::of_tier(
        "listen.half_open",
        "connections",
        "connections that are open to their clients alone: the queue of those to be accepted is full, and they wait until a packet comes again, a second or more"
    );
}

/// The signals of what threads do: the mean number of them that did it.
pub(super) fn of_doings() -> impl Iterator<Item = Signal> {
    Doing::ALL.into_iter().filter_map(of_doing)
}

/// That of one doing; `None` of waiting for a CPU, which a look can't tell from running (the kernel counts that), and of
/// what no thread has yet.
fn of_doing(doing: Doing) -> Option<Signal> {
    let help = match doing {
        Doing::Running => "threads on a CPU, or ready to be",
        Doing::WaitingForCpu | Doing::Queued => return None,
        Doing::WaitingForCallee => "threads that wait for the tier behind",
        Doing::WaitingForClient => "threads that wait for their client",
        Doing::WaitingForLock => "threads that wait for a lock",
        Doing::WaitingForDisk => "threads that wait for a disk",
        Doing::Sleeping => "threads that sleep until a time",
        Doing::Idle => "threads without work",
        Doing::Other => "threads that do something else",
    };
    let name = format!("threads.{}", doing.word()).into();
    Some(Signal { subject: Subject::Tier, name, unit: "threads".into(), help: help.into(), key: false })
}

/// Looks a second, on average, where the budget allows for them.
const LOOKS_PER_S: f64 = 10.0;
/// And where one thread of each tier is too dear for more.
const MIN_LOOKS_PER_S: f64 = 1.0;
/// The number of threads of each tier that are looked at each time.
const MAX_THREADS: usize = 8;
/// CPU seconds a second that looking may take; where threads are dear to look at, fewer are.
const BUDGET: f64 = 0.005;

/// Looks at the threads of all tiers.
#[derive(Debug)]
pub(crate) struct Threads {
    tiers: Vec<Tier>,
    sockets: Option<Sockets>,
    listening: HashSet<u64>,
    random: Random,
    next: Instant,
    each: usize,
    per_s: f64,
    spent_s: f64,
    looks: u32,
}

#[derive(Debug)]
struct Tier {
    job: TierJob,
    context: TierContext,
    /// Asks about the sockets of the tier's own host, where it has one.
    apart: Option<Sockets>,
    /// All its threads, as of the last second.
    ids: Vec<u32>,
    serving: HashSet<u32>,
    queues: HashSet<u64>,
    things: HashMap<u64, judge::Thing>,
    /// Mean threads that did each, times looks.
    sums: BTreeMap<Doing, f64>,
    looks: u32,
    /// Connections that wait to be accepted.
    queue: Option<u64>,
    /// Those that have something to read, or are half open.
    unserved: Option<Unserved>,
}

impl Threads {
    /// Looks at the tiers of `job`; `None` where this machine doesn't let us.
    pub(crate) fn open(job: &Job) -> Option<Threads> {
        // Of this very thread the text is always `running`: the file is there, so the kernel can.
        std::fs::read_to_string("/proc/self/syscall").ok()?;
        let tiers = job.tiers.iter().map(|tier| Tier::new(tier, job)).collect();
        let mut threads = Threads {
            tiers,
            sockets: Sockets::open(),
            listening: HashSet::new(),
            random: Random::seeded(),
            next: Instant::now(),
            each: MAX_THREADS,
            per_s: LOOKS_PER_S,
            spent_s: 0.0,
            looks: 0,
        };
        threads.refresh();
        Some(threads)
    }

    /// What of the tiers' threads can't be seen, and why.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let closed = self.tiers.iter().filter(|tier| {
            !tier.ids.is_empty()
                && tier.ids.iter().all(|id| std::fs::read(format!("/proc/{id}/syscall")).is_err())
        });
        let mut found: Vec<String> = closed
            .map(|tier| {
                let name = &tier.job.name;
                format!("what the threads of {name} do: /proc/PID/syscall can't be read without the right to trace them")
            })
            .collect();
        if self.sockets.is_none() && !self.tiers.is_empty() {
            found.push("whom threads wait for: the kernel has no sock_diag for unix sockets".to_string());
        }
        found
    }

    /// How long until the next look.
    pub(crate) fn next_look(&self) -> Option<Duration> {
        (!self.tiers.is_empty()).then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// A look, if it is time for one.
    pub(crate) fn look(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        // Between half and one and a half times the mean.
        self.next = now + Duration::from_secs_f64((0.5 + self.random.ratio()) / self.per_s);
        let before = thread_cpu_s();
        let mut remote_ports = None;
        for tier in &mut self.tiers {
            tier.look(self.each, &mut self.random, &mut self.sockets, &mut remote_ports, &self.listening);
        }
        self.spent_s += thread_cpu_s() - before;
        self.looks += 1;
    }

    /// Mean numbers of threads since the last call.
    pub(crate) fn sample(&mut self, points: &mut Points) {
        for tier in &mut self.tiers {
            let looks = std::mem::take(&mut tier.looks);
            let mut sums = std::mem::take(&mut tier.sums);
            let sampled = Doing::ALL.into_iter().filter_map(|doing| Some((doing, of_doing(doing)?)));
            for (doing, signal) in sampled.filter(|_| looks > 0) {
                let threads = sums.remove(&doing).unwrap_or(0.0) / f64::from(looks);
                points.add(&signal, Some(&tier.job.name), threads);
            }
            points.add(&COUNT, Some(&tier.job.name), tier.ids.len() as f64);
        }
        self.keep_to_budget();
        self.refresh();
    }

    fn keep_to_budget(&mut self) {
        let (spent_s, looks) = (std::mem::take(&mut self.spent_s), std::mem::take(&mut self.looks));
        if looks > 0 && spent_s > 0.0 {
            let price_s = spent_s / f64::from(looks) / self.each as f64;
            (self.each, self.per_s) = within_budget(price_s);
        }
    }

    /// How many connections wait to be accepted or read, as of the last sample.
    pub(crate) fn queues(&self, points: &mut Points) {
        for tier in &self.tiers {
            let waiting = tier.queue.map(|waiting| waiting as f64);
            points.add_known(&QUEUE, Some(&tier.job.name), waiting);
            let of = |count: fn(Unserved) -> u64| tier.unserved.map(|found| count(found) as f64);
            points.add_known(&UNREAD, Some(&tier.job.name), of(|found| found.unread));
            points.add_known(&HALF_OPEN, Some(&tier.job.name), of(|found| found.half_open));
        }
    }

    fn refresh(&mut self) {
        let needs_table = self.tiers.iter().any(|tier| tier.job.cgroup.is_none());
        let table = if needs_table { ProcessTable::scan() } else { ProcessTable::default() };
        self.tiers.iter_mut().for_each(|tier| tier.refresh(&table));
        if let Some(sockets) = &mut self.sockets {
            let here = Listeners::of(sockets);
            self.listening = here.inodes().collect();
            for tier in &mut self.tiers {
                let there = tier.apart.as_mut().map(Listeners::of);
                self.listening.extend(there.iter().flat_map(Listeners::inodes));
                let Listeners { tcp, unix } = there.as_ref().unwrap_or(&here);
                tier.queue = waiting(&tier.job, tcp, unix);
                tier.unserved = unserved(&tier.job, tier.apart.as_mut().unwrap_or(sockets));
            }
        }
    }
}

/// What is listened on in a network.
struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Vec<UnixSocket>,
}

impl Listeners {
    fn of(sockets: &mut Sockets) -> Listeners {
        let tcp = sockets.tcp_listeners().unwrap_or_default();
        Listeners { tcp, unix: sockets.unix_listeners().unwrap_or_default() }
    }

    fn inodes(&self) -> impl Iterator<Item = u64> {
        self.tcp.iter().map(|one| one.inode).chain(self.unix.iter().map(|one| one.inode))
    }
}

impl Tier {
    fn new(tier: &TierJob, job: &Job) -> Tier {
        // Where another tier listens on a port, a connection over TCP may lead there.
        let behind = job.tiers.iter().filter(|other| other.name != tier.name);
        let context = TierContext {
            sockets: tier.sockets.clone(),
            ports: behind.flat_map(|other| other.ports.iter().copied()).collect(),
            background: tier.background_threads.clone(),
            commits_together: tier.commits_together,
            ..TierContext::default()
        };
        Tier {
            job: tier.clone(),
            context,
            apart: tier.pids.first().and_then(|pid| Sockets::apart(*pid)),
            ids: Vec::new(),
            serving: HashSet::new(),
            queues: HashSet::new(),
            things: HashMap::new(),
            sums: BTreeMap::new(),
            looks: 0,
            queue: None,
            unserved: None,
        }
    }

    fn refresh(&mut self, table: &ProcessTable) {
        self.ids = match &self.job.cgroup {
            Some(group) => cgroup::threads(group),
            None => table.trees(&self.job.pids).into_iter().flat_map(tasks).collect(),
        };
        let masters = if self.have_children(table) { self.job.pids.as_slice() } else { &[] };
        self.context.masters = masters.to_vec();
        let ids: HashSet<u32> = self.ids.iter().copied().collect();
        self.serving.retain(|id| ids.contains(id));
        if self.things.len() > MAX_KNOWN {
            self.things.clear();
        }
        if self.context.images.is_empty() {
            self.context.images = self.job.pids.iter().filter_map(|id| look::image(*id)).collect();
        }
    }

    /// Its main processes have others below them; its instances run the same program, so that all have or none.
    fn have_children(&self, table: &ProcessTable) -> bool {
        let processes = match &self.job.cgroup {
            Some(group) => cgroup::processes(group),
            None => table.trees(&self.job.pids),
        };
        processes.len() > self.job.pids.len()
    }

    fn look(
        &mut self,
        max: usize,
        random: &mut Random,
        sockets: &mut Option<Sockets>,
        remote_ports: &mut Option<HashMap<u64, u16>>,
        listening: &HashSet<u64>,
    ) {
        if self.ids.is_empty() {
            return;
        }
        let drawn = max.min(self.ids.len());
        let weight = self.ids.len() as f64 / drawn as f64;
        let mut addresses = HashSet::new();
        // A host of its own has connections of its own.
        let mut own_ports = None;
        let remote_ports = if self.apart.is_some() { &mut own_ports } else { remote_ports };
        for index in 0..drawn {
            let other = index + random.below(self.ids.len() - index);
            self.ids.swap(index, other);
            let mut look = Look {
                id: self.ids[index],
                context: &self.context,
                serving: &mut self.serving,
                queues: &mut self.queues,
                things: &mut self.things,
                addresses: &mut addresses,
                sockets: sockets.as_mut(),
                apart: self.apart.as_mut(),
                remote_ports,
                listening,
            };
            if let Some(doing) = look.doing() {
                *self.sums.entry(doing).or_default() += weight;
            }
        }
        self.looks += 1;
    }
}

/// Sockets that were seen are forgotten beyond this number.
const MAX_KNOWN: usize = 20_000;

/// How many threads of each tier the budget allows for each time, and how many times a second, at the price that one
/// of each had; seconds of CPU.
fn within_budget(price_s: f64) -> (usize, f64) {
    let each = ((BUDGET / LOOKS_PER_S / price_s) as usize).clamp(1, MAX_THREADS);
    (each, (BUDGET / (price_s * each as f64)).clamp(MIN_LOOKS_PER_S, LOOKS_PER_S))
}

/// Connections that wait at the tier's ports and sockets, together; `None` where it listens on none.
fn waiting(job: &TierJob, tcp: &[TcpListener], unix: &[UnixSocket]) -> Option<u64> {
    let of_port = tcp.iter().filter(|one| job.ports.contains(&one.port)).map(|one| one.waiting);
    let of_path = unix.iter().filter(|one| job.sockets.iter().any(|declared| one.belongs_to(declared)));
    let waiting: Vec<u64> = of_port.chain(of_path.filter_map(|one| one.waiting)).collect();
    (!waiting.is_empty()).then(|| waiting.iter().sum())
}

fn tasks(id: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Connections at the tier's ports that nobody serves, together; `None` where it has no port.
fn unserved(job: &TierJob, sockets: &mut Sockets) -> Option<Unserved> {
    let of_ports = job.ports.iter().filter_map(|port| sockets.unserved(*port));
    of_ports.reduce(|sum, one| Unserved {
        unread: sum.unread + one.unread,
        half_open: sum.half_open + one.half_open,
    })
}

#[cfg(test)]
mod tests;

//! The ledger of calls: where the time of the tiers' threads goes, counted by programs in the kernel.
//!
//! The principal type is [`Calls`]. The programs (`bpf/ledger.bpf.c`) follow every thread of the tiers' cgroups from state to
//! state and add its time to a cell: on a CPU, ready to run, blocked in a call on an object. Blocks are always counted;
//! calls that don't block only in windows, as many as the budget allows. Once a second the sums are read, and what they have
//! grown by is a [`CallStep`]; with it come samples of where threads were (`stacks`).
//!
//! Not here: what follows from a run's steps (`analysis::calls`), looks at threads where the kernel can't be asked
//! (`tier::threads`).

mod aborts;
mod classify;
mod kernel;
mod raw;
mod samples;
mod signals;
mod stacks;
mod symbols;
mod syscall;
mod windows;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use model::record::Series;
use model::record::calls::{Aborted, CallCount, CallStep, Cell, CellTime, Core, ThreadLives};

use crate::cgroup;
use crate::job::{CallCounting, Job, TierJob};
use crate::points::Points;
use crate::process::thread_cpu_s;
use crate::reread::Reread;
use crate::tier::image;
use classify::{Block, Callees, TierFacts, kind};
use kernel::{Followed, Kernel, monotonic_ns};
use raw::{BLOCKED, MAX_TIERS, NameKey, RawCall, RawCell, RawSum};
use samples::{RawClass, RawSample};
use stacks::{Around, Stacks, TICKS_PER_S, is_sampled};
use windows::Windows;

pub(crate) use kernel::Room;
pub(crate) use signals::SIGNALS;

/// CPU seconds a second that reading the sums may take; where there are many threads, they are read less often.
const BUDGET: f64 = 0.01;
/// Objects of a tier that are told apart in a step; the time on others is one cell's.
const MAX_OBJECTS: usize = 200;
/// Above this share of the kernel's table cells that don't grow any more are forgotten.
const FULL_RATIO: f64 = 0.75;
/// The kernel's word for threads whose name had no room.
const NO_ROLE: u32 = 0;
/// The object of a cell that stands for many.
pub(crate) const OTHERS: &str = "others";

/// Follows the threads of all tiers that have a cgroup.
#[derive(Debug)]
pub(crate) struct Calls {
    kernel: Kernel,
    jobs: Vec<TierJob>,
    /// Their cgroups' `cpu.stat`: what the kernel says of the same CPU time by another way.
    groups: Vec<Option<Reread>>,
    facts: Vec<TierFacts>,
    callees: Callees,
    room: Room,
    names: HashMap<NameKey, (String, String)>,
    before: Readings,
    /// When the sums were read last, in seconds of the run.
    read_s: Option<f64>,
    /// Seconds until they are read again.
    pause_s: f64,
    windows: Windows,
    stacks: Stacks,
    /// Waits are forbidden, and none was seen yet.
    may_abort: bool,
}

/// What a step's cells mean.
#[derive(Debug, Default)]
struct Meant {
    times: Vec<CellTime>,
    /// Of the cells that samples are of.
    cells: HashMap<RawCell, Cell>,
    /// The kinds of waits that are to be sampled, and seconds of them.
    waits: HashSet<RawClass>,
    waited_s: f64,
}

/// Everything that only grows, as it was read last.
#[derive(Debug, Default)]
struct Readings {
    cells: HashMap<RawCell, RawSum>,
    calls: HashMap<RawCall, RawSum>,
    lived_ns: Vec<u64>,
    /// CPU seconds of each tier's cgroup, where it says so.
    cgroup_cpu_s: Vec<Option<f64>>,
    lost: model::record::calls::Lost,
}

impl Calls {
    /// Loads the programs for the tiers of `job`; `None` where none is to be followed.
    ///
    /// # Errors
    /// Why nothing can be counted here, for people.
    pub(crate) fn open(job: &Job, room: Room) -> Result<Option<Calls>, String> {
        let grouped = job.tiers.iter().filter(|tier| tier.cgroup.is_some());
        let jobs: Vec<TierJob> = grouped.take(MAX_TIERS).cloned().collect();
        if job.calls == CallCounting::Off || jobs.is_empty() {
            return Ok(None);
        }
        let id = |path: &Path| {
            let found = fs::metadata(path);
            found.map(|found| found.ino()).map_err(|error| format!("{}: {error}", path.display()))
        };
        let groups: Vec<u64> =
            jobs.iter().filter_map(|tier| tier.cgroup.as_deref()).map(id).collect::<Result<_, _>>()?;
        let callees = Callees::of(&job.tiers);
        let forbidden =
            jobs.iter().zip(0u32..).filter(|(tier, _)| tier.is_built).flat_map(|(tier, number)| {
                job.abort_on.iter().flat_map(move |wait| aborts::forbidden(wait, number, &tier.loop_threads))
            });
        let followed = Followed { groups, ports: callees.ports(), forbidden: forbidden.collect() };
        let mut kernel = Kernel::load(&followed, room)?;
        // Where the clocks can't be had, only waits are sampled.
        _ = kernel.sample_cpus(TICKS_PER_S);
        let cpu_stat = |tier: &TierJob| Reread::open(tier.cgroup.as_ref()?.join("cpu.stat"));
        let facts = |tier: &TierJob| TierFacts {
            name: tier.name.clone(),
            background: tier.background_threads.clone(),
            commits_together: tier.commits_together,
            ..TierFacts::default()
        };
        Ok(Some(Calls {
            kernel,
            groups: jobs.iter().map(cpu_stat).collect(),
            facts: jobs.iter().map(facts).collect(),
            jobs,
            callees,
            room,
            names: HashMap::new(),
            before: Readings::default(),
            read_s: None,
            pause_s: 0.0,
            windows: Windows::new(job.calls == CallCounting::Auto),
            stacks: Stacks::new(),
            may_abort: !followed.forbidden.is_empty(),
        }))
    }

    /// How long until a window opens or closes.
    pub(crate) fn next_turn(&self) -> Option<Duration> {
        self.windows.next_turn()
    }

    /// Opens or closes a window, if it is time.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(crate) fn turn(&mut self) -> Result<(), String> {
        self.windows.turn(&mut self.kernel)
    }

    /// What the sums have grown by at `at_s` seconds of the run; `None` the first time, and when it is too early.
    ///
    /// # Errors
    /// The kernel doesn't let them be read.
    pub(crate) fn sample(&mut self, at_s: f64) -> Result<Option<CallStep>, String> {
        if self.read_s.is_some_and(|read_s| at_s < read_s + self.pause_s) {
            return Ok(None);
        }
        let before_s = thread_cpu_s();
        self.refresh()?;
        // Before the sums: whatever was sampled is in them.
        let samples = (self.kernel.samples(), monotonic_ns());
        let threads = self.kernel.walk()?;
        let now = Readings {
            lived_ns: self.kernel.lived_ns()?,
            cells: self.kernel.cells()?,
            cgroup_cpu_s: self.groups.iter_mut().map(cgroup_cpu_s).collect(),
            calls: self.kernel.calls()?,
            lost: self.kernel.lost()?,
        };
        let last = std::mem::replace(&mut self.before, now);
        let step = match self.read_s.replace(at_s) {
            Some(then_s) if at_s > then_s => Some(self.step(&last, &threads, &samples, (then_s, at_s))?),
            _ => {
                self.windows.spent();
                None
            }
        };
        self.make_room(&last)?;
        // By what each reading costs: getting to know a program's functions would leave a short run without another one.
        let price_s = thread_cpu_s() - before_s - self.stacks.take_once_s();
        // What is due once a second is not late by a hair.
        self.pause_s = (price_s / BUDGET - 0.5).clamp(0.0, 60.0);
        Ok(step)
    }

    /// The process that was ended because it waited where it may not, once; `at_s` is now.
    ///
    /// # Errors
    /// The kernel doesn't let it be read.
    pub(crate) fn aborted(&mut self, at_s: f64) -> Result<Option<Aborted>, String> {
        let first = if self.may_abort { self.kernel.aborted()? } else { None };
        let Some(first) = first else { return Ok(None) };
        self.may_abort = false;
        let roles = self.kernel.roles()?;
        self.find_name(&first.cell);
        let meant =
            self.meaning(&[(first.cell, RawSum::default())], &roles, &HashSet::from([first.cell]), 1.0);
        let ago_s = seconds(monotonic_ns().saturating_sub(first.at_ns));
        Ok(meant.cells.into_values().next().map(|cell| Aborted {
            tier: cell.tier,
            thread: cell.thread,
            call: cell.call,
            object: cell.object,
            at_s: (at_s - ago_s).max(0.0),
            waited_s: seconds(first.ns),
            process: first.process,
            core: Core::default(),
        }))
    }

    /// The figures of a step.
    pub(crate) fn figures(&self, step: &CallStep) -> Vec<Series> {
        let mut points = Points::at(step.at_s);
        let loops = |tier: &str| {
            let job = self.jobs.iter().find(|job| job.name == tier);
            job.map_or_else(signals::Loops::default, |job| signals::Loops {
                are_there: job.event_loop,
                threads: &job.loop_threads,
            })
        };
        signals::add(step, |callee| !self.callees.is_tier(callee), loops, &mut points);
        points.found
    }

    fn refresh(&mut self) -> Result<(), String> {
        let mut mains = Vec::new();
        for (job, facts) in self.jobs.iter().zip(&mut self.facts) {
            let processes = job.cgroup.as_deref().map(cgroup::processes).unwrap_or_default();
            if processes.len() > job.pids.len() {
                mains.extend(&job.pids);
            }
            if facts.images.is_empty() {
                facts.images = job.pids.iter().filter_map(|id| image(*id)).collect();
            }
        }
        self.kernel.set_mains(&mains)
    }

    fn step(
        &mut self,
        last: &Readings,
        threads: &[u64],
        (samples, sampled_ns): &(Vec<RawSample>, u64),
        (then_s, at_s): (f64, f64),
    ) -> Result<CallStep, String> {
        let roles = self.kernel.roles()?;
        let mut grown = growth(&last.cells, &self.before.cells);
        grown.retain(|(raw, _)| (raw.tier as usize) < self.facts.len());
        for (raw, _) in &grown {
            self.find_name(raw);
        }
        let took_s = at_s - then_s;
        let sampled = samples.iter().map(|sample| sample.cell).collect();
        let meant = self.meaning(&grown, &roles, &sampled, took_s);
        let tiers = self.facts.iter().map(|facts| facts.name.as_str()).collect();
        let around = Around { cells: &meant.cells, tiers, now: (*sampled_ns, at_s) };
        let stacks = self.stacks.step(&mut self.kernel, samples, &around)?;
        self.stacks.follow(&mut self.kernel, &meant.waits, (meant.waited_s, took_s))?;
        let lives = self.facts.iter().enumerate().map(|(tier, facts)| {
            let lived_ns = |readings: &Readings| readings.lived_ns.get(tier).copied().unwrap_or(0);
            let cpu_s = |readings: &Readings| readings.cgroup_cpu_s.get(tier).copied().flatten();
            ThreadLives {
                tier: facts.name.clone(),
                threads: threads.get(tier).copied().unwrap_or(0),
                lived_s: seconds(lived_ns(&self.before).saturating_sub(lived_ns(last))),
                cgroup_cpu_s: cpu_s(last).zip(cpu_s(&self.before)).map(|(then_s, now_s)| now_s - then_s),
            }
        });
        let counts = growth(&last.calls, &self.before.calls).into_iter().filter_map(|(raw, sum)| {
            let tier = self.facts.get(raw.tier as usize)?.name.clone();
            let thread = roles.get(&raw.role).map_or_else(|| OTHERS.to_string(), Clone::clone);
            let (call, cpu_s) = (syscall::name(raw.call), seconds(sum.ns));
            Some(CallCount { tier, thread, call, count: sum.count, cpu_s })
        });
        let (lives, counts) = (lives.collect(), counts.collect());
        let (counted_s, cost_s) = self.windows.spent();
        let lost = self.before.lost.minus(last.lost);
        Ok(CallStep {
            at_s,
            took_s,
            counted_s: counted_s.min(took_s),
            lives,
            times: meant.times,
            counts,
            stacks: stacks.times,
            slow: stacks.slow,
            lost,
            cost_s,
        })
    }

    fn meaning(
        &self,
        grown: &[(RawCell, RawSum)],
        roles: &HashMap<u32, String>,
        sampled: &HashSet<RawCell>,
        took_s: f64,
    ) -> Meant {
        let mut meant = Meant::default();
        let mut times: BTreeMap<Cell, RawSum> = BTreeMap::new();
        let (none, no_role) = ((String::new(), String::new()), OTHERS.to_string());
        for (raw, sum) in grown {
            let Some(tier) = self.facts.get(raw.tier as usize) else { continue };
            let thread =
                if raw.role == NO_ROLE { &no_role } else { roles.get(&raw.role).unwrap_or(&no_role) };
            let name = self.names.get(&key(raw)).unwrap_or(&none);
            let several = seconds(sum.ns) > SEVERAL * took_s;
            let cell = Block { raw, tier, thread, name, several }.cell(&self.callees);
            if raw.state == BLOCKED && is_sampled(cell.doing) {
                meant.waits.insert(RawClass::of(raw));
                meant.waited_s += seconds(sum.ns);
            }
            if sampled.contains(raw) {
                meant.cells.insert(*raw, cell.clone());
            }
            merge(times.entry(cell).or_default(), sum);
        }
        meant.times = few_objects(times).into_iter().map(|(cell, sum)| time(cell, &sum)).collect();
        meant
    }

    /// Asks for the name of an object once.
    fn find_name(&mut self, raw: &RawCell) {
        let named = matches!(raw.kind, kind::REGULAR_FILE | kind::PATH | kind::UNIX);
        if !named || self.names.contains_key(&key(raw)) {
            return;
        }
        if self.names.len() >= self.room.names as usize {
            self.names.clear();
        }
        if let Some(name) = self.kernel.name(&key(raw)) {
            self.names.insert(key(raw), name.parts());
        }
    }

    /// A set of many files, each read from the disk once, would fill the table for good.
    fn make_room(&mut self, last: &Readings) -> Result<(), String> {
        if (self.before.cells.len() as f64) < FULL_RATIO * f64::from(self.room.cells) {
            return Ok(());
        }
        let still = |(raw, sum): (&RawCell, &RawSum)| (last.cells.get(raw) == Some(sum)).then_some(*raw);
        let forgotten: Vec<RawCell> = self.before.cells.iter().filter_map(still).collect();
        self.kernel.forget(&forgotten)?;
        forgotten.iter().for_each(|raw| _ = self.before.cells.remove(raw));
        Ok(())
    }
}

/// Mean threads that wait at an address so that it is a place where several do.
const SEVERAL: f64 = 1.2;

fn key(raw: &RawCell) -> NameKey {
    NameKey { kind: u64::from(raw.kind), device: raw.device, object: raw.object }
}

/// What has grown, and by how much; the longest is that of all time, which is the best that is known.
fn growth<K: Copy + Eq + std::hash::Hash>(
    last: &HashMap<K, RawSum>,
    now: &HashMap<K, RawSum>,
) -> Vec<(K, RawSum)> {
    let since = |(key, sum): (&K, &RawSum)| {
        let before = last.get(key).copied().unwrap_or_default();
        let grown = RawSum {
            count: sum.count.saturating_sub(before.count),
            ns: sum.ns.saturating_sub(before.ns),
            max_ns: sum.max_ns,
        };
        (grown.count > 0).then_some((*key, grown))
    };
    now.iter().filter_map(since).collect()
}

fn merge(sum: &mut RawSum, other: &RawSum) {
    sum.count += other.count;
    sum.ns += other.ns;
    sum.max_ns = sum.max_ns.max(other.max_ns);
}

/// Keeps the objects with the most time of each tier apart.
fn few_objects(times: BTreeMap<Cell, RawSum>) -> BTreeMap<Cell, RawSum> {
    let mut longest: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (cell, sum) in times.iter().filter(|(cell, _)| !cell.object.is_empty()) {
        longest.entry(cell.tier.clone()).or_default().push(sum.ns);
    }
    let mut least_ns: BTreeMap<String, u64> = BTreeMap::new();
    for (tier, mut all) in longest {
        if all.len() > MAX_OBJECTS {
            all.sort_unstable_by(|one, other| other.cmp(one));
            least_ns.insert(tier, all[MAX_OBJECTS]);
        }
    }
    let mut few: BTreeMap<Cell, RawSum> = BTreeMap::new();
    for (mut cell, sum) in times {
        let limit = least_ns.get(&cell.tier).copied();
        if !cell.object.is_empty() && limit.is_some_and(|limit| sum.ns <= limit) {
            cell.object = OTHERS.to_string();
        }
        merge(few.entry(cell).or_default(), &sum);
    }
    few
}

fn time(cell: Cell, sum: &RawSum) -> CellTime {
    CellTime { cell, count: sum.count, s: seconds(sum.ns), max_s: seconds(sum.max_ns) }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn cgroup_cpu_s(cpu_stat: &mut Option<Reread>) -> Option<f64> {
    let (user_s, system_s) = cgroup::parse_cpu_stat(cpu_stat.as_mut()?.text()?)?;
    Some(user_s + system_s)
}

/// Tries whether the programs can be loaded here.
///
/// # Errors
/// Why they can't, for people.
pub(crate) fn try_out() -> Result<(), String> {
    Kernel::load(&Followed::default(), Room::TRIED).map(|_| ())
}

#[cfg(test)]
mod tests;

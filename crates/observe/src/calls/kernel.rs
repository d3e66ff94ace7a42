//! The programs in the kernel: loading them, and reading what they have counted.

use std::collections::HashMap;
use std::io::Read;
use std::os::fd::OwnedFd;

use aya::maps::{Array, HashMap as KernelMap, Map, MapData, MapError, PerCpuArray, PerCpuHashMap, RingBuf};
use aya::programs::perf_event::{PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::programs::{BtfTracePoint, Iter, Program};
use aya::sys::{Stats, enable_stats};
use aya::util::online_cpus;
use aya::{Btf, Ebpf, EbpfLoader, include_bytes_aligned};
use model::record::calls::Lost;

use super::aborts::{RawAborted, RawForbidden, RawPrefix};
use super::raw::{MAX_TIERS, NameKey, RawCall, RawCell, RawName, RawSum, STATES, text};
use super::samples::{RawClass, RawSample, drain};
use super::syscall;

/// Built from `bpf/ledger.bpf.c` by `scripts/bpf.sh`.
static OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/ledger.bpf.o"));

/// Programs that are attached as long as the observer lives, each with the point in the kernel that it is called from.
const BLOCKS: [(&str, &str); 7] = [
    ("on_switch", "sched_switch"),
    ("on_waking", "sched_waking"),
    ("on_contention", "contention_begin"),
    ("on_contention_end", "contention_end"),
    ("on_fork", "sched_process_fork"),
    ("on_rename", "task_rename"),
    ("on_exit", "sched_process_exit"),
];

/// Those that are attached in windows.
const CALLS: [(&str, &str); 2] = [("call_enter", "sys_enter"), ("call_exit", "sys_exit")];

/// The one that is attached where waits are forbidden.
const ABORTS: (&str, &str) = ("abort_exit", "sys_exit");

/// The program that is called at ticks of the CPUs' clocks.
const TICK: &str = "on_tick";

/// Rows of the tables that are always the same size. No table is read further than that: the kernel begins anew where a row
/// has gone meanwhile, and would never end.
const MAX_CALLS: usize = 4_096;
const MAX_ROLES: usize = 256;
const MAX_MAINS: usize = 1_024;

/// Room in the kernel's tables, in entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// What a thread does, on what.
    pub(crate) cells: u32,
    /// Names of objects.
    pub(crate) names: u32,
}

impl Room {
    /// What a run gets: 2 MB.
    pub(crate) const OF_RUNS: Room = Room { cells: 16_384, names: 16_384 };
    /// To see whether it works at all.
    pub(crate) const TRIED: Room = Room { cells: 16, names: 16 };
}

/// Whom the programs follow.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The ids of cgroups, a tier each.
    pub(super) groups: Vec<u64>,
    /// The ports that tiers listen on.
    pub(super) ports: Vec<u16>,
    /// Waits for which a process is ended.
    pub(super) forbidden: Vec<(RawForbidden, RawPrefix)>,
}

/// The programs, loaded and attached. The kernel lets go of them when this is dropped, and when its process dies.
pub(super) struct Kernel {
    bpf: Ebpf,
    samples: RingBuf<MapData>,
    room: Room,
    windows: u8,
    window: Vec<(&'static str, BtfTracePointLinkId)>,
}

impl Kernel {
    /// Loads and attaches the programs. Threads that are there already are known when this returns.
    ///
    /// # Errors
    /// Why it can't be done here, for people.
    pub(super) fn load(followed: &Followed, room: Room) -> Result<Kernel, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err("the programs are made for x86-64".to_string());
        }
        let btf = Btf::from_sys_fs().map_err(|error| refused("reading the kernel's types", &error))?;
        let (began_ns, may_abort) = (monotonic_ns(), u8::from(!followed.forbidden.is_empty()));
        let mut bpf = EbpfLoader::new()
            .btf(Some(&btf))
            .allow_unsupported_maps()
            .override_global("began_ns", &began_ns, true)
            .override_global("may_abort", &may_abort, true)
            .map_max_entries("cells", room.cells)
            .map_max_entries("names", room.names)
            .load(OBJECT)
            .map_err(|error| refused("loading the tables", &error))?;
        let ring = bpf.take_map("samples").ok_or("the object has no map samples")?;
        let samples = RingBuf::try_from(ring).map_err(|error| refused("opening the ring", &error))?;
        let mut kernel = Kernel { bpf, samples, room, windows: 0, window: Vec::new() };
        kernel.fill(followed)?;
        let aborts = (may_abort == 1).then_some(ABORTS);
        for (name, point) in BLOCKS.iter().chain(&CALLS).chain(&aborts) {
            let program: &mut BtfTracePoint = kernel.program(name)?;
            program.load(point, &btf).map_err(|error| refused(name, &error))?;
        }
        let walk: &mut Iter = kernel.program("walk")?;
        walk.load("task", &btf).map_err(|error| refused("walk", &error))?;
        let tick: &mut PerfEvent = kernel.program(TICK)?;
        tick.load().map_err(|error| refused(TICK, &error))?;
        for (name, _) in BLOCKS.iter().chain(&aborts) {
            let program: &mut BtfTracePoint = kernel.program(name)?;
            program.attach().map_err(|error| refused(name, &error))?;
        }
        kernel.walk()?;
        Ok(kernel)
    }

    fn fill(&mut self, followed: &Followed) -> Result<(), String> {
        let full = |error: MapError| refused("filling the tables", &error);
        let mut tiers: KernelMap<_, u64, u32> = self.map("tiers")?;
        for (group, number) in followed.groups.iter().zip(0u32..) {
            tiers.insert(group, number, 0).map_err(full)?;
        }
        let mut known: KernelMap<_, u32, u32> = self.map("ports")?;
        for port in &followed.ports {
            known.insert(u32::from(*port), 1, 0).map_err(full)?;
        }
        let mut shapes: Array<_, u32> = self.map("shapes")?;
        for (call, shape) in syscall::shapes() {
            shapes.set(call, shape as u32, 0).map_err(full)?;
        }
        let mut waits: KernelMap<_, RawForbidden, RawPrefix> = self.map("forbidden_waits")?;
        followed.forbidden.iter().try_for_each(|(wait, threads)| waits.insert(wait, threads, 0)).map_err(full)
    }

    /// The first thread that has waited where it may not, once it has.
    pub(super) fn aborted(&mut self) -> Result<Option<RawAborted>, String> {
        let first: Array<_, RawAborted> = self.map("first_aborted")?;
        let first = first.get(&0, 0).map_err(|error| refused("reading what was ended", &error))?;
        // What is known of it is written behind its time.
        Ok((first.at_ns > 0 && first.process > 0).then_some(first))
    }

    /// Says which processes only look after others.
    pub(super) fn set_mains(&mut self, processes: &[u32]) -> Result<(), String> {
        let mut mains: KernelMap<_, u32, u32> = self.map("mains")?;
        let known: Vec<u32> = mains.keys().take(MAX_MAINS).flatten().collect();
        let full = |error: MapError| refused("naming main processes", &error);
        known
            .iter()
            .filter(|one| !processes.contains(one))
            .try_for_each(|one| mains.remove(one).map_err(full))?;
        processes
            .iter()
            .filter(|one| !known.contains(one))
            .try_for_each(|one| mains.insert(one, 1, 0).map_err(full))
    }

    /// Counts what lasts, up to now; gives the number of threads by tier.
    pub(super) fn walk(&mut self) -> Result<Vec<u64>, String> {
        let mut alive: Array<_, u64> = self.map("alive")?;
        let failed = |error: MapError| refused("counting threads", &error);
        (0..MAX_TIERS as u32).try_for_each(|tier| alive.set(tier, 0, 0)).map_err(failed)?;
        let walk: &mut Iter = self.program("walk")?;
        let link =
            walk.attach().and_then(|id| walk.take_link(id)).map_err(|error| refused("walk", &error))?;
        let mut file = link.into_file().map_err(|error| refused("walk", &error))?;
        // It writes nothing; reading to its end is what makes it walk.
        file.read_to_end(&mut Vec::new()).map_err(|error| refused("walk", &error))?;
        let alive: Array<_, u64> = self.map("alive")?;
        (0..MAX_TIERS as u32).map(|tier| alive.get(&tier, 0).map_err(failed)).collect()
    }

    /// Lifetimes in nanoseconds since the programs were loaded, by tier.
    pub(super) fn lived_ns(&mut self) -> Result<Vec<u64>, String> {
        let lived: Array<_, u64> = self.map("lived")?;
        let failed = |error: MapError| refused("reading lifetimes", &error);
        (0..MAX_TIERS as u32).map(|tier| lived.get(&tier, 0).map_err(failed)).collect()
    }

    /// All cells, those of what had no room among them.
    pub(super) fn cells(&mut self) -> Result<HashMap<RawCell, RawSum>, String> {
        let max = self.room.cells as usize;
        let cells: PerCpuHashMap<_, RawCell, RawSum> = self.map("cells")?;
        let mut found: HashMap<RawCell, RawSum> =
            cells.iter().take(max).flatten().map(|(cell, each)| (cell, RawSum::of(&each))).collect();
        let others: PerCpuArray<_, RawSum> = self.map("others")?;
        for index in 0..MAX_TIERS as u32 * STATES {
            let each = others.get(&index, 0).map_err(|error| refused("reading what had no room", &error))?;
            let sum = RawSum::of(&each);
            if sum.count > 0 {
                let state = (index % STATES) as u8;
                let cell = RawCell { tier: index / STATES, state, call: -1, ..RawCell::default() };
                let known = found.entry(cell).or_default();
                *known = RawSum {
                    count: known.count + sum.count,
                    ns: known.ns + sum.ns,
                    max_ns: known.max_ns.max(sum.max_ns),
                };
            }
        }
        Ok(found)
    }

    /// Forgets cells, to make room. What is added to one of them at this very moment is lost.
    pub(super) fn forget(&mut self, cells: &[RawCell]) -> Result<(), String> {
        let mut known: PerCpuHashMap<_, RawCell, RawSum> = self.map("cells")?;
        cells.iter().for_each(|cell| _ = known.remove(cell));
        Ok(())
    }

    /// Calls that were counted in windows, with their CPU time.
    pub(super) fn calls(&mut self) -> Result<HashMap<RawCall, RawSum>, String> {
        let calls: PerCpuHashMap<_, RawCall, RawSum> = self.map("calls")?;
        Ok(calls.iter().take(MAX_CALLS).flatten().map(|(call, each)| (call, RawSum::of(&each))).collect())
    }

    /// The name of an object.
    pub(super) fn name(&mut self, key: &NameKey) -> Option<RawName> {
        let names: KernelMap<_, NameKey, RawName> = self.map("names").ok()?;
        names.get(key, 0).ok()
    }

    /// The names of threads by their number.
    pub(super) fn roles(&mut self) -> Result<HashMap<u32, String>, String> {
        let roles: KernelMap<_, [u8; 16], u32> = self.map("roles")?;
        Ok(roles.iter().take(MAX_ROLES).flatten().map(|(name, role)| (role, text(&name))).collect())
    }

    /// What had no room so far.
    pub(super) fn lost(&mut self) -> Result<Lost, String> {
        let lost: PerCpuArray<_, u64> = self.map("lost")?;
        let of = |index: u32| -> Result<u64, String> {
            let each = lost.get(&index, 0).map_err(|error| refused("reading what was lost", &error))?;
            Ok(each.iter().sum())
        };
        Ok(Lost { cells: of(0)?, threads: of(1)?, calls: of(2)?, names: of(3)?, samples: of(4)? })
    }

    /// Samples what computes on every CPU, so often a second.
    pub(super) fn sample_cpus(&mut self, times_per_s: u64) -> Result<(), String> {
        let cpus = online_cpus().map_err(|(_, error)| refused("finding the CPUs", &error))?;
        let tick: &mut PerfEvent = self.program(TICK)?;
        let mut attached = Vec::new();
        for cpu in cpus {
            let clock = PerfEventConfig::Software(SoftwareEvent::CpuClock);
            let scope = PerfEventScope::AllProcessesOneCpu { cpu };
            match tick.attach(clock, scope, SamplePolicy::Frequency(times_per_s), false) {
                Ok(link) => attached.push(link),
                Err(error) => {
                    // Of some CPUs alone the sums would be too small.
                    attached.into_iter().for_each(|link| _ = tick.detach(link));
                    return Err(refused(TICK, &error));
                }
            }
        }
        Ok(())
    }

    /// Has the waits of a class sampled; one is long from `long_ns` on.
    pub(super) fn watch(&mut self, class: &RawClass, long_ns: u64) -> Result<(), String> {
        let mut watched: KernelMap<_, RawClass, u64> = self.map("watched")?;
        watched.insert(class, long_ns, 0).map_err(|error| refused("choosing what is sampled", &error))
    }

    /// Samples them no more.
    pub(super) fn unwatch(&mut self, class: &RawClass) -> Result<(), String> {
        let mut watched: KernelMap<_, RawClass, u64> = self.map("watched")?;
        watched.remove(class).map_err(|error| refused("choosing what is sampled", &error))
    }

    /// Draws a wait for each `quantum_ns` of waiting.
    pub(super) fn set_quantum(&mut self, quantum_ns: u64) -> Result<(), String> {
        let mut quantum: Array<_, u64> = self.map("quantum")?;
        quantum.set(0, quantum_ns, 0).map_err(|error| refused("setting the quantum", &error))
    }

    /// What was sampled since the last call.
    pub(super) fn samples(&mut self) -> Vec<RawSample> {
        drain(&mut self.samples)
    }

    /// Begins to count calls.
    pub(super) fn open_window(&mut self) -> Result<(), String> {
        self.windows = self.windows.wrapping_add(1);
        let number = self.windows;
        let mut window: Array<_, u8> = self.map("window")?;
        window.set(0, number, 0).map_err(|error| refused("numbering a window", &error))?;
        for (name, _) in CALLS {
            let program: &mut BtfTracePoint = self.program(name)?;
            let link = program.attach().map_err(|error| refused(name, &error))?;
            self.window.push((name, link));
        }
        Ok(())
    }

    /// Ends that.
    pub(super) fn close_window(&mut self) -> Result<(), String> {
        for (name, link) in std::mem::take(&mut self.window) {
            let program: &mut BtfTracePoint = self.program(name)?;
            program.detach(link).map_err(|error| refused(name, &error))?;
        }
        Ok(())
    }

    /// The kernel measures how long programs run as long as this is kept; `None` where it can't.
    pub(super) fn measure() -> Option<OwnedFd> {
        enable_stats(Stats::RunTime).ok()
    }

    /// Seconds that the programs of blocks and those of calls have run while it was measured.
    pub(super) fn run_s(&self) -> (f64, f64) {
        let run_s = |(name, _): &(&str, &str)| {
            let info = self.bpf.program(name).and_then(|program| program.info().ok());
            info.map_or(0.0, |info| info.run_time().as_secs_f64())
        };
        (BLOCKS.iter().chain([&(TICK, "")]).map(run_s).sum(), CALLS.iter().map(run_s).sum())
    }

    /// The kernel's numbers of the programs.
    #[cfg(test)]
    pub(super) fn program_ids(&self) -> Vec<u32> {
        self.bpf.programs().filter_map(|(_, program)| program.info().ok()).map(|info| info.id()).collect()
    }

    fn map<'a, M>(&'a mut self, name: &str) -> Result<M, String>
    where
        M: TryFrom<&'a mut Map, Error = MapError>,
    {
        let map = self.bpf.map_mut(name).ok_or_else(|| format!("the object has no map {name}"))?;
        M::try_from(map).map_err(|error| refused(name, &error))
    }

    fn program<'a, P>(&'a mut self, name: &str) -> Result<&'a mut P, String>
    where
        &'a mut P: TryFrom<&'a mut Program, Error = aya::programs::ProgramError>,
    {
        let program =
            self.bpf.program_mut(name).ok_or_else(|| format!("the object has no program {name}"))?;
        program.try_into().map_err(|error| refused(name, &error))
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Kernel").field("room", &self.room).finish_non_exhaustive()
    }
}

/// An error with what lies behind it, which the library keeps apart; of the kernel's own protocol of a program the last
/// line.
fn refused(doing: &str, error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = format!("{doing}: {error}");
    let mut source = error.source();
    while let Some(inner) = source {
        said = format!("{said}: {inner}");
        source = inner.source();
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.as_slice() {
        [] | [_] => said,
        [first, .., last] => format!("{first} … {last}"),
    }
}

/// What `bpf_ktime_get_ns` counts.
pub(super) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

//! What is sampled, and what samples come to: time by stack, and the waits that were long.
//!
//! Of the waits that somebody's request may be in some are drawn, in proportion to their length
//! (`bpf/samples.h`); the quantum follows the load, so that there are about as many each second. A wait longer than the
//! limit of its class is sampled as well; the limit follows what came, so that a few of each class come each second.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::record::calls::Cell;
use model::record::diagnosis::Doing;
use model::record::stacks::{SlowWait, Stack, StackTime, Waker};

use super::kernel::Kernel;
use super::raw::{BLOCKED, RawCell};
use super::samples::{RawClass, RawSample};
use super::symbols::{KernelFunctions, Programs};
use super::syscall;

/// Waits that are drawn a second.
const DRAWN_PER_S: f64 = 100.0;
/// The quantum is at least this: below it a wait is too short for its stack to matter.
const MIN_QUANTUM_NS: f64 = 1e6;
/// A wait is long from this on at the earliest.
const MIN_LONG_NS: u64 = 1_000_000;
/// Long waits of a class that are sampled from one reading to the next, about: mostly a second.
const LONG_PER_STEP: usize = 10;
/// Of these the longest that are kept.
const KEPT_PER_STEP: usize = 3;
/// By how much a limit falls when few waits were above it.
const FALL: f64 = 0.7;
/// Classes that are told apart; the kernel's table has some more room.
const MAX_CLASSES: usize = 4_000;
/// Long waits of all classes together that are kept of a reading.
const MAX_SLOW: usize = 40;
/// Ticks a second of each CPU's clock at which what computes is sampled: none of the rhythms of servers.
pub(super) const TICKS_PER_S: u64 = 99;

/// What threads waited for and computed, by stack.
#[derive(Debug)]
pub(super) struct Stacks {
    kernel: KernelFunctions,
    programs: Programs,
    /// The limit from which on a wait of each class is long.
    limits_ns: HashMap<RawClass, u64>,
    /// The quantum, and how many waits were drawn with it up to the last reading.
    quantum_ns: f64,
    drawn: usize,
}

/// The samples of a step with what is known of them.
#[derive(Debug, Default)]
pub(super) struct Sampled {
    /// Time by stack.
    pub(super) times: Vec<StackTime>,
    /// Waits that were long.
    pub(super) slow: Vec<SlowWait>,
}

/// What else has to be known of a sample.
pub(super) struct Around<'a> {
    /// What the cells of the samples mean.
    pub(super) cells: &'a HashMap<RawCell, Cell>,
    /// The tiers' names by their numbers.
    pub(super) tiers: Vec<&'a str>,
    /// Now, by the kernel's clock and in seconds of the run.
    pub(super) now: (u64, f64),
}

impl Stacks {
    /// Nothing is sampled yet.
    pub(super) fn new() -> Stacks {
        Stacks {
            kernel: KernelFunctions::read(),
            programs: Programs::default(),
            limits_ns: HashMap::new(),
            quantum_ns: MIN_QUANTUM_NS,
            drawn: 0,
        }
    }

    /// Has the waits sampled whose `doing` may be a request's, and draws as many of them as it should: in `took_s` seconds they
    /// took `waited_s`.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(super) fn follow(
        &mut self,
        kernel: &mut Kernel,
        waits: &HashSet<RawClass>,
        (waited_s, took_s): (f64, f64),
    ) -> Result<(), String> {
        // An address in memory that nobody waits at any more is one of a process that has ended, as a rule.
        if self.limits_ns.len() + waits.len() > MAX_CLASSES {
            for class in self.limits_ns.keys().filter(|class| !waits.contains(class)) {
                kernel.unwatch(class)?;
            }
            self.limits_ns.retain(|class, _| waits.contains(class));
        }
        for class in waits {
            if self.limits_ns.len() < MAX_CLASSES && !self.limits_ns.contains_key(class) {
                self.limits_ns.insert(*class, MIN_LONG_NS);
                kernel.watch(class, MIN_LONG_NS)?;
            }
        }
        // By what waits came to, and not below what would draw far more than it should with what came last.
        let each_ns = waited_s / took_s.max(1e-3) / DRAWN_PER_S * 1e9;
        let drawn_per_s = self.drawn as f64 / took_s.max(1e-3);
        let least_ns = self.quantum_ns * drawn_per_s / DRAWN_PER_S / 2.0;
        self.quantum_ns = each_ns.max(least_ns).max(MIN_QUANTUM_NS);
        kernel.set_quantum(self.quantum_ns as u64)
    }

    /// What `samples` come to.
    ///
    /// # Errors
    /// The kernel doesn't take new limits.
    pub(super) fn step(
        &mut self,
        kernel: &mut Kernel,
        samples: &[RawSample],
        around: &Around<'_>,
    ) -> Result<Sampled, String> {
        let mut times: BTreeMap<Stack, (f64, u64)> = BTreeMap::new();
        let mut long: HashMap<RawClass, Vec<&RawSample>> = HashMap::new();
        for sample in samples {
            let waits = sample.cell.state == BLOCKED;
            // Also of those that turn out to be no request's: what is sampled too often is sampled less then.
            if waits {
                long.entry(RawClass::of(&sample.cell)).or_default().push(sample);
            }
            let Some(cell) = around.cells.get(&sample.cell) else { continue };
            let weight_s = if waits { sample.weight_ns as f64 / 1e9 } else { 1.0 / TICKS_PER_S as f64 };
            if waits && !is_sampled(cell.doing) {
                continue;
            }
            if weight_s > 0.0 {
                let time = times.entry(self.stack(sample, general(cell), around)).or_default();
                *time = (time.0 + weight_s, time.1 + 1);
            }
        }
        self.drawn = samples.iter().filter(|sample| sample.weight_ns > 0).count();
        self.follow_limits(kernel, &mut long)?;
        let mut slow = Vec::new();
        let is_slow = |sample: &&&RawSample| {
            let doing = around.cells.get(&sample.cell).map(|cell| cell.doing);
            sample.ns >= MIN_LONG_NS && doing.is_some_and(is_sampled)
        };
        for sample in long.values().flat_map(|all| all.iter().filter(is_slow).take(KEPT_PER_STEP)) {
            if let Some(cell) = around.cells.get(&sample.cell) {
                let before_s = around.now.0.saturating_sub(sample.at_ns) as f64 / 1e9;
                let stack = self.stack(sample, cell.clone(), around);
                slow.push(SlowWait { stack, at_s: around.now.1 - before_s, s: sample.ns as f64 / 1e9 });
            }
        }
        slow.sort_by(|one: &SlowWait, other| other.s.total_cmp(&one.s));
        slow.truncate(MAX_SLOW);
        let times = times.into_iter().map(|(stack, (s, samples))| StackTime { stack, s, samples });
        Ok(Sampled { times: times.collect(), slow })
    }

    /// Raises the limit of a class that many long waits came of to the length of the last that is wanted, lowers that of one
    /// with few. The waits of each are the longest first then.
    fn follow_limits(
        &mut self,
        kernel: &mut Kernel,
        long: &mut HashMap<RawClass, Vec<&RawSample>>,
    ) -> Result<(), String> {
        for (class, limit_ns) in &mut self.limits_ns {
            let mut lengths = Vec::new();
            if let Some(waits) = long.get_mut(class) {
                waits.sort_by_key(|wait| std::cmp::Reverse(wait.ns));
                lengths = waits.iter().map(|wait| wait.ns).collect();
            }
            let next_ns = next_limit_ns(*limit_ns, &lengths);
            if next_ns != *limit_ns {
                *limit_ns = next_ns;
                kernel.watch(class, next_ns)?;
            }
        }
        Ok(())
    }

    /// CPU seconds since the last call that will not be spent again: programs' files are read once.
    pub(super) fn take_once_s(&mut self) -> f64 {
        self.programs.take_reading_s()
    }

    fn stack(&mut self, sample: &RawSample, cell: Cell, around: &Around<'_>) -> Stack {
        let frames = if sample.address > 0 {
            self.programs.frames(sample.process, sample.address)
        } else {
            self.kernel.frames(sample.frames())
        };
        let woken_by = (sample.cell.state == BLOCKED).then(|| waker(sample, &around.tiers));
        Stack { cell, frames, woken_by }
    }
}

/// Whether a wait is one that a request may be in.
pub(super) fn is_sampled(doing: Doing) -> bool {
    match doing {
        Doing::WaitingForLock | Doing::WaitingForDisk | Doing::WaitingForCallee => true,
        Doing::Sleeping | Doing::Queued | Doing::Other => true,
        Doing::Idle | Doing::WaitingForClient | Doing::Running | Doing::WaitingForCpu => false,
    }
}

/// The limit after a step in which waits of these lengths were sampled, the longest first.
fn next_limit_ns(limit_ns: u64, lengths: &[u64]) -> u64 {
    match lengths.get(LONG_PER_STEP) {
        Some(enough) => limit_ns.max(*enough),
        None => ((limit_ns as f64 * FALL) as u64).max(MIN_LONG_NS),
    }
}

/// Of files one is as good as another when time is added up by stack; whom a thread waits for is not.
fn general(cell: &Cell) -> Cell {
    let apart = matches!(cell.doing, Doing::WaitingForCallee | Doing::WaitingForLock);
    Cell { object: if apart { cell.object.clone() } else { String::new() }, ..cell.clone() }
}

/// The call of a thread that was interrupted in its own program; one of the kernel's has another one below 0.
const NO_CALL: i32 = -1;
/// The idle task's name in the kernel: an interrupt came while there was nothing to do.
const IDLE_TASK: &str = "swapper";

fn waker(sample: &RawSample, tiers: &[&str]) -> Waker {
    let name = sample.waker();
    let tier = sample.waker_tier().and_then(|tier| tiers.get(tier)).map_or("", |tier| tier);
    if name.starts_with(IDLE_TASK) || sample.waker_call == NO_CALL {
        return Waker::default();
    }
    let call = if sample.waker_call < 0 { String::new() } else { syscall::name(sample.waker_call) };
    // Kernel threads have a number each.
    let thread =
        if tier.is_empty() { name.split(['/', ':']).next().unwrap_or_default().to_string() } else { name };
    Waker { tier: tier.to_string(), thread, call }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_rises_to_what_is_wanted_at_once_and_falls_little_by_little() {
        let many: Vec<u64> = (1..=30).rev().map(|ms| ms * 1_000_000).collect();
        assert_eq!(next_limit_ns(MIN_LONG_NS, &many), 20_000_000, "ten are longer");
        assert_eq!(next_limit_ns(20_000_000, &many[..5]), 14_000_000);
        assert_eq!(next_limit_ns(1_200_000, &[]), MIN_LONG_NS);
        // Those that were drawn are among them, and may be shorter than the limit.
        let drawn: Vec<u64> = vec![500_000; 30];
        assert_eq!(next_limit_ns(20_000_000, &drawn), 20_000_000);
    }

    #[test]
    fn a_stack_has_its_callee_and_its_lock_but_not_each_file() {
        let cell = |doing, object: &str| Cell {
            tier: "web".to_string(),
            thread: "nginx".to_string(),
            doing,
            call: "read".to_string(),
            object: object.to_string(),
            kernel_lock: false,
        };
        assert_eq!(general(&cell(Doing::WaitingForDisk, "images/1.jpg")).object, "");
        assert_eq!(general(&cell(Doing::WaitingForCallee, "db")).object, "db");
    }
}

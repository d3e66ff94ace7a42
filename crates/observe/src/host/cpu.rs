//! All CPUs of the machine and the tasks on them, from `/proc/stat` (proc(5)).

use model::{Signal, signals};

use super::number::number;
use crate::points::Points;
use crate::process::ticks_per_s;
use crate::rates::Rates;
use crate::reread::Reread;

signals! {
    BUSY = Signal::of_machine("cpu.busy_cores", "cores", "CPU used by all");
    FOREIGN = Signal::of_machine(
        "cpu.foreign_cores", "cores", "CPU used by neither tiers nor generator nor observers nor viewer"
    );
    USER = Signal::of_machine("cpu.user_cores", "cores", "CPU used outside the kernel");
    SYSTEM = Signal::of_machine("cpu.system_cores", "cores", "CPU used in the kernel");
    IRQ = Signal::of_machine("cpu.irq_cores", "cores", "CPU used for interrupts");
    SOFTIRQ = Signal::of_machine("cpu.softirq_cores", "cores", "CPU used for network and timers");
    IOWAIT = Signal::of_machine("cpu.iowait_cores", "cores", "CPUs idle while a disk was waited for");
    STEAL = Signal::of_machine("cpu.steal_ratio", "ratio", "CPU time taken by the hypervisor");
    ONE_BUSY = Signal::of_machine(
        "cpuN.busy_ratio", "ratio", "share of the time in which that CPU was busy"
    );
    ONE_SOFTIRQ = Signal::of_machine(
        "cpuN.softirq_ratio", "ratio", "that CPU's time for network and timers"
    );
    pub(super) STACK_BUSY = Signal::of_machine(
        "stack.busy_ratio", "ratio", "how busy the stack's CPUs were, whoever used them"
    )
    .shown_first();
    RUN_QUEUE = Signal::of_machine("run_queue.tasks", "tasks", "tasks running or ready to run").shown_first();
    SWITCHES = Signal::of_machine("switches.per_s", "1/s", "context switches");
    FORKS = Signal::of_machine("forks.per_s", "1/s", "processes and threads begun");
}

pub(super) const FILE: &str = "/proc/stat";

/// Beyond this many, the shares of each single CPU are left out: they would be most of the data.
const MAX_CPUS_SHOWN: usize = 32;

/// Reads the CPUs.
#[derive(Debug)]
pub(super) struct Cpu {
    file: Reread,
    ticks_per_s: f64,
    /// CPUs that the tiers may use; all when empty.
    stack: Vec<usize>,
    last: Option<(f64, Stat)>,
    rates: Rates,
}

/// Seconds that a CPU, or all of them together, have spent since the machine started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CpuTimes {
    /// In user mode, nice and guests included.
    user_s: f64,
    /// In the kernel, without interrupts.
    system_s: f64,
    irq_s: f64,
    softirq_s: f64,
    idle_s: f64,
    /// Doing nothing while a disk was waited for.
    iowait_s: f64,
    /// Ready to run while the hypervisor ran something else.
    pub(super) steal_s: f64,
}

impl CpuTimes {
    fn busy_s(&self) -> f64 {
        self.user_s + self.system_s + self.irq_s + self.softirq_s
    }

    pub(super) fn total_s(&self) -> f64 {
        self.busy_s() + self.idle_s + self.iowait_s + self.steal_s
    }

    /// What was spent since `earlier`. Idle is known to go back on some kernels.
    fn since(&self, earlier: &CpuTimes) -> CpuTimes {
        let less = |now: f64, then: f64| (now - then).max(0.0);
        CpuTimes {
            user_s: less(self.user_s, earlier.user_s),
            system_s: less(self.system_s, earlier.system_s),
            irq_s: less(self.irq_s, earlier.irq_s),
            softirq_s: less(self.softirq_s, earlier.softirq_s),
            idle_s: less(self.idle_s, earlier.idle_s),
            iowait_s: less(self.iowait_s, earlier.iowait_s),
            steal_s: less(self.steal_s, earlier.steal_s),
        }
    }
}

/// The file at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Stat {
    all: CpuTimes,
    /// Each by its number; one that is offline is missing.
    each: Vec<(usize, CpuTimes)>,
    switches: Option<f64>,
    forks: Option<f64>,
    running: Option<f64>,
}

impl Cpu {
    pub(super) fn open(stack: &[usize]) -> Option<Cpu> {
        let file = Reread::open(FILE)?;
        let (stack, rates) = (stack.to_vec(), Rates::default());
        Some(Cpu { file, ticks_per_s: ticks_per_s(), stack, last: None, rates })
    }

    /// Adds what is seen now. `known_cores` is what tiers, generator and observers used since the last sample.
    pub(super) fn sample(&mut self, known_cores: f64, points: &mut Points) {
        let Some(now) = self.file.text().and_then(|text| parse(text, self.ticks_per_s)) else { return };
        points.add_known(&RUN_QUEUE, None, now.running);
        self.rates.add(&SWITCHES, now.switches, points);
        self.rates.add(&FORKS, now.forks, points);
        if let Some((last_s, last)) = &self.last {
            shares(last, &now, known_cores, points);
            kinds(last, &now, points.at_s() - last_s, points);
            self.stack_busy(last, &now, points.at_s() - last_s, points);
        }
        self.last = Some((points.at_s(), now));
    }

    /// The number of CPUs, as of the last sample.
    pub(super) fn number(&self) -> usize {
        self.last.as_ref().map_or(0, |(_, last)| last.each.len())
    }

    fn stack_busy(&self, last: &Stat, now: &Stat, elapsed_s: f64, points: &mut Points) {
        let ours = |number: usize| self.stack.is_empty() || self.stack.contains(&number);
        let spent = spent(last, now).filter(|(number, _)| ours(*number));
        let busy: Vec<f64> = spent.map(|(_, spent)| spent.busy_s() / elapsed_s).collect();
        if !busy.is_empty() {
            let ratio = busy.iter().sum::<f64>() / busy.len() as f64;
            points.add(&STACK_BUSY, None, ratio.min(1.0));
        }
    }
}

/// What each CPU that was there both times spent in between.
pub(super) fn spent(last: &Stat, now: &Stat) -> impl Iterator<Item = (usize, CpuTimes)> {
    now.each.iter().filter_map(|(number, times)| {
        let (_, earlier) = last.each.iter().find(|(other, _)| other == number)?;
        Some((*number, times.since(earlier)))
    })
}

/// The CPUs' own clock ticks are the measure of their time, so that a late reading spoils no share.
fn shares(last: &Stat, now: &Stat, known_cores: f64, points: &mut Points) {
    let all = now.all.since(&last.all);
    let (total_s, cpus) = (all.total_s(), now.each.len());
    if total_s <= 0.0 || cpus == 0 {
        return;
    }
    let busy_cores = all.busy_s() / total_s * cpus as f64;
    points.add(&BUSY, None, busy_cores);
    points.add(&FOREIGN, None, (busy_cores - known_cores).max(0.0));
    points.add(&STEAL, None, all.steal_s / total_s);
    for (number, spent) in spent(last, now).filter(|_| cpus <= MAX_CPUS_SHOWN) {
        if spent.total_s() > 0.0 {
            points.add_numbered(&ONE_BUSY, None, number, spent.busy_s() / spent.total_s());
        }
    }
}

/// What the CPUs were used for, in CPUs.
fn kinds(last: &Stat, now: &Stat, elapsed_s: f64, points: &mut Points) {
    let all = now.all.since(&last.all);
    let kinds = [
        (&USER, all.user_s),
        (&SYSTEM, all.system_s),
        (&IRQ, all.irq_s),
        (&SOFTIRQ, all.softirq_s),
        (&IOWAIT, all.iowait_s),
    ];
    kinds.into_iter().for_each(|(signal, spent_s)| points.add(signal, None, spent_s / elapsed_s));
    for (number, spent) in spent(last, now).filter(|_| now.each.len() <= MAX_CPUS_SHOWN) {
        points.add_numbered(&ONE_SOFTIRQ, None, number, (spent.softirq_s / elapsed_s).min(1.0));
    }
}

pub(super) fn parse(text: &str, ticks_per_s: f64) -> Option<Stat> {
    let mut stat = Stat::default();
    let mut has_all = false;
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(' ') else { continue };
        match (name, name.strip_prefix("cpu")) {
            ("ctxt", _) => stat.switches = number(Some(rest)),
            ("processes", _) => stat.forks = number(Some(rest)),
            ("procs_running", _) => stat.running = number(Some(rest)),
            (_, Some("")) => (stat.all, has_all) = (parse_times(rest, ticks_per_s)?, true),
            (_, Some(number)) => stat.each.push((number.parse().ok()?, parse_times(rest, ticks_per_s)?)),
            _ => {}
        }
    }
    has_all.then_some(stat)
}

/// `user nice system idle iowait irq softirq steal guest guest_nice`; user and nice contain the guests.
fn parse_times(text: &str, ticks_per_s: f64) -> Option<CpuTimes> {
    let ticks: Vec<f64> = text
        .split_ascii_whitespace()
        .map_while(|field| field.parse::<u64>().ok())
        .map(|ticks| ticks as f64)
        .collect();
    let s = |index: usize| ticks.get(index).copied().unwrap_or(0.0) / ticks_per_s;
    (ticks.len() >= 4).then(|| CpuTimes {
        user_s: s(0) + s(1),
        system_s: s(2),
        idle_s: s(3),
        iowait_s: s(4),
        irq_s: s(5),
        softirq_s: s(6),
        steal_s: s(7),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "\
cpu  300 20 100 1000 50 5 25 30 40 0
cpu0 200 10 60 400 20 5 20 20 40 0
cpu3 100 10 40 600 30 0 5 10 0 0
intr 12345 0 0
ctxt 99
processes 7
procs_running 3
";

    #[test]
    fn times_are_seconds_and_guests_are_not_counted_twice() {
        let stat = parse(STAT, 100.0).expect("a right text");
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(close(stat.all.busy_s(), 4.5) && close(stat.all.steal_s, 0.3), "{stat:?}");
        assert!(close(stat.all.total_s(), 15.3), "{stat:?}");
        assert_eq!(stat.each.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 3]);
        assert_eq!((stat.switches, stat.forks, stat.running), (Some(99.0), Some(7.0), Some(3.0)));
    }

    #[test]
    fn what_was_spent_is_never_negative() {
        let all = parse(STAT, 100.0).expect("a right text").all;
        assert_eq!(CpuTimes::default().since(&all), CpuTimes::default());
        assert_eq!(all.since(&CpuTimes::default()), all);
    }

    #[test]
    fn a_text_without_cpus_is_no_sample() {
        assert_eq!(parse("intr 1 2 3\n", 100.0), None);
        assert_eq!(parse("cpu  1 2\n", 100.0), None);
    }

    #[test]
    fn foreign_cores_are_what_is_busy_beyond_tiers_and_generator() {
        let times = |user_s, idle_s, steal_s| CpuTimes { user_s, idle_s, steal_s, ..CpuTimes::default() };
        let none = CpuTimes::default();
        let last = Stat { each: vec![(0, none), (1, none)], ..Stat::default() };
        let each = vec![(0, times(1.0, 0.0, 0.0)), (1, times(0.5, 0.4, 0.1))];
        let now = Stat { all: times(1.5, 0.4, 0.1), each, ..Stat::default() };
        let mut points = Points::at(1.0);
        shares(&last, &now, 0.6, &mut points);
        let found = |name: &str| points.found.iter().find(|one| one.name == name).map(|one| one.points[0].1);
        let close = |name, expected: f64| {
            assert!(found(name).is_some_and(|found| (found - expected).abs() < 1e-9), "{name}: {points:?}");
        };
        close("cpu.busy_cores", 1.5);
        close("cpu.foreign_cores", 0.9);
        close("cpu.steal_ratio", 0.05);
        close("cpu0.busy_ratio", 1.0);
    }
}

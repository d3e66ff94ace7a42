//! The ledger of calls: what the kernel counted over the steady state, in tables by tier.
//!
//! A mean of `n` threads that wait for something, with `x` operations completed per second, is `n / x` seconds of a mean
//! operation (Little, *Operations Research* 9, 1961).

use std::collections::{BTreeMap, BTreeSet};

use model::record::calls::{
    CallLedger, CallRow, CallStep, Cell, CellTime, DoingThreads, Lost, TierCalls, WaitEdge,
};
use model::record::diagnosis::Doing;

use crate::stacks::StackSums;
use crate::steady::Steady;

/// Rows of blocks in a tier's table; the last is of all others.
const MAX_ROWS: usize = 16;
/// Rows of calls that hardly ever block, by their CPU time.
const MAX_COUNTED_ROWS: usize = 8;

/// Sums of a run's steps, which are taken one after the other.
#[derive(Debug)]
pub struct CallSums {
    span_s: (f64, f64),
    length_s: f64,
    counted_s: f64,
    lost: Lost,
    changes: u64,
    cost_s: Option<f64>,
    tiers: BTreeMap<String, TierSums>,
    stacks: StackSums,
}

#[derive(Debug, Default)]
struct TierSums {
    lived_s: f64,
    thread_s: f64,
    /// With which objects each kind of block was, and how long.
    blocks: BTreeMap<Cell, BTreeMap<String, Sum>>,
    doing: BTreeMap<Doing, f64>,
    /// Calls and their CPU time, by the threads' name and the call.
    counts: BTreeMap<(String, String), (u64, f64)>,
    /// CPU seconds of the time in which calls were counted, taken as the same part of each step's.
    counted_running_s: f64,
    /// CPU seconds as counted and as the tier's cgroup says, of the steps that have both.
    both_cpu_s: Option<(f64, f64)>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    count: u64,
    s: f64,
    max_s: f64,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.count += other.count;
        self.s += other.s;
        self.max_s = self.max_s.max(other.max_s);
    }
}

/// What the machine tells of the same time.
#[derive(Debug, Clone, Copy)]
pub struct CallsBeside {
    /// Operations completed in the steady state.
    pub completed: u64,
    /// The machine's CPUs.
    pub cpus: usize,
}

impl CallSums {
    /// No step yet of `steady`.
    pub fn of(steady: &Steady) -> CallSums {
        CallSums {
            span_s: steady.span_s(),
            length_s: 0.0,
            counted_s: 0.0,
            lost: Lost::default(),
            changes: 0,
            cost_s: None,
            tiers: BTreeMap::new(),
            stacks: StackSums::default(),
        }
    }

    /// Takes a step, if the larger part of it lies in the steady state: counts can't be divided.
    pub fn add(&mut self, step: &CallStep) {
        let middle_s = step.at_s - step.took_s / 2.0;
        if !(self.span_s.0..self.span_s.1).contains(&middle_s) {
            return;
        }
        self.length_s += step.took_s;
        self.counted_s += step.counted_s;
        self.lost = self.lost.plus(step.lost);
        self.stacks.add(step);
        if let Some(cost_s) = step.cost_s {
            *self.cost_s.get_or_insert(0.0) += cost_s;
        }
        for lives in &step.lives {
            let tier = self.tiers.entry(lives.tier.clone()).or_default();
            tier.lived_s += lives.lived_s;
            tier.thread_s += lives.threads as f64 * step.took_s;
            if let Some(cpu_s) = lives.cgroup_cpu_s {
                let both = tier.both_cpu_s.get_or_insert((0.0, 0.0));
                *both = (both.0 + running_s(step, &lives.tier), both.1 + cpu_s);
            }
        }
        for count in &step.counts {
            let tier = self.tiers.entry(count.tier.clone()).or_default();
            let known = tier.counts.entry((count.thread.clone(), count.call.clone())).or_default();
            *known = (known.0 + count.count, known.1 + count.cpu_s);
        }
        for time in &step.times {
            self.changes += time.count;
            let tier = self.tiers.entry(time.cell.tier.clone()).or_default();
            tier.add(time);
            if time.cell.doing == Doing::Running && step.took_s > 0.0 {
                tier.counted_running_s += time.s * step.counted_s / step.took_s;
            }
        }
    }

    /// The ledger; absent where the kernel counted nothing.
    pub fn ledger(self, beside: CallsBeside) -> Option<CallLedger> {
        let length_s = self.length_s;
        if length_s <= 0.0 || self.tiers.is_empty() {
            return None;
        }
        // Of the time in which was counted: the first seconds may be missing.
        let steady_s = self.span_s.1 - self.span_s.0;
        let completed = beside.completed as f64 * length_s / steady_s;
        let waits = self.tiers.iter().flat_map(|(name, tier)| tier.waits(name, length_s, completed));
        let tables = self.tiers.iter().map(|(name, tier)| tier.table(name, length_s, self.counted_s));
        Some(CallLedger {
            length_s,
            counted_ratio: (self.counted_s / length_s).min(1.0),
            waits: waits.collect(),
            tiers: tables.collect(),
            stacks: self.stacks.times(),
            wakes: self.stacks.wakes(length_s),
            slow: self.stacks.slow(),
            lost: self.lost,
            changes: self.changes,
            cost_ratio: self.cost_s.map(|cost_s| cost_s / length_s / beside.cpus.max(1) as f64),
        })
    }
}

impl TierSums {
    fn add(&mut self, time: &CellTime) {
        let Cell { doing, .. } = time.cell;
        *self.doing.entry(doing).or_default() += time.s;
        if time.cell.call.is_empty() {
            return;
        }
        // Whom a thread waits for is told apart; of files and the like the one with the most time stands for all.
        let apart = matches!(doing, Doing::WaitingForCallee | Doing::WaitingForClient);
        let object = if apart { time.cell.object.clone() } else { String::new() };
        let kind = Cell { object, ..time.cell.clone() };
        let sum = Sum { count: time.count, s: time.s, max_s: time.max_s };
        self.blocks.entry(kind).or_default().entry(time.cell.object.clone()).or_default().add(sum);
    }

    fn waits(&self, from: &str, length_s: f64, completed: f64) -> Vec<WaitEdge> {
        let mut edges: BTreeMap<&str, Sum> = BTreeMap::new();
        for (kind, objects) in self.blocks.iter().filter(|(kind, _)| kind.doing == Doing::WaitingForCallee) {
            objects.values().for_each(|sum| edges.entry(&kind.object).or_default().add(*sum));
        }
        let edge = |(to, sum): (&str, Sum)| WaitEdge {
            from: from.to_string(),
            to: to.to_string(),
            threads: sum.s / length_s,
            s_per_operation: (completed > 0.0).then(|| sum.s / completed),
            blocks_per_s: sum.count as f64 / length_s,
        };
        edges.into_iter().map(edge).collect()
    }

    fn table(&self, tier: &str, length_s: f64, counted_s: f64) -> TierCalls {
        let mut doing: Vec<DoingThreads> = self
            .doing
            .iter()
            .map(|(doing, s)| DoingThreads { doing: *doing, threads: s / length_s })
            .collect();
        doing.sort_by(|one, other| other.threads.total_cmp(&one.threads));
        let all_s: f64 = self.doing.values().sum();
        TierCalls {
            tier: tier.to_string(),
            threads: self.thread_s / length_s,
            doing,
            closes_ratio: if self.lived_s > 0.0 { all_s / self.lived_s } else { 1.0 },
            kernel_ratio: self.kernel_ratio(),
            cpu_agrees_ratio: self.both_cpu_s.filter(|both| both.1 > 0.0).map(|both| both.0 / both.1),
            rows: self.rows(counted_s),
        }
    }

    /// How much of the threads' CPU time went into calls of the kernel.
    fn kernel_ratio(&self) -> Option<f64> {
        let in_calls_s: f64 = self.counts.values().map(|(_, cpu_s)| cpu_s).sum();
        (self.counted_running_s > 0.0).then(|| (in_calls_s / self.counted_running_s).min(1.0))
    }

    fn rows(&self, counted_s: f64) -> Vec<CallRow> {
        let mut rows: Vec<CallRow> = self.blocks.iter().map(|(kind, objects)| row(kind, objects)).collect();
        rows.sort_by(|one, other| other.blocked_s.total_cmp(&one.blocked_s));
        if rows.len() > MAX_ROWS {
            let rest = rows.split_off(MAX_ROWS - 1);
            rows.push(together(&rest));
        }
        if counted_s > 0.0 {
            let counted = |row: &mut CallRow| {
                if let Some((count, cpu_s)) = self.counts.get(&key(row)) {
                    row.calls_per_s = Some(*count as f64 / counted_s);
                    row.cpu_s_per_call = (*count > 0).then(|| cpu_s / *count as f64);
                }
            };
            rows.iter_mut().for_each(counted);
            let shown: BTreeSet<(String, String)> = rows.iter().map(key).collect();
            let mut never: Vec<_> = self.counts.iter().filter(|(key, _)| !shown.contains(*key)).collect();
            never.sort_by(|(_, one), (_, other)| other.1.total_cmp(&one.1));
            for ((thread, call), _) in never.into_iter().take(MAX_COUNTED_ROWS) {
                let mut row = CallRow { thread: thread.clone(), call: call.clone(), ..CallRow::default() };
                counted(&mut row);
                rows.push(row);
            }
        }
        rows
    }
}

/// CPU seconds that the threads of a tier took in a step.
fn running_s(step: &CallStep, tier: &str) -> f64 {
    let running =
        step.times.iter().filter(|time| time.cell.tier == tier && time.cell.doing == Doing::Running);
    running.map(|time| time.s).sum()
}

fn key(row: &CallRow) -> (String, String) {
    (row.thread.clone(), row.call.clone())
}

fn row(kind: &Cell, objects: &BTreeMap<String, Sum>) -> CallRow {
    let mut all = Sum::default();
    objects.values().for_each(|sum| all.add(*sum));
    let longest = objects.iter().max_by(|(_, one), (_, other)| one.s.total_cmp(&other.s));
    CallRow {
        thread: kind.thread.clone(),
        call: kind.call.clone(),
        doing: Some(kind.doing),
        object: longest.map(|(object, _)| object.clone()).unwrap_or_default(),
        objects: objects.len() as u64,
        kernel_lock: kind.kernel_lock,
        blocks: all.count,
        blocked_s: all.s,
        max_s: all.max_s,
        calls_per_s: None,
        cpu_s_per_call: None,
    }
}

/// All of `rest` in one row.
fn together(rest: &[CallRow]) -> CallRow {
    CallRow {
        objects: rest.iter().map(|row| row.objects).sum(),
        blocks: rest.iter().map(|row| row.blocks).sum(),
        blocked_s: rest.iter().map(|row| row.blocked_s).sum(),
        max_s: rest.iter().map(|row| row.max_s).fold(0.0, f64::max),
        ..CallRow::default()
    }
}

#[cfg(test)]
mod tests {
    use model::Interval;
    use model::record::calls::{CallCount, ThreadLives};

    use super::*;

    fn steady() -> Steady {
        let seconds: Vec<Interval> = (0..12).map(Interval::empty).collect();
        Steady::of(&seconds, 2.0, 12.0)
    }

    fn time(doing: Doing, call: &str, object: &str, count: u64, s: f64) -> CellTime {
        let text = |text: &str| text.to_string();
        let (call, object) = (text(call), text(object));
        let cell = Cell { tier: text("app"), thread: text("php"), doing, call, object, kernel_lock: false };
        CellTime { cell, count, s, max_s: s / count as f64 }
    }

    fn counted(thread: &str, call: &str, count: u64, cpu_s: f64) -> CallCount {
        CallCount {
            tier: "app".to_string(),
            thread: thread.to_string(),
            call: call.to_string(),
            count,
            cpu_s,
        }
    }

    /// Of four threads each second: one computes, one waits for the database and half a one for a disk.
    fn step(at_s: f64) -> CallStep {
        CallStep {
            at_s,
            took_s: 1.0,
            counted_s: 0.25,
            lives: vec![ThreadLives {
                tier: "app".to_string(),
                threads: 4,
                lived_s: 4.0,
                cgroup_cpu_s: Some(0.8),
            }],
            times: vec![
                time(Doing::Running, "", "", 200, 1.0),
                time(Doing::WaitingForCpu, "", "", 200, 0.5),
                time(Doing::WaitingForCallee, "poll", "db", 100, 1.0),
                time(Doing::WaitingForDisk, "openat", "a", 5, 0.2),
                time(Doing::WaitingForDisk, "openat", "b", 5, 0.3),
                time(Doing::WaitingForClient, "accept4", "client", 10, 1.0),
            ],
            counts: vec![counted("php", "poll", 50, 1e-4), counted("php", "getpid", 10, 1e-5)],
            ..CallStep::default()
        }
    }

    fn ledger() -> CallLedger {
        let mut sums = CallSums::of(&steady());
        (0..15).for_each(|second| sums.add(&step(f64::from(second))));
        sums.ledger(CallsBeside { completed: 1_000, cpus: 2 }).expect("it counted")
    }

    #[test]
    fn only_steps_of_the_steady_state_count_and_their_times_are_mean_threads() {
        let ledger = ledger();
        assert_eq!((ledger.length_s, ledger.counted_ratio), (10.0, 0.25));
        let app = &ledger.tiers[0];
        assert_eq!((app.tier.as_str(), app.threads, app.closes_ratio), ("app", 4.0, 1.0));
        let threads = |doing| app.doing.iter().find(|one| one.doing == doing).map(|one| one.threads);
        assert_eq!(threads(Doing::WaitingForDisk), Some(0.5));
        assert_eq!(threads(Doing::Running), Some(1.0));
        // 110 µs in calls of the quarter of a second of CPU time in which calls were counted.
        let in_kernel = app.kernel_ratio.expect("calls were counted");
        assert!((in_kernel - 1.1e-4 / 0.25).abs() < 1e-12, "{in_kernel}");
    }

    #[test]
    fn files_share_a_row_and_calls_that_never_block_have_one_of_their_own() {
        let ledger = ledger();
        let rows = &ledger.tiers[0].rows;
        let open = rows.iter().find(|row| row.call == "openat").expect("it blocked");
        assert_eq!((open.object.as_str(), open.objects, open.blocks), ("b", 2, 100));
        assert!((open.blocked_s - 5.0).abs() < 1e-9, "{open:?}");
        let poll = rows.iter().find(|row| row.call == "poll").expect("it blocked");
        assert_eq!(poll.calls_per_s, Some(200.0), "500 in the 2.5 s in which calls were counted");
        assert!((poll.cpu_s_per_call.expect("it was counted") - 2e-6).abs() < 1e-12);
        let never = rows.last().expect("there are rows");
        assert_eq!((never.call.as_str(), never.doing, never.blocks), ("getpid", None, 0));
    }

    #[test]
    fn the_calls_of_a_loop_and_of_its_helpers_are_told_apart() {
        let mut step = step(5.0);
        let mut helpers = time(Doing::WaitingForDisk, "openat", "a", 5, 0.2);
        helpers.cell.thread = "helper".to_string();
        step.times.push(helpers);
        step.counts = vec![counted("helper", "openat", 20, 4e-4), counted("php", "openat", 100, 1e-4)];
        let mut sums = CallSums::of(&steady());
        sums.add(&step);
        let ledger = sums.ledger(CallsBeside { completed: 0, cpus: 2 }).expect("it counted");
        let rows = ledger.tiers[0].rows.iter().filter(|row| row.call == "openat");
        let mut rates: Vec<_> = rows.map(|row| (row.thread.as_str(), row.calls_per_s, row.blocks)).collect();
        rates.sort_by_key(|(thread, ..)| *thread);
        assert_eq!(rates, [("helper", Some(80.0), 5), ("php", Some(400.0), 10)]);
    }

    #[test]
    fn who_waits_for_whom_is_a_mean_of_threads_and_of_an_operations_time() {
        let ledger = ledger();
        let [edge] = ledger.waits.as_slice() else { panic!("only the database is waited for: {ledger:?}") };
        assert_eq!((edge.from.as_str(), edge.to.as_str(), edge.threads), ("app", "db", 1.0));
        assert_eq!((edge.s_per_operation, edge.blocks_per_s), (Some(0.01), 100.0));
    }

    #[test]
    fn a_ledger_that_begins_late_says_the_same_of_an_operation() {
        let mut sums = CallSums::of(&steady());
        (6..9).for_each(|second| sums.add(&step(f64::from(second))));
        let ledger = sums.ledger(CallsBeside { completed: 1_000, cpus: 2 }).expect("it counted");
        let of_operation_s = ledger.waits[0].s_per_operation.expect("operations were completed");
        assert!((of_operation_s - 0.01).abs() < 1e-12, "{of_operation_s}");
    }

    #[test]
    fn of_many_kinds_of_blocks_the_last_row_is_the_sum_of_the_rest() {
        let mut step = step(5.0);
        let names: Vec<String> = (0..30).map(|number| format!("call{number}")).collect();
        step.times = names.iter().map(|call| time(Doing::WaitingForDisk, call, "x", 1, 0.1)).collect();
        let mut sums = CallSums::of(&steady());
        sums.add(&step);
        let ledger = sums.ledger(CallsBeside { completed: 0, cpus: 2 }).expect("it counted");
        let blocked: Vec<&CallRow> = ledger.tiers[0].rows.iter().filter(|row| row.blocks > 0).collect();
        assert_eq!(blocked.len(), MAX_ROWS);
        let last = blocked.last().expect("there are rows");
        assert_eq!((last.blocks, last.doing), (15, None));
        let all_s: f64 = blocked.iter().map(|row| row.blocked_s).sum();
        assert!((all_s - 3.0).abs() < 1e-9, "{all_s}");
    }

    #[test]
    fn the_cgroups_cpu_time_is_held_against_that_of_the_same_steps_only() {
        let mut unread = step(5.0);
        unread.lives[0].cgroup_cpu_s = None;
        unread.times[0].s = 3.0;
        let ratio = |steps: &[&CallStep]| {
            let mut sums = CallSums::of(&steady());
            steps.iter().for_each(|step| sums.add(step));
            sums.ledger(CallsBeside { completed: 0, cpus: 2 }).expect("it counted").tiers[0].cpu_agrees_ratio
        };
        let (read, outside) = (step(6.0), step(1_000.0));
        assert_eq!(ratio(&[&read, &unread, &outside]), Some(1.25), "1 s by count and 0.8 s by the cgroup");
        assert_eq!(ratio(&[&unread]), None);
    }

    #[test]
    fn without_steps_there_is_no_ledger() {
        let none = CallSums::of(&steady()).ledger(CallsBeside { completed: 1, cpus: 2 });
        assert_eq!(none, None);
    }
}

//! Samples of stacks over the steady state: time by stack, who ended the waits, and the longest of them.

use std::collections::BTreeMap;

use model::record::calls::{CallStep, Cell};
use model::record::diagnosis::Doing;
use model::record::stacks::{SlowWait, Stack, StackTime, WakeEdge, Waker};

/// Stacks that are told apart; the time of all others is added up by tier, thread and what was done.
const MAX_STACKS: usize = 150;
/// Waits of a kind that are kept, and of all kinds together.
const MAX_SLOW_OF_KIND: usize = 20;
const MAX_SLOW: usize = 40;
/// Those who ended waits.
const MAX_WAKES: usize = 40;

/// Sums of a run's samples.
#[derive(Debug, Default)]
pub(crate) struct StackSums {
    times: BTreeMap<Stack, (f64, u64)>,
    slow: BTreeMap<(String, Doing, String), Vec<SlowWait>>,
}

impl StackSums {
    /// Takes the samples of a step.
    pub(crate) fn add(&mut self, step: &CallStep) {
        for time in &step.stacks {
            let sum = self.times.entry(time.stack.clone()).or_default();
            *sum = (sum.0 + time.s, sum.1 + time.samples);
        }
        for wait in &step.slow {
            let Cell { tier, doing, call, .. } = &wait.stack.cell;
            let kind = self.slow.entry((tier.clone(), *doing, call.clone())).or_default();
            kind.push(wait.clone());
            if kind.len() > 2 * MAX_SLOW_OF_KIND {
                longest_first(kind, MAX_SLOW_OF_KIND);
            }
        }
    }

    /// Time by stack, the longest first; what has no row of its own is at the end.
    pub(crate) fn times(&self) -> Vec<StackTime> {
        let time = |(stack, (s, samples)): (&Stack, &(f64, u64))| StackTime {
            stack: stack.clone(),
            s: *s,
            samples: *samples,
        };
        let mut times: Vec<StackTime> = self.times.iter().map(time).collect();
        times.sort_by(|one, other| other.s.total_cmp(&one.s));
        let rest = times.split_off(times.len().min(MAX_STACKS));
        let mut sums: BTreeMap<Stack, (f64, u64)> = BTreeMap::new();
        for time in rest {
            let Cell { tier, thread, doing, .. } = time.stack.cell;
            let (call, object) = (String::new(), String::new());
            let cell = Cell { tier, thread, doing, call, object, kernel_lock: false };
            let sum = sums.entry(Stack { cell, frames: Vec::new(), woken_by: None }).or_default();
            *sum = (sum.0 + time.s, sum.1 + time.samples);
        }
        times.extend(sums.iter().map(time));
        times
    }

    /// By whom waits were ended, in mean threads over `length_s`, the most first.
    pub(crate) fn wakes(&self, length_s: f64) -> Vec<WakeEdge> {
        let mut edges: BTreeMap<(&str, Doing, &str, &Waker), f64> = BTreeMap::new();
        for (stack, (s, _)) in &self.times {
            let Some(woken_by) = &stack.woken_by else { continue };
            let Cell { tier, doing, object, .. } = &stack.cell;
            *edges.entry((tier.as_str(), *doing, object.as_str(), woken_by)).or_default() += s;
        }
        let edge = |((tier, doing, object, woken_by), s): ((&str, Doing, &str, &Waker), f64)| WakeEdge {
            tier: tier.to_string(),
            doing,
            object: object.to_string(),
            woken_by: woken_by.clone(),
            threads: s / length_s,
        };
        let mut wakes: Vec<WakeEdge> = edges.into_iter().map(edge).collect();
        wakes.sort_by(|one, other| other.threads.total_cmp(&one.threads));
        wakes.truncate(MAX_WAKES);
        wakes
    }

    /// The longest waits, the longest first; some of each kind.
    pub(crate) fn slow(&self) -> Vec<SlowWait> {
        let longest = |kind: &Vec<SlowWait>| {
            let mut kind = kind.clone();
            longest_first(&mut kind, MAX_SLOW_OF_KIND);
            kind
        };
        let mut slow: Vec<SlowWait> = self.slow.values().flat_map(longest).collect();
        longest_first(&mut slow, MAX_SLOW);
        slow
    }
}

fn longest_first(waits: &mut Vec<SlowWait>, most: usize) {
    waits.sort_by(|one, other| other.s.total_cmp(&one.s));
    waits.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(call: &str, frame: &str, waker: &str) -> Stack {
        let text = |text: &str| text.to_string();
        let cell = Cell {
            tier: text("app"),
            thread: text("php"),
            doing: Doing::WaitingForLock,
            call: text(call),
            object: text("orders"),
            kernel_lock: false,
        };
        let woken_by = Some(Waker { tier: text("app"), thread: text(waker), call: text("flock") });
        Stack { cell, frames: vec![text(frame)], woken_by }
    }

    fn time(stack: Stack, s: f64) -> StackTime {
        StackTime { stack, s, samples: 1 }
    }

    #[test]
    fn times_of_the_same_stack_add_up_and_those_without_a_row_are_added_up_by_what_was_done() {
        let mut sums = StackSums::default();
        let many = (0..MAX_STACKS + 10).map(|number| {
            time(stack("flock", &format!("function{number}"), "php"), if number == 3 { 2.0 } else { 0.1 })
        });
        let step = CallStep { stacks: many.collect(), ..CallStep::default() };
        sums.add(&step);
        sums.add(&step);
        let times = sums.times();
        assert_eq!(times.len(), MAX_STACKS + 1);
        assert_eq!((times[0].stack.frames[0].as_str(), times[0].s, times[0].samples), ("function3", 4.0, 2));
        let rest = times.last().expect("there are more than have a row");
        assert!((rest.s - 2.0).abs() < 1e-9 && rest.stack.frames.is_empty(), "{rest:?}");
        let all_s: f64 = times.iter().map(|time| time.s).sum();
        assert!((all_s - (4.0 + 0.2 * (MAX_STACKS + 9) as f64)).abs() < 1e-9, "{all_s}");
    }

    #[test]
    fn who_ended_the_waits_is_told_whatever_function_they_were_in() {
        let mut sums = StackSums::default();
        let stacks = vec![
            time(stack("flock", "a", "php"), 1.0),
            time(stack("flock", "b", "php"), 2.0),
            time(stack("flock", "a", "cron"), 0.5),
        ];
        sums.add(&CallStep { stacks, ..CallStep::default() });
        let wakes = sums.wakes(10.0);
        assert_eq!(wakes.len(), 2);
        assert_eq!((wakes[0].woken_by.thread.as_str(), wakes[0].threads), ("php", 0.3));
    }

    #[test]
    fn one_kind_of_long_waits_does_not_hide_the_others() {
        let mut sums = StackSums::default();
        for second in 0..100 {
            let wait =
                |call: &str, s: f64| SlowWait { stack: stack(call, "f", "php"), at_s: f64::from(second), s };
            let slow = vec![wait("flock", 1.0 + f64::from(second)), wait("fsync", 0.01)];
            sums.add(&CallStep { slow, ..CallStep::default() });
        }
        let slow = sums.slow();
        assert_eq!(slow.len(), MAX_SLOW);
        assert_eq!((slow[0].s, slow[0].at_s), (100.0, 99.0));
        assert_eq!(slow.iter().filter(|wait| wait.stack.cell.call == "fsync").count(), MAX_SLOW_OF_KIND);
    }
}

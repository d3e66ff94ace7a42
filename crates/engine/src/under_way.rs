//! Operations under way, counted by the tenth of a second in which they started: how many have been waiting for long, at
//! the cost of an addition at an operation's start and one at its end.

const TICK_NS: u64 = 100_000_000;
const TICKS_PER_S: u64 = 10;

/// The ages that are told apart, in tenths of a second; what is older is counted together.
const TICKS: u64 = 640;

/// The longest wait that can be asked about, in seconds.
pub(crate) const MAX_AGE_S: f64 = 62.0;

/// Operations under way of one thread.
#[derive(Debug)]
pub(crate) struct UnderWay {
    /// By their tick of start, modulo [`TICKS`].
    started: [u32; TICKS as usize],
    /// Those that started before the ticks in `started`.
    older: u32,
    /// The second under way.
    second: u64,
}

impl UnderWay {
    /// None is under way.
    pub(crate) fn none() -> UnderWay {
        UnderWay { started: [0; TICKS as usize], older: 0, second: 0 }
    }

    /// An operation started.
    pub(crate) fn enter(&mut self, started_ns: u64) {
        *self.count_at(started_ns) += 1;
    }

    /// An operation that started then is over, whatever became of it.
    pub(crate) fn leave(&mut self, started_ns: u64) {
        let count = self.count_at(started_ns);
        *count = count.saturating_sub(1);
    }

    /// The second under way ends: how many have surely been under way for `over_s`, which is rounded up to a tenth. One
    /// that started within the same tenth of a second as the limit is given the benefit of the doubt.
    pub(crate) fn end_second(&mut self, over_s: f64) -> u64 {
        self.second += 1;
        let end = TICKS_PER_S * self.second;
        let first_young = end.saturating_sub(ticks(over_s));
        let old = (end.saturating_sub(TICKS)..first_young).map(|tick| u64::from(self.started[slot(tick)]));
        let waiting = u64::from(self.older) + old.sum::<u64>();
        for tick in end..end + TICKS_PER_S {
            self.older += std::mem::take(&mut self.started[slot(tick)]);
        }
        waiting
    }

    fn count_at(&mut self, started_ns: u64) -> &mut u32 {
        let tick = started_ns / TICK_NS;
        let known_from = (TICKS_PER_S * (self.second + 1)).saturating_sub(TICKS);
        if tick < known_from { &mut self.older } else { &mut self.started[slot(tick)] }
    }
}

fn slot(tick: u64) -> usize {
    (tick % TICKS) as usize
}

/// Tenths of a second; a hair more than a whole number of them is what decimal fractions leave.
fn ticks(over_s: f64) -> u64 {
    (over_s.min(MAX_AGE_S) * TICKS_PER_S as f64 - 1e-6).ceil().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn waits_are_told_apart_to_a_tenth_of_a_second() {
        for (started_ms, expected) in [(449, 1), (499, 1), (500, 0), (599, 0), (999, 0)] {
            let mut under_way = UnderWay::none();
            under_way.enter(started_ms * 1_000_000);
            under_way.end_second(1.5);
            let waiting = under_way.end_second(1.5);
            assert_eq!(waiting, expected, "started at {started_ms} ms, seen at 2 s, over 1.5 s");
        }
    }

    #[test]
    fn an_operation_counts_once_it_has_surely_waited_so_long() {
        let mut under_way = UnderWay::none();
        under_way.enter(SECOND_NS / 2);
        let seen: Vec<u64> = (0..6).map(|_| under_way.end_second(2.0)).collect();
        assert_eq!(seen, [0, 0, 1, 1, 1, 1], "at the end of second 1 it is 1.5 s old, of second 2 2.5 s");
        under_way.leave(SECOND_NS / 2);
        assert_eq!(under_way.end_second(2.0), 0);
    }

    #[test]
    fn one_that_waits_for_minutes_is_not_forgotten_and_can_still_end() {
        let mut under_way = UnderWay::none();
        under_way.enter(0);
        under_way.enter(3 * SECOND_NS);
        let seen: Vec<u64> = (0..300).map(|_| under_way.end_second(10.0)).collect();
        assert!(seen[13..].iter().all(|waiting| *waiting == 2), "{seen:?}");
        under_way.leave(0);
        assert_eq!(under_way.end_second(10.0), 1);
        under_way.leave(3 * SECOND_NS);
        assert_eq!(under_way.end_second(10.0), 0);
    }

    #[test]
    fn what_starts_and_ends_leaves_nothing_whatever_the_second() {
        let mut under_way = UnderWay::none();
        for number in 0..200_u64 {
            let at_ns = number * SECOND_NS + 7;
            under_way.enter(at_ns);
            under_way.leave(at_ns);
            assert_eq!(under_way.end_second(1.0), 0, "second {number}");
        }
    }
}

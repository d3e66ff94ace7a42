//! Operations under way, counted by the second in which they started: how many have been waiting for long, at the cost
//! of an addition at an operation's start and one at its end.

const SECOND_NS: u64 = 1_000_000_000;

/// The ages that are told apart; what is older is counted together.
const SECONDS: u64 = 64;

/// The longest wait that can be asked about, in seconds.
pub(crate) const LONGEST_S: u64 = SECONDS - 2;

/// Operations under way of one thread.
#[derive(Debug)]
pub(crate) struct UnderWay {
    /// By their second of start, modulo [`SECONDS`].
    started: [u32; SECONDS as usize],
    /// Those that started before the seconds in `started`.
    older: u32,
    /// The second under way.
    second: u64,
}

impl UnderWay {
    /// None is under way.
    pub(crate) fn none() -> UnderWay {
        UnderWay { started: [0; SECONDS as usize], older: 0, second: 0 }
    }

    /// An operation started.
    pub(crate) fn enter(&mut self, started_ns: u64) {
        *self.place(started_ns) += 1;
    }

    /// An operation that started then is over, whatever became of it.
    pub(crate) fn leave(&mut self, started_ns: u64) {
        let count = self.place(started_ns);
        *count = count.saturating_sub(1);
    }

    /// The second under way ends: how many have surely been under way for at least `over_s` whole seconds. One that
    /// started within the same second as the limit is given the benefit of the doubt.
    pub(crate) fn end_second(&mut self, over_s: u64) -> u64 {
        let ended = self.second;
        self.second += 1;
        let over_s = over_s.min(LONGEST_S);
        let first_young = (ended + 1).saturating_sub(over_s);
        let first_known = (ended + 1).saturating_sub(SECONDS);
        let old = (first_known..first_young).map(|second| u64::from(self.started[slot(second)]));
        let waiting = u64::from(self.older) + old.sum::<u64>();
        let reused = &mut self.started[slot(self.second)];
        self.older += std::mem::take(reused);
        waiting
    }

    fn place(&mut self, started_ns: u64) -> &mut u32 {
        let second = started_ns / SECOND_NS;
        if second + SECONDS <= self.second { &mut self.older } else { &mut self.started[slot(second)] }
    }
}

fn slot(second: u64) -> usize {
    (second % SECONDS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_counts_once_it_has_surely_waited_so_long() {
        let mut under_way = UnderWay::none();
        under_way.enter(SECOND_NS / 2);
        let seen: Vec<u64> = (0..6).map(|_| under_way.end_second(2)).collect();
        assert_eq!(seen, [0, 0, 1, 1, 1, 1], "at the end of second 1 it is 1.5 s old, of second 2 2.5 s");
        under_way.leave(SECOND_NS / 2);
        assert_eq!(under_way.end_second(2), 0);
    }

    #[test]
    fn one_that_waits_for_minutes_is_not_forgotten_and_can_still_end() {
        let mut under_way = UnderWay::none();
        under_way.enter(0);
        under_way.enter(3 * SECOND_NS);
        let seen: Vec<u64> = (0..300).map(|_| under_way.end_second(10)).collect();
        assert!(seen[13..].iter().all(|waiting| *waiting == 2), "{seen:?}");
        under_way.leave(0);
        assert_eq!(under_way.end_second(10), 1);
        under_way.leave(3 * SECOND_NS);
        assert_eq!(under_way.end_second(10), 0);
    }

    #[test]
    fn what_starts_and_ends_leaves_nothing_whatever_the_second() {
        let mut under_way = UnderWay::none();
        for number in 0..200_u64 {
            let at_ns = number * SECOND_NS + 7;
            under_way.enter(at_ns);
            under_way.leave(at_ns);
            assert_eq!(under_way.end_second(1), 0, "second {number}");
        }
    }
}

//! How far an agent's clock is ahead of the controller's, with a bound that holds however unlike the two ways between them are.
//! All times are nanoseconds of CLOCK_MONOTONIC, each machine's own.

/// How much two clocks may drift apart; the kernel steers a clock by no more than this (adjtimex(2), frequency).
const MAX_DRIFT_PPM: i64 = 500;

/// One question and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// When the controller asked, by its clock.
    pub asked_ns: i64,
    /// When the question came, by the agent's clock.
    pub received_ns: i64,
    /// When the agent answered, by its clock.
    pub answered_ns: i64,
    /// When the answer came, by the controller's clock.
    pub back_ns: i64,
}

/// By how much an agent's clock is ahead of the controller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// At least by this.
    pub low_ns: i64,
    /// At most by this.
    pub high_ns: i64,
    /// How many exchanges say so; the others contradict them.
    pub agreeing: usize,
}

impl Offset {
    /// The middle, which is off by [`Self::bound_ns`] at most.
    pub fn middle_ns(&self) -> i64 {
        self.low_ns + (self.high_ns - self.low_ns) / 2
    }

    /// Half the width.
    pub fn bound_ns(&self) -> i64 {
        (self.high_ns - self.low_ns + 1) / 2
    }

    /// A time of the controller's clock by the agent's.
    pub fn by_agent_ns(&self, controller_ns: i64) -> i64 {
        controller_ns.saturating_add(self.middle_ns())
    }
}

/// By how much an offset has changed between two times: a clock that has drifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drift {
    /// At least by this, which may be below zero.
    pub low_ns: i64,
    /// At most by this.
    pub high_ns: i64,
}

impl Drift {
    /// From the one offset to the later one.
    pub fn between(then: &Offset, now: &Offset) -> Drift {
        let (low_ns, high_ns) =
            (now.low_ns.saturating_sub(then.high_ns), now.high_ns.saturating_sub(then.low_ns));
        Drift { low_ns, high_ns }
    }

    /// By how much it has certainly changed, whichever way: nothing where the offsets' bounds overlap.
    pub fn least_ns(&self) -> u64 {
        u64::try_from(self.low_ns.max(self.high_ns.saturating_neg())).unwrap_or(0)
    }

    /// By how much it may have changed, whichever way.
    pub fn largest_ns(&self) -> u64 {
        self.low_ns.unsigned_abs().max(self.high_ns.unsigned_abs())
    }
}

impl Exchange {
    /// What it says of the offset at `now_ns` of the controller's clock: a question can't come before it was asked, and an answer
    /// neither, so the truth is between the two differences (RFC 5905 section 8: theta +- delta / 2), and each clock may have drifted
    /// since. Nothing where the times are in no order in which they can have happened.
    fn bounds(&self, now_ns: i64) -> Option<(i64, i64)> {
        let is_ordered = self.back_ns >= self.asked_ns && self.answered_ns >= self.received_ns;
        let age_ns = now_ns.saturating_sub(self.asked_ns).max(0);
        let drift_ns = age_ns / 1_000_000 * MAX_DRIFT_PPM + MAX_DRIFT_PPM;
        let low_ns = self.answered_ns.checked_sub(self.back_ns)?.saturating_sub(drift_ns);
        let high_ns = self.received_ns.checked_sub(self.asked_ns)?.saturating_add(drift_ns);
        (is_ordered && low_ns <= high_ns).then_some((low_ns, high_ns))
    }
}

/// The offset at `now_ns` of the controller's clock: where most of the exchanges' bounds overlap (Marzullo 1984). Nothing where there
/// is no overlap of more than half of all, so that nothing is to be believed.
pub fn offset(exchanges: &[Exchange], now_ns: i64) -> Option<Offset> {
    let bounds: Vec<(i64, i64)> = exchanges.iter().filter_map(|exchange| exchange.bounds(now_ns)).collect();
    let mut ends: Vec<(i64, i32)> = bounds.iter().flat_map(|(low, high)| [(*low, -1), (*high, 1)]).collect();
    // At the same time beginnings go first: bounds that touch agree.
    ends.sort_unstable();
    let (mut open, mut best) = (0usize, None::<Offset>);
    for (index, (at_ns, end)) in ends.iter().enumerate() {
        if *end > 0 {
            open -= 1;
            continue;
        }
        open += 1;
        if best.is_none_or(|best| open > best.agreeing) {
            // What begins last is the overlap's low end; the next end of any is its high one.
            let high_ns = ends[index..].iter().find(|(_, end)| *end > 0).map_or(*at_ns, |(high, _)| *high);
            best = Some(Offset { low_ns: *at_ns, high_ns, agreeing: open });
        }
    }
    best.filter(|best| 2 * best.agreeing > exchanges.len())
}

#[cfg(test)]
mod tests;

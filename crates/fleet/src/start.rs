//! How a run begins everywhere at the same time: no agent moves before all of them have agreed to the time.
//!
//! Prepare, armed, a time, agreed, go. An agent that has no `go` a moment before the time stays still, and the controller, which
//! knows that moment too, gives `go` only before it; so either all begin or none does, but for a `go` that was under way too long.

/// The time is so far ahead at least: a word that a connection loses is said again within a second, by the next beacon or heartbeat.
const MIN_AHEAD_NS: i64 = 2_000_000_000;

/// And at least that number of round trips to the agent that is the furthest away.
const ROUND_TRIPS_AHEAD: i64 = 4;

/// So long before the time an agent must have its `go`.
pub const LAST_GO_NS: i64 = 100_000_000;

/// What an agent has said last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Nothing,
    /// The bundle is there and what it should be.
    Checked,
    /// Its threads stand ready.
    Armed,
    /// It will begin at the time that was set.
    Agreed,
}

/// What the controller has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Wait for this agent, and perhaps for others after it.
    Wait {
        /// The first of those that are waited for.
        agent: usize,
    },
    /// Tell all to arm.
    Arm,
    /// Tell all that the first second begins then, by the controller's clock.
    Set {
        /// Nanoseconds of the controller's CLOCK_MONOTONIC.
        at_ns: i64,
    },
    /// Tell all to go.
    Go {
        /// The time that was set.
        at_ns: i64,
    },
    /// Too late: the time is nearly there, and this agent hasn't agreed. Nobody begins.
    Abort {
        /// The first of those that haven't.
        agent: usize,
    },
    /// It was given; there is nothing to do.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Preparing,
    Arming,
    Agreeing { at_ns: i64 },
    Gone,
}

/// The beginning of a run as its controller sees it.
#[derive(Debug)]
pub struct Start {
    agents: Vec<Said>,
    phase: Phase,
}

impl Start {
    /// Of that number of agents, to whom the bundle has been named.
    pub fn of(agents: usize) -> Start {
        Start { agents: vec![Said::Nothing; agents], phase: Phase::Preparing }
    }

    /// The agent has the bundle, and it is what it should be.
    pub fn checked(&mut self, agent: usize) {
        self.says(agent, Said::Checked);
    }

    /// The agent's threads stand ready.
    pub fn armed(&mut self, agent: usize) {
        self.says(agent, Said::Armed);
    }

    /// The agent will begin at that time. One that means another one hasn't agreed.
    pub fn agreed(&mut self, agent: usize, at_ns: i64) {
        if self.phase == (Phase::Agreeing { at_ns }) {
            self.says(agent, Said::Agreed);
        }
    }

    /// What to do at `now_ns`, where the longest round trip to an agent takes `round_trip_ns`. What it says once it has taken as done.
    pub fn next(&mut self, now_ns: i64, round_trip_ns: i64) -> Next {
        match self.phase {
            Phase::Preparing => match self.lacking(Said::Checked) {
                Some(agent) => Next::Wait { agent },
                None => {
                    self.phase = Phase::Arming;
                    Next::Arm
                }
            },
            Phase::Arming => match self.lacking(Said::Armed) {
                Some(agent) => Next::Wait { agent },
                None => {
                    let ahead_ns = MIN_AHEAD_NS.max(ROUND_TRIPS_AHEAD.saturating_mul(round_trip_ns));
                    let at_ns = now_ns.saturating_add(ahead_ns);
                    self.phase = Phase::Agreeing { at_ns };
                    Next::Set { at_ns }
                }
            },
            Phase::Agreeing { at_ns } => {
                // A `go` needs half a round trip to be there in time.
                let is_late = now_ns.saturating_add(round_trip_ns / 2) >= at_ns - LAST_GO_NS;
                match self.lacking(Said::Agreed) {
                    Some(agent) if is_late => Next::Abort { agent },
                    Some(agent) => Next::Wait { agent },
                    None if is_late => Next::Abort { agent: 0 },
                    None => {
                        self.phase = Phase::Gone;
                        Next::Go { at_ns }
                    }
                }
            }
            Phase::Gone => Next::Gone,
        }
    }

    fn says(&mut self, agent: usize, what: Said) {
        // What comes late or twice takes nothing back.
        if let Some(said) = self.agents.get_mut(agent) {
            *said = what.max(*said);
        }
    }

    fn lacking(&self, what: Said) -> Option<usize> {
        self.agents.iter().position(|said| *said < what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn armed(agents: usize) -> Start {
        let mut start = Start::of(agents);
        (0..agents).for_each(|agent| start.checked(agent));
        assert_eq!(start.next(0, MS), Next::Arm);
        (0..agents).for_each(|agent| start.armed(agent));
        start
    }

    #[test]
    fn all_go_once_all_have_agreed_to_one_time() {
        let mut start = Start::of(2);
        start.checked(1);
        assert_eq!(start.next(0, MS), Next::Wait { agent: 0 });
        start.checked(0);
        assert_eq!(start.next(0, MS), Next::Arm);
        start.armed(0);
        assert_eq!(start.next(0, MS), Next::Wait { agent: 1 });
        start.armed(1);
        let at_ns = 5 * MS + MIN_AHEAD_NS;
        assert_eq!(start.next(5 * MS, MS), Next::Set { at_ns });
        start.agreed(0, at_ns);
        start.agreed(1, at_ns - MS);
        assert_eq!(start.next(6 * MS, MS), Next::Wait { agent: 1 }, "it has agreed to another time");
        start.agreed(1, at_ns);
        assert_eq!(start.next(7 * MS, MS), Next::Go { at_ns });
        assert_eq!(start.next(8 * MS, MS), Next::Gone);
    }

    #[test]
    fn nobody_begins_where_one_has_not_agreed_in_time() {
        let mut start = armed(3);
        let Next::Set { at_ns } = start.next(0, MS) else { panic!("all are armed") };
        start.agreed(0, at_ns);
        start.agreed(2, at_ns);
        assert_eq!(start.next(at_ns - LAST_GO_NS - MS, MS), Next::Wait { agent: 1 });
        assert_eq!(start.next(at_ns - LAST_GO_NS, MS), Next::Abort { agent: 1 });
        start.agreed(1, at_ns);
        assert!(
            matches!(start.next(at_ns - MS, MS), Next::Abort { .. }),
            "too late for a go to be there in time"
        );
    }

    #[test]
    fn agents_that_are_far_away_are_given_more_time() {
        let mut start = armed(1);
        assert_eq!(start.next(0, 2_000 * MS), Next::Set { at_ns: 8_000 * MS });
    }

    #[test]
    fn what_comes_late_or_twice_takes_nothing_back() {
        let mut start = armed(1);
        let Next::Set { at_ns } = start.next(0, MS) else { panic!("all are armed") };
        start.agreed(0, at_ns);
        start.armed(0);
        start.checked(0);
        start.checked(7);
        assert_eq!(start.next(MS, MS), Next::Go { at_ns });
    }
}

//! When each user starts and leaves: pure functions of the load and the user's number.

use model::plan::Load;

/// The phases of a run in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schedule {
    users: u64,
    ramp_up_ns: u64,
    ramp_down_start_ns: u64,
    ramp_down_ns: u64,
}

impl Schedule {
    /// The schedule of a load.
    pub(crate) fn new(load: &Load) -> Schedule {
        Schedule {
            users: u64::from(load.users.max(1)),
            ramp_up_ns: nanos(load.ramp_up_s),
            ramp_down_start_ns: nanos(load.ramp_up_s + load.steady_s),
            ramp_down_ns: nanos(load.ramp_down_s),
        }
    }

    /// When user `index` (0-based) starts: evenly over the ramp-up.
    pub(crate) fn start_ns(&self, index: u32) -> u64 {
        share(self.ramp_up_ns, u64::from(index), self.users)
    }

    /// When user `index` begins no new session any more: evenly over the ramp-down, the last at its end.
    pub(crate) fn leave_ns(&self, index: u32) -> u64 {
        self.ramp_down_start_ns + share(self.ramp_down_ns, u64::from(index) + 1, self.users)
    }

    /// When the ramp-down ends.
    pub(crate) fn end_ns(&self) -> u64 {
        self.ramp_down_start_ns + self.ramp_down_ns
    }
}

fn share(whole_ns: u64, part: u64, of: u64) -> u64 {
    (u128::from(whole_ns) * u128::from(part) / u128::from(of)) as u64
}

/// Seconds as nanoseconds; negative and absurd values become 0 and a century.
pub(crate) fn nanos(seconds: f64) -> u64 {
    (seconds.clamp(0.0, 3.2e9) * 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_come_and_go_evenly() {
        let load = Load { users: 4, ramp_up_s: 8.0, steady_s: 60.0, ramp_down_s: 4.0, seed: 1 };
        let schedule = Schedule::new(&load);
        let starts: Vec<u64> = (0..4).map(|user| schedule.start_ns(user) / 1_000_000_000).collect();
        let leaves: Vec<u64> = (0..4).map(|user| schedule.leave_ns(user) / 1_000_000_000).collect();
        assert_eq!(starts, [0, 2, 4, 6]);
        assert_eq!(leaves, [69, 70, 71, 72]);
        assert_eq!(schedule.end_ns(), 72_000_000_000);
    }
}

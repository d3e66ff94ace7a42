//! When each place is taken in the closed model: pure functions of the load and the place's number.

use model::catalogue::load::{Load, Profile};

/// The number of users over time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    profile: Profile,
    end_ns: u64,
}

impl Schedule {
    /// The schedule of a load.
    pub(crate) fn new(load: &Load) -> Schedule {
        Schedule { profile: load.profile(), end_ns: nanos(load.total_s()) }
    }

    /// When place `index` (0-based) is taken, and from when on its user begins no new session: the first such time
    /// that ends after `after_ns`. A place is taken while more users than its number are asked for: who came last
    /// leaves first.
    pub(crate) fn stay_after(&self, index: u32, after_ns: u64) -> Option<(u64, u64)> {
        // A nanosecond more, so that what ends now is over however its seconds are rounded.
        let after_s = (after_ns as f64 + 1.0) / 1e9;
        let (begin_s, end_s) = self.profile.stretch_above(f64::from(index), after_s)?;
        Some((nanos(begin_s), nanos(end_s)))
    }

    /// When the ramp-down ends.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns
    }
}

/// Seconds as nanoseconds; negative and absurd values become 0 and a century.
pub(crate) fn nanos(seconds: f64) -> u64 {
    (seconds.clamp(0.0, 3.2e9) * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::catalogue::load::Stage;

    const SECOND_NS: u64 = 1_000_000_000;

    fn stays(load: &Load, places: u32) -> Vec<(u64, u64)> {
        let schedule = Schedule::new(load);
        let stay = |place| schedule.stay_after(place, 0).expect("every place is taken once");
        (0..places).map(stay).map(|(from, until)| (from / SECOND_NS, until / SECOND_NS)).collect()
    }

    #[test]
    fn users_come_and_go_evenly() {
        let load = Load { users: 4, ramp_up_s: 8.0, ramp_down_s: 4.0, ..Load::default() };
        assert_eq!(stays(&load, 4), [(0, 72), (2, 71), (4, 70), (6, 69)]);
        assert_eq!(Schedule::new(&load).end_ns(), 72 * SECOND_NS);
    }

    #[test]
    fn without_ramps_all_come_and_go_at_once() {
        assert_eq!(stays(&Load { users: 3, ..Load::default() }, 3), [(0, 60); 3]);
    }

    #[test]
    fn places_are_taken_as_the_stages_ask() {
        let stage = |level, ramp_s, hold_s| Stage { level, ramp_s, hold_s };
        let stages =
            vec![stage(2.0, 0.0, 10.0), stage(4.0, 4.0, 6.0), stage(1.0, 0.0, 5.0), stage(3.0, 0.0, 5.0)];
        let load = Load { users: 3, ramp_up_s: 25.0, steady_s: 5.0, stages, ..Load::default() };
        assert_eq!(load.places(), 4);
        assert_eq!(stays(&load, 4), [(0, 30), (0, 20), (10, 20), (12, 20)]);
        let schedule = Schedule::new(&load);
        assert_eq!(schedule.stay_after(1, 20 * SECOND_NS), Some((25 * SECOND_NS, 30 * SECOND_NS)));
        assert_eq!(schedule.stay_after(3, 20 * SECOND_NS), None);
    }
}

//! The dead man's handle: an agent's load ends by itself when nobody is known to want it any more.

/// How old a beacon may be when it comes, by the age that it says: one that was kept back says nothing of now.
pub(crate) const MAX_BEACON_AGE_NS: u64 = 2_000_000_000;

/// How long users' sessions may take to end before they are cut off.
const GENTLE_NS: u64 = 2_000_000_000;

/// What an agent has to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Go on; look again at this time by the agent's clock at the latest.
    Run {
        /// Nanoseconds of the agent's CLOCK_MONOTONIC.
        until_ns: u64,
    },
    /// No new sessions: the lease is over.
    StopGently,
    /// Nothing goes out any more.
    StopAtOnce,
}

/// How long an agent drives users without a word of the controller.
#[derive(Debug, Clone, Copy)]
pub struct Lease {
    length_ns: u64,
    renewed_ns: u64,
    epoch: u64,
    counter: u64,
}

impl Lease {
    /// One of that length that begins now, by the agent's clock, in an epoch of the controller.
    pub fn begin(now_ns: u64, length_ns: u64, epoch: u64) -> Lease {
        Lease { length_ns, renewed_ns: now_ns, epoch, counter: 0 }
    }

    /// A beacon came whose signature is right. Whether it renewed the lease: one of an older epoch, one that came before, and one
    /// that was on its way for longer than two seconds doesn't.
    pub fn beacon(&mut self, now_ns: u64, epoch: u64, counter: u64, age_ns: u64) -> bool {
        let is_new = (epoch, counter) > (self.epoch, self.counter);
        if !is_new || age_ns > MAX_BEACON_AGE_NS {
            return false;
        }
        (self.epoch, self.counter) = (epoch, counter);
        self.renewed_ns = self.renewed_ns.max(now_ns);
        true
    }

    /// What to do at `now_ns`.
    pub fn wish(&self, now_ns: u64) -> Wish {
        let end_ns = self.renewed_ns.saturating_add(self.length_ns);
        if now_ns < end_ns {
            Wish::Run { until_ns: end_ns }
        } else if now_ns < end_ns.saturating_add(GENTLE_NS) {
            Wish::StopGently
        } else {
            Wish::StopAtOnce
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn lease() -> Lease {
        Lease::begin(100 * S, 15 * S, 3)
    }

    #[test]
    fn no_load_goes_out_seventeen_seconds_after_the_last_beacon() {
        let mut lease = lease();
        assert!(lease.beacon(110 * S, 3, 1, S));
        assert_eq!(lease.wish(124 * S), Wish::Run { until_ns: 125 * S });
        assert_eq!(lease.wish(125 * S), Wish::StopGently);
        assert_eq!(lease.wish(127 * S), Wish::StopAtOnce);
    }

    #[test]
    fn beacons_that_are_old_or_came_before_renew_nothing() {
        let mut lease = lease();
        assert!(lease.beacon(101 * S, 3, 5, 0));
        assert!(!lease.beacon(105 * S, 3, 5, 0), "sent again");
        assert!(!lease.beacon(105 * S, 3, 4, 0), "an older one");
        assert!(!lease.beacon(105 * S, 2, 900, 0), "of a controller that was replaced");
        assert!(!lease.beacon(105 * S, 3, 6, 3 * S), "kept back for three seconds");
        assert_eq!(lease.wish(116 * S), Wish::StopGently, "as if none of them had come");
        assert!(lease.beacon(106 * S, 4, 1, 0), "the next controller's first one");
        assert_eq!(lease.wish(116 * S), Wish::Run { until_ns: 121 * S });
    }
}

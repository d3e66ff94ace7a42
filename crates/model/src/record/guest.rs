//! What one guest of several did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Outcome;
use super::plan::Guest;

/// One guest of a run with several, over the steady state that all have in common. It has a run of its own, with all that a run says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GuestResult {
    /// Which, from 1, and how large.
    #[serde(flatten)]
    pub guest: Guest,
    /// Its run's id, below the directory of the whole.
    pub run: String,
    /// How it came to stand.
    pub cloned: Cloned,
    /// How many of the users were its own.
    pub users: u32,
    /// Its part of the load of all: of the users, or of the arrivals.
    pub load_ratio: f64,
    /// How its run ended.
    pub outcome: Outcome,
    /// The instrument's checks of its run all hold.
    pub valid: bool,
    /// It met its targets; absent when its run is not valid.
    pub pass: Option<bool>,
    /// The targets that it missed, as people write them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Operations that completed, per second.
    pub per_s: f64,
    /// Mean response time of its operations.
    pub mean_s: Option<f64>,
    /// 95th percentile of the same.
    pub p95_s: Option<f64>,
    /// 99th percentile of the same.
    pub p99_s: Option<f64>,
    /// Failed operations as a share of all.
    pub failed_ratio: f64,
    /// Cores that all its tiers kept busy, on average; absent where nothing was watched.
    pub cpu_cores: Option<f64>,
    /// Largest resident memory of its tiers, summed.
    pub memory_bytes: Option<u64>,
    /// What holds it most likely, in a sentence; absent where its run has no diagnosis or that names nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
}

/// What it took to make a stack of what was made once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cloned {
    /// Seconds for the copy of its data.
    pub copy_s: f64,
    /// Seconds for starting its servers, one after the other.
    pub start_s: f64,
    /// Seconds from nothing to the answer to the first request, with both of these.
    pub ready_s: f64,
    /// Bytes that the copy took on the disk; 0 where it shares its blocks with what it was copied from.
    pub disk_bytes: u64,
}

/// How far guests are apart: the difference between the largest and the smallest throughput by what of the load they had, as a share of
/// their mean. Absent for fewer than two guests, or where one of them completed nothing.
pub fn spread_ratio(guests: &[GuestResult]) -> Option<f64> {
    let rates = || guests.iter().map(|guest| guest.per_s / guest.load_ratio);
    let mean = rates().sum::<f64>() / guests.len().max(1) as f64;
    let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    (guests.len() > 1 && low > 0.0 && mean.is_finite()).then(|| (high - low) / mean)
}

/// The guest that was slowest by its mean response time.
pub fn slowest(guests: &[GuestResult]) -> Option<&GuestResult> {
    let known = guests.iter().filter_map(|guest| Some((guest, guest.mean_s?)));
    known.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(guest, _)| guest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guest with that number of users, that throughput and that mean response time.
    fn guest(number: u32, users: u32, per_s: f64, mean_s: f64) -> GuestResult {
        GuestResult {
            guest: Guest { number, cpu_limit_cores: Some(0.5), memory_limit_bytes: None },
            run: format!("20261127-050000-dvdstore-000{number}"),
            cloned: Cloned { copy_s: 0.2, start_s: 1.0, ready_s: 1.5, disk_bytes: 1 << 20 },
            users,
            load_ratio: f64::from(users) / 10.0,
            outcome: Outcome::Completed,
            valid: true,
            pass: Some(true),
            missed: Vec::new(),
            per_s,
            mean_s: Some(mean_s),
            p95_s: Some(2.0 * mean_s),
            p99_s: Some(3.0 * mean_s),
            failed_ratio: 0.0,
            cpu_cores: Some(0.4),
            memory_bytes: Some(100 << 20),
            held_by: None,
        }
    }

    #[test]
    fn the_spread_is_that_of_what_each_user_gets() {
        assert_eq!(spread_ratio(&[guest(1, 10, 90.0, 0.1), guest(2, 10, 110.0, 0.1)]), Some(0.2));
        let unequal = [guest(1, 3, 30.0, 0.1), guest(2, 2, 20.0, 0.1)];
        assert_eq!(spread_ratio(&unequal), Some(0.0), "the one with more users is no faster");
        assert_eq!(spread_ratio(&[guest(1, 10, 90.0, 0.1)]), None, "from nobody");
        let silent = [guest(1, 10, 90.0, 0.1), guest(2, 10, 0.0, 0.1)];
        assert_eq!(spread_ratio(&silent), None, "one did nothing, which is no distance");
        assert_eq!(spread_ratio(&[guest(1, 1, 0.0, 0.1), guest(2, 1, 0.0, 0.1)]), None);
    }

    #[test]
    fn the_slowest_has_the_largest_mean_response_time() {
        let guests = [guest(1, 1, 1.0, 0.1), guest(2, 1, 1.0, 0.3), guest(3, 1, 1.0, 0.2)];
        assert_eq!(slowest(&guests).map(|guest| guest.guest.number), Some(2));
        assert_eq!(slowest(&[]), None);
    }
}

//! When users arrive in the open model: a thread's part of the whole stream, the same for any number of threads.

use model::catalogue::load::{Arrivals, Pattern, Profile};

use crate::random::Stream;

/// The stream of random numbers for arrivals lies beyond those of users, which are numbered by 32 bits.
const ARRIVALS: u64 = 1 << 40;

/// One arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The intended start.
    pub(crate) at_ns: u64,
    /// Its number over all threads, 0-based, in the order of time.
    pub(crate) number: u32,
}

/// The arrivals that one lane deals with: of all of them every n-th one, whether they come evenly or at random. So
/// who arrives and when is the same for any number of threads and machines; a lane draws those of the others too, which costs
/// a logarithm each.
#[derive(Debug, Clone)]
pub(crate) struct ArrivalStream {
    profile: Profile,
    pattern: Pattern,
    stream: Stream,
    /// The next one to look at, over all lanes.
    number: u64,
    /// The next one of this lane.
    mine: u64,
    lanes: u64,
    /// From this number on nobody comes.
    end: u64,
    /// The area below the profile at the last one; Poisson only.
    area: f64,
}

impl ArrivalStream {
    /// The part of lane `lane` of `lanes`, of at most `max` arrivals; `profile` is the whole rate over time, per
    /// second.
    pub(crate) fn new(
        profile: Profile,
        arrivals: &Arrivals,
        seed: u64,
        max: u64,
        (lane, lanes): (usize, usize),
    ) -> ArrivalStream {
        ArrivalStream {
            profile,
            pattern: arrivals.pattern,
            stream: Stream::new(seed, ARRIVALS),
            number: 0,
            mine: lane as u64,
            lanes: lanes as u64,
            end: max,
            area: 0.0,
        }
    }

    /// The area below the profile at the next arrival of this lane.
    fn next_area(&mut self) -> f64 {
        match self.pattern {
            Pattern::Constant => self.mine as f64,
            Pattern::Poisson => {
                while self.number <= self.mine {
                    self.area -= (1.0 - self.stream.unit()).ln();
                    self.number += 1;
                }
                self.area
            }
        }
    }
}

impl Iterator for ArrivalStream {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if self.mine >= self.end {
            return None;
        }
        let area = self.next_area();
        let at_s = self.profile.time_of_area(area)?;
        let number = self.mine as u32;
        self.mine += self.lanes;
        Some(Arrival { at_ns: (at_s * 1e9).round() as u64, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::catalogue::load::{Arriving, Load};

    const SEED: u64 = 5;

    fn load(pattern: Pattern, from_per_s: f64, to_per_s: f64) -> Load {
        let arrivals = Arrivals { pattern, arriving: Arriving::Sessions, from_per_s, to_per_s };
        Load { arrivals: Some(arrivals), steady_s: 100.0, seed: SEED, ..Load::default() }
    }

    /// All arrivals over `workers` threads in the order of time, in seconds.
    fn times(load: &Load, workers: usize) -> Vec<f64> {
        let arrivals = load.arrivals.expect("an open load");
        let part = |worker| ArrivalStream::new(load.profile(), &arrivals, SEED, u64::MAX, (worker, workers));
        let mut times: Vec<f64> =
            (0..workers).flat_map(part).map(|arrival| arrival.at_ns as f64 / 1e9).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    #[test]
    fn even_arrivals_are_the_same_for_any_number_of_threads() {
        let load = load(Pattern::Constant, 50.0, 50.0);
        let alone = times(&load, 1);
        assert_eq!(alone.len(), 5000);
        assert!(alone.windows(2).all(|pair| (pair[1] - pair[0] - 0.02).abs() < 1e-8));
        for workers in [2, 4] {
            assert_eq!(times(&load, workers), alone, "{workers} threads");
        }
    }

    #[test]
    fn random_arrivals_are_poisson_for_any_number_of_threads() {
        let load = load(Pattern::Poisson, 50.0, 50.0);
        for workers in [1, 2, 4] {
            let times = times(&load, workers);
            let count = times.len() as f64;
            assert!((count - 5000.0).abs() < 3.29 * 5000f64.sqrt(), "{workers} threads: {count} arrivals");
            let mut gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
            gaps.sort_by(f64::total_cmp);
            let distance = gaps.iter().enumerate().map(|(index, gap)| {
                let expected = 1.0 - (-50.0 * gap).exp();
                (expected - index as f64 / count).abs().max(((index + 1) as f64 / count - expected).abs())
            });
            let distance = distance.fold(0.0, f64::max);
            let limit = 1.9495 / count.sqrt();
            assert!(distance < limit, "{workers} threads: distance {distance:.4} over {limit:.4}");
        }
    }

    #[test]
    fn random_arrivals_are_the_same_for_any_number_of_threads() {
        let load = load(Pattern::Poisson, 10.0, 90.0);
        let arrivals = load.arrivals.expect("an open load");
        let all = |workers: usize, max: u64| {
            let part = |worker| {
                ArrivalStream::new(load.profile(), &arrivals, SEED, max, (worker, workers))
                    .collect::<Vec<_>>()
            };
            let mut all: Vec<Arrival> = (0..workers).flat_map(part).collect();
            all.sort_by_key(|arrival| arrival.number);
            all
        };
        let alone = all(1, u64::MAX);
        assert!(
            alone
                .windows(2)
                .all(|pair| pair[0].at_ns <= pair[1].at_ns && pair[0].number + 1 == pair[1].number)
        );
        for workers in [2, 3, 4] {
            assert_eq!(all(workers, u64::MAX), alone, "{workers} threads");
            assert_eq!(all(workers, 777), alone[..777], "{workers} threads and 777 arrivals");
        }
    }

    #[test]
    fn numbers_are_unique_over_all_threads() {
        let load = load(Pattern::Poisson, 50.0, 50.0);
        let arrivals = load.arrivals.expect("an open load");
        let part = |worker| ArrivalStream::new(load.profile(), &arrivals, SEED, u64::MAX, (worker, 3));
        let numbers: Vec<u32> = (0..3).flat_map(part).map(|arrival| arrival.number).collect();
        let unique: std::collections::BTreeSet<&u32> = numbers.iter().collect();
        assert_eq!(unique.len(), numbers.len());
    }

    #[test]
    fn a_ramp_has_as_many_arrivals_in_each_part_as_its_area() {
        for (pattern, workers) in [(Pattern::Constant, 1), (Pattern::Constant, 4), (Pattern::Poisson, 2)] {
            let times = times(&load(pattern, 10.0, 90.0), workers);
            let mut chi2 = 0.0;
            for part in 0..10 {
                let (from, to) = (f64::from(part) * 10.0, f64::from(part + 1) * 10.0);
                let expected = 10.0 * (10.0 + 0.8 * (from + to) / 2.0);
                let count = times.iter().filter(|at| (from..to).contains(*at)).count() as f64;
                chi2 += (count - expected).powi(2) / expected;
            }
            let limit = if pattern == Pattern::Constant { 0.1 } else { 29.6 };
            assert!(chi2 < limit, "{pattern:?}, {workers} threads: chi-square {chi2:.2} over {limit}");
        }
    }
}

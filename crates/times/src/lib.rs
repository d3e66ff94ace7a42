//! Histograms of times: what is recorded, merged and cleared for every second of a run. A room of its own below the nouns,
//! because these few functions are all that is hot below the engine: `model` itself can stay unoptimised in the dev profile,
//! where its derived code is half of what there is to compile.

pub mod encoded;

use hdrhistogram::Histogram;

/// Times in microseconds from 1 µs to 1 h with three significant digits.
pub type Times = Histogram<u64>;

/// An empty histogram of times.
pub fn new_times() -> Times {
    Times::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are constants that hdrhistogram accepts")
}

/// A placeholder that takes no memory worth the name.
pub fn nothing() -> Times {
    Times::new_with_bounds(1, 2, 0).expect("the bounds are constants that hdrhistogram accepts")
}

/// Records a time given in nanoseconds: never dropped, clipped to the histogram's range.
pub fn record_ns(times: &mut Times, nanos: u64) {
    record_ns_times(times, nanos, 1);
}

/// Records the same time `count` times over.
pub fn record_ns_times(times: &mut Times, nanos: u64, count: u64) {
    times.saturating_record_n((nanos.saturating_add(500) / 1_000).max(1), count);
}

/// Adds `other` to `times`; an empty one, as most of a run's are, costs nothing although it has as many buckets.
pub fn add_times(times: &mut Times, other: &Times) {
    if !other.is_empty() {
        times.add(other).expect("all histograms of times have the same bounds");
    }
}

/// Forgets what was recorded and keeps the memory; a histogram is large, and an empty one is left alone.
pub fn clear(times: &mut Times) {
    if !times.is_empty() {
        times.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_beyond_the_range_is_clipped_and_never_dropped() {
        let mut times = new_times();
        record_ns(&mut times, u64::MAX);
        record_ns(&mut times, 0);
        assert_eq!(times.len(), 2);
    }
}

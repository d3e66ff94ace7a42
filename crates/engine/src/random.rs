//! Random streams: one for every user and every chunk of a data set, all from the run's seed, so that two runs draw
//! the same requests whatever the number of threads.

use model::random::Random;

/// A small, fast generator: xoroshiro128++ 1.0 (Blackman and Vigna 2019, public domain), 16 bytes of state, period
/// 2^128 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    a: u64,
    b: u64,
}

impl Stream {
    /// The stream `number` of `seed`. Streams of neighbouring numbers are unrelated: both words come from SplitMix64.
    pub fn new(seed: u64, number: u64) -> Stream {
        let mut words = Random::new(seed ^ Random::nth(number, 0));
        let (a, b) = (words.bits(), words.bits());
        Stream { a, b: if a == 0 && b == 0 { 1 } else { b } }
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        let (a, mut b) = (self.a, self.b);
        let result = a.wrapping_add(b).rotate_left(17).wrapping_add(a);
        b ^= a;
        self.a = a.rotate_left(49) ^ b ^ (b << 21);
        self.b = b.rotate_left(28);
        result
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n, without bias (Lemire 2019, "Fast random integer generation in an interval"). `n` > 0.
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0, "an empty range has no element");
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if (product as u64) >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform in low..=high.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low) as u64;
        if span == u64::MAX { self.bits() as i64 } else { low.wrapping_add(self.below(span + 1) as i64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_every_time_and_differs_from_its_neighbours() {
        let draw = |seed, number| {
            let mut stream = Stream::new(seed, number);
            [stream.bits(), stream.bits(), stream.bits()]
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
    }

    #[test]
    fn draws_below_n_are_uniform_by_chi_square() {
        let (n, draws) = (10u64, 1_000_000);
        let mut counts = [0f64; 10];
        let mut stream = Stream::new(7, 7);
        (0..draws).for_each(|_| counts[stream.below(n) as usize] += 1.0);
        let expected = draws as f64 / n as f64;
        let chi2: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(chi2 < 27.9, "chi-square {chi2} over the 0.999 quantile of 9 degrees of freedom");
    }

    #[test]
    fn between_includes_both_ends() {
        let mut stream = Stream::new(3, 0);
        let draws: Vec<i64> = (0..1000).map(|_| stream.between(-1, 1)).collect();
        assert!([-1, 0, 1].iter().all(|value| draws.contains(value)));
        assert_eq!(stream.between(5, 5), 5);
    }
}

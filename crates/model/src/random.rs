//! Random numbers from a seed: the same seed gives the same numbers, on every machine, always.

/// 2⁶⁴ over the golden ratio, made odd: by this the state of a stream grows with each draw.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood 2014): a counter, and a mixing of its bits. Inlined into the rooms that draw, where
/// simulations draw by the million.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of that seed.
    #[inline]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Draw `number` of the stream of `seed`, counted from 0: streams of neighbouring seeds and neighbouring draws are
    /// unrelated, so that it also serves as the seed of something else.
    #[inline]
    pub fn nth(seed: u64, number: u64) -> u64 {
        Random(seed.wrapping_add(number.wrapping_mul(STEP))).bits()
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in (0, 1): never 0, whose logarithm is none.
    #[inline]
    pub fn open_unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Uniform among 0, 1, …, `count` − 1; 0 for a `count` of 0. (Lemire 2019, without the rejection: the bias is below
    /// `count`/2⁶⁴.)
    #[inline]
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// Standard normal (Box and Muller 1958).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Exponential with the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean, variance and largest of 100,000 draws.
    fn moments(mut draw: impl FnMut(&mut Random) -> f64) -> (f64, f64, f64) {
        let mut random = Random::new(7);
        let draws: Vec<f64> = (0..100_000).map(|_| draw(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance, draws.iter().copied().fold(f64::MIN, f64::max))
    }

    #[test]
    fn draws_have_the_moments_of_their_distribution() {
        type Draw = fn(&mut Random) -> f64;
        let table: [(&str, Draw, f64, f64); 4] = [
            ("uniform", |random| random.unit(), 0.5, 1.0 / 12.0),
            ("normal", |random| random.normal(), 0.0, 1.0),
            ("exponential", |random| random.exponential(2.0), 2.0, 4.0),
            ("a die from 0", |random| random.below(6) as f64, 2.5, 35.0 / 12.0),
        ];
        for (name, draw, mean, variance) in table {
            let found = moments(draw);
            assert!((found.0 - mean).abs() < 4.0 * (variance / 1e5).sqrt(), "{name}: {found:?}");
            assert!((found.1 / variance - 1.0).abs() < 0.05, "{name}: {found:?}");
        }
        assert_eq!(moments(|random| random.below(6) as f64).2, 5.0);
        assert_eq!(Random::new(1).below(0), 0);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        // From the reference implementation's published test vector.
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!([0, 1, 2].map(|number| Random::nth(1_234_567, number)), first[..]);
    }
}

//! Random numbers for simulations.

/// A stream whose uniform draws are never 0.
#[derive(Debug, Clone)]
pub struct Random(model::random::Random);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Random {
        let start = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d;
        Random(model::random::Random::new(start))
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.open_unit()
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

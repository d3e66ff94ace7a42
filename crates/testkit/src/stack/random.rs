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

    /// Student's t with that many degrees of freedom (Bailey, "Polar generation of random variates with the
    /// t-distribution", Mathematics of Computation 62, 1994).
    pub fn student(&mut self, degrees: f64) -> f64 {
        let spread = degrees * (self.unit().powf(-2.0 / degrees) - 1.0);
        spread.sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Evenly in ln between two positive values.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }
}

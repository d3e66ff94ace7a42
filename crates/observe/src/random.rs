//! Chance: which thread is looked at, and when.

/// Xorshift (Marsaglia 2003): good enough to draw threads and moments.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Seeded anew for each process.
    pub(crate) fn seeded() -> Random {
        use std::hash::{BuildHasher, RandomState};
        Random(RandomState::new().hash_one(std::process::id()) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }

    /// A number from 0 up to 1.
    pub(crate) fn ratio(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

//! How the response times of a window are distributed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Response times of all operations in a window, as their percentiles.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseTimes {
    /// How many there were.
    pub samples: u64,
    /// The times below which 0.1, 0.5, 1, 2, 3 … 98, 99, 99.5 and 99.9 % of them lie, in seconds.
    pub times_s: Vec<f64>,
}

impl ResponseTimes {
    /// The percentiles that [`Self::times_s`] are, ascending: 0.1 to 99.9.
    pub fn percents() -> impl Iterator<Item = f64> {
        [0.1, 0.5].into_iter().chain((1..=99).map(f64::from)).chain([99.5, 99.9])
    }
}

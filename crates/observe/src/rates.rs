//! Counts that only grow become rates: their growth per second since they were read last.

use std::collections::HashMap;

use model::Signal;

use crate::points::Points;

/// The last count of each name, and when it was read.
#[derive(Debug, Default)]
pub(crate) struct Rates(HashMap<String, (f64, f64)>);

impl Rates {
    /// How fast the count called `name` has grown since the last call, per second; `None` the first time, and where it is
    /// not known now. A count that fell has not grown: some kernels correct theirs.
    pub(crate) fn growth(&mut self, name: &str, at_s: f64, count: Option<f64>) -> Option<f64> {
        let count = count?;
        let (then_s, before) = self.0.insert(name.to_string(), (at_s, count))?;
        (at_s > then_s).then(|| (count - before).max(0.0) / (at_s - then_s))
    }

    /// Adds that of a count of the machine to `points`; a share is at most 1.
    pub(crate) fn add(&mut self, signal: &Signal, count: Option<f64>, points: &mut Points) {
        let limit = if signal.unit == "ratio" { 1.0 } else { f64::INFINITY };
        let growth = self.growth(&signal.name, points.at_s(), count);
        points.add_known(signal, None, growth.map(|growth| growth.min(limit)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_over_the_time_since_the_count_was_read_and_never_negative() {
        let mut rates = Rates::default();
        let mut growth = |at_s, count| rates.growth("a", at_s, count);
        assert_eq!(growth(1.0, Some(10.0)), None, "one count is no rate");
        assert_eq!(growth(3.0, Some(14.0)), Some(2.0));
        assert_eq!(growth(4.0, None), None);
        assert_eq!(growth(5.0, Some(24.0)), Some(5.0), "10 in 2 s");
        assert_eq!(growth(6.0, Some(3.0)), Some(0.0));
        assert_eq!(growth(6.0, Some(9.0)), None, "no time has passed");
    }
}

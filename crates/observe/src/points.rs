//! New points of many series, collected as they are read.

use model::Signal;
use model::record::Series;

/// Points of one moment.
#[derive(Debug)]
pub(crate) struct Points {
    at_s: f64,
    /// A series with one point each.
    pub(crate) found: Vec<Series>,
}

impl Points {
    /// Points at `at_s` seconds of the run.
    pub(crate) fn at(at_s: f64) -> Points {
        Points { at_s, found: Vec::new() }
    }

    /// Their moment, in seconds of the run.
    pub(crate) fn at_s(&self) -> f64 {
        self.at_s
    }

    /// A point of `signal`, of `tier` or of the machine.
    pub(crate) fn add(&mut self, signal: &Signal, tier: Option<&str>, value: f64) {
        self.push(signal.name.to_string(), signal, tier, value);
    }

    /// The same where there is a value.
    pub(crate) fn add_known(&mut self, signal: &Signal, tier: Option<&str>, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.add(signal, tier, value);
        }
    }

    /// A point of one of several things that have numbers: `cpuN.busy_ratio`, `instanceN.cores` of a tier.
    pub(crate) fn add_numbered(&mut self, signal: &Signal, tier: Option<&str>, number: usize, value: f64) {
        self.push(signal.numbered(number), signal, tier, value);
    }

    fn push(&mut self, name: String, signal: &Signal, tier: Option<&str>, value: f64) {
        let (tier, unit) = (tier.map(str::to_string), signal.unit.to_string());
        self.found.push(Series { name, tier, unit, points: vec![(self.at_s, value)] });
    }
}

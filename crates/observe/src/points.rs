//! New points of many series, collected as they are read.

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

    /// A point of series `name` of `tier`, or of the machine.
    pub(crate) fn add(&mut self, name: &str, tier: Option<&str>, unit: &str, value: f64) {
        self.found.push(Series {
            name: name.to_string(),
            tier: tier.map(str::to_string),
            unit: unit.to_string(),
            points: vec![(self.at_s, value)],
        });
    }

    /// The same where there is a value.
    pub(crate) fn add_known(&mut self, name: &str, tier: Option<&str>, unit: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.add(name, tier, unit, value);
        }
    }
}

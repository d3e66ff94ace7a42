//! Figures that were published, beside those that were measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trial::{Figure, Measured};
use crate::catalogue::qos::Measure;

/// A table of published figures with what was measured in the same cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// For people.
    pub title: String,
    /// Our figure as the study writes it: `throughput`, `HomePage p90`, `mbit_per_s`, `signal:web.calls.blocks`; empty where
    /// nothing of ours is of the kind.
    pub of: String,
    /// The same for programs.
    pub figure: PublishedFigure,
    /// The unit of all values, or of ours alone where the published ones are ratios.
    pub unit: String,
    /// Whether the published values are ratios to the row that has 1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relative: bool,
    /// Where it was published.
    pub source: String,
    /// The figures in the order in which they were published.
    pub rows: Vec<PublishedRow>,
    /// The row of which both sides' ratios are taken: the first that was measured, or the one of which the published ones are, where it
    /// was measured.
    pub base: Option<usize>,
    /// Each pair of rows that were measured: whether they are ordered as it was published.
    pub pairs: Vec<PublishedPair>,
    /// What was said in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// Which figure of ours stands beside a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedFigure {
    /// A figure's name (`throughput`, `sd`, `p90`), a metric's, a signal's with its tier (`web.calls.blocks`), or `load_line`.
    pub name: String,
    /// The operation; absent for all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// One of the kit's metrics.
    #[serde(default)]
    pub metric: bool,
    /// Of a metric that is a percentile of all operations' response times: which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// A signal of a tier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signal: bool,
    /// Our value times this is in the table's unit.
    pub times: f64,
}

/// A published figure, and ours.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRow {
    /// As it was published.
    pub label: String,
    /// The published value.
    pub value: f64,
    /// That it was said to be the least or the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// It as a ratio to the base row's.
    pub ratio: Option<f64>,
    /// The cell of ours that it is of; absent where we have none.
    pub cell: Option<usize>,
    /// What was measured there.
    pub ours: Option<Estimate>,
    /// It as a ratio to the base row's; the base itself has no interval.
    pub ours_ratio: Option<Estimate>,
}

/// Which end of a range a published value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// At least that.
    Least,
    /// At most that.
    Most,
}

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The geometric mean of the repeats.
    pub value: f64,
    /// Absent where nothing is known of how far repeats differ.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// How many valid trials there are.
    pub repeats: u32,
}

/// Two rows that were both measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedPair {
    /// A row; of a claim a cell.
    pub first: usize,
    /// A later one.
    pub second: usize,
    /// The second's published value as a ratio to the first's; absent of a claim.
    pub published: Option<f64>,
    /// The second's measured value as a ratio to the first's; its interval holds for all pairs of the table at once.
    pub ours: Estimate,
    /// What follows.
    pub says: Agreement,
}

/// Whether a pair is ordered as it was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Our interval lies on the published side.
    Agrees,
    /// Our interval lies on the other side.
    Contradicts,
    /// Our interval holds both, or was never known: not distinguishable.
    Open,
}

/// Something that was said of cells without figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// In a sentence.
    pub says: String,
    /// What that means for the cells.
    pub order: ClaimOrder,
    /// The cells in that order; those that this form of the study doesn't have are left out.
    pub cells: Vec<usize>,
    /// Each pair of cells that were measured.
    pub pairs: Vec<PublishedPair>,
}

/// How a claim orders its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimOrder {
    /// None differs from another.
    Same,
    /// The figure is larger in every later cell.
    Rises,
    /// The figure is smaller in every later cell.
    Falls,
}

impl PublishedRow {
    /// A row that was not measured yet.
    pub fn new(label: &str, value: f64, cell: Option<usize>) -> PublishedRow {
        PublishedRow { label: label.to_string(), value, cell, ..PublishedRow::default() }
    }
}

impl PublishedFigure {
    /// Reads `[OPERATION ]MEASURE`, a metric's name or `load_line`; `metrics` are names with units. Beside what a target
    /// can be about there is `sd`, the standard deviation. Gives the unit of our value too.
    pub fn read(text: &str, metrics: &[(&str, &str)]) -> Result<(PublishedFigure, String), String> {
        let named = |name: &str, operation: Option<&str>| PublishedFigure {
            name: name.to_string(),
            operation: operation.map(str::to_string),
            times: 1.0,
            ..PublishedFigure::default()
        };
        let text = text.trim();
        if let Some((name, unit)) = metrics.iter().find(|(name, _)| *name == text) {
            return Ok((PublishedFigure { metric: true, ..named(name, None) }, unit.to_string()));
        }
        if text == "load_line" {
            return Ok((named(text, None), "users".to_string()));
        }
        let (operation, word) = match text.rsplit_once(char::is_whitespace) {
            Some((operation, word)) => (Some(operation.trim()), word),
            None => (None, text),
        };
        if word == "sd" {
            return Ok((named(word, operation), "s".to_string()));
        }
        match Measure::read(word)? {
            Measure::Percentile(percent) => Ok((named(&format!("p{percent}"), operation), "s".to_string())),
            Measure::Mean => Ok((named("mean", operation), "s".to_string())),
            Measure::Throughput => Ok((named("throughput", operation), "operations/s".to_string())),
            _ => Err(format!("`{word}` is no figure of a trial")),
        }
    }

    /// The signal of that name, `web.calls.blocks`.
    pub fn of_signal(name: &str) -> PublishedFigure {
        PublishedFigure { name: name.to_string(), signal: true, times: 1.0, ..PublishedFigure::default() }
    }

    /// The figure for a table in unit `wanted`, ours being in `unit`; `None` when the two are of different kinds.
    pub fn in_unit(self, unit: &str, wanted: &str) -> Option<PublishedFigure> {
        let times = match (unit, wanted) {
            _ if unit == wanted => 1.0,
            ("s", "ms") => 1e3,
            ("s", "us" | "µs") => 1e6,
            _ => return None,
        };
        Some(PublishedFigure { times, ..self })
    }

    /// The percentile that a trial must keep for it; `None` when it needs none.
    pub fn percentile(&self) -> Option<f64> {
        let percent = self.name.strip_prefix('p').filter(|_| !self.metric && !self.signal)?;
        percent.parse().ok()
    }

    /// The percentile of all operations' response times that it is, in seconds; absent of any other figure.
    pub fn percent_of_all(&self) -> Option<f64> {
        self.percent.or_else(|| self.percentile().filter(|_| self.operation.is_none()))
    }

    /// What a window said of it, in our unit.
    pub fn of<'a>(&self, measured: &'a Measured) -> Option<&'a Figure> {
        if self.signal {
            measured.signal(&self.name)
        } else if self.metric {
            measured.metrics.iter().find(|figure| figure.name == self.name)
        } else {
            measured.figure(&self.name, self.operation.as_deref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_written_as_in_a_target_or_by_the_metrics_name() {
        let metrics = [("mbit_per_s", "Mbit/s"), ("rt_p50", "s")];
        let read = |text: &str| PublishedFigure::read(text, &metrics);
        let (figure, unit) = read("HomePage p90").expect("a figure");
        assert_eq!((figure.name.as_str(), figure.operation.as_deref()), ("p90", Some("HomePage")));
        assert_eq!((figure.percentile(), unit.as_str()), (Some(90.0), "s"));
        assert_eq!(figure.percent_of_all(), None, "it is of one operation");
        assert_eq!(read("p5").expect("a figure").0.percent_of_all(), Some(5.0));
        let (figure, unit) = read("mbit_per_s").expect("a metric");
        assert!(figure.metric && unit == "Mbit/s" && figure.percentile().is_none());
        for (text, operation) in [("sd", None), ("Search sd", Some("Search"))] {
            let (figure, unit) = read(text).expect("a figure");
            assert_eq!((figure.name.as_str(), figure.operation.as_deref()), ("sd", operation));
            assert_eq!((figure.percentile(), unit.as_str()), (None, "s"));
        }
        assert_eq!(PublishedFigure::of_signal("p9.calls.blocks").percentile(), None);
        for text in ["errors", "max", "throughputs", "", "samples", "sds"] {
            assert!(read(text).is_err(), "{text} must be refused");
        }
    }

    #[test]
    fn times_may_be_in_milliseconds_and_nothing_else_changes_its_unit() {
        let figure = PublishedFigure { times: 1.0, ..PublishedFigure::default() };
        assert_eq!(figure.clone().in_unit("s", "ms").map(|figure| figure.times), Some(1e3));
        assert_eq!(figure.clone().in_unit("Mbit/s", "Mbit/s").map(|figure| figure.times), Some(1.0));
        assert_eq!(figure.in_unit("operations/s", "ms"), None);
    }
}

//! Quality-of-service targets: `p95 < 2s`, `mean < 300ms`, `errors < 0.1%`, of all operations or of one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The percentile of the response time; 95.0 for p95.
    Percentile(f64),
    /// The mean response time.
    Mean,
    /// The largest response time.
    Max,
    /// Failed operations as a share of all.
    Errors,
}

/// One target. A run passes when every target is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QosTarget {
    /// The operation it is for; `None` means all operations together.
    pub operation: Option<String>,
    /// What is measured.
    pub measure: Measure,
    /// The observed value must be below this: seconds, or a ratio for errors.
    pub limit: f64,
}

impl QosTarget {
    /// How many samples the measure needs to be worth stating: at least five beyond a percentile, 30 for a mean.
    /// (statistics.md: "refuse p99 with fewer than 500 samples".)
    pub fn samples_needed(&self) -> u64 {
        match self.measure {
            Measure::Percentile(percent) => (5.0 / (1.0 - percent / 100.0)).ceil() as u64,
            Measure::Mean | Measure::Max => 30,
            Measure::Errors => (1.0 / self.limit.max(1e-6)).ceil().min(1000.0) as u64,
        }
    }

    /// The target without its operation: `p95 < 2.00 s`.
    pub fn clause(&self) -> String {
        match self.measure {
            Measure::Percentile(percent) => format!("p{percent} < {}", units::show_seconds(self.limit)),
            Measure::Mean => format!("mean < {}", units::show_seconds(self.limit)),
            Measure::Max => format!("max < {}", units::show_seconds(self.limit)),
            Measure::Errors => format!("errors < {}%", self.limit * 100.0),
        }
    }
}

impl fmt::Display for QosTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = &self.operation {
            write!(f, "{operation} ")?;
        }
        f.write_str(&self.clause())
    }
}

impl FromStr for QosTarget {
    type Err = String;

    /// Reads `[OPERATION ]MEASURE < LIMIT`; MEASURE is p50, p99.9, mean, max or errors.
    fn from_str(text: &str) -> Result<QosTarget, String> {
        let (left, right) = text
            .split_once('<')
            .ok_or_else(|| format!("`{text}` is not a target; write it as `p95 < 2s` or `errors < 0.1%`"))?;
        let limit_text = right.trim_start_matches('=').trim();
        let mut words: Vec<&str> = left.split_whitespace().collect();
        let measure_word = words.pop().ok_or_else(|| format!("`{text}` does not say what is measured"))?;
        let operation = (!words.is_empty()).then(|| words.join(" "));
        let measure = read_measure(measure_word)?;
        let limit = if measure == Measure::Errors {
            let (number, scale) =
                limit_text.strip_suffix('%').map_or((limit_text, 1.0), |number| (number, 0.01));
            let share: f64 =
                number.trim().parse().map_err(|_| format!("`{limit_text}` is not a share, such as 0.1%"))?;
            share * scale
        } else {
            units::duration(limit_text)?.as_secs_f64()
        };
        if limit <= 0.0 || (measure == Measure::Errors && limit > 1.0) {
            return Err(format!("the limit `{limit_text}` can't be met or can't be missed"));
        }
        Ok(QosTarget { operation, measure, limit })
    }
}

fn read_measure(word: &str) -> Result<Measure, String> {
    match word.to_ascii_lowercase().as_str() {
        "mean" | "avg" => Ok(Measure::Mean),
        "max" => Ok(Measure::Max),
        "errors" => Ok(Measure::Errors),
        lower => {
            let percent = lower.strip_prefix('p').and_then(|number| number.parse::<f64>().ok());
            match percent {
                Some(percent) if (1.0..100.0).contains(&percent) => Ok(Measure::Percentile(percent)),
                _ => Err(format!("`{word}` is not a measure; use p50 to p99.99, mean, max or errors")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_people_write_them() {
        let target: QosTarget = "p95 < 2s".parse().expect("a target");
        assert_eq!(target, QosTarget { operation: None, measure: Measure::Percentile(95.0), limit: 2.0 });
        let target: QosTarget = "Browse p99.9<300ms".parse().expect("a target");
        assert_eq!(target.operation.as_deref(), Some("Browse"));
        assert_eq!(target.to_string(), "Browse p99.9 < 300 ms");
        let target: QosTarget = "errors < 0.1%".parse().expect("a target");
        assert!((target.limit - 0.001).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_a_target_is_refused() {
        for text in
            ["", "p95", "p0 < 2s", "p100 < 2s", "p95 < 2 parsecs", "errors < 200%", "median < 1s", "p95 < 0s"]
        {
            assert!(text.parse::<QosTarget>().is_err(), "{text} must be refused");
        }
    }

    #[test]
    fn the_samples_needed_follow_from_the_percentile() {
        let needed = |text: &str| text.parse::<QosTarget>().expect("a target").samples_needed();
        assert_eq!(needed("p95 < 1s"), 100);
        assert_eq!(needed("p99 < 1s"), 500);
        assert_eq!(needed("errors < 0.1%"), 1000);
    }
}

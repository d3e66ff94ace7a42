//! Quality-of-service targets: `p95 < 2s`, `mean < 300ms`, `errors < 0.1%`, of all operations or of one.

mod preset;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use preset::QosPreset;

use crate::units;

/// The longest wait that users are asked about: the engine tells no more ages apart.
const LONGEST_WAIT_S: f64 = 60.0;

/// The unit of times that are judged, in records too.
pub const SECONDS: &str = "seconds";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Users who have been waiting for an answer for longer than this number of seconds, as a share of all, on average over
    /// time. Percentiles are of what was answered: they don't see a user who is never answered.
    Waiting(f64),
    /// Operations completed per second, at least.
    Throughput,
    /// Operations completed, at least.
    Samples,
}

impl Measure {
    /// The target asks for at least so much, not at most.
    pub fn at_least(self) -> bool {
        matches!(self, Measure::Throughput | Measure::Samples)
    }

    /// What lies in the upper end of the times alone, and says little of all of them.
    pub fn is_of_the_tail(self) -> bool {
        matches!(self, Measure::Percentile(_) | Measure::Max)
    }

    /// Reads what stands left of a target's sign: `p95`, `mean`, `throughput`.
    pub fn read(word: &str) -> Result<Measure, String> {
        read_measure(word)
    }

    /// A time that operations took.
    pub fn is_time(self) -> bool {
        matches!(self, Measure::Percentile(_) | Measure::Mean | Measure::Max)
    }

    /// The unit of what is observed: `seconds`, `ratio`, `1/s` or `operations`.
    pub fn unit(self) -> &'static str {
        match self {
            Measure::Percentile(_) | Measure::Mean | Measure::Max => SECONDS,
            Measure::Errors | Measure::Waiting(_) => "ratio",
            Measure::Throughput => "1/s",
            Measure::Samples => "operations",
        }
    }
}

/// One target. A run passes when every target is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QosTarget {
    /// The operation it is for; `None` means all operations together.
    pub operation: Option<String>,
    /// What is measured.
    pub measure: Measure,
    /// The observed value must be below this, or above it for what is asked for at least; in the measure's unit.
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
            Measure::Waiting(_) | Measure::Throughput | Measure::Samples => 1,
        }
    }

    /// Whether `observed` meets the target. The limit itself is missed where less is asked for, and met where at least
    /// so much is.
    pub fn met_by(&self, observed: f64) -> bool {
        if self.measure.at_least() { observed >= self.limit } else { observed < self.limit }
    }

    /// The target that every list of response times implies: a percentile is of what was answered, so it says nothing
    /// of a user who waits for ever. Of all operations' percentiles the one with the largest limit (of equal ones the
    /// one that fewest may miss), read by users: `p99 < 4s` becomes "at any moment fewer than 1 % of users have been
    /// waiting for longer than 4 s". Without one, 5 % and 10 s. `None` where no time is asked for, or the list has such
    /// a target already.
    pub fn implied(targets: &[QosTarget]) -> Option<QosTarget> {
        let waiting = |target: &&QosTarget| matches!(target.measure, Measure::Waiting(_));
        if targets.iter().any(|target| waiting(&target)) || !targets.iter().any(|t| t.measure.is_time()) {
            return None;
        }
        let of_all = targets.iter().filter(|target| target.operation.is_none());
        let widest = of_all
            .filter_map(|target| match target.measure {
                Measure::Percentile(percent) => Some((target.limit, 1.0 - percent / 100.0)),
                _ => None,
            })
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let (limit_s, share) = widest.unwrap_or((10.0, 0.05));
        if limit_s > LONGEST_WAIT_S {
            return None;
        }
        // Ages are known to the second, and a share of users below 1 % is less than one user of a hundred.
        let measure = Measure::Waiting(limit_s.max(1.0));
        Some(QosTarget { operation: None, measure, limit: share.clamp(0.01, 0.05) })
    }

    /// The target without its operation: `p95 < 2.00 s`.
    pub fn clause(&self) -> String {
        let sign = if self.measure.at_least() { '>' } else { '<' };
        format!("{} {sign} {}", self.measure, self.limit_text())
    }

    /// Its limit in its unit: `2.00 s`, `0.1%`.
    pub fn limit_text(&self) -> String {
        match self.measure {
            Measure::Percentile(_) | Measure::Mean | Measure::Max => units::show_seconds(self.limit),
            Measure::Errors | Measure::Waiting(_) => share(self.limit),
            Measure::Throughput => format!("{}/s", units::significant(self.limit)),
            Measure::Samples => self.limit.to_string(),
        }
    }

    /// What is measured of what: `Browse p95`, `waiting over 4.00 s`.
    pub fn subject(&self) -> String {
        let operation = self.operation.iter().map(|operation| format!("{operation} "));
        operation.collect::<String>() + &self.measure.to_string()
    }

    /// Reads what stands left of a target's sign, whatever its limit is.
    pub fn read_subject(text: &str) -> Result<(Measure, Option<String>), String> {
        read_left(text.split(['<', '>']).next().unwrap_or(text), text)
    }

    /// The same is measured of the same, whatever the limits are.
    pub fn is_of_the_same(&self, other: &QosTarget) -> bool {
        self.operation == other.operation && self.measure == other.measure
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Percentile(percent) => write!(f, "p{percent}"),
            Measure::Mean => f.write_str("mean"),
            Measure::Max => f.write_str("max"),
            Measure::Errors => f.write_str("errors"),
            Measure::Waiting(over_s) => write!(f, "waiting over {}", units::show_seconds(*over_s)),
            Measure::Throughput => f.write_str("throughput"),
            Measure::Samples => f.write_str("samples"),
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

/// `0.1%`: as many digits as it needs, and none that only binary fractions bring.
fn share(ratio: f64) -> String {
    format!("{}%", (ratio * 1e8).round() / 1e6)
}

impl FromStr for QosTarget {
    type Err = String;

    /// Reads `[OPERATION ]MEASURE < LIMIT`; MEASURE is p50, p99.9, mean, max, errors or `waiting over 4s`; or
    /// `[OPERATION ]throughput > 200/s`, `[OPERATION ]samples > 1000`.
    fn from_str(text: &str) -> Result<QosTarget, String> {
        let (left, sign, right) = ['<', '>']
            .into_iter()
            .find_map(|sign| text.split_once(sign).map(|(left, right)| (left, sign, right)))
            .ok_or_else(|| format!("`{text}` is not a target; write it as `p95 < 2s` or `errors < 0.1%`"))?;
        let limit_text = right.trim_start_matches('=').trim();
        let (measure, operation) = read_left(left, text)?;
        if measure.at_least() != (sign == '>') {
            let right = if measure.at_least() { '>' } else { '<' };
            return Err(format!("`{text}` asks the wrong way round; write `{} {right} …`", left.trim()));
        }
        let limit = read_limit(measure, limit_text)?;
        let senseless = measure.unit() == "ratio" && limit > 1.0;
        if !limit.is_finite() || limit <= 0.0 || senseless {
            return Err(format!("the limit `{limit_text}` can't be met or can't be missed"));
        }
        Ok(QosTarget { operation, measure, limit })
    }
}

/// The measure and the operation, from what stands left of the sign.
fn read_left(left: &str, text: &str) -> Result<(Measure, Option<String>), String> {
    if let Some(over) = left.trim().strip_prefix("waiting over ") {
        let over_s = units::duration(over)?.as_secs_f64();
        if !(1.0..=LONGEST_WAIT_S).contains(&over_s) {
            return Err(format!("`{text}`: how long users have waited is known from 1 s to 60 s"));
        }
        return Ok((Measure::Waiting(over_s), None));
    }
    let mut words: Vec<&str> = left.split_whitespace().collect();
    let word = words.pop().ok_or_else(|| format!("`{text}` does not say what is measured"))?;
    Ok((read_measure(word)?, (!words.is_empty()).then(|| words.join(" "))))
}

fn read_limit(measure: Measure, text: &str) -> Result<f64, String> {
    match measure {
        Measure::Errors | Measure::Waiting(_) => {
            let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
            let share: f64 =
                number.trim().parse().map_err(|_| format!("`{text}` is not a share, such as 0.1%"))?;
            Ok(share * scale)
        }
        Measure::Throughput => units::rates(text).map(|(rate, _)| rate),
        Measure::Samples => text.parse().map_err(|_| format!("`{text}` is not a number of operations")),
        Measure::Percentile(_) | Measure::Mean | Measure::Max => Ok(units::duration(text)?.as_secs_f64()),
    }
}

fn read_measure(word: &str) -> Result<Measure, String> {
    match word.to_ascii_lowercase().as_str() {
        "mean" | "avg" => Ok(Measure::Mean),
        "max" => Ok(Measure::Max),
        "errors" => Ok(Measure::Errors),
        "throughput" => Ok(Measure::Throughput),
        "samples" => Ok(Measure::Samples),
        lower => {
            let percent = lower.strip_prefix('p').and_then(|number| number.parse::<f64>().ok());
            match percent {
                Some(percent) if (1.0..100.0).contains(&percent) => Ok(Measure::Percentile(percent)),
                _ => Err(format!(
                    "`{word}` is not a measure; use p50 to p99.99, mean, max, errors, throughput or samples"
                )),
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
    fn what_is_asked_for_at_least_has_its_own_sign() {
        let target: QosTarget = "throughput > 200/s".parse().expect("a target");
        assert_eq!((target.measure, target.limit), (Measure::Throughput, 200.0));
        assert!(target.met_by(200.0) && !target.met_by(199.9));
        let target: QosTarget = "Browse samples > 1000".parse().expect("a target");
        assert_eq!(target.to_string(), "Browse samples > 1000");
        for text in ["throughput < 200/s", "p95 > 2s", "samples > many", "waiting over 100ms < 1%"] {
            assert!(text.parse::<QosTarget>().is_err(), "{text} must be refused");
        }
    }

    #[test]
    fn every_target_is_read_again_as_it_is_shown() {
        for text in ["p99.9 < 300 ms", "Login max < 20.0 ms", "errors < 0.1%", "waiting over 4.00 s < 1%"] {
            let target: QosTarget = text.parse().expect("a target");
            assert_eq!(target.to_string(), text);
        }
        let target: QosTarget = "throughput > 30/min".parse().expect("a target");
        assert_eq!(target.to_string().parse(), Ok(target));
    }

    #[test]
    fn times_imply_that_users_are_answered_at_all() {
        let implied = |texts: &[&str]| {
            let targets: Vec<QosTarget> = texts.iter().map(|text| text.parse().expect("a target")).collect();
            QosTarget::implied(&targets).map(|target| target.to_string())
        };
        let said = |text: &str| Some(text.to_string());
        assert_eq!(implied(&["p95 < 2s", "p99 < 4s", "errors < 0.1%"]), said("waiting over 4.00 s < 1%"));
        for texts in [["p95 < 2s", "p99 < 2s"], ["p99 < 2s", "p95 < 2s"]] {
            assert_eq!(implied(&texts), said("waiting over 2.00 s < 1%"), "whatever the order: {texts:?}");
        }
        assert_eq!(implied(&["p50 < 1us"]), said("waiting over 1.00 s < 5%"), "half the users is too many");
        assert_eq!(implied(&["Browse p95 < 1s"]), said("waiting over 10.0 s < 5%"), "others may take longer");
        assert_eq!(implied(&["errors < 1%"]), None, "no time is asked for");
        assert_eq!(implied(&["p95 < 2s", "waiting over 9s < 2%"]), None, "the user knows better");
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
    fn a_limit_that_is_no_number_or_has_no_end_is_refused() {
        let shares = ["errors < nan", "errors < nan%", "errors < inf", "waiting over 4s < nan"];
        let numbers = ["samples > inf", "samples > nan", "throughput > inf/s", "throughput > nan/s"];
        let times = ["p95 < nan s", "mean < inf s", "max < infinity"];
        for text in shares.into_iter().chain(numbers).chain(times) {
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

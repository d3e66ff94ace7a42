//! One target against what was measured, in a run or in the window of a study's trial. In memory the target is typed;
//! on disk it also stands as people write it, and records that have only the text are read by it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::catalogue::qos::{Measure, QosTarget};

/// One target against what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetOutcome {
    /// What was asked for.
    pub target: QosTarget,
    /// In the unit of the target's measure; absent when there was nothing to observe.
    pub observed: Option<f64>,
    /// Met.
    pub pass: bool,
    /// Number of samples.
    pub samples: u64,
    /// Number of samples that the target needs.
    pub samples_needed: u64,
    /// The mean of the same response times, in seconds; absent where no times are judged and without samples.
    pub average_s: Option<f64>,
    /// What a study knows of it beside; runs don't have it.
    pub margin: Margin,
}

/// How near a target is to its limit, and how far that can be trusted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Margin {
    /// ln(observed/limit), turned round for targets that ask for at least something: negative when met. Absent
    /// without samples. A share of errors is taken as (failed + 0.5)/(all + 1).
    pub log: Option<f64>,
    /// Standard error of `log`, from the batches.
    pub log_se: Option<f64>,
    /// The margin in consecutive parts of the window of equal length.
    pub batches: Vec<f64>,
}

impl TargetOutcome {
    /// A target against what was `observed` in that number of samples.
    pub fn of(target: QosTarget, observed: Option<f64>, samples: u64) -> TargetOutcome {
        let pass = observed.is_some_and(|value| target.met_by(value));
        let samples_needed = target.samples_needed();
        let margin = Margin::default();
        TargetOutcome { target, observed, pass, samples, samples_needed, average_s: None, margin }
    }

    /// 1 − observed/limit, turned round for what is asked for at least: positive when met.
    pub fn margin_ratio(&self) -> Option<f64> {
        let sign = if self.target.measure.at_least() { -1.0 } else { 1.0 };
        self.observed.map(|value| sign * (1.0 - value / self.target.limit))
    }

    /// The average would have met the limit although this percentile, or the largest, misses it.
    pub fn average_would_pass(&self) -> bool {
        let average_s = self.average_s.filter(|_| self.target.measure.is_of_the_tail() && !self.pass);
        average_s.is_some_and(|average_s| average_s < self.target.limit)
    }

    /// Of a percentile, or of the largest: ln(mean/limit), what a verdict by the average would go by.
    pub fn mean_margin(&self) -> Option<f64> {
        let average_s = self.average_s.filter(|_| self.target.measure.is_of_the_tail());
        average_s.map(|average_s| (average_s / self.target.limit).ln()).filter(|margin| margin.is_finite())
    }

    /// Observed, and not met; what never occurred says nothing.
    pub fn is_missed(&self) -> bool {
        !self.pass && self.observed.is_some()
    }

    /// It has the samples that it needs.
    pub fn is_sampled(&self) -> bool {
        self.samples >= self.samples_needed
    }

    /// Met because there was nothing of what it limits: no error, nobody who waited. How near that is to the limit says
    /// nothing of the stack.
    pub fn is_of_nothing(&self) -> bool {
        self.pass && self.observed == Some(0.0)
    }
}

/// One target against what was measured.
// As it stands in `run.json`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TargetOutcome")]
struct RunFields {
    /// As people write it: `Browse p95 < 300 ms`.
    target: String,
    /// The operation; absent for all together.
    #[serde(default)]
    operation: Option<String>,
    /// What is measured; absent in older records.
    #[serde(default)]
    measure: Option<Measure>,
    /// In the unit.
    observed: Option<f64>,
    /// In the same unit.
    limit: f64,
    /// `seconds`, `ratio`, `1/s` or `operations`.
    #[serde(default)]
    unit: String,
    /// 1 − observed/limit: positive when met.
    #[serde(default)]
    margin_ratio: Option<f64>,
    /// Met.
    pass: bool,
    /// How many samples there were.
    samples: u64,
    /// How many the target needs.
    samples_needed: u64,
    /// The average would have met the limit although this percentile misses it.
    #[serde(default)]
    average_would_pass: bool,
    /// The mean of the same response times, in seconds; absent for errors and without samples.
    #[serde(default)]
    average_s: Option<f64>,
}

/// One target against what the window of a trial said of it.
// As it stands in `study.json`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TargetOutcomeOfTrial")]
struct StudyFields {
    /// As people write it: `Browse p95 < 300 ms`.
    clause: String,
    /// The operation; absent for all together, and in older studies.
    #[serde(default)]
    operation: Option<String>,
    /// What is measured; absent in older studies.
    #[serde(default)]
    measure: Option<Measure>,
    /// Seconds, a ratio for errors, operations per second for throughput, a count for samples.
    observed: Option<f64>,
    /// In the same unit.
    limit: f64,
    /// Met.
    pass: bool,
    /// ln(observed/limit), turned round for targets that ask for at least something: negative when met. Absent
    /// without samples. A share of errors is taken as (failed + 0.5)/(all + 1).
    margin: Option<f64>,
    /// Standard error of `margin`, from the batches.
    margin_se: Option<f64>,
    /// The margin in consecutive parts of the window of equal length.
    batches: Vec<f64>,
    /// For a percentile ln(mean/limit): what a verdict by the average would go by.
    mean_margin: Option<f64>,
    /// The mean of the same response times, in seconds; absent in older studies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    average_s: Option<f64>,
    /// How many samples there were.
    samples: u64,
    /// How many it needs.
    samples_needed: u64,
}

impl Serialize for TargetOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RunFields {
            target: self.target.to_string(),
            operation: self.target.operation.clone(),
            measure: Some(self.target.measure),
            observed: self.observed,
            limit: self.target.limit,
            unit: self.target.measure.unit().to_string(),
            margin_ratio: self.margin_ratio(),
            pass: self.pass,
            samples: self.samples,
            samples_needed: self.samples_needed,
            average_would_pass: self.average_would_pass(),
            average_s: self.average_s,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TargetOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TargetOutcome, D::Error> {
        let fields = RunFields::deserialize(deserializer)?;
        Ok(TargetOutcome {
            target: typed(&fields.target, (fields.operation, fields.measure), fields.limit)?,
            observed: fields.observed,
            pass: fields.pass,
            samples: fields.samples,
            samples_needed: fields.samples_needed,
            average_s: fields.average_s,
            margin: Margin::default(),
        })
    }
}

/// The target of a record: as it was typed, or read from its text in older records. The limit is the record's own, because
/// that of the text is rounded.
fn typed<E: serde::de::Error>(
    text: &str,
    (operation, measure): (Option<String>, Option<Measure>),
    limit: f64,
) -> Result<QosTarget, E> {
    match measure {
        Some(measure) => Ok(QosTarget { operation, measure, limit }),
        None => {
            let (measure, operation) = QosTarget::read_subject(text).map_err(E::custom)?;
            Ok(QosTarget { operation, measure, limit })
        }
    }
}

/// The form that a list of outcomes has in `study.json`.
pub(crate) mod in_study {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        outcomes: &[TargetOutcome],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let fields = |outcome: &TargetOutcome| StudyFields {
            clause: outcome.target.to_string(),
            operation: outcome.target.operation.clone(),
            measure: Some(outcome.target.measure),
            observed: outcome.observed,
            limit: outcome.target.limit,
            pass: outcome.pass,
            margin: outcome.margin.log,
            margin_se: outcome.margin.log_se,
            batches: outcome.margin.batches.clone(),
            mean_margin: outcome.mean_margin(),
            average_s: outcome.average_s,
            samples: outcome.samples,
            samples_needed: outcome.samples_needed,
        };
        serializer.collect_seq(outcomes.iter().map(fields))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<TargetOutcome>, D::Error> {
        let all = Vec::<StudyFields>::deserialize(deserializer)?;
        let outcome = |fields: StudyFields| {
            let old_average_s = fields.mean_margin.map(|margin| fields.limit * margin.exp());
            Ok(TargetOutcome {
                target: typed(&fields.clause, (fields.operation, fields.measure), fields.limit)?,
                observed: fields.observed,
                pass: fields.pass,
                samples: fields.samples,
                samples_needed: fields.samples_needed,
                average_s: fields.average_s.or(old_average_s),
                margin: Margin { log: fields.margin, log_se: fields.margin_se, batches: fields.batches },
            })
        };
        all.into_iter().map(outcome).collect()
    }

    pub(crate) fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<StudyFields>::json_schema(generator)
    }
}

impl JsonSchema for TargetOutcome {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        RunFields::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RunFields::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::study::Measured;

    fn outcome() -> TargetOutcome {
        TargetOutcome {
            target: QosTarget {
                operation: Some("Browse".into()),
                measure: Measure::Percentile(95.0),
                limit: 1.2345,
            },
            observed: Some(1.5),
            pass: false,
            samples: 900,
            samples_needed: 100,
            average_s: Some(0.4),
            margin: Margin::default(),
        }
    }

    fn json(text: &str) -> serde_json::Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_run_keeps_the_target_with_its_whole_limit_and_as_people_write_it() {
        let written = serde_json::to_value(outcome()).expect("JSON");
        assert_eq!(
            (&written["target"], &written["unit"], &written["average_would_pass"]),
            (&json(r#""Browse p95 < 1.23 s""#), &json(r#""seconds""#), &json("true"))
        );
        let read: TargetOutcome = serde_json::from_value(written).expect("an outcome");
        assert_eq!(read, outcome());
    }

    #[test]
    fn a_record_of_only_text_is_read_by_it_and_keeps_its_own_limit() {
        let mut written = serde_json::to_value(outcome()).expect("JSON");
        written.as_object_mut().expect("an object").remove("measure");
        assert_eq!(serde_json::from_value::<TargetOutcome>(written).expect("an outcome"), outcome());
        for (text, measure) in [
            ("waiting over 4.00 s < 1%", Measure::Waiting(4.0)),
            ("errors < 0%", Measure::Errors),
            ("throughput > 200/s", Measure::Throughput),
        ] {
            let old = serde_json::json!({
                "target": text, "operation": null, "observed": 1.0, "limit": 0.5, "unit": "ratio",
                "margin_ratio": 0.0, "pass": true, "samples": 1, "samples_needed": 1, "average_would_pass": false
            });
            let read: TargetOutcome = serde_json::from_value(old).expect("an outcome");
            assert_eq!(read.target, QosTarget { operation: None, measure, limit: 0.5 }, "{text}");
        }
    }

    #[test]
    fn a_study_keeps_its_margins_and_the_average() {
        let margin = Margin { log: Some(0.19), log_se: Some(0.02), batches: vec![0.1, 0.2] };
        let measured =
            Measured { targets: vec![TargetOutcome { margin, ..outcome() }], ..Measured::default() };
        let written = serde_json::to_value(&measured).expect("JSON");
        assert_eq!(written["clauses"][0]["clause"], "Browse p95 < 1.23 s");
        let read: Measured = serde_json::from_value(written.clone()).expect("a window");
        assert_eq!(read.targets, measured.targets);
        let mut old = written;
        let clause = old["clauses"][0].as_object_mut().expect("an object");
        ["measure", "operation", "average_s"].iter().for_each(|added| drop(clause.remove(*added)));
        let read: Measured = serde_json::from_value(old).expect("a window");
        let average_s = read.targets[0].average_s.expect("from the margin of the mean");
        assert!((average_s - 0.4).abs() < 1e-9, "{average_s}");
        assert_eq!(read.targets[0].target, measured.targets[0].target);
    }
}

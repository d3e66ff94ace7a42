//! The two judgements of a run, and the sentence that says them.

use model::record::{MetricResult, OperationResult, TargetResult, ValidityCheck, Verdict};

use crate::sentence;

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub struct VerdictInputs<'a> {
    /// The load as asked for: `20 users`.
    pub load: &'a str,
    /// The instrument's checks.
    pub checks: &'a [ValidityCheck],
    /// The targets as judged.
    pub targets: &'a [TargetResult],
    /// The kit's figures; the first one is the headline.
    pub metrics: &'a [MetricResult],
    /// The rows of the result.
    pub operations: &'a [OperationResult],
}

/// Valid when every check holds; then passed when every target is met (also when there is none). A run that is not
/// valid neither passes nor fails, and its sentence carries no figure of the stack.
pub fn verdict(inputs: &VerdictInputs<'_>) -> Verdict {
    let valid = !inputs.checks.is_empty() && inputs.checks.iter().all(|check| check.ok);
    if !valid {
        return Verdict { valid, pass: None, sentence: sentence::invalid(inputs.checks) };
    }
    let pass = inputs.targets.iter().all(|target| target.pass);
    let sentence = sentence::valid(inputs.load, inputs.targets, inputs.metrics, inputs.operations);
    Verdict { valid, pass: Some(pass), sentence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use model::OperationKind;
    use model::record::TimeSummary;

    fn check(ok: bool, sentence: &str) -> ValidityCheck {
        ValidityCheck {
            check: model::Check::of("c"),
            ok,
            sentence: sentence.into(),
            observed: None,
            limit: None,
        }
    }

    fn target(text: &str, observed: Option<f64>, limit: f64) -> TargetResult {
        TargetResult {
            target: text.into(),
            operation: None,
            observed,
            limit,
            unit: if text.starts_with("errors") { "ratio" } else { "seconds" }.into(),
            margin_ratio: observed.map(|value| 1.0 - value / limit),
            pass: observed.is_some_and(|value| value < limit),
            samples: 1000,
            samples_needed: 100,
            average_would_pass: false,
            average_s: Some(0.012),
        }
    }

    fn opm() -> MetricResult {
        MetricResult {
            name: "opm".into(),
            title: "Orders".into(),
            value: 1234.2,
            unit: "orders/min".into(),
            at_least: None,
            at_most: None,
        }
    }

    fn browse(failed: u64) -> OperationResult {
        OperationResult {
            kind: OperationKind::Operation,
            name: "Browse".into(),
            completed: 990,
            per_s: 33.0,
            errors: BTreeMap::from([("status".to_string(), failed)]),
            response: TimeSummary::default(),
            service: TimeSummary::default(),
            max_of_last_100_s: None,
            bytes: 0,
        }
    }

    fn said(checks: &[ValidityCheck], targets: &[TargetResult], failed: u64) -> (Option<bool>, String) {
        let (metrics, operations) = ([opm()], [browse(failed)]);
        let found = verdict(&VerdictInputs {
            load: "20 users",
            checks,
            targets,
            metrics: &metrics,
            operations: &operations,
        });
        (found.pass, found.sentence)
    }

    #[test]
    fn a_pass_says_the_load_the_headline_and_the_tightest_target() {
        let targets = [target("p95 < 2.00 s", Some(0.0452), 2.0), target("p99 < 4.00 s", Some(0.06), 4.0)];
        let expected = "valid: passed — 20 users, 1 234 orders/min; p95 45.2 ms < 2.00 s (margin 98 %)";
        assert_eq!(said(&[check(true, "")], &targets, 0), (Some(true), expected.to_string()));
    }

    #[test]
    fn a_miss_says_by_how_much_and_that_the_average_hides_it() {
        let missed = TargetResult { average_would_pass: true, ..target("p95 < 2.00 s", Some(2.31), 2.0) };
        let expected = "valid: failed — 20 users, 1 234 orders/min; p95 2.31 s, not < 2.00 s (over by 16 %); the \
                        average, 12.0 ms, would have passed and hides it";
        assert_eq!(said(&[check(true, "")], &[missed], 0), (Some(false), expected.to_string()));
    }

    #[test]
    fn a_run_that_is_not_valid_shows_no_figure_of_the_stack() {
        let targets = [target("p95 < 2.00 s", Some(0.0452), 2.0)];
        let checks = [check(true, "fine"), check(false, "send lag p99 9.00 ms"), check(false, "more")];
        let expected = "not valid: send lag p99 9.00 ms (and one more check failed)";
        assert_eq!(said(&checks, &targets, 0), (None, expected.to_string()));
        assert!(
            !verdict(&VerdictInputs {
                load: "1 user",
                checks: &[],
                targets: &[],
                metrics: &[],
                operations: &[]
            })
            .valid
        );
    }

    #[test]
    fn failures_are_said_even_where_no_target_is_about_them() {
        let targets = [target("p95 < 2.00 s", Some(0.5), 2.0)];
        let (_, sentence) = said(&[check(true, "")], &targets, 10);
        assert!(sentence.ends_with("; 1 % of operations failed"), "{sentence}");
        let missed = [target("errors < 0.1%", Some(0.01), 0.001)];
        let (pass, sentence) = said(&[check(true, "")], &missed, 10);
        assert_eq!(pass, Some(false));
        assert!(sentence.ends_with("; errors 1 %, not < 0.1% (over by 900 %)"), "{sentence}");
    }

    #[test]
    fn without_targets_a_valid_run_passes_and_says_so() {
        let (pass, sentence) = said(&[check(true, "")], &[], 0);
        assert_eq!(pass, Some(true));
        assert_eq!(sentence, "valid: no targets asked for — 20 users, 1 234 orders/min");
    }
}

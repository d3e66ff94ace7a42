//! The sentence of each kind of verdict.

use std::collections::BTreeMap;

use model::record::TimeSummary;

use super::*;

fn check(ok: bool, sentence: &str) -> ValidityCheck {
    ValidityCheck { check: model::Check::of("c"), ok, sentence: sentence.into(), observed: None, limit: None }
}

#[test]
fn a_load_that_was_changed_by_hand_is_told_unless_the_run_did_not_come_to_its_end() {
    let changed = ValidityCheck { check: Check::LoadByHand, ..check(false, "load changed by hand 3 times") };
    let late = check(false, "it sent late");
    let died = ValidityCheck { check: Check::Tiers, ..check(false, "web died") };
    let said = |checks: &[ValidityCheck]| {
        verdict(&VerdictInputs { load: "", checks, targets: &[], metrics: &[], operations: &[] })
    };
    let one = said(&[late.clone(), changed.clone()]);
    assert_eq!((one.valid, one.pass), (false, None));
    assert_eq!(one.sentence, "no result: load changed by hand 3 times (and one more check failed)");
    assert_eq!(said(&[died, changed.clone()]).sentence, "not valid: web died (and one more check failed)");
    assert_eq!(said(&[changed]).sentence, "no result: load changed by hand 3 times");
}

fn target(text: &str, observed: f64) -> TargetOutcome {
    let wanted = text.parse().expect("a target");
    TargetOutcome { average_s: Some(0.012), ..TargetOutcome::of(wanted, Some(observed), 1000) }
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

fn verdict_of(checks: &[ValidityCheck], targets: &[TargetOutcome], failed: u64) -> (Option<bool>, String) {
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
    let targets = [target("p95 < 2.00 s", 0.0452), target("p99 < 4.00 s", 0.06)];
    let expected = "valid: passed — 20 users, 1 234 orders/min; p95 45.2 ms < 2.00 s (margin 98 %)";
    assert_eq!(verdict_of(&[check(true, "")], &targets, 0), (Some(true), expected.to_string()));
}

#[test]
fn a_run_that_went_on_without_an_agent_says_so_first() {
    let lost = |agents: f64| ValidityCheck {
        check: model::record::Check::FleetAgents,
        observed: Some(agents),
        limit: Some(2.0),
        ..check(true, "")
    };
    let word = |checks: &[ValidityCheck]| {
        let (pass, sentence) = verdict_of(checks, &[], 0);
        assert_eq!(pass, Some(true), "{sentence}");
        sentence.split(" — ").next().map(str::to_string).expect("a verdict")
    };
    assert_eq!(word(&[lost(0.0)]), "valid: no targets asked for");
    assert_eq!(word(&[lost(1.0)]), "valid but DEGRADED, 1 agent lost: no targets asked for");
    assert_eq!(word(&[lost(2.0)]), "valid but DEGRADED, 2 agents lost: no targets asked for");
}

#[test]
fn a_miss_says_by_how_much_and_that_the_average_hides_it() {
    let missed = target("p95 < 2.00 s", 2.31);
    let expected = "valid: failed — 20 users, 1 234 orders/min; p95 2.31 s, not < 2.00 s (over by 16 %); the \
                    average, 12.0 ms, would have passed and hides it";
    assert_eq!(verdict_of(&[check(true, "")], &[missed], 0), (Some(false), expected.to_string()));
}

#[test]
fn a_run_that_is_not_valid_shows_no_figure_of_the_stack() {
    let targets = [target("p95 < 2.00 s", 0.0452)];
    let checks = [check(true, "fine"), check(false, "send lag p99 9.00 ms"), check(false, "more")];
    let expected = "not valid: send lag p99 9.00 ms (and one more check failed)";
    assert_eq!(verdict_of(&checks, &targets, 0), (None, expected.to_string()));
    assert!(
        !verdict(&VerdictInputs { load: "1 user", checks: &[], targets: &[], metrics: &[], operations: &[] })
            .valid
    );
}

#[test]
fn failures_are_said_even_where_no_target_is_about_them() {
    let targets = [target("p95 < 2.00 s", 0.5)];
    let (_, sentence) = verdict_of(&[check(true, "")], &targets, 10);
    assert!(sentence.ends_with("; 1 % of operations failed"), "{sentence}");
    let missed = [target("errors < 0.1%", 0.01)];
    let (pass, sentence) = verdict_of(&[check(true, "")], &missed, 10);
    assert_eq!(pass, Some(false));
    assert!(sentence.ends_with("; errors 1 %, not < 0.1% (over by 900 %)"), "{sentence}");
}

#[test]
fn without_targets_a_valid_run_passes_and_says_so() {
    let (pass, sentence) = verdict_of(&[check(true, "")], &[], 0);
    assert_eq!(pass, Some(true));
    assert_eq!(sentence, "valid: no targets asked for — 20 users, 1 234 orders/min");
}

#[test]
fn a_headline_without_a_unit_has_its_title() {
    let metric = |unit: &str| MetricResult {
        name: "m".into(),
        title: "Rollback share".into(),
        value: 0.0213,
        unit: unit.into(),
        at_least: None,
        at_most: None,
    };
    assert_eq!(headline(&[metric("s")], &[]), "Rollback share 21.3 ms");
    assert_eq!(headline(&[metric("")], &[]), "Rollback share 0.021");
    assert_eq!(headline(&[metric("of orders")], &[]), "0.021 of orders");
    assert_eq!(headline(&[], &[]), "0 operations/s");
}

//! Each check with the smallest change to a healthy run that breaks it, and the figures that it finds.

use std::collections::BTreeMap;

use model::record::{AskedBy, TimeSummary, UntimedResult};

use super::*;
use crate::finding::TierFault;
use crate::little::{Balance, BalanceOf};
use model::MemoryKill;

/// A healthy run, owned, so that a test changes one thing of it.
struct Run {
    outcome: Outcome,
    steady_s: f64,
    unsettled_after_s: Option<f64>,
    shares_cpus: bool,
    viewer_cores: Option<f64>,
    by_hand: Option<Vec<LoadChange>>,
    generator: GeneratorResult,
    little: Little,
    targets: Vec<TargetOutcome>,
    operations: Vec<OperationResult>,
    untimed: Option<UntimedResult>,
    tier_events: Vec<TierEvent>,
    alarms: Vec<LogAlarm>,
    consistency: Vec<ConsistencyResult>,
    evidence: Vec<Evidence>,
}

fn healthy() -> Run {
    let balance = |integral_s: f64| Balance {
        integral_s,
        counted_s: integral_s * 1.001,
        ended: 1000,
        standard_error_s: 1.0,
        edges_s: integral_s * 0.001,
    };
    Run {
        outcome: Outcome::Completed,
        steady_s: 60.0,
        unsettled_after_s: None,
        shares_cpus: false,
        viewer_cores: Some(0.002),
        by_hand: None,
        generator: GeneratorResult {
            cpu_ratio: 0.2,
            busiest_thread_ratio: 0.2,
            cpu_wait_ratio: 0.001,
            lag: TimeSummary { p99_s: Some(0.0004), max_s: Some(0.009), ..TimeSummary::default() },
            connects: 20,
            exhausted: 0,
            steal_ratio: Some(0.0),
            foreign_cores: Some(0.01),
            users_mean: 20.0,
            users_by_little: 20.02,
        },
        little: Little {
            sessions: balance(400.0),
            thinks: balance(800.0),
            users: balance(1200.0),
            length_s: 60.0,
        },
        targets: vec![target(5000)],
        operations: vec![operation(5000, 0)],
        untimed: None,
        tier_events: Vec::new(),
        alarms: Vec::new(),
        consistency: vec![ConsistencyResult {
            name: "orders = purchases".into(),
            ok: true,
            sentence: String::new(),
        }],
        evidence: Vec::new(),
    }
}

fn target(samples: u64) -> TargetOutcome {
    let target = "Browse p95 < 2s".parse().expect("a target");
    TargetOutcome { average_s: Some(0.02), ..TargetOutcome::of(target, Some(0.05), samples) }
}

fn operation(completed: u64, failed: u64) -> OperationResult {
    OperationResult {
        kind: OperationKind::Operation,
        name: "Browse".into(),
        completed,
        per_s: completed as f64 / 60.0,
        errors: BTreeMap::from([("check".to_string(), failed)]),
        response: TimeSummary::default(),
        service: TimeSummary::default(),
        max_of_last_100_s: None,
        bytes: 0,
    }
}

fn judge(run: &Run) -> Vec<CheckOutcome> {
    validity(&ValidityInputs {
        outcome: run.outcome,
        planned_steady_s: 60.0,
        steady_s: run.steady_s,
        unsettled_after_s: run.unsettled_after_s,
        users: 20,
        demand: None,
        by_hand: run.by_hand.as_deref(),
        shares_cpus: run.shares_cpus,
        viewer_cores: run.viewer_cores,
        fleet: None,
        generator: &run.generator,
        little: &run.little,
        targets: &run.targets,
        operations: &run.operations,
        untimed: run.untimed.as_ref(),
        tier_events: &run.tier_events,
        alarms: &run.alarms,
        consistency: &run.consistency,
        links: &[],
        bounds: &[],
        evidence: &run.evidence,
    })
}

/// The change breaks exactly the named check; what that found.
fn broken(check: Check, change: impl FnOnce(&mut Run)) -> Finding {
    let mut run = healthy();
    change(&mut run);
    let checks = judge(&run);
    let broken: Vec<&Check> = checks.iter().filter(|found| !found.ok).map(|found| &found.check).collect();
    assert_eq!(broken, [&check], "{checks:#?}");
    checks.into_iter().find(|found| found.check == check).expect("it is in the list").finding
}

#[test]
fn a_load_that_somebody_could_change_by_hand_is_no_result_and_is_held_against_no_number_of_users() {
    let change = LoadChange { second: 9.0, from: 20, to: 5, by: AskedBy::Terminal };
    for changes in [vec![], vec![change]] {
        let found = broken(Check::LoadByHand, |run| {
            run.by_hand = Some(changes.clone());
            // Ten users on average instead of 20.
            run.little.length_s = 120.0;
        });
        assert!(matches!(found, Finding::LoadByHand(found) if found == changes));
    }
    let ids = |checks: &[CheckOutcome]| checks.iter().filter(|one| one.check == Check::LoadByHand).count();
    assert_eq!(ids(&judge(&healthy())), 0, "nobody could");
}

#[test]
fn a_page_may_take_a_twentieth_of_a_cpu_and_without_one_there_is_no_check() {
    let of_page = |cores: Option<f64>| {
        let mut run = healthy();
        run.viewer_cores = cores;
        judge(&run).into_iter().find(|check| check.check == Check::Viewer).map(|check| check.ok)
    };
    assert_eq!(
        [None, Some(0.03), Some(0.05), Some(0.051)].map(of_page),
        [None, Some(true), Some(true), Some(false)]
    );
    let finding = broken(Check::Viewer, |run| run.viewer_cores = Some(0.2));
    assert!(matches!(finding, Finding::Viewer { cores: 0.2 }), "{finding:?}");
}

#[test]
fn a_way_to_a_host_holds_packets_as_long_as_asked_or_the_run_is_not_valid() {
    let link = |before_s: f64, after_s: Option<f64>| {
        let tier = "db".to_string();
        super::links(&[LinkResult { tier, asked_s: 0.002, before_s, after_s }])
    };
    assert!(link(0.00205, Some(0.00228)).ok, "5 % and what a cable takes");
    assert!(link(0.00191, None).ok);
    for (before_s, after_s) in [(0.00185, None), (0.0024, None), (0.00205, Some(0.0031))] {
        let found = link(before_s, after_s);
        assert!(!found.ok, "{found:?}");
        assert_eq!(found.observed, Some(after_s.unwrap_or(before_s)), "the one that is furthest off");
    }
}

/// What a check of a run found.
fn finding_of(run: &Run, check: Check) -> Finding {
    judge(run).into_iter().find(|found| found.check == check).expect("it is in the list").finding
}

#[test]
fn a_ceiling_is_far_enough_away_at_five_times_the_answers_rate() {
    assert!(ceiling_check(50_000.0, 10_000.0).ok);
    let near = ceiling_check(50_000.0, 12_500.0);
    assert_eq!((near.ok, near.observed, near.limit), (false, Some(4.0), Some(5.0)));
}

#[test]
fn a_healthy_run_passes_every_check() {
    let checks = judge(&healthy());
    assert!(checks.iter().all(|check| check.ok), "{checks:#?}");
    assert_eq!(checks.len(), 14);
}

#[test]
fn a_machine_without_room_for_a_connection_is_found() {
    let found = broken(Check::Room, |run| run.generator.exhausted = 3);
    assert!(matches!(found, Finding::Room { exhausted: 3 }), "{found:?}");
}

#[test]
fn a_busy_generator_is_found() {
    let found = broken(Check::GeneratorCpu, |run| run.generator.cpu_ratio = 0.85);
    assert!(matches!(found, Finding::GeneratorCpu { used_ratio: 0.85 }), "{found:?}");
    let found = broken(Check::GeneratorThread, |run| run.generator.busiest_thread_ratio = 0.95);
    assert!(matches!(found, Finding::GeneratorThread { used_ratio: 0.95 }), "{found:?}");
}

fn lag(change: impl FnOnce(&mut Run)) -> SendLag {
    match broken(Check::SendLag, change) {
        Finding::SendLag(lag) => lag,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_late_generator_comes_with_what_may_have_delayed_it() {
    let late = |run: &mut Run| run.generator.lag.p99_s = Some(0.0071);
    let usual = SendLag {
        lag_s: Some(0.0071),
        worst_s: Some(0.009),
        cpu_wait_ratio: 0.001,
        steal_ratio: Some(0.0),
        foreign_cores: Some(0.01),
        cpu_ratio: 0.2,
        shares_cpus: false,
    };
    assert_eq!(lag(late), usual);
    let waited = |run: &mut Run| {
        late(run);
        run.generator.cpu_wait_ratio = 0.12;
        run.generator.steal_ratio = Some(0.03);
        run.generator.foreign_cores = Some(0.9);
    };
    let (steal_ratio, foreign_cores) = (Some(0.03), Some(0.9));
    assert_eq!(lag(waited), SendLag { cpu_wait_ratio: 0.12, steal_ratio, foreign_cores, ..usual });
    let shared = |run: &mut Run| {
        late(run);
        run.shares_cpus = true;
    };
    assert_eq!(lag(shared), SendLag { shares_cpus: true, ..usual });
}

#[test]
fn lag_without_enough_sends_for_a_p99_is_judged_by_its_worst() {
    let few = |run: &mut Run| {
        run.generator.lag = TimeSummary { max_s: Some(0.02), ..TimeSummary::default() };
    };
    assert_eq!(lag(few).lag_s, Some(0.02));
}

/// The balance that is worst in a run in which Little's law is broken.
fn worst(change: impl FnOnce(&mut Run)) -> (BalanceOf, Balance) {
    match broken(Check::Little, change) {
        Finding::Little { little, excuse: None } => (little.worst().0, *little.worst().1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lost_work_and_work_counted_twice_break_littles_law() {
    let (of, lost) = worst(|run| run.little.sessions.counted_s = 380.0);
    assert_eq!((of, lost.is_explained_by_edges()), (BalanceOf::Sessions, false));
    assert!((lost.difference_ratio() + 0.05).abs() < 1e-9, "{lost:?}");
    let (of, twice) = worst(|run| run.little.thinks.counted_s = 880.0);
    assert_eq!((of, twice.is_explained_by_edges()), (BalanceOf::Thinks, false));
    assert!((twice.difference_ratio() - 0.1).abs() < 1e-9, "{twice:?}");
    let stall = |run: &mut Run| {
        run.little.sessions.counted_s = 380.0;
        run.little.sessions.edges_s = -20.0;
    };
    assert!(worst(stall).1.is_explained_by_edges());
    let noise = |run: &mut Run| {
        run.little.sessions.counted_s = 380.0;
        run.little.sessions.standard_error_s = 7.0;
    };
    let mut run = healthy();
    noise(&mut run);
    assert!(judge(&run).iter().all(|check| check.ok), "20 user-seconds are within 3 standard errors of 7");
}

#[test]
fn what_was_under_way_when_a_tier_ended_is_no_fault_of_the_instrument() {
    let mut run = healthy();
    run.little.sessions.counted_s = 80.0;
    let fault = TierFault::Died("killed by signal 9".into());
    let event = TierEvent { tier: "db".into(), instance: None, fault, second: 31, log_line: None };
    run.tier_events.push(event);
    let failed: Vec<Check> =
        judge(&run).into_iter().filter(|check| !check.ok).map(|check| check.check).collect();
    assert_eq!(failed, [Check::Tiers], "one reason is enough");
}

#[test]
fn users_who_are_not_there_are_missed() {
    let fewer = |run: &mut Run| {
        run.little.users.integral_s = 1140.0;
        run.little.users.counted_s = 1140.0;
    };
    let found = broken(Check::Users, fewer);
    assert!(matches!(found, Finding::Users { mean: 19.0, asked: 20, left: None }), "{found:?}");
}

#[test]
fn too_few_samples_come_with_how_long_the_run_should_be() {
    let lacking = |samples: u64| match broken(Check::Samples, |run| run.targets.push(target(samples))) {
        Finding::Samples(lacking) => lacking,
        other => panic!("{other:?}"),
    };
    let target = target(0).target;
    let expected =
        Samples::Lacking { target: target.clone(), samples: 40, needed: 100, enough_after_s: Some(150.0) };
    assert_eq!(lacking(40), expected);
    assert_eq!(lacking(0), Samples::Lacking { target, samples: 0, needed: 100, enough_after_s: None });
}

/// What the untimed operations' p99 was held to.
fn strictest_s(change: impl FnOnce(&mut Run)) -> Option<f64> {
    match broken(Check::Untimed, change) {
        Finding::Untimed { strictest_s, .. } => strictest_s,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_script_abandons_must_not_hide_what_users_wait() {
    let untimed = |count: u64, p99_s: f64| UntimedResult {
        count,
        share_ratio: 0.1,
        mean_s: Some(0.4),
        p50_s: Some(0.01),
        p95_s: Some(1.2),
        p99_s: (count >= 100).then_some(p99_s),
        max_s: Some(2.9),
    };
    assert_eq!(strictest_s(|run| run.untimed = Some(untimed(556, 2.4))), Some(2.0));
    // The strictest of the limits on times counts, and a limit of another kind is none.
    let stricter = |run: &mut Run| {
        run.untimed = Some(untimed(556, 1.4));
        let judged =
            |text: &str, observed| TargetOutcome::of(text.parse().expect("a target"), Some(observed), 5000);
        run.targets.extend([judged("p99 < 1300ms", 0.05), judged("errors < 0.1%", 0.0)]);
    };
    assert_eq!(strictest_s(stricter), Some(1.3));
    for (few, p99_s) in [(99, 9.0), (556, 2.0)] {
        let mut run = healthy();
        run.untimed = Some(untimed(few, p99_s));
        assert!(judge(&run).iter().all(|check| check.ok), "{few} samples, p99 {p99_s} s");
    }
    let mut run = healthy();
    (run.untimed, run.targets) = (Some(untimed(556, 9.0)), Vec::new());
    assert!(judge(&run).iter().all(|check| check.ok), "without a limit there is nothing to hold it to");
}

#[test]
fn a_tier_that_died_or_restarted_is_found() {
    let kill = MemoryKill { limit_bytes: 256 << 20, used_bytes: 255 << 20 };
    let faults =
        [TierFault::Died("killed by signal 9".into()), TierFault::OutOfMemory(kill), TierFault::Restarted];
    for fault in faults {
        let event = TierEvent { tier: "db".into(), instance: None, fault, second: 31, log_line: None };
        match broken(Check::Tiers, |run| run.tier_events.push(event.clone())) {
            Finding::Tiers(events) => assert_eq!(events, [event]),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_log_alarm_counts_only_where_its_service_says_so() {
    let alarm = |invalid| LogAlarm {
        signal: None,
        tier: "web".into(),
        line: "server reached MaxRequestWorkers".into(),
        means: "requests queued for a worker".into(),
        invalid,
        count: 3,
    };
    let found_alarms = |found: Finding| match found {
        Finding::Alarms(alarms) => alarms,
        other => panic!("{other:?}"),
    };
    let both = vec![alarm(false), alarm(true)];
    assert_eq!(found_alarms(broken(Check::Alarms, |run| run.alarms.clone_from(&both))), both);
    let mut run = healthy();
    run.alarms.push(alarm(false));
    let checks = judge(&run);
    assert!(checks.iter().all(|check| check.ok), "{checks:#?}");
    assert_eq!(found_alarms(finding_of(&run, Check::Alarms)), [alarm(false)], "it is told all the same");
}

#[test]
fn broken_data_comes_with_its_statement() {
    let broken_one = ConsistencyResult {
        name: "stock adds up".into(),
        ok: false,
        sentence: "found 9 999, expected 10 000".into(),
    };
    match broken(Check::Consistency, |run| run.consistency.push(broken_one)) {
        Finding::Consistency { statements: 2, broken: 1, first: Some(first) } => {
            assert_eq!(first.name, "stock adds up");
        }
        other => panic!("{other:?}"),
    }
}

fn operations_found(change: impl FnOnce(&mut Run)) -> (u64, u64, Option<String>) {
    match broken(Check::ErrorsAll, change) {
        Finding::Operations { completed, failed, first, .. } => {
            (completed, failed, first.map(|first| first.message))
        }
        other => panic!("{other:?}"),
    }
}

fn evidence(operation: &str, message: &str) -> Evidence {
    Evidence {
        operation: operation.into(),
        kind: "script".into(),
        message: message.into(),
        request: None,
        answer: None,
        second: 3,
    }
}

#[test]
fn a_run_in_which_everything_failed_comes_with_the_first_failure() {
    let message = "session.lua:14: attempt to index a nil value";
    let failed = |run: &mut Run| {
        run.operations = vec![operation(0, 300)];
        run.evidence.push(evidence("Browse", message));
    };
    assert_eq!(operations_found(failed), (0, 300, Some(message.to_string())));
    assert_eq!(operations_found(|run| run.operations.clear()), (0, 0, None));
}

#[test]
fn an_operation_that_never_completed_comes_with_its_own_first_failure() {
    let failed = |run: &mut Run| {
        run.operations.push(OperationResult { name: "Buy".into(), ..operation(0, 7) });
        run.evidence = vec![evidence("Browse", "one of Browse"), evidence("Buy", "one of Buy")];
    };
    match broken(Check::ErrorsAll, failed) {
        Finding::Operations { never: Some((name, 7)), first: Some(first), .. } => {
            assert_eq!((name.as_str(), first.message.as_str()), ("Buy", "one of Buy"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_in_which_more_failed_than_completed_shows_the_figures_of_a_minority() {
    assert_eq!(operations_found(|run| run.operations = vec![operation(100, 101)]), (100, 101, None));
    let mut run = healthy();
    run.operations = vec![operation(100, 100)];
    assert!(judge(&run).iter().all(|check| check.ok), "as many are not more");
}

fn end(change: impl FnOnce(&mut Run)) -> SteadyEnd {
    match broken(Check::Duration, change) {
        Finding::Duration { end, planned_s: 60.0, .. } => end,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_that_ended_early_comes_with_how() {
    let table = [
        (Outcome::Interrupted, 12.0, SteadyEnd::Interrupted),
        (Outcome::Aborted, 12.0, SteadyEnd::Aborted),
        (Outcome::Interrupted, 60.0, SteadyEnd::Interrupted),
        (Outcome::Completed, 40.0, SteadyEnd::Gaps),
        (Outcome::Unfinished, 20.0, SteadyEnd::Unfinished),
    ];
    for (outcome, steady_s, expected) in table {
        assert_eq!(end(|run| (run.outcome, run.steady_s) = (outcome, steady_s)), expected);
    }
}

#[test]
fn a_run_whose_steady_state_was_not_found_comes_with_for_how_long_it_was_looked_for() {
    assert_eq!(end(|run| run.unsettled_after_s = Some(46.0)), SteadyEnd::Unsettled { after_s: 46.0 });
}

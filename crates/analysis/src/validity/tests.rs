//! Each check with the smallest change to a healthy run that breaks it, and what its sentence must carry.

use std::collections::BTreeMap;

use model::record::{TimeSummary, UntimedResult};

use super::*;
use crate::little::Balance;

/// A healthy run, owned, so that a test changes one thing of it.
struct Run {
    outcome: Outcome,
    steady_s: f64,
    unsettled_after_s: Option<f64>,
    shares_cpus: bool,
    generator: GeneratorResult,
    little: Little,
    targets: Vec<TargetResult>,
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

fn target(samples: u64) -> TargetResult {
    TargetResult {
        target: "Browse p95 < 2.00 s".into(),
        operation: Some("Browse".into()),
        observed: Some(0.05),
        limit: 2.0,
        unit: "seconds".into(),
        margin_ratio: Some(0.975),
        pass: true,
        samples,
        samples_needed: 100,
        average_would_pass: false,
        average_s: Some(0.02),
    }
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

fn judge(run: &Run) -> Vec<ValidityCheck> {
    validity(&ValidityInputs {
        outcome: run.outcome,
        planned_steady_s: 60.0,
        steady_s: run.steady_s,
        unsettled_after_s: run.unsettled_after_s,
        users: 20,
        demand: None,
        shares_cpus: run.shares_cpus,
        generator: &run.generator,
        little: &run.little,
        targets: &run.targets,
        operations: &run.operations,
        untimed: run.untimed.as_ref(),
        tier_events: &run.tier_events,
        alarms: &run.alarms,
        consistency: &run.consistency,
        bounds: &[],
        evidence: &run.evidence,
    })
}

/// The change breaks exactly the named check, and its sentence contains every part.
fn breaks(check: &str, change: impl FnOnce(&mut Run), parts: &[&str]) {
    let mut run = healthy();
    change(&mut run);
    let checks = judge(&run);
    let check = Check::of(check);
    let broken: Vec<&Check> = checks.iter().filter(|found| !found.ok).map(|found| &found.check).collect();
    assert_eq!(broken, [&check], "{checks:#?}");
    let sentence = &checks.iter().find(|found| found.check == check).expect("it is in the list").sentence;
    for part in parts {
        assert!(sentence.contains(part), "`{part}` is missing in: {sentence}");
    }
}

#[test]
fn a_healthy_run_passes_every_check_and_each_says_something() {
    let checks = judge(&healthy());
    assert!(checks.iter().all(|check| check.ok && !check.sentence.is_empty()), "{checks:#?}");
    assert_eq!(checks.len(), 13);
}

#[test]
fn a_machine_without_room_for_a_connection_is_named() {
    let parts = ["3 connections", "port", "descriptor", "less load"];
    breaks("room", |run| run.generator.exhausted = 3, &parts);
}

#[test]
fn a_busy_generator_is_named_as_the_limit() {
    breaks("generator_cpu", |run| run.generator.cpu_ratio = 0.85, &["85 %", "80 %", "fewer users"]);
    breaks("generator_thread", |run| run.generator.busiest_thread_ratio = 0.95, &["95 %", "90 %"]);
}

#[test]
fn a_late_generator_says_what_delayed_it() {
    let late = |run: &mut Run| run.generator.lag.p99_s = Some(0.0071);
    let waited = |run: &mut Run| {
        late(run);
        run.generator.cpu_wait_ratio = 0.12;
        run.generator.steal_ratio = Some(0.03);
        run.generator.foreign_cores = Some(0.9);
    };
    let parts =
        ["7.10 ms", "5.00 ms", "waited 12 %", "3 % of the CPU time (steal)", "0.900 cores", "stop what"];
    breaks("send_lag", waited, &parts);
    let shared = |run: &mut Run| {
        late(run);
        run.shares_cpus = true;
    };
    breaks("send_lag", shared, &["the stack runs on the generator's CPUs"]);
    breaks("send_lag", late, &["neither waiting for a CPU", "single long pauses (worst 9.00 ms)"]);
}

#[test]
fn lag_without_enough_sends_for_a_p99_is_judged_by_its_worst() {
    let few = |run: &mut Run| {
        run.generator.lag = TimeSummary { max_s: Some(0.02), ..TimeSummary::default() };
    };
    breaks("send_lag", few, &["20.0 ms"]);
}

#[test]
fn lost_work_and_work_counted_twice_break_littles_law() {
    let lost = |run: &mut Run| run.little.sessions.counted_s = 380.0;
    breaks("little", lost, &["sessions differ by 5 %, more than 2 %", "completed work was lost"]);
    let twice = |run: &mut Run| run.little.thinks.counted_s = 880.0;
    breaks("little", twice, &["thinks differ by 10 %", "counted twice"]);
    let stall = |run: &mut Run| {
        run.little.sessions.counted_s = 380.0;
        run.little.sessions.edges_s = -20.0;
    };
    breaks("little", stall, &["under way at the end of the steady state explain it"]);
    let noise = |run: &mut Run| {
        run.little.sessions.counted_s = 380.0;
        run.little.sessions.standard_error_s = 7.0;
    };
    let mut run = healthy();
    noise(&mut run);
    assert!(judge(&run).iter().all(|check| check.ok), "20 user-seconds are within 3 standard errors of 7");
}

#[test]
fn users_who_are_not_there_are_missed() {
    let fewer = |run: &mut Run| {
        run.little.users.integral_s = 1140.0;
        run.little.users.counted_s = 1140.0;
    };
    breaks("users", fewer, &["19 of 20 users", "--ramp-up"]);
}

#[test]
fn too_few_samples_say_how_long_the_run_should_be() {
    breaks("samples", |run| run.targets.push(target(40)), &["needs 100 samples and has 40", "165 s"]);
    breaks("samples", |run| run.targets.push(target(0)), &["Browse never completed"]);
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
    let parts = ["556", "10 %", "p99 2.40 s", "2.00 s", "no target"];
    breaks("untimed", |run| run.untimed = Some(untimed(556, 2.4)), &parts);
    // The strictest of the limits on times counts, and a limit of another kind is none.
    let stricter = |run: &mut Run| {
        run.untimed = Some(untimed(556, 1.4));
        run.targets.push(TargetResult { limit: 1.3, ..target(5000) });
        run.targets.push(TargetResult { limit: 0.001, unit: "ratio".into(), ..target(5000) });
    };
    breaks("untimed", stricter, &["p99 1.40 s", "1.30 s"]);
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
fn a_tier_that_died_or_restarted_is_named_with_its_log() {
    let event = |fault| TierEvent {
        tier: "db".into(),
        fault,
        second: 31,
        log_line: Some("[ERROR] mariadbd got signal 11 ;".into()),
    };
    let died = event(TierFault::Died("killed by signal 9".into()));
    let parts = ["tier db died in second 31 (killed by signal 9)", "`[ERROR] mariadbd got signal 11 ;`"];
    breaks("tiers", |run| run.tier_events.push(died), &parts);
    let kill = MemoryKill { limit_bytes: 256 << 20, used_bytes: 255 << 20 };
    let killed = TierEvent { log_line: None, ..event(TierFault::OutOfMemory(kill)) };
    let parts = ["tier db was killed by the kernel at its memory limit of 268 MB", "db.cgroup.memory=512M"];
    breaks("tiers", |run| run.tier_events.push(killed), &parts);
    let restarted = TierEvent { log_line: None, ..event(TierFault::Restarted) };
    breaks("tiers", |run| run.tier_events.push(restarted), &["tier db restarted in second 31"]);
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
    let parts = ["`server reached MaxRequestWorkers` 3 times: requests queued for a worker"];
    breaks("alarms", |run| run.alarms = vec![alarm(false), alarm(true)], &parts);
    let mut run = healthy();
    run.alarms.push(alarm(false));
    let checks = judge(&run);
    assert!(checks.iter().all(|check| check.ok), "{checks:#?}");
    assert!(checks.iter().any(|check| check.sentence.contains("MaxRequestWorkers")), "{checks:#?}");
}

#[test]
fn broken_data_is_said_with_its_statement() {
    let broken = ConsistencyResult {
        name: "stock adds up".into(),
        ok: false,
        sentence: "found 9 999, expected 10 000".into(),
    };
    let parts = ["1 of 2 statements broken", "stock adds up: found 9 999, expected 10 000"];
    breaks("consistency", |run| run.consistency.push(broken), &parts);
}

#[test]
fn a_run_in_which_everything_failed_shows_the_first_failure() {
    let evidence = Evidence {
        operation: "Browse".into(),
        kind: "script".into(),
        message: "session.lua:14: attempt to index a nil value".into(),
        request: None,
        answer: None,
        second: 3,
    };
    let failed = |run: &mut Run| {
        run.operations = vec![operation(0, 300)];
        run.evidence.push(evidence);
    };
    breaks("errors_all", failed, &["all 300 operations failed", "session.lua:14"]);
    breaks("errors_all", |run| run.operations.clear(), &["no operation ended"]);
}

#[test]
fn a_run_in_which_more_failed_than_completed_shows_the_figures_of_a_minority() {
    let parts = ["101 of 201 operations failed, more than completed", "less load"];
    breaks("errors_all", |run| run.operations = vec![operation(100, 101)], &parts);
    let mut run = healthy();
    run.operations = vec![operation(100, 100)];
    assert!(judge(&run).iter().all(|check| check.ok), "as many are not more");
}

#[test]
fn a_run_that_ended_early_says_how() {
    let table = [
        (Outcome::Interrupted, 12.0, "interrupted after 12.0 s of 60.0 s"),
        (Outcome::Aborted, 12.0, "given up after 12.0 s"),
        (Outcome::Interrupted, 60.0, "interrupted after 60.0 s"),
        (Outcome::Completed, 40.0, "gaps"),
        (Outcome::Unfinished, 20.0, "did not end"),
    ];
    for (outcome, steady_s, part) in table {
        let early = |run: &mut Run| (run.outcome, run.steady_s) = (outcome, steady_s);
        breaks("duration", early, &[part]);
    }
}

#[test]
fn a_run_whose_steady_state_was_not_found_says_for_how_long_it_was_looked_for() {
    let parts = ["no steady state within 46.0 s", "throughput or response times kept changing"];
    breaks("duration", |run| run.unsettled_after_s = Some(46.0), &parts);
}

use model::record::Series;
use model::record::diagnosis::SignalSummary;
use model::record::interval::{OperationName, record_ns};
use model::{Interval, OperationInterval, OperationKind};

use super::{Limit, Watched, find, signals};
use crate::finding::LogAlarm;
use crate::{SeriesSeen, Steady};

/// Ten seconds in which 10 operations a second complete within 100 ms, 90 seconds in which 20 do within 400 ms.
fn run() -> Vec<Interval> {
    let second = |number: u32| {
        let steady = number >= 30;
        let mut interval = Interval::empty(number);
        let mut row = OperationInterval::empty();
        let (count, took_ns) = if steady { (20, 400_000_000) } else { (10, 100_000_000) };
        (0..count).for_each(|_| record_ns(&mut row.response, took_ns));
        row.completed = count;
        interval.operations.push(row);
        let users = if steady { 12.0 } else { 3.0 };
        interval.busy_user_s = users / 4.0;
        interval.thinking_user_s = users * 3.0 / 4.0;
        for nanos in [200_000, 300_000, 1_003_000_000, 250_000] {
            record_ns(&mut interval.phases.connect, nanos);
        }
        interval
    };
    (0..120).map(second).collect()
}

fn series(tier: Option<&str>, name: &str, unit: &str, early: f64, steady: f64) -> Series {
    let value = |second: u32| if second <= 30 { early } else { steady };
    let points = (1..=120).map(|second| (f64::from(second), value(second))).collect();
    Series { name: name.to_string(), tier: tier.map(str::to_string), unit: unit.to_string(), points }
}

fn all_signals() -> Vec<SignalSummary> {
    let run = run();
    let series = [
        series(Some("web"), "cpu.cores", "cores", 0.1, 0.6),
        series(Some("web"), "calls.fork_s", "s", 0.001, 0.004),
        series(Some("db"), "cpu.cores", "cores", 0.1, 0.2),
        series(Some("web"), "workers.busy", "workers", 1.0, 4.0),
        series(Some("db"), "sql.rows_read_next", "rows/s", 0.0, 4000.0),
        series(Some("db"), "sql.rows_sent", "rows/s", 0.0, 40.0),
        series(Some("db"), "cpu.wait_cores", "cores", 0.0, 0.3),
        series(Some("db"), "sql.running", "statements", 0.0, 5.0),
        series(Some("db"), "sql.row_lock_now", "statements", 0.0, 1.5),
    ];
    let limit = Limit { tier: Some("web".into()), name: "workers.busy".into(), value: 4.0 };
    let alarm = LogAlarm {
        tier: "web".into(),
        line: "reached".into(),
        means: String::new(),
        invalid: false,
        signal: Some("workers.reached".into()),
        count: 2,
    };
    let names = [OperationName { kind: OperationKind::Operation, name: "Browse".into() }];
    let steady = Steady::of(&run, 30.0, 120.0);
    let wanted = ["p95 < 300 ms", "errors < 50 %"].map(|target| target.parse().expect("it is one"));
    let early = Steady::of(&run, 0.0, 10.0);
    signals(&Watched {
        series: &series.map(|one| SeriesSeen::of(&one, &steady, &early)),
        limits: &[limit],
        alarms: &[alarm],
        steady: &steady,
        early: &early,
        names: &names,
        targets: &crate::targets(&wanted, &steady, &names),
        generator_cpus: 1,
        stack_cpus: 1,
    })
}

fn of(tier: Option<&str>, name: &str) -> SignalSummary {
    let signals = all_signals();
    find(&signals, tier, name).unwrap_or_else(|| panic!("{name} of {tier:?} in {signals:#?}")).clone()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 2e-3 * expected.abs()
}

#[test]
fn a_series_has_its_mean_its_early_mean_its_limit_and_its_cost_per_operation() {
    let workers = of(Some("web"), "workers.busy");
    assert_eq!((workers.mean, workers.max, workers.early, workers.limit), (4.0, 4.0, Some(1.0), Some(4.0)));
    assert_eq!(workers.per_operation, None, "workers are no rate");
    let cpu = of(Some("web"), "cpu.cores");
    assert!(close(cpu.per_operation.expect("CPU time is a rate"), 0.03), "{cpu:?}");
    assert_eq!(cpu.limit, Some(1.0), "the stack's only CPU");
    assert_eq!(of(Some("db"), "cpu.wait_cores").limit, None, "any number of threads can wait for it");
}

#[test]
fn what_follows_from_series_is_a_signal_too() {
    assert!(close(of(Some("web"), "calls.fork_growth").mean, 4.0), "what is copied has grown");
    assert!(close(of(Some("db"), "sql.rows_read_per_row").mean, 100.0));
    assert!(
        close(of(Some("db"), "sql.waiting").mean, 2.0),
        "5 less our own, 0.2 that compute, 0.3 and 1.5 that wait"
    );
    assert!(close(of(Some("web"), "cpu.share_ratio").mean, 0.75));
    assert!(close(of(None, "stack.busy_ratio").mean, 0.8), "nobody watched it: the tiers' sum");
    assert_eq!(of(Some("web"), "workers.reached").mean, 2.0);
}

#[test]
fn the_run_tells_what_its_users_saw() {
    let table = [
        ("run.missed_targets", 0.5, "one of two"),
        ("run.target_used_ratio", 0.4 / 0.3, "of the only target about times"),
        ("run.failed_ratio", 0.0, "nothing failed"),
        ("run.response_s", 0.4, "every one took that long"),
        ("run.response_growth", 4.0, "from 100 to 400 ms"),
        ("run.throughput_growth", 1.0 / 3.0, "four times the users, twice the operations"),
        ("run.response_share", 0.25, "a quarter of the users' time"),
        ("run.slow_start_ratio", 0.25, "one connection in four took a second"),
        ("run.operations_per_s", 20.0, "in steady state"),
    ];
    for (name, expected, why) in table {
        let signal = of(None, name);
        assert!(close(signal.mean, expected), "{why}: {signal:?}");
    }
    assert_eq!(of(None, "run.response_s").early.map(|s| (s * 1e3).round()), Some(100.0));
}

#[test]
fn a_short_ramp_up_tells_nothing_of_growth() {
    let run = run();
    let names = [OperationName { kind: OperationKind::Operation, name: "Browse".into() }];
    let (steady, early) = (Steady::of(&run, 30.0, 120.0), Steady::of(&run, 0.0, 1.9));
    let cpu = series(Some("web"), "cpu.cores", "cores", 0.1, 0.6);
    let signals = signals(&Watched {
        series: &[SeriesSeen::of(&cpu, &steady, &early)],
        limits: &[],
        alarms: &[],
        steady: &steady,
        early: &early,
        names: &names,
        targets: &[],
        generator_cpus: 1,
        stack_cpus: 1,
    });
    assert_eq!(find(&signals, Some("web"), "cpu.cores").and_then(|signal| signal.early), None);
    assert!(find(&signals, None, "run.response_growth").is_none());
    assert!(find(&signals, None, "run.missed_targets").is_none(), "there is no target");
}

#[test]
fn a_tier_on_another_machine_has_that_machine_s_cpus_and_this_one_s_say_nothing_of_the_stack() {
    let run = run();
    let names = [OperationName { kind: OperationKind::Operation, name: "Browse".into() }];
    let (steady, early) = (Steady::of(&run, 30.0, 120.0), Steady::of(&run, 0.0, 10.0));
    let series = [
        series(None, "stack.busy_ratio", "ratio", 0.1, 0.2),
        series(Some("web"), "cpu.cores", "cores", 0.1, 1.0),
        series(Some("web"), "host.cpus", "CPUs", 8.0, 8.0),
        series(Some("web"), "host.busy_ratio", "ratio", 0.1, 0.3),
        series(Some("db"), "cpu.cores", "cores", 0.1, 3.0),
        series(Some("db"), "host.cpus", "CPUs", 4.0, 4.0),
        series(Some("db"), "host.busy_ratio", "ratio", 0.1, 0.97),
    ];
    let found = signals(&Watched {
        series: &series.map(|one| SeriesSeen::of(&one, &steady, &early)),
        limits: &[],
        alarms: &[],
        steady: &steady,
        early: &early,
        names: &names,
        targets: &[],
        generator_cpus: 1,
        stack_cpus: 1,
    });
    let limit = |tier: &str| find(&found, Some(tier), "cpu.cores").and_then(|signal| signal.limit);
    assert_eq!((limit("web"), limit("db")), (Some(8.0), Some(4.0)));
    let busy: Vec<f64> =
        found.iter().filter(|signal| signal.name == "stack.busy_ratio").map(|signal| signal.mean).collect();
    assert!(busy.len() == 1 && close(busy[0], 0.97), "that of the busiest host: {busy:?}");
}

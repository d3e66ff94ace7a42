use super::*;
use model::catalogue::qos::Measure;
use model::random::Random;
use model::record::Margin;
use model::record::TargetOutcome;
use model::record::diagnosis::SignalSummary;
use model::record::interval::record_ns;
use model::record::study::Figure;

fn names() -> Vec<OperationName> {
    let name = |kind, name: &str| OperationName { kind, name: name.to_string() };
    vec![
        name(OperationKind::Session, "order_cycle"),
        name(OperationKind::Operation, "Login"),
        name(OperationKind::Operation, "Browse"),
        name(OperationKind::Operation, "Purchase"),
    ]
}

/// Seconds of logins and browsings with log-normal times around 10 and 50 ms; each second has a mood (first-order
/// autoregressive, so that neighbours resemble each other) that all its times and their number share.
struct Stack {
    per_s: f64,
    /// Standard deviation of a single time's logarithm.
    spread: f64,
    /// Standard deviation of the mood's logarithm.
    mood: f64,
    /// Correlation of the moods of neighbouring seconds.
    memory: f64,
    failing: f64,
}

const CALM: Stack = Stack { per_s: 100.0, spread: 0.5, mood: 0.0, memory: 0.0, failing: 0.0 };

impl Stack {
    fn seconds(&self, count: u32, random: &mut Random) -> Vec<Interval> {
        let mut mood = random.normal();
        let mut second = |number: u32| {
            mood = self.memory * mood + (1.0 - self.memory * self.memory).sqrt() * random.normal();
            let factor = (self.mood * mood).exp();
            let mut second = Interval::empty(number);
            second.operations.resize_with(3, OperationInterval::empty);
            for (row, each_s) in [(1, 0.010), (2, 0.050)] {
                let seen = &mut second.operations[row];
                let count = (self.per_s / factor + self.per_s.sqrt() * random.normal()).max(0.0) as u64;
                for _ in 0..count {
                    if random.unit() < self.failing {
                        seen.errors[2] += 1;
                    } else {
                        let took_s = each_s * factor * (self.spread * random.normal()).exp();
                        seen.completed += 1;
                        record_ns(&mut seen.response, (took_s * 1e9) as u64);
                    }
                }
            }
            second
        };
        (40..40 + count).map(&mut second).collect()
    }

    fn measured(&self, count: u32, targets: &[&str], seed: u64) -> Measured {
        let seconds = self.seconds(count, &mut Random::new(seed));
        measured(&seconds, &names(), &read(targets), &[], &Also::default()).expect("the window has seconds")
    }
}

fn read(targets: &[&str]) -> Vec<QosTarget> {
    targets.iter().map(|text| text.parse().expect("a target")).collect()
}

const TARGETS: [&str; 7] = [
    "p95 < 90ms",
    "p99 < 150ms",
    "Browse p90 < 60ms",
    "Login mean < 30ms",
    "max < 2s",
    "errors < 1%",
    "Purchase p95 < 1s",
];

#[test]
fn a_trial_is_judged_as_a_run_is() {
    let stack = Stack { failing: 0.02, ..CALM };
    for length in [1, 3, 8, 25, 41] {
        let seconds = stack.seconds(length, &mut Random::new(u64::from(length)));
        let run = crate::targets(&read(&TARGETS), &Steady::of(&seconds, 0.0, 1e9), &names());
        let trial = measured(&seconds, &names(), &read(&TARGETS), &[], &Also::default()).expect("seconds");
        for (clause, result) in trial.targets.iter().zip(&run) {
            assert_eq!((&clause.target, clause.pass), (&result.target, result.pass), "{length} s");
            assert_eq!((clause.observed, clause.samples), (result.observed, result.samples), "{length} s");
        }
        assert_eq!(trial.targets.len(), run.len());
        let failed =
            run.iter().find(|target| target.target.measure == Measure::Errors).and_then(|t| t.observed);
        assert_eq!(Some(trial.failed_ratio), failed);
    }
}

#[test]
fn a_margin_is_the_logarithm_of_observed_over_limit() {
    for clause in CALM.measured(30, &TARGETS, 1).targets {
        let Some(observed) = clause.observed.filter(|_| clause.target.measure != Measure::Errors) else {
            continue;
        };
        assert_eq!(clause.margin.log, Some((observed / clause.target.limit).ln()), "{clause:?}");
        assert_eq!(clause.margin.log.is_some_and(|margin| margin < 0.0), clause.pass, "{clause:?}");
        let mean = clause.margin.batches.iter().sum::<f64>() / clause.margin.batches.len() as f64;
        let near = 4.0 * clause.margin.log_se.expect("30 s have batches");
        assert!(
            clause.target.measure == Measure::Max
                || (mean - clause.margin.log.expect("observed")).abs() < near,
            "{clause:?}"
        );
    }
    let seen = CALM.measured(30, &["p95 < 90ms", "mean < 90ms"], 1).targets;
    assert_eq!(seen[0].mean_margin(), seen[1].margin.log, "what a verdict by the average would go by");
    assert_eq!(seen[1].mean_margin(), None, "the target is the average");
}

#[test]
fn batches_of_samples_are_counted_as_if_each_were_the_window() {
    let seen = CALM.measured(30, &["samples > 1000", "throughput > 100/s"], 1).targets;
    for clause in seen {
        let (margin, se) = clause.margin.log.zip(clause.margin.log_se).expect("30 s have batches");
        let mean = clause.margin.batches.iter().sum::<f64>() / clause.margin.batches.len() as f64;
        assert!(clause.margin.batches.len() == 10 && (mean - margin).abs() < 4.0 * se, "{clause:?}");
        assert!(clause.pass && margin < 0.0, "{clause:?}");
    }
}

#[test]
fn no_failure_at_all_is_a_small_share_and_an_uncertain_one() {
    let none = CALM.measured(20, &["errors < 1%"], 3).targets.remove(0);
    let expected = (0.5 / (none.samples as f64 + 1.0) / 0.01).ln();
    assert_eq!((none.observed, none.margin.log), (Some(0.0), Some(expected)));
    assert!(none.margin.log_se.is_some_and(|se| (se - 2f64.sqrt()).abs() < 1e-9), "1/√0.5: {none:?}");
    assert!(none.margin.batches.iter().all(|margin| (margin - expected).abs() < 0.5), "{none:?}");
    let all = Stack { failing: 1.0, ..CALM }.measured(20, &["errors < 1%", "p95 < 1s"], 3);
    assert!(all.targets[0].margin.log.is_some_and(|margin| (margin - 100f64.ln()).abs() < 1e-3), "{all:?}");
    assert!(!all.targets[1].pass && all.targets[1].margin.log.is_none(), "no time was seen: {all:?}");
}

#[test]
fn users_who_wait_have_a_margin_also_where_nobody_does_and_more_than_asked_for_is_below_zero() {
    let seen = |waiting: u64| {
        let mut seconds = CALM.seconds(20, &mut Random::new(3));
        for second in &mut seconds {
            second.busy_user_s = 40.0;
            second.thinking_user_s = 60.0;
            second.waiting_users = waiting;
        }
        let targets = read(&["waiting over 4s < 1%", "throughput > 100/s"]);
        measured(&seconds, &names(), &targets, &[], &Also::default()).expect("the window has seconds").targets
    };
    let (none, many) = (seen(0), seen(20));
    let margin = |clauses: &[TargetOutcome]| clauses[0].margin.log.expect("users were there");
    assert!(margin(&none) < -3.0 && none[0].pass, "{:?}", none[0]);
    assert!((margin(&many) - 20f64.ln()).abs() < 0.01 && !many[0].pass, "20 % of 1 %: {:?}", many[0]);
    let throughput = &many[1];
    assert!(
        throughput.pass && throughput.margin.log.is_some_and(|m| (-0.8..-0.6).contains(&m)),
        "{throughput:?}"
    );
    assert!(throughput.margin.log_se.is_some_and(|se| se > 0.0), "{throughput:?}");
}

#[test]
fn what_too_little_was_seen_of_has_no_batches_and_no_error() {
    let rare = Stack { per_s: 3.0, ..CALM };
    let clauses = rare.measured(10, &["p99 < 1s", "p50 < 1s", "Purchase p95 < 1s"], 5).targets;
    assert!(clauses[0].margin.batches.is_empty() && clauses[0].samples < 100, "{clauses:?}");
    assert!(
        clauses[1].margin.batches.len() >= 4,
        "half of some 60 samples lie beyond the median: {clauses:?}"
    );
    assert_eq!((clauses[2].margin.log, clauses[2].pass), (None, false), "it never occurred");
    let short = CALM.measured(3, &["p95 < 1s"], 5);
    assert!(short.targets[0].margin.log.is_some() && short.targets[0].margin.log_se.is_none(), "{short:?}");
    assert!(short.figures.iter().all(|figure| figure.log_se.is_none()), "{short:?}");
}

#[test]
fn a_window_without_a_second_says_nothing_and_one_without_an_operation_fails() {
    assert!(measured(&[], &names(), &read(&TARGETS), &[], &Also::default()).is_none());
    let still = [Interval::empty(7), Interval::empty(8)];
    let seen = measured(&still, &names(), &read(&TARGETS), &[], &Also::default()).expect("it has seconds");
    assert!(seen.targets.iter().all(|clause| !clause.pass && clause.margin.log.is_none()), "{seen:?}");
    assert_eq!(seen.figure("throughput", None).map(|figure| figure.value), Some(0.0));
    assert_eq!((seen.figures.len(), seen.failed_ratio), (1, 0.0), "{seen:?}");
}

#[test]
fn what_a_study_wants_beside_the_usual_figures_is_kept_with_its_error() {
    use model::catalogue::kit::{Metric, Per};
    let seconds = CALM.seconds(20, &mut Random::new(1));
    let metric = Metric {
        name: "logins".into(),
        title: "Logins".into(),
        unit: "1/min".into(),
        mix: None,
        of: "Login".into(),
        per: Per::Minute,
        times: 1.0,
        judged_from_s: 0.0,
        at_least_samples: 0,
        at_least: None,
        at_most: None,
        why: None,
    };
    let also = Also { percentiles: &[90.0, 95.0], metrics: &[metric], response_times: true };
    let seen = measured(&seconds, &names(), &[], &[], &also).expect("seconds");
    let value = |name: &str| seen.figure(name, Some("Browse")).expect("it was asked for").value;
    assert!(value("p50") < value("p90") && value("p90") < value("p95"), "{seen:?}");
    assert_eq!(seen.figures.iter().filter(|figure| figure.name == "p95").count(), 3, "not twice: {seen:?}");
    let logins = seen.figure("throughput", Some("Login")).expect("there were some");
    assert!((seen.metrics[0].value / logins.value / 60.0 - 1.0).abs() < 1e-9, "{seen:?}");
    let (ours, theirs) = (seen.metrics[0].log_se.expect("batches"), logins.log_se.expect("batches"));
    assert!((ours / theirs - 1.0).abs() < 0.1, "about the same error: {ours} {theirs}");
    let response = seen.response.as_ref().expect("it was asked for");
    let p95_s = crate::mixture::percentile_s(response, 95.0);
    assert_eq!(p95_s, seen.figure("p95", None).map(|figure| figure.value), "of all operations");
    assert_eq!(CALM.measured(20, &[], 1).response, None, "nobody asked");
}

#[test]
fn figures_are_of_all_operations_and_of_each_that_occurred() {
    let seen = CALM.measured(20, &[], 1);
    let value = |name: &str, operation: Option<&str>| seen.figure(name, operation).map(|figure| figure.value);
    let sum = value("throughput", Some("Login")).unwrap_or(0.0)
        + value("throughput", Some("Browse")).unwrap_or(0.0);
    assert!(value("throughput", None).is_some_and(|all| (all - sum).abs() < 1e-9), "{seen:?}");
    assert_eq!(value("throughput", Some("Purchase")), None, "it never occurred");
    assert_eq!(value("mean", Some("order_cycle")), None, "sessions are another view of the same work");
    let log_normal = 0.050 * (0.5f64 * 0.5 / 2.0).exp();
    assert!(
        value("mean", Some("Browse")).is_some_and(|mean| (mean / log_normal - 1.0).abs() < 0.05),
        "{seen:?}"
    );
    // Of 2,000 such times it is known to 3 %.
    let spread = log_normal * (0.25f64.exp() - 1.0).sqrt();
    let sd = value("sd", Some("Browse")).expect("it occurred");
    assert!((sd / spread - 1.0).abs() < 0.12, "{sd} instead of {spread}");
}

#[test]
fn cores_are_those_of_the_tiers_that_were_observed() {
    let row = |tier: &str, cpu_cores| TierResult {
        tier: tier.to_string(),
        cpu_cores,
        cpu_system_cores: None,
        cpu_s_per_operation: None,
        memory_bytes: None,
        source: String::new(),
    };
    let seconds = CALM.seconds(5, &mut Random::new(1));
    let seen = measured(&seconds, &names(), &[], &[row("web", Some(0.4)), row("db", None)], &Also::default())
        .expect("seconds");
    assert_eq!(seen.tiers, [TierCpu { tier: "web".to_string(), cpu_cores: 0.4 }]);
}

/// The standard deviation of an estimate over many windows, and the root mean square of what it says of itself.
fn said_and_true(windows: &[Measured], of: impl Fn(&Measured) -> (f64, f64)) -> (f64, f64) {
    let seen: Vec<(f64, f64)> = windows.iter().map(of).collect();
    let n = seen.len() as f64;
    let mean = seen.iter().map(|(value, _)| value).sum::<f64>() / n;
    let true_se = (seen.iter().map(|(value, _)| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let said_se = (seen.iter().map(|(_, se)| se * se).sum::<f64>() / n).sqrt();
    (said_se, true_se)
}

fn clause(index: usize) -> impl Fn(&Measured) -> (f64, f64) {
    move |seen| {
        let Margin { log, log_se, .. } = seen.targets[index].margin;
        (log.expect("it occurred"), log_se.expect("there are batches"))
    }
}

fn figure(name: &'static str) -> impl Fn(&Measured) -> (f64, f64) {
    move |seen| {
        let Figure { value, log_se, .. } = seen.figure(name, None).expect("it is always there");
        (value.ln(), log_se.expect("there are batches"))
    }
}

#[test]
fn standard_errors_are_those_of_many_windows() {
    let moody = Stack { mood: 0.1, memory: 0.4, failing: 0.02, ..CALM };
    let calm = Stack { failing: 0.02, ..CALM };
    for (name, stack) in [("calm", &calm), ("moody", &moody)] {
        let windows: Vec<Measured> = (0..120).map(|seed| stack.measured(24, &TARGETS, 1000 + seed)).collect();
        let table = [
            ("p95", said_and_true(&windows, clause(0))),
            ("p99", said_and_true(&windows, clause(1))),
            ("mean of one", said_and_true(&windows, clause(3))),
            ("errors", said_and_true(&windows, clause(5))),
            ("throughput", said_and_true(&windows, figure("throughput"))),
            ("mean", said_and_true(&windows, figure("mean"))),
            ("sd", said_and_true(&windows, figure("sd"))),
            ("p50", said_and_true(&windows, figure("p50"))),
        ];
        for (what, (said, true_se)) in table {
            println!("{name} {what}: said {said:.4}, true {true_se:.4}: {:.2}", said / true_se);
            // Likeness that batches show by chance is allowed for too, so errors are rather said to be too large.
            assert!((0.8..1.5).contains(&(said / true_se)), "{name} {what}: said {said}, true {true_se}");
        }
    }
}

#[test]
fn a_signal_is_kept_by_its_tier_and_one_that_was_not_there_is_absent() {
    let signal = |tier: Option<&str>, name: &str, mean: f64| SignalSummary {
        tier: tier.map(str::to_string),
        name: name.into(),
        unit: "1/s".into(),
        mean,
        max: mean,
        early: None,
        limit: None,
        per_operation: None,
    };
    let had = [
        signal(None, "calls.blocks", 1.0),
        signal(Some("db"), "calls.blocks", 2.0),
        signal(Some("web"), "calls.blocks", 114.0),
    ];
    let wanted = ["web.calls.blocks", "web.calls.stall_ratio"].map(str::to_string);
    let kept = tier_signals(&wanted, &had);
    let values: Vec<_> = kept.iter().map(|one| (one.name.as_str(), one.value, one.log_se)).collect();
    assert_eq!(values, [("web.calls.blocks", 114.0, None)]);
}

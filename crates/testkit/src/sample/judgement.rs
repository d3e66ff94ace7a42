//! The record of a made-up run.

use std::collections::BTreeMap;

use model::catalogue::setting::GivenSettings;
use model::record::interval::{
    OperationInterval, OperationKind, OperationName, Phases, Times, Wire, new_times,
};
use model::record::{
    Check, ConsistencyResult, DatasetResult, Evidence, GeneratorResult, MetricResult, OperationResult,
    Outcome, PhaseResult, PhaseResults, RUN_FORMAT, Series, Setup, Step, TargetOutcome, TierResult,
    TierSetup, TimeSummary, ValidityCheck, Verdict,
};
use model::{ErrorKind, Interval, QosTarget, RunRecord, Value};

use super::load::THINK_S;
use super::{Ending, Shape, diagnosis, inside};

/// What the record says before anything was measured.
pub(super) fn skeleton(shape: &Shape, id: &str) -> RunRecord {
    RunRecord {
        format: RUN_FORMAT,
        id: id.to_string(),
        started: "2026-11-21T03:45:12Z".into(),
        plimsoll: "0.1.0".into(),
        command: ["plimsoll", "run", "dvdstore", "--users", "40"].map(str::to_string).to_vec(),
        setup: setup(shape),
        outcome: Outcome::Unfinished,
        verdict: Verdict { valid: false, pass: None, sentence: "the run has not ended".into() },
        targets: Vec::new(),
        validity: Vec::new(),
        operations: Vec::new(),
        phases: PhaseResults::default(),
        untimed: None,
        wire: Wire::default(),
        metrics: Vec::new(),
        tiers: Vec::new(),
        consistency: Vec::new(),
        evidence: Vec::new(),
        file_set: None,
        dataset: Some(DatasetResult {
            id: "dvdstore-small-1-v1-9d41c0".into(),
            bytes: 41_943_040,
            rows: [("customers", 20_000), ("products", 10_000), ("orders", 12_000), ("orderlines", 60_172)]
                .map(|(table, rows)| (table.to_string(), rows))
                .into(),
            load_s: 9.314,
            reused: true,
            copy_s: 0.182,
        }),
        steps: [("copy data", 0.182), ("start db", 1.31), ("start web", 0.24), ("check pages", 0.035)]
            .map(|(name, took_s)| Step { name: name.into(), took_s })
            .to_vec(),
        generator: GeneratorResult::default(),
        signals: Vec::new(),
        diagnosis: None,
        injected: None,
        unseen: Vec::new(),
    }
}

fn setup(shape: &Shape) -> Setup {
    let tier = |tier: &str, service: &str, version: &str, values: &[(&str, i64)], file: &str, text: &str| {
        TierSetup {
            tier: tier.into(),
            service: service.into(),
            version: version.into(),
            values: values.iter().map(|(name, value)| (name.to_string(), Value::Int(*value))).collect(),
            files: BTreeMap::from([(file.to_string(), text.to_string())]),
            counters: inside::counters(service),
        }
    };
    Setup {
        kit: "dvdstore@1".into(),
        kit_title: "DVD Store 2.1".into(),
        mix: None,
        size: "small".into(),
        size_values: [("customers", 20_000.0), ("products", 10_000.0), ("orders_per_month", 1_000.0)]
            .map(|(name, value)| (name.to_string(), value))
            .into(),
        params: [("n_searches", Value::Int(3)), ("pct_newcustomers", Value::Float(20.0))]
            .map(|(name, value)| (name.to_string(), value))
            .into(),
        given: Some(GivenSettings::default()),
        stack: "apache-prefork-modphp-mariadb".into(),
        stack_title: "Apache prefork with mod_php, MariaDB".into(),
        users: shape.users,
        ramp_up_s: shape.ramp_up_s.into(),
        steady_s: shape.steady_s.into(),
        ramp_down_s: shape.ramp_down_s.into(),
        seed: 1,
        load: None,
        think_mean_s: Some(THINK_S),
        generator_cpus: vec![1],
        stack_cpus: vec![0],
        machine: [("cpu", "Example CPU @ 2.50 GHz, 2 CPUs"), ("kernel", "Linux 6.1.0"), ("memory", "7.8 GB")]
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .into(),
        target: None,
        tiers: vec![
            tier(
                "db",
                "mariadb",
                "mariadbd 10.11.14",
                &[("innodb_buffer_pool_size", 134_217_728), ("max_connections", 200)],
                "conf/db/my.cnf",
                "[mariadbd]\ninnodb_buffer_pool_size = 134217728\nmax_connections = 200\n",
            ),
            tier(
                "web",
                "apache-prefork",
                "Apache/2.4.65 (Debian)",
                &[("MaxRequestWorkers", 150)],
                "conf/web/httpd.conf",
                "MaxRequestWorkers 150\n<Directory \"app\">\n  Require all granted\n</Directory>\n",
            ),
        ],
    }
}

/// Fills the record with what the seconds say.
pub(super) fn judge(
    record: &mut RunRecord,
    shape: &Shape,
    names: &[OperationName],
    intervals: impl Iterator<Item = Interval>,
    series: &[Series],
) {
    let end_s = (shape.ramp_up_s + shape.steady_s).min(shape.measured_s());
    let mut total = Interval::empty(0);
    intervals
        .filter(|one| one.second >= shape.ramp_up_s && one.second < end_s)
        .for_each(|one| total.merge(&one));
    let steady_s = f64::from(end_s - shape.ramp_up_s);
    record.operations =
        names.iter().zip(&total.operations).map(|(name, part)| operation(name, part, steady_s)).collect();
    record.phases = phases(&total.phases);
    record.wire = total.wire;
    let orders = total.operations[0].completed as f64 / steady_s * 60.0;
    let metric = |name: &str, title: &str, value: f64, unit: &str| MetricResult {
        name: name.into(),
        title: title.into(),
        value,
        unit: unit.into(),
        at_least: None,
        at_most: None,
    };
    record.metrics = vec![
        metric("opm", "Orders per minute", orders, "1/min"),
        metric("rollbacks", "Rollbacks", 2.04, "%"),
    ];
    record.tiers = tiers(&total, steady_s, series, shape);
    record.steps.push(Step { name: "measure".into(), took_s: f64::from(shape.measured_s()) });
    record.generator = GeneratorResult {
        cpu_ratio: total.generator_cpu_s / steady_s,
        busiest_thread_ratio: total.busiest_thread_cpu_s / steady_s,
        cpu_wait_ratio: total.generator_wait_s / steady_s,
        lag: summary(&total.lag),
        connects: total.connects,
        exhausted: total.wire.exhausted,
        steal_ratio: Some(0.003),
        foreign_cores: Some(0.02),
        users_mean: (total.busy_user_s + total.thinking_user_s) / steady_s,
        users_by_little: (total.busy_user_s + total.thinking_user_s) / steady_s * 1.004,
    };
    record.targets = targets(record, names, &total);
    let completed: u64 = total.operations[1..=shape.operations].iter().map(|part| part.completed).sum();
    record.signals = inside::signals(shape, series, completed as f64 / steady_s);
    diagnosis::explain(record, shape);
    verdict(record, shape);
}

fn operation(name: &OperationName, part: &OperationInterval, steady_s: f64) -> OperationResult {
    let errors = ErrorKind::ALL.iter().zip(part.errors).filter(|(_, count)| *count > 0);
    OperationResult {
        kind: name.kind,
        name: name.name.clone(),
        completed: part.completed,
        per_s: part.completed as f64 / steady_s,
        errors: errors.map(|(kind, count)| (kind.word().to_string(), count)).collect(),
        response: summary(&part.response),
        service: summary(&part.service),
        max_of_last_100_s: (name.kind == OperationKind::Session).then(|| part.response.max() as f64 / 1e6),
        bytes: part.bytes,
    }
}

fn phases(phases: &Phases) -> PhaseResults {
    let phase = |times: &Times| {
        let TimeSummary { mean_s, p50_s, p95_s, p99_s, max_s, .. } = summary(times);
        let count = times.len();
        (count > 0).then_some(PhaseResult { count, mean_s, p50_s, p95_s, p99_s, max_s })
    };
    PhaseResults {
        connect: phase(&phases.connect),
        tls: phase(&phases.tls),
        first_byte: phase(&phases.first_byte),
        transfer: phase(&phases.transfer),
    }
}

fn summary(times: &Times) -> TimeSummary {
    if times.is_empty() {
        return TimeSummary::default();
    }
    let at = |percent: f64| times.value_at_percentile(percent) as f64 / 1e6;
    let curve = [0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9];
    TimeSummary {
        mean_s: Some(times.mean() / 1e6),
        sd_s: Some(times.stdev() / 1e6),
        p50_s: Some(at(50.0)),
        p90_s: Some(at(90.0)),
        p95_s: Some(at(95.0)),
        p99_s: Some(at(99.0)),
        p999_s: Some(at(99.9)),
        max_s: Some(times.max() as f64 / 1e6),
        curve: curve.map(|percent| (percent, at(percent))).to_vec(),
    }
}

fn tiers(total: &Interval, steady_s: f64, series: &[Series], shape: &Shape) -> Vec<TierResult> {
    let completed: u64 = total.operations[1..=shape.operations].iter().map(|part| part.completed).sum();
    let steady = f64::from(shape.ramp_up_s)..f64::from(shape.ramp_up_s) + steady_s;
    let tier = |tier: &str, cores: f64, memory_bytes: Option<u64>| TierResult {
        tier: tier.into(),
        cpu_cores: Some(cores),
        cpu_system_cores: Some(cores * 0.22),
        cpu_s_per_operation: Some(cores * steady_s / completed.max(1) as f64),
        memory_bytes,
        source: "cgroup2 cpu.stat".into(),
    };
    let of = |name: &str, wanted: &str| {
        let one = series.iter().find(|one| one.name == name && one.tier.as_deref() == Some(wanted));
        let points = one.map(|one| one.points.as_slice()).unwrap_or_default();
        points
            .iter()
            .filter(|(second, _)| steady.contains(second))
            .map(|(_, value)| *value)
            .collect::<Vec<f64>>()
    };
    let mut tiers: Vec<TierResult> = ["web", "db"]
        .map(|name| {
            let cores = of("cpu.cores", name).iter().sum::<f64>() / steady_s;
            tier(name, cores, of("memory.bytes", name).into_iter().reduce(f64::max).map(|bytes| bytes as u64))
        })
        .to_vec();
    tiers.push(tier("generator", total.generator_cpu_s / steady_s, None));
    tiers
}

fn targets(record: &RunRecord, names: &[OperationName], total: &Interval) -> Vec<TargetOutcome> {
    let mut all = new_times();
    let (mut completed, mut failed) = (0, 0);
    for (name, part) in names.iter().zip(&total.operations) {
        if name.kind == OperationKind::Operation {
            all.add(&part.response).expect("all histograms of times have the same bounds");
            completed += part.completed;
            failed += part.failed();
        }
    }
    let all_mean = (!all.is_empty()).then(|| all.mean() / 1e6);
    let target = |text: &str, observed: Option<f64>| {
        let target: QosTarget = text.parse().expect("a target");
        let average_s = all_mean.filter(|_| target.measure.is_time());
        TargetOutcome { samples_needed: 500, average_s, ..TargetOutcome::of(target, observed, completed) }
    };
    let last = record.operations.iter().rfind(|result| result.kind == OperationKind::Operation);
    let mut targets = vec![
        target("p95 < 300 ms", Some(all.value_at_percentile(95.0) as f64 / 1e6)),
        target("p99 < 250 ms", Some(all.value_at_percentile(99.0) as f64 / 1e6)),
        target("errors < 0.1%", Some(failed as f64 / (completed + failed).max(1) as f64)),
    ];
    if let Some(last) = last {
        let one = target(&format!("{} p99 < 400 ms", last.name), last.response.p99_s);
        targets.push(TargetOutcome { samples: last.completed, average_s: last.response.mean_s, ..one });
    }
    targets
}

fn verdict(record: &mut RunRecord, shape: &Shape) {
    let check = |check: Check, ok: bool, sentence: &str, observed: f64, limit: f64| ValidityCheck {
        check,
        ok,
        sentence: sentence.into(),
        observed: Some(observed),
        limit: Some(limit),
    };
    let ok = shape.ending != Ending::Invalid;
    let (cpu, lag) = (record.generator.cpu_ratio, record.generator.lag.p99_s.unwrap_or(0.0));
    let cpu_text = format!("the generator used {:.0} % of its core; the limit is 80 %", cpu * 100.0);
    let lag_text = format!("send lag p99 was {:.2} ms; the limit is 5 ms", lag * 1e3);
    record.validity = vec![
        check(Check::GeneratorCpu, ok, &cpu_text, cpu, 0.8),
        check(Check::SendLag, ok, &lag_text, lag, 0.005),
        check(Check::Little, true, "users by Little's law differ by 0.4 %; the limit is 2 %", 0.004, 0.02),
        check(
            Check::Tiers,
            ok,
            if ok { "no tier died or restarted" } else { "tier db restarted at second 51" },
            0.0,
            0.0,
        ),
    ];
    record.consistency = vec![ConsistencyResult {
        name: "orders = purchases - rollbacks".into(),
        ok: true,
        sentence: "3,104 orders, 3,168 purchases, 64 rollbacks".into(),
    }];
    let missed = record.targets.iter().filter(|target| !target.pass);
    let missed: Vec<String> = missed.map(|target| target.target.to_string()).collect();
    record.outcome =
        if shape.ending == Ending::Interrupted { Outcome::Interrupted } else { Outcome::Completed };
    record.verdict = match (ok, missed.as_slice()) {
        (false, _) => Verdict {
            valid: false,
            pass: None,
            sentence: format!("Not valid: {cpu_text}; {lag_text}; tier db restarted at second 51."),
        },
        (true, []) => Verdict {
            valid: true,
            pass: Some(true),
            sentence: format!("{} users are served within every target.", shape.users),
        },
        (true, missed) => Verdict {
            valid: true,
            pass: Some(false),
            sentence: format!("{} users are too many: missed {}.", shape.users, missed.join(", ")),
        },
    };
    if shape.ending == Ending::Failed {
        record.evidence = evidence(record, shape.ramp_up_s + shape.steady_s / 3);
    }
}

/// Answers as hostile as a server can send: they must reach neither a browser nor a terminal as anything but text.
fn evidence(record: &RunRecord, stall: u32) -> Vec<Evidence> {
    let operation = record
        .operations
        .iter()
        .rfind(|result| !result.errors.is_empty() && result.kind == OperationKind::Operation);
    let operation = operation.map_or("Purchase", |result| result.name.as_str());
    let one = |kind: &str, message: &str, answer: Option<&str>, second: u32| Evidence {
        operation: operation.into(),
        kind: kind.into(),
        message: message.into(),
        request: Some("/ds2/dspurchase.php?item=7&quan=1".into()),
        answer: answer.map(str::to_string),
        second,
    };
    vec![
        one(
            "status",
            "HTTP status 500",
            Some(
                "<html><body>Fatal error</body></html></script><script>window.hostile = 1</script><img src=x onerror=\"window.hostile = 1\">",
            ),
            stall + 1,
        ),
        one("timeout", "no complete answer within 30 s", None, stall + 4),
        one(
            "check",
            "session.lua:88: check `order number` failed",
            Some("\u{1b}[2J\u{1b}]0;owned\u{7}Deadlock found \u{202e}txt"),
            stall + 6,
        ),
    ]
}

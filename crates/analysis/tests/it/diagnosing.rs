//! The catalogue's rules on made-up and recorded signals: each names its own resource first, and all are silent on a
//! healthy stack.

use std::collections::BTreeMap;

use analysis::diagnosis::{Case, ClueSeen, DiagnosisFacts, SuspectFacts, diagnose};
use model::ServiceManifest;
use model::catalogue::rules::Rule;
use model::record::TierSetup;
use model::record::diagnosis::{Limited, SignalSummary};
use testkit::catalogue::{catalogue, root};
use toml::{Table, Value};

/// The stack: database, cache, PHP-FPM and a web server, with their knobs' defaults.
struct Stack {
    rules: Vec<Rule>,
    services: BTreeMap<String, ServiceManifest>,
    tiers: Vec<TierSetup>,
}

fn stack(web: &str) -> Stack {
    stack_of(&[("db", "mariadb"), ("cache", "memcached"), ("app", "php-fpm"), ("web", web)])
}

fn stack_of(tiers: &[(&str, &str)]) -> Stack {
    let catalogue = catalogue();
    let rules = catalogue.rules().unwrap_or_else(|problems| panic!("{problems}"));
    // A service that a kit brings along is none of the catalogue's.
    let known = |name: &&str| Some((name.to_string(), catalogue.service(name).ok()?));
    let services: BTreeMap<String, ServiceManifest> =
        tiers.iter().map(|(_, name)| name).filter_map(known).collect();
    let knobs = |service: &str| services.get(service).map(|one| one.knobs.as_slice()).unwrap_or_default();
    let tier = |tier: &str, service: &str| TierSetup {
        tier: tier.to_string(),
        service: service.to_string(),
        version: String::new(),
        built: None,
        instances: 1,
        network: None,
        values: model::catalogue::setting::resolve(knobs(service), &BTreeMap::new(), "", &mut Vec::new()),
        files: BTreeMap::new(),
        counters: Default::default(),
    };
    let tiers = tiers.iter().map(|(name, service)| tier(name, service)).collect();
    Stack { rules, services, tiers }
}

fn table(file: &str) -> Table {
    let path = root().join("crates/analysis/tests/diagnosis").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn signals(table: &Table) -> BTreeMap<String, SignalSummary> {
    table["signals"]
        .as_table()
        .expect("signals are a table")
        .iter()
        .map(|(name, value)| (name.clone(), signal(name, value)))
        .collect()
}

fn signal(name: &str, value: &Value) -> SignalSummary {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
    let figures: Vec<f64> = match value {
        Value::Array(list) => list.iter().filter_map(number).collect(),
        one => number(one).into_iter().collect(),
    };
    let (tier, name) = name.split_once(':').expect("`TIER:NAME`");
    let unit = if name.ends_with("_ratio") || name.contains("errors") { "ratio" } else { "" };
    SignalSummary {
        tier: (!tier.is_empty()).then(|| tier.to_string()),
        name: name.to_string(),
        unit: unit.to_string(),
        mean: figures[0],
        max: figures.get(3).copied().unwrap_or(figures[0]),
        early: None,
        limit: figures.get(1).copied().filter(|limit| *limit > 0.0),
        per_operation: figures.get(2).copied().filter(|value| figures.len() < 4 || *value != 0.0),
    }
}

/// The tiers' shares of the CPU time, as the signals of a run have them.
fn with_shares(mut signals: BTreeMap<String, SignalSummary>) -> Vec<SignalSummary> {
    let tiers = ["web", "app", "db"];
    let cores =
        |signals: &BTreeMap<String, SignalSummary>, tier: &str| signals[&format!("{tier}:cpu.cores")].mean;
    let all: f64 = tiers.iter().map(|tier| cores(&signals, tier)).sum();
    for tier in tiers {
        let share = Value::Float(cores(&signals, tier) / all);
        let name = format!("{tier}:cpu.share_ratio");
        let made = signal(&name, &share);
        signals.insert(name, made);
    }
    signals.into_values().collect()
}

fn case<'a>(stack: &'a Stack, signals: &'a [SignalSummary]) -> Case<'a> {
    Case {
        signals,
        calls: None,
        tiers: &stack.tiers,
        rules: &stack.rules,
        services: &stack.services,
        threads: &[],
        unseen: &[],
        tier_ended: false,
        ramp_up_s: None,
    }
}

fn diagnosis(stack: &Stack, signals: &[SignalSummary]) -> DiagnosisFacts {
    diagnose(&case(stack, signals)).1
}

/// The suspects in a line each, for a test that fails.
fn clue_of(diagnosis: &DiagnosisFacts) -> String {
    let line = |suspect: &SuspectFacts| {
        let clues: Vec<String> = suspect
            .evidence
            .iter()
            .map(|clue| format!("{} {:?} {:.2}", clue.signal, clue.role, clue.strength_ratio))
            .collect();
        format!("{:.2} {} {}: {}", suspect.sure_ratio, suspect.tier, suspect.resource, clues.join("; "))
    };
    let lines: Vec<String> = diagnosis.suspects.iter().map(line).collect();
    format!("{:?}\n{}", diagnosis.state, lines.join("\n"))
}

#[test]
fn each_rule_names_its_own_resource_first() {
    let healthy = signals(&table("healthy.toml"));
    let mut wrong = Vec::new();
    for (name, case) in &table("rules.toml") {
        let case = case.as_table().expect("a case is a table");
        let stack = stack(case.get("service").and_then(Value::as_str).unwrap_or("apache"));
        let rule = case.get("rule").and_then(Value::as_str).unwrap_or(name);
        let mut now = healthy.clone();
        now.extend(signals(case));
        let found = diagnosis(&stack, &with_shares(now));
        let expected: Vec<&str> =
            case["expect"].as_array().expect("tier and resource").iter().filter_map(Value::as_str).collect();
        let first = found.suspects.first();
        let right = found.state == Limited::Yes
            && first.is_some_and(|first| {
                first.rule == rule && [first.tier.as_str(), first.resource.as_str()] == expected[..]
            });
        if !right {
            wrong.push(format!("{name}: {}", clue_of(&found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn real_faults_are_named_first_and_nothing_is_where_nothing_is_wrong() {
    let mut wrong = Vec::new();
    for (name, case) in &table("recorded.toml") {
        let case = case.as_table().expect("a case is a table");
        let pairs = case["tiers"].as_array().expect("tiers").iter().filter_map(Value::as_array);
        let tiers: Vec<(&str, &str)> = pairs
            .map(|pair| (pair[0].as_str().expect("a tier"), pair[1].as_str().expect("a service")))
            .collect();
        let signals: Vec<SignalSummary> = signals(case).into_values().collect();
        let found = diagnosis(&stack_of(&tiers), &signals);
        let expected: Vec<&str> =
            case["expect"].as_array().expect("tier and resource").iter().filter_map(Value::as_str).collect();
        let first = found.suspects.first().map(|first| [first.tier.as_str(), first.resource.as_str()]);
        let right = match (expected.as_slice(), first) {
            ([], _) => found.state == Limited::No,
            (expected, Some(first)) => found.state == Limited::Yes && first == expected,
            (_, None) => false,
        };
        if !right {
            wrong.push(format!("{name}: {}", clue_of(&found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_rule_has_a_case() {
    let cases = table("rules.toml");
    for rule in stack("apache").rules {
        assert!(cases.contains_key(&rule.name), "tests/diagnosis/rules.toml has no [{}]", rule.name);
    }
}

#[test]
fn every_rule_is_silent_on_a_healthy_stack() {
    for web in ["apache", "lighttpd", "nginx", "h2o", "tomcat"] {
        let found = diagnosis(&stack(web), &with_shares(signals(&table("healthy.toml"))));
        assert_eq!(found.state, Limited::No, "{}", clue_of(&found));
        let loud: Vec<_> = found.suspects.iter().filter(|suspect| suspect.sure_ratio > 0.25).collect();
        assert!(loud.is_empty(), "{}", clue_of(&found));
    }
}

#[test]
fn busy_cpus_hold_nothing_as_long_as_users_set_the_pace() {
    let mut signals = signals(&table("healthy.toml"));
    signals.get_mut(":stack.busy_ratio").expect("it is there").mean = 0.95;
    let found = diagnosis(&stack("apache"), &with_shares(signals));
    assert_eq!(found.state, Limited::No, "{}", clue_of(&found));
}

/// Figures of the events calendar whose users kept the CPU 90 % busy, soon after its database had started; the evictions are of a
/// second run of it, and the larger ones made up.
#[test]
fn a_buffer_pool_that_still_fills_is_not_too_small() {
    let resource = |evictions: f64| {
        let mut now = signals(&table("healthy.toml"));
        let told = [
            (":stack.busy_ratio", vec![0.94]),
            ("db:sql.pool_reads", vec![513.0, 0.0, 2.3]),
            ("db:sql.pool_miss_ratio", vec![0.062]),
            ("db:sql.pool_evictions", vec![evictions * 223.0, 0.0, evictions]),
        ];
        for (name, figures) in told {
            let figures = Value::Array(figures.into_iter().map(Value::Float).collect());
            now.insert(name.to_string(), signal(name, &figures));
        }
        let found = diagnosis(&stack("lighttpd"), &with_shares(now));
        let named = found.suspects.first().filter(|_| found.state == Limited::Yes);
        named.map(|suspect| suspect.resource.clone())
    };
    assert_eq!(resource(0.0017), None, "what is read the first time had to go nowhere");
    assert_eq!(resource(2.3).as_deref(), Some("buffer pool"), "each page that comes sends one away");
}

#[test]
fn what_is_limited_by_nothing_that_was_seen_is_unclear() {
    let mut signals = signals(&table("healthy.toml"));
    signals.get_mut(":run.missed_targets").expect("it is there").mean = 1.0;
    let found = diagnosis(&stack("apache"), &with_shares(signals));
    assert_eq!(found.state, Limited::Unclear, "{}", clue_of(&found));
}

#[test]
fn a_suspect_comes_with_its_evidence_and_what_to_try() {
    let mut now = signals(&table("healthy.toml"));
    now.extend(signals(table("rules.toml")["php-workers"].as_table().expect("a table")));
    let found = diagnosis(&stack("lighttpd"), &with_shares(now));
    let suspect = &found.suspects[0];
    assert_eq!((suspect.tier.as_str(), suspect.title.as_str()), ("app", "every PHP process is taken"));
    let seen: Vec<_> = suspect.evidence.iter().take(2).map(|clue| signal_seen(&clue.seen)).collect();
    let (busy, queue) =
        ("{value} of {limit} PHP processes were busy", "{value} requests waited in its queue");
    assert_eq!(seen, [(busy, 2.0, Some(2.0)), (queue, 31.0, None)], "{}", clue_of(&found));
    let attempt = &suspect.tries[0];
    assert_eq!(attempt.knob.as_deref(), Some("app.pm.max_children"));
    assert_eq!(attempt.values, ["10", "20"]);
    assert_eq!(attempt.now.as_deref(), Some("5"), "the knob in force");
}

/// The rule's text, the value and the limit of evidence that is a signal.
fn signal_seen(seen: &ClueSeen) -> (&str, f64, Option<f64>) {
    match seen {
        ClueSeen::Signal { template, value, limit, .. } => {
            (template, value.value, limit.as_ref().map(|limit| limit.value))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_never_the_answer_where_a_tier_ended() {
    let (stack, signals) = (stack("apache"), with_shares(signals(&table("healthy.toml"))));
    let state = |tier_ended| diagnose(&Case { tier_ended, ..case(&stack, &signals) }).1.state;
    assert_eq!((state(false), state(true)), (Limited::No, Limited::Unclear));
}

/// Tiers as a fleet's observers tell of them: of nothing but the CPUs of their hosts and of themselves.
#[test]
fn of_a_tier_on_another_machine_its_own_host_counts_and_not_the_controller_s() {
    let stack = stack_of(&[("db", ""), ("app", "")]);
    let figures = |db_busy: f64| -> Vec<SignalSummary> {
        let number = |name: &str, figures: &[f64]| {
            signal(name, &Value::Array(figures.iter().map(|figure| Value::Float(*figure)).collect()))
        };
        vec![
            // The controller's machine: full, by others.
            number(":stack.busy_ratio", &[db_busy.max(0.3)]),
            number(":cpu.foreign_cores", &[1.9]),
            number(":tcp.ports_used_ratio", &[0.99]),
            number(":run.connect_errors", &[0.2]),
            number(":run.response_share", &[0.8]),
            number(":run.operations_per_s", &[60.0]),
            number("db:cpu.cores", &[3.9, 4.0, 0.06]),
            number("db:cpu.share_ratio", &[0.6]),
            number("db:host.busy_ratio", &[db_busy]),
            number("app:cpu.cores", &[2.6, 8.0, 0.04]),
            number("app:cpu.share_ratio", &[0.4]),
            number("app:host.busy_ratio", &[0.3]),
        ]
    };
    let found = diagnosis(&stack, &figures(0.99));
    let first = found.suspects.first().map(|first| (first.rule.as_str(), first.tier.as_str()));
    assert_eq!((first, found.state), (Some(("tier-cpu", "db")), Limited::Yes), "{}", clue_of(&found));
    let said = clue_of(&found);
    assert!(!said.contains("foreign") && !said.contains(" host "), "it isn't the stack's machine: {said}");
    assert!(!found.suspects.iter().any(|suspect| suspect.tier == "app"), "its host is idle: {said}");
    let found = diagnosis(&stack, &figures(0.3));
    assert!(found.suspects.is_empty(), "{}", clue_of(&found));
}

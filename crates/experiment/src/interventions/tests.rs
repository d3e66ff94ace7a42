use std::borrow::Cow;

use model::Catalogue;
use model::record::diagnosis::Try;

use super::*;

const SERVICE: &str = r#"format = 1
name = "apache"
title = "Apache"
ports = ["http"]
logs = ["logs/error.log"]
packages = { why = "a test" }
program = { binary = "x", args = [], version_args = [], known_versions = [] }
ready = { probe = "http", within_s = 1 }
stop = { signal = "TERM", within_s = 1 }

[[status]]
name = "page"
reader = "lines"
at = "http"

[[counter]]
name = "workers.busy"
status = "page"
of = ["Busy"]
kind = "gauge"
unit = "workers"
limit = "Max_Workers"
help = "busy"

[[counter]]
name = "connections.busy"
status = "page"
of = ["Connections"]
kind = "gauge"
unit = "connections"
limit = "Max_Workers * 2"
help = "busy"

[[knob]]
name = "Max.Workers"
type = "int"
default = 150
max = 250
help = "workers"

[[knob]]
name = "KeepAlive"
type = "bool"
default = true
help = "whether connections are kept"
"#;

fn services() -> BTreeMap<String, ServiceManifest> {
    let text: Cow<'static, [u8]> = Cow::Borrowed(SERVICE.as_bytes());
    let catalogue = Catalogue::new(BTreeMap::from([("services/apache/service.toml".to_string(), text)]));
    let service = catalogue.service("apache").unwrap_or_else(|problems| panic!("{problems}"));
    BTreeMap::from([("apache".to_string(), service)])
}

fn tier(name: &str) -> TierSetup {
    let values = Values::from([
        ("Max.Workers".to_string(), Value::Int(150)),
        ("KeepAlive".to_string(), Value::Bool(true)),
    ]);
    TierSetup {
        tier: name.to_string(),
        service: "apache".to_string(),
        version: String::new(),
        built: None,
        instances: 1,
        network: None,
        values,
        files: BTreeMap::new(),
        counters: BTreeMap::new(),
    }
}

fn signal(tier: &str, name: &str, (mean, limit): (f64, Option<f64>), unit: &str) -> SignalSummary {
    SignalSummary {
        tier: Some(tier.to_string()),
        name: name.to_string(),
        unit: unit.to_string(),
        mean,
        max: mean,
        early: None,
        limit,
        per_operation: None,
    }
}

fn suspect(sure_ratio: f64) -> Suspect {
    let one = |knob: Option<&str>, values: &[&str]| Try {
        knob: knob.map(str::to_string),
        now: None,
        values: values.iter().map(ToString::to_string).collect(),
        why: "it helps".to_string(),
    };
    Suspect {
        rule: "web-keep-alive".to_string(),
        tier: "web".to_string(),
        resource: "keep-alive".to_string(),
        title: "connections are kept".to_string(),
        strengths: Default::default(),
        sure_ratio,
        evidence: Vec::new(),
        tries: vec![one(None, &[]), one(Some("web.KeepAlive"), &["false", "true"])],
    }
}

fn sets(signals: &[SignalSummary], suspects: &[Suspect]) -> Vec<String> {
    let (tiers, services) = ([tier("db"), tier("web")], services());
    let at_line = AtLine { signals, suspects, tiers: &tiers, services: &services, stack_cores: 1.0 };
    let words = |one: &Intervention| {
        let set: Vec<String> = one.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        set.join(",")
    };
    interventions(&at_line).iter().map(words).collect()
}

#[test]
fn full_pools_become_larger_together_and_no_larger_than_they_may_be() {
    let full = |tier| signal(tier, "workers.busy", (149.0, Some(150.0)), "workers");
    assert_eq!(sets(&[full("web"), full("db")], &[]), ["db.Max.Workers=250,web.Max.Workers=250"]);
    let half = signal("web", "workers.busy", (75.0, Some(150.0)), "workers");
    let other = signal("web", "connections.busy", (300.0, Some(300.0)), "connections");
    assert!(sets(&[half, other], &[]).is_empty(), "half a pool is none, and a reckoned limit is no knob");
}

#[test]
fn a_suspect_is_tried_by_its_first_knob_and_an_unlikely_one_not_at_all() {
    assert_eq!(sets(&[], &[suspect(0.4)]), ["web.KeepAlive=false"]);
    assert!(sets(&[], &[suspect(0.05)]).is_empty());
}

#[test]
fn cpu_time_is_taken_from_the_tier_that_uses_most_of_it() {
    let used = |tier, cores| signal(tier, "cpu.cores", (cores, None), "cores");
    // It uses 0.6, and nobody uses 0.2 of the stack's CPU: 85 % of 0.8.
    assert_eq!(sets(&[used("db", 0.6), used("web", 0.2)], &[]), ["db.cgroup.cpu=0.68"]);
    let quota = signal("db", "cpu.quota_cores", (0.4, None), "cores");
    let held = sets(&[used("db", 0.39), used("web", 0.2), quota], &[]);
    assert_eq!(held, ["db.cgroup.cpu=0.34"], "less than its quota, and never more");
}

//! What can be wrong with a rule before it is ever weighed: a signal that nobody writes, a knob that no service has.

use std::collections::BTreeMap;

use model::diagnosis::Doing;
use model::document::nearest;
use model::rules::Rule;
use model::{Problem, ServiceManifest};

/// The documents that name every series and every signal beside the servers' own: in the first column of their tables.
const NAMED: [&str; 2] = [
    include_str!("../../../../docs/reference/series.md"),
    include_str!("../../../../docs/method/diagnosis.md"),
];

/// The tables' placeholders, and what may stand there.
const KINDS: [&str; 6] = ["connect", "timeout", "status", "check", "protocol", "script"];

/// Everything that is wrong with `rules`, given all services of the catalogue.
pub fn check(rules: &[Rule], services: &BTreeMap<String, ServiceManifest>) -> Vec<Problem> {
    let names = names(services);
    rules.iter().flat_map(|rule| wrong(rule, &names, services)).collect()
}

fn wrong(rule: &Rule, names: &[String], services: &BTreeMap<String, ServiceManifest>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say = |what: String, near: Option<&str>| {
        let problem = Problem::recipe(what).key(format!("rule {}", rule.name));
        problems.push(match near {
            Some(near) => problem.remedy(format!("`{near}`")),
            None => problem,
        });
    };
    for evidence in &rule.evidence {
        let name = match evidence.signal.split_once(':') {
            Some(("run" | "front", name)) => format!("run.{name}"),
            Some((_, name)) => name.to_string(),
            None => evidence.signal.clone(),
        };
        if !names.contains(&name) {
            let near = nearest(&name, names.iter().map(String::as_str));
            say(format!("nobody writes a signal `{}`", evidence.signal), near);
        }
        if evidence.from == evidence.full {
            say(format!("the evidence of `{}` begins where it is full", evidence.signal), None);
        }
    }
    let of_rule =
        |service: &&ServiceManifest| rule.services.is_empty() || rule.services.contains(&service.name);
    for service in rule.services.iter().filter(|service| !services.contains_key(*service)) {
        say(
            format!("there is no service `{service}`"),
            nearest(service, services.keys().map(String::as_str)),
        );
    }
    let has = |service: &ServiceManifest, knob: &str| service.knobs.iter().any(|own| own.name == knob);
    for knob in rule.tries.iter().filter_map(|one| one.knob.as_deref()) {
        let own = services.values().filter(of_rule).any(|service| has(service, knob));
        // Of another tier: which service runs there is the stack's business.
        let other = knob.split_once('.').map(|(_, knob)| knob);
        if !own && !other.is_some_and(|knob| services.values().any(|service| has(service, knob))) {
            say(format!("no service has a knob `{knob}`"), None);
        }
    }
    problems
}

/// Every name of a signal.
fn names(services: &BTreeMap<String, ServiceManifest>) -> Vec<String> {
    let cells = NAMED.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("| "));
    let first = cells.filter_map(|line| line.split(" |").next());
    let documented = first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).flat_map(expanded);
    let counters =
        services.values().flat_map(|service| &service.counters).map(|counter| counter.name.clone());
    let alarms =
        services.values().flat_map(|service| &service.alarms).filter_map(|alarm| alarm.signal.clone());
    documented.chain(counters).chain(alarms).collect()
}

/// `threads.WORD` and `run.KIND_errors` stand for many.
fn expanded(name: &str) -> Vec<String> {
    if name.contains("WORD") {
        return Doing::ALL.iter().map(|doing| name.replace("WORD", doing.word())).collect();
    }
    if name.contains("KIND") {
        return KINDS.iter().map(|kind| name.replace("KIND", kind)).collect();
    }
    vec![name.to_string()]
}

//! What can be wrong with a rule before it is ever weighed: a signal that nobody declares, a knob that no service has.

use std::collections::BTreeMap;

use model::catalogue::rules::{About, EvidenceRule, Rule};
use model::document::{line, nearest};
use model::record::diagnosis::ClueRole;
use model::{Problem, RuleFile, ServiceManifest, SignalRegistry, Subject};

use crate::ledger;

/// Everything that is wrong with the rules of `file`, whose text is `text`, given all signals and services. Each problem has
/// its line and key, and the nearest known name.
pub fn check(
    file: &RuleFile,
    text: &str,
    signals: &SignalRegistry,
    services: &BTreeMap<String, ServiceManifest>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, rule) in file.rules.iter().enumerate() {
        let mut check = Check { rule, index: index.to_string(), text, signals, services, problems };
        rule.evidence.iter().enumerate().for_each(|(index, evidence)| check.evidence(index, evidence));
        check.needs();
        check.services();
        check.knobs();
        check.waits();
        problems = check.problems;
    }
    problems
}

struct Check<'a> {
    rule: &'a Rule,
    /// Which of the file's.
    index: String,
    text: &'a str,
    signals: &'a SignalRegistry,
    services: &'a BTreeMap<String, ServiceManifest>,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn evidence(&mut self, index: usize, evidence: &EvidenceRule) {
        let (subject, name, services) = self.meant(&evidence.signal);
        let path = ["evidence", &index.to_string(), "signal"];
        if !self.signals.declares(subject, services, &name) {
            let whose = match subject {
                Subject::Tier if services.is_empty() => "a tier".to_string(),
                Subject::Tier => format!("a tier of {}", services.join(", ")),
                Subject::Machine => "the machine".to_string(),
                Subject::Run => "the run".to_string(),
            };
            let what = format!("nobody declares a signal `{name}` of {whose}");
            let known: Vec<&str> =
                self.signals.of(subject, services).map(|signal| signal.name.as_ref()).collect();
            self.wrong(&path, what, nearest(&name, known));
        }
        if evidence.from == evidence.full {
            let what = format!("the evidence of `{}` begins where it is full", evidence.signal);
            self.wrong(&path, what, None);
        }
    }

    /// What a signal of the rule is about, what it is called there, and whose tiers have it; of any service when empty.
    fn meant(&self, signal: &str) -> (Subject, String, &[String]) {
        let any: &[String] = &[];
        match (signal.split_once(':'), self.rule.about) {
            (Some(("host", name)), _) => (Subject::Machine, name.to_string(), any),
            (Some(("run" | "front", name)), _) => (Subject::Run, format!("run.{name}"), any),
            (Some(("callee", name)), _) => (Subject::Tier, name.to_string(), any),
            (_, About::Host) => (Subject::Machine, signal.to_string(), any),
            (_, About::Tier) => (Subject::Tier, signal.to_string(), &self.rule.services),
            (_, About::Generator | About::Observers) => (Subject::Tier, signal.to_string(), any),
        }
    }

    /// A rule that needs nothing would be a suspect in every run.
    fn needs(&mut self) {
        let needed = |one: &EvidenceRule| matches!(one.role, ClueRole::Needed | ClueRole::OneOf);
        if !self.rule.evidence.iter().any(needed) {
            self.wrong(&["evidence"], "it needs no evidence".to_string(), Some("role = \"needed\""));
        }
    }

    fn services(&mut self) {
        for (index, service) in self.rule.services.iter().enumerate() {
            if !self.services.contains_key(service) {
                let near = nearest(service, self.services.keys().map(String::as_str)).map(str::to_string);
                let path = ["services", &index.to_string()];
                self.wrong(&path, format!("there is no service `{service}`"), near.as_deref());
            }
        }
    }

    fn waits(&mut self) {
        let known = ledger::waits();
        for (index, doing) in self.rule.waits.iter().enumerate() {
            if !known.contains(doing) {
                let what = format!("`{}` is no wait of a tier's threads for anything", doing.word());
                self.wrong(&["waits", &index.to_string()], what, None);
            }
        }
        if self.rule.waits.is_empty() && (self.rule.fallback || self.rule.title.contains("{wait}")) {
            self.wrong(
                &["title"],
                "it names no wait, and speaks of one".to_string(),
                Some("waits = [\"sleeping\"]"),
            );
        }
    }

    fn knobs(&mut self) {
        let has = |service: &ServiceManifest, knob: &str| service.knobs.iter().any(|own| own.name == knob);
        for (index, one) in self.rule.tries.iter().enumerate() {
            let Some(knob) = one.knob.as_deref() else { continue };
            let of_rule = |service: &&ServiceManifest| {
                self.rule.services.is_empty() || self.rule.services.contains(&service.name)
            };
            let own = self.services.values().filter(of_rule).any(|service| has(service, knob));
            // Of another tier: which service runs there is the stack's business.
            let other = knob.split_once('.').map(|(_, knob)| knob);
            if !own && !other.is_some_and(|knob| self.services.values().any(|service| has(service, knob))) {
                let known = self.services.values().filter(of_rule).flat_map(|service| &service.knobs);
                let near = nearest(knob, known.map(|knob| knob.name.as_str())).map(str::to_string);
                let path = ["try", &index.to_string(), "knob"];
                self.wrong(&path, format!("no service has a knob `{knob}`"), near.as_deref());
            }
        }
    }

    fn wrong(&mut self, path: &[&str], what: String, near: Option<&str>) {
        let whole = [&["rule", &self.index], path].concat();
        let key: Vec<&str> = path.iter().copied().filter(|step| step.parse::<usize>().is_err()).collect();
        let mut problem = Problem::recipe(what).key(format!("rule {}: {}", self.rule.name, key.join(".")));
        problem.place.line = line(self.text, &whole);
        problem.remedy = near.map(|near| format!("`{near}`"));
        self.problems.push(problem);
    }
}

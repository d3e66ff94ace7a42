//! Rules can only speak of what runs give: every signal that a rule needs comes out of a run that was recorded.
//!
//! `tests/recorded/` has short runs of real stacks without their logs, as `plimsoll run` kept them: `events` on
//! `apache-event-fpm-mariadb-memcached` with limits of CPU time and memory, `tpcw` on `tomcat-mariadb`, and the faults `fpm-slow-page` and
//! `nginx-narrow-link`.

use std::path::Path;

use analysis::Steady;
use analysis::signals::{Limit, Watched, early_span_s, signals};
use model::RunRecord;
use model::catalogue::rules::{EvidenceRule, Rule};
use model::record::diagnosis::{ClueRole, SignalSummary};
use store::Run;
use testkit::catalogue::catalogue;

use super::{fill_in, services};
use crate::judge::series_seen;

const RECORDED: [&str; 4] = ["events", "tpcw", "slow_page", "narrow_link"];

/// A recorded run, its signals made anew from its seconds and series by what makes those of a run that ends now.
fn recorded(name: &str) -> RunRecord {
    seen_over(name, (0.0, 1.0))
}

/// The same by a part of its steady state: from which share of it to which.
fn seen_over(name: &str, (from_ratio, to_ratio): (f64, f64)) -> RunRecord {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    let run = Run::open(&folder).unwrap_or_else(|problems| panic!("{}: {problems}", folder.display()));
    let mut record = run.record().clone();
    let setup = &record.setup;
    let (early_from, early_to) = early_span_s(setup.ramp_up_s);
    let mut early = Steady::new(early_from, early_to);
    let at_s = |ratio: f64| setup.ramp_up_s + ratio * setup.steady_s;
    let mut steady = Steady::new(at_s(from_ratio), at_s(to_ratio));
    let seconds = run.seconds().expect("it has seconds");
    let names = seconds.names().to_vec();
    for second in seconds {
        let second = second.expect("a second");
        early.push(&second);
        steady.push(&second);
    }
    let wanted: Vec<_> = record.targets.iter().map(|target| target.target.clone()).collect();
    record.targets = analysis::targets(&wanted, &steady, &names);
    let limit = |signal: &SignalSummary| {
        let (tier, name) = (signal.tier.clone(), signal.name.clone());
        Some(Limit { tier, name, value: signal.limit? })
    };
    record.signals = signals(&Watched {
        series: &series_seen(&run, &steady, &early).expect("it has series"),
        limits: &record.signals.iter().filter_map(limit).collect::<Vec<_>>(),
        alarms: &[],
        steady: &steady,
        early: &early,
        names: &names,
        targets: &record.targets,
        generator_cpus: record.setup.generator_cpus.len(),
        stack_cpus: record.setup.stack_cpus.len(),
    });
    record
}

/// The rule with nothing but `needed`, each of which any value satisfies.
fn satisfied_by_anything(rule: &Rule, needed: &[&EvidenceRule]) -> Rule {
    let any = |evidence: &&EvidenceRule| EvidenceRule { from: -1e12, full: -1e11, ..(*evidence).clone() };
    let evidence = needed.iter().map(any).collect();
    Rule { cleared_by_callee: false, evidence, ..rule.clone() }
}

/// Whether a rule speaks in one of the runs.
fn speaks(rule: &Rule, runs: &[RunRecord]) -> bool {
    let catalogue = catalogue();
    runs.iter().any(|run| {
        let mut record = run.clone();
        fill_in(&mut record, std::slice::from_ref(rule), &services(run, &catalogue));
        record.diagnosis.is_some_and(|diagnosis| !diagnosis.suspects.is_empty())
    })
}

#[test]
fn every_signal_that_a_rule_needs_comes_out_of_a_recorded_run() {
    let runs = RECORDED.map(recorded);
    let rules = catalogue().rules().unwrap_or_else(|problems| panic!("{problems}"));
    let mut silent = Vec::new();
    for rule in &rules {
        let is_needed = |evidence: &&EvidenceRule| evidence.role == ClueRole::Needed;
        let needed: Vec<&EvidenceRule> = rule.evidence.iter().filter(is_needed).collect();
        let alone = needed.iter().filter(|one| !speaks(&satisfied_by_anything(rule, &[one]), &runs));
        silent.extend(alone.map(|one| format!("{}: no run gives `{}`", rule.name, one.signal)));
        if !needed.is_empty() && !speaks(&satisfied_by_anything(rule, &needed), &runs) {
            silent.push(format!("{}: no run gives all that it needs", rule.name));
        }
    }
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn which_seconds_were_looked_at_changes_no_answer() {
    let catalogue = catalogue();
    let rules = catalogue.rules().unwrap_or_else(|problems| panic!("{problems}"));
    let first = |from_ratio: f64| {
        let mut record = seen_over("slow_page", (from_ratio, from_ratio + 0.6));
        let services = services(&record, &catalogue);
        fill_in(&mut record, &rules, &services);
        let suspects = record.diagnosis.expect("it was watched").suspects;
        suspects.first().map(|first| format!("{} {}", first.tier, first.resource))
    };
    let found: Vec<Option<String>> = (0..10).map(|step| first(f64::from(step) * 0.04)).collect();
    assert_eq!(found, vec![Some("app sleep".to_string()); 10]);
}

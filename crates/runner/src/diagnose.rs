//! From a run's signals to what holds the stack.

use std::borrow::Cow;
use std::collections::BTreeMap;

use analysis::diagnosis::weights::Weights;
use analysis::diagnosis::{Case, DiagnosisFacts, SuspectFacts, diagnose};
use analysis::signals::names::CPU;
use model::catalogue::rules::Rule;
use model::record::diagnosis::SignalSummary;
use model::record::{Check, TierSetup};
use model::{Catalogue, RunRecord, ServiceManifest};

/// Fills in what holds the stack, by `rules`, and the signals that tell where the time went. A run of which nothing was
/// watched but the users' side, with observers off or on a server that somebody else started, has no diagnosis; nor has one whose
/// load was changed by hand: what was seen is of several loads, and would be told of one.
pub fn fill_in(record: &mut RunRecord, rules: &[Rule], services: &BTreeMap<String, ServiceManifest>) {
    let Some((signals, facts)) = facts(record, rules, services) else { return };
    let proof = record.diagnosis.take().and_then(|before| before.proof);
    record.signals = signals;
    record.diagnosis = Some(model::Diagnosis { proof, ..wording::diagnosis(&facts) });
}

/// The same without words: all signals of the run, and what they say of the stack.
pub fn facts(
    record: &RunRecord,
    rules: &[Rule],
    services: &BTreeMap<String, ServiceManifest>,
) -> Option<(Vec<SignalSummary>, DiagnosisFacts)> {
    let tiers = tiers(record);
    let is_told = watched(record, &tiers) && !record.setup.is_by_hand();
    is_told.then(|| diagnose(&case(record, &tiers, rules, services)))
}

/// Everything that may hold the stack, however unlikely, by these weights instead of those in force.
pub fn suspects(
    record: &RunRecord,
    rules: &[Rule],
    services: &BTreeMap<String, ServiceManifest>,
    weights: &Weights,
) -> Vec<SuspectFacts> {
    analysis::diagnosis::suspects(&case(record, &tiers(record), rules, services), weights)
}

/// The stack's tiers: as they were set up, or those that a fleet's observers watched on servers that somebody else started. Of
/// these nobody knows which service they are, so that only what may hold any tier is said of them.
fn tiers(record: &RunRecord) -> Cow<'_, [TierSetup]> {
    let observers = record.fleet.iter().flat_map(|fleet| &fleet.observers);
    let watched: Vec<&String> = observers.flat_map(|observer| &observer.tiers).collect();
    if watched.is_empty() || !record.setup.tiers.is_empty() {
        return Cow::Borrowed(&record.setup.tiers);
    }
    let tier = |name: &&String| TierSetup {
        tier: (*name).clone(),
        service: String::new(),
        version: String::new(),
        built: None,
        instances: 1,
        network: None,
        values: BTreeMap::new(),
        files: BTreeMap::new(),
        counters: BTreeMap::new(),
    };
    watched.iter().map(tier).collect()
}

fn case<'a>(
    record: &'a RunRecord,
    tiers: &'a [TierSetup],
    rules: &'a [Rule],
    services: &'a BTreeMap<String, ServiceManifest>,
) -> Case<'a> {
    Case {
        signals: &record.signals,
        calls: record.calls.as_ref(),
        tiers,
        rules,
        services,
        threads: &record.threads,
        unseen: &record.unseen,
        tier_ended: record.validity.iter().any(|check| check.check == Check::Tiers && !check.ok),
        ramp_up_s: record.ramp_up_seen_s,
    }
}

/// Whether any tier was seen at work: without observers the users' side alone tells nothing of the stack.
fn watched(record: &RunRecord, tiers: &[TierSetup]) -> bool {
    let of_tier = |name: &Option<String>| tiers.iter().any(|tier| Some(&tier.tier) == name.as_ref());
    record.signals.iter().any(|signal| signal.name == CPU && of_tier(&signal.tier))
}

/// The services of a kept run's tiers, as far as the catalogue has them: their knobs say what can be tried.
pub fn services(record: &RunRecord, catalogue: &Catalogue) -> BTreeMap<String, ServiceManifest> {
    let found = record.setup.tiers.iter().filter_map(|tier| catalogue.service(&tier.service).ok());
    found.map(|service| (service.name.clone(), service)).collect()
}

#[cfg(test)]
mod tests;

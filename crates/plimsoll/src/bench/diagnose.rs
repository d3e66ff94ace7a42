//! From a run's signals to what holds the stack.

use std::collections::BTreeMap;

use analysis::diagnosis::{Case, diagnose};
use model::rules::Rule;
use model::{Catalogue, RunRecord, ServiceManifest};

/// Fills in what holds the stack, by `rules`, and the signals that tell where the time went. A run on a server that
/// somebody else started, of which nothing was watched but the users' side, has no diagnosis.
pub(crate) fn fill_in(record: &mut RunRecord, rules: &[Rule], services: &BTreeMap<String, ServiceManifest>) {
    if record.setup.tiers.is_empty() || record.signals.is_empty() {
        return;
    }
    let proof = record.diagnosis.take().and_then(|before| before.proof);
    let (signals, diagnosis) = diagnose(&Case {
        signals: &record.signals,
        tiers: &record.setup.tiers,
        rules,
        services,
        unseen: &record.unseen,
    });
    record.signals = signals;
    record.diagnosis = Some(model::Diagnosis { proof, ..diagnosis });
}

/// The services of a kept run's tiers, as far as the catalogue has them: their knobs say what can be tried.
pub(crate) fn services(record: &RunRecord, catalogue: &Catalogue) -> BTreeMap<String, ServiceManifest> {
    let found = record.setup.tiers.iter().filter_map(|tier| catalogue.service(&tier.service).ok());
    found.map(|service| (service.name.clone(), service)).collect()
}

//! The first half of a run's record: what was asked for, resolved, and what stands there.

use std::collections::BTreeMap;

use model::Plan;
use model::catalogue::service::Counter;
use model::record::interval::Wire;
use model::record::{
    Carrier, CounterSetup, GeneratorResult, NetworkSetup, Outcome, PhaseResults, RUN_FORMAT, RunRecord,
    Setup, TargetSetup, TierSetup, Verdict,
};
use testbed::Tier;

use crate::artefact::product;
use crate::environment::Origin;
use crate::server::Server;

/// A record of a run that has not been measured yet.
pub(crate) fn unfinished(plan: &Plan, id: &str, started: &str, origin: &Origin) -> RunRecord {
    RunRecord {
        format: RUN_FORMAT,
        id: id.to_string(),
        started: started.to_string(),
        plimsoll: origin.version.clone(),
        command: origin.command.clone(),
        setup: setup(plan),
        outcome: Outcome::Unfinished,
        verdict: Verdict {
            valid: false,
            pass: None,
            sentence: "not valid: the run has not finished".to_string(),
        },
        targets: Vec::new(),
        validity: Vec::new(),
        operations: Vec::new(),
        phases: PhaseResults::default(),
        untimed: None,
        wire: Wire::default(),
        populations: Vec::new(),
        metrics: Vec::new(),
        tiers: Vec::new(),
        guests: Vec::new(),
        consistency: Vec::new(),
        evidence: Vec::new(),
        dataset: None,
        file_set: None,
        steps: Vec::new(),
        generator: GeneratorResult::default(),
        fleet: None,
        signals: Vec::new(),
        ramp_up_seen_s: None,
        diagnosis: None,
        injected: None,
        load_changes: Vec::new(),
        outages: Vec::new(),
        aborted: None,
        links: Vec::new(),
        calls: None,
        statements: Vec::new(),
        threads: Vec::new(),
        unseen: Vec::new(),
    }
}

fn setup(plan: &Plan) -> Setup {
    Setup {
        kit: format!("{}@{}", plan.kit.name, plan.kit.version),
        kit_title: plan.kit.title.clone(),
        mix: plan.mix.clone(),
        size: plan.size.label.clone(),
        size_values: plan.size.values.clone(),
        params: plan.params.clone(),
        given: Some(plan.given.clone()),
        topology: plan.topology.clone(),
        guest: plan.guest.clone(),
        guests: plan.guests_asked.filter(|_| plan.guest.is_none()),
        abort_on: None,
        stack: plan.stack.name.clone(),
        stack_title: plan.stack.title.clone(),
        users: plan.load.users,
        ramp_up_s: plan.load.ramp_up_s,
        steady_s: plan.load.steady_s,
        ramp_down_s: plan.load.ramp_down_s,
        seed: plan.load.seed,
        load: Some(plan.load.clone()),
        think_mean_s: plan
            .kit
            .users
            .think
            .map(|think| think.mean())
            .filter(|_| plan.kit.population.is_empty()),
        heuristic_freshness: Some(plan.kit.users.heuristic_freshness),
        generator_cpus: plan.placement.generator.clone(),
        stack_cpus: plan.placement.stack.clone(),
        machine: observe::machine(),
        machine_settings: Vec::new(),
        tiers: Vec::new(),
        target: None,
    }
}

/// Says where the load goes when somebody else started the server.
pub(crate) fn elsewhere(plan: &Plan, server: Option<&Server>, setup: &mut Setup) {
    let (Some(url), Some(server)) = (plan.target.clone(), server) else { return };
    if let Some(host) = &server.allowed {
        setup.stack_title.push_str(&format!(" (load on {host} was allowed with --allow-target)"));
    }
    setup.target = Some(TargetSetup { url, server: server.location(), allowed: server.allowed.clone() });
}

/// The tiers as they stand, with their rendered files.
/// `carrier` is who carries packets between hosts.
pub(crate) fn tiers(plan: &Plan, tiers: &[Tier], carrier: Carrier) -> Vec<TierSetup> {
    let values = |name: &str| plan.tier(name).map(|tier| tier.values.clone()).unwrap_or_default();
    let tier = |tier: &Tier| {
        let mut files = BTreeMap::new();
        for path in &tier.files {
            let name = format!("conf/{}/{}", tier.name, tier.relative(path).display());
            files.insert(name, tier.kept_text(path));
        }
        TierSetup {
            tier: tier.name.clone(),
            service: tier.service.clone(),
            version: tier.version.line.clone(),
            built: tier.built.as_deref().and_then(product::id_of),
            instances: tier.pids.len() as u32,
            network: plan.tier(&tier.name).and_then(|planned| {
                let (host, link) = (planned.own_host?, planned.link.clone());
                let hosts = planned.hosts.clone();
                Some(NetworkSetup { link, hosts, host, carried_by: carrier })
            }),
            values: values(&tier.name),
            files,
            counters: counters(plan, &tier.name),
        }
    };
    tiers.iter().map(tier).collect()
}

/// What the figures of a tier's server mean.
fn counters(plan: &Plan, tier: &str) -> BTreeMap<String, CounterSetup> {
    let counters = plan.tier(tier).map(|tier| tier.service.counters.as_slice()).unwrap_or_default();
    let meaning = |counter: &Counter| {
        (counter.name.clone(), CounterSetup { help: counter.help.clone(), key: counter.key })
    };
    counters.iter().map(meaning).collect()
}

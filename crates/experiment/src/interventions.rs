//! What is changed to see what holds a load line: pools that are full, what the diagnosis says is worth a try, and CPU time
//! that is taken from whom it blames.

use std::collections::BTreeMap;

use analysis::signals::names::{CPU, CPU_QUOTA};
use model::catalogue::setting::{Setting, Values};
use model::catalogue::tier_setting;
use model::record::TierSetup;
use model::record::diagnosis::{SignalSummary, Suspect};
use model::record::line_proof::{Intervention, InterventionAbout};
use model::{ServiceManifest, Value};

/// A pool of which this share is taken on average is full: the last places are taken and given back all the time.
const FULL_RATIO: f64 = 0.85;
/// A full pool gets its size multiplied by this.
const POOL_FACTOR: i64 = 2;
/// Of the CPU time that a tier could have, how much it is left.
const CPU_LEFT_RATIO: f64 = 0.85;
/// A suspect less likely than this isn't worth minutes.
const MIN_SURE_RATIO: f64 = 0.1;
/// More interventions than this take too long.
const MAX_INTERVENTIONS: usize = 4;

/// A run at a load line.
#[derive(Debug, Clone, Copy)]
pub struct AtLine<'a> {
    /// Its signals.
    pub signals: &'a [SignalSummary],
    /// What may hold it, the likeliest first.
    pub suspects: &'a [Suspect],
    /// Its tiers as they were set up.
    pub tiers: &'a [TierSetup],
    /// Their services by name.
    pub services: &'a BTreeMap<String, ServiceManifest>,
    /// The stack's CPUs.
    pub stack_cores: f64,
}

/// What to try, the most telling first.
pub fn interventions(at_line: &AtLine<'_>) -> Vec<Intervention> {
    let mut found: Vec<Intervention> = pools(at_line).into_iter().collect();
    found.extend(cpu(at_line));
    for suspect in at_line.suspects.iter().filter(|one| one.sure_ratio >= MIN_SURE_RATIO) {
        let Some(set) = first_try(suspect, at_line) else { continue };
        let known = |one: &Intervention| set.keys().all(|knob| one.set.contains_key(knob));
        if !found.iter().any(known) {
            let (tier, resource) = (suspect.tier.clone(), suspect.resource.clone());
            found.push(Intervention { about: InterventionAbout::Suspect { tier, resource }, set });
        }
    }
    found.truncate(MAX_INTERVENTIONS);
    found
}

/// All pools that are full, twice as large: one alone would only pass the queue on to the next.
fn pools(at_line: &AtLine<'_>) -> Option<Intervention> {
    let mut set = Values::new();
    for signal in at_line.signals {
        let full = signal.limit.is_some_and(|limit| limit > 0.0 && signal.mean >= FULL_RATIO * limit);
        let Some((name, value)) = full.then(|| larger(signal, at_line)).flatten() else { continue };
        set.insert(name, value);
    }
    (!set.is_empty()).then_some(Intervention { about: InterventionAbout::Pools, set })
}

/// The knob that is a signal's limit, and a larger value within its range; absent where the limit is no knob, or no number of
/// places.
fn larger(signal: &SignalSummary, at_line: &AtLine<'_>) -> Option<(String, Value)> {
    let tier = at_line.tiers.iter().find(|one| Some(&one.tier) == signal.tier.as_ref())?;
    let service = at_line.services.get(&tier.service)?;
    let counter = service.counters.iter().find(|counter| counter.name == signal.name)?;
    let limit = counter.limit.as_deref()?.trim();
    let knob = service.knobs.iter().find(|knob| Setting::variable(&knob.name) == limit)?;
    let Some(Value::Int(now)) = tier.values.get(&knob.name) else { return None };
    let most = knob.max.map_or(i64::MAX, |max| max as i64);
    let value = now.saturating_mul(POOL_FACTOR).min(most);
    let places = !matches!(signal.unit.as_str(), "ratio" | "bytes" | "files");
    (places && value > *now).then(|| (format!("{}.{}", tier.tier, knob.name), Value::Int(value)))
}

/// Less CPU time for the tier that uses most of it, where CPUs are busy: if they hold the line, it comes down.
fn cpu(at_line: &AtLine<'_>) -> Option<Intervention> {
    let mean = |tier: &str, name: &str| {
        let is_it = |one: &&SignalSummary| one.tier.as_deref() == Some(tier) && one.name == name;
        at_line.signals.iter().find(is_it).map(|one| one.mean)
    };
    let used = |tier: &str| mean(tier, CPU).unwrap_or(0.0);
    let all: f64 = at_line.tiers.iter().map(|one| used(&one.tier)).sum();
    let tier = at_line.tiers.iter().max_by(|one, other| used(&one.tier).total_cmp(&used(&other.tier)))?;
    let own = used(&tier.tier);
    if own <= 0.0 {
        return None;
    }
    // What it uses and what nobody uses, as far as its quota goes.
    let could_cores = own + (at_line.stack_cores - all).max(0.0);
    let could_cores = mean(&tier.tier, CPU_QUOTA).map_or(could_cores, |quota| quota.min(could_cores));
    let cores = (could_cores * CPU_LEFT_RATIO * 1000.0).round() / 1000.0;
    let set = Values::from([(format!("{}.{}", tier.tier, tier_setting::CPU), Value::Float(cores))]);
    Some(Intervention { about: InterventionAbout::Cpu { tier: tier.tier.clone() }, set })
}

/// The first knob that is worth a try against a suspect, with its first value.
fn first_try(suspect: &Suspect, at_line: &AtLine<'_>) -> Option<Values> {
    let (name, text) =
        suspect.tries.iter().find_map(|one| Some((one.knob.as_ref()?, one.values.first()?)))?;
    let (tier, knob) = name.split_once('.')?;
    let tier = at_line.tiers.iter().find(|one| one.tier == tier)?;
    let setting = at_line.services.get(&tier.service)?.knobs.iter().find(|one| one.name == knob)?;
    // As people write it: `64M`.
    setting.read(text).ok().map(|_| Values::from([(name.clone(), Value::Text(text.clone()))]))
}

#[cfg(test)]
mod tests;

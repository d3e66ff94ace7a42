//! What to try: knobs of the stack with values worth a comparison, from those in force.

use model::ServiceManifest;
use model::catalogue::rules::{Rule, Side, TryRule};
use model::catalogue::setting::{Setting, Type, Value};
use model::record::TierSetup;
use model::record::diagnosis::Try;

use super::Case;
use super::weigh::Subject;

/// What a rule has to try for `subject`. A knob that the stack doesn't have, or for which no other value is left, is
/// left out.
pub(super) fn tries(rule: &Rule, subject: &Subject<'_>, case: &Case<'_>) -> Vec<Try> {
    rule.tries.iter().filter_map(|one| of(one, subject, case)).collect()
}

fn of(rule: &TryRule, subject: &Subject<'_>, case: &Case<'_>) -> Option<Try> {
    let Some(name) = &rule.knob else {
        return Some(Try { knob: None, now: None, values: Vec::new(), why: why(rule, subject) });
    };
    let (tier, setting) = knob(name, subject, case)?;
    let now = tier.values.get(&setting.name)?;
    let values = values(rule, setting, now);
    if values.is_empty() {
        return None;
    }
    Some(Try {
        knob: Some(format!("{}.{}", tier.tier, setting.name)),
        now: Some(shown(setting, now)),
        values: values.iter().map(|value| shown(setting, value)).collect(),
        why: why(rule, subject),
    })
}

fn why(rule: &TryRule, subject: &Subject<'_>) -> String {
    rule.why.replace("{tier}", subject.tier)
}

/// A knob of the subject's service, or `TIER.KNOB` one of another tier.
fn knob<'a>(name: &str, subject: &Subject<'a>, case: &Case<'a>) -> Option<(&'a TierSetup, &'a Setting)> {
    let of = |tier: &'a TierSetup, name: &str| {
        let service: &'a ServiceManifest = case.services.get(&tier.service)?;
        Some((tier, service.knobs.iter().find(|setting| setting.name == name)?))
    };
    if let Some(found) = subject.setup.and_then(|tier| of(tier, name)) {
        return Some(found);
    }
    let (tier, name) = name.split_once('.')?;
    of(case.tiers.iter().find(|one| one.tier == tier)?, name)
}

/// The rule's own values and the present one times its factors, as the knob takes them, without the one in force.
fn values(rule: &TryRule, setting: &Setting, now: &Value) -> Vec<Value> {
    let present = figure(now);
    // 0 stands for "automatic" wherever a knob takes it: there is nothing to multiply.
    let scaled = present.filter(|present| *present > 0.0).into_iter().flat_map(|present| {
        rule.factors.iter().map(move |factor| match setting.kind {
            Type::Float => Value::Float(present * factor),
            _ => Value::Int((present * factor).round().max(1.0) as i64),
        })
    });
    let mut found: Vec<Value> = Vec::new();
    for value in scaled.chain(rule.values.iter().cloned()) {
        if let Ok(value) = setting.accept(&value)
            && value != *now
            && on_side(rule.only, &value, present)
            && !found.contains(&value)
        {
            found.push(value);
        }
    }
    found
}

fn figure(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::Bool(_) | Value::Text(_) => None,
    }
}

fn on_side(side: Option<Side>, value: &Value, present: Option<f64>) -> bool {
    match (side, figure(value), present) {
        (Some(Side::Larger), Some(value), Some(present)) => value > present,
        (Some(Side::Smaller), Some(value), Some(present)) => value < present,
        _ => true,
    }
}

/// As `--set` takes it: sizes in whole units where they are.
fn shown(setting: &Setting, value: &Value) -> String {
    let Value::Int(bytes) = (if setting.kind == Type::Size { value } else { &Value::Bool(false) }) else {
        return value.to_string();
    };
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")];
    let whole = units.into_iter().find(|(unit, _)| *bytes >= *unit && bytes % unit == 0);
    whole.map_or_else(|| bytes.to_string(), |(unit, letter)| format!("{}{letter}", bytes / unit))
}

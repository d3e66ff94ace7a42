//! The sentence of a run: its verdict, what was measured, and each target that it missed.

use analysis::Judgement;
use model::OperationKind;
use model::QosTarget;
use model::catalogue::qos::Measure;
use model::record::{
    AskedBy, Check, LoadChange, MetricResult, OperationResult, TargetOutcome, ValidityCheck, Verdict,
};
use model::units::{self, number, percent};

/// What a verdict is made of.
#[derive(Debug, Clone, Copy)]
pub struct VerdictInputs<'a> {
    /// The load as asked for: `20 users`.
    pub load: &'a str,
    /// The instrument's checks.
    pub checks: &'a [ValidityCheck],
    /// The targets as judged.
    pub targets: &'a [TargetOutcome],
    /// The kit's figures; the first one is the headline.
    pub metrics: &'a [MetricResult],
    /// The rows of the result.
    pub operations: &'a [OperationResult],
}

/// The verdict of [`analysis::verdict`] with its sentence, which carries no figure of the stack where the run is not valid.
pub fn verdict(inputs: &VerdictInputs<'_>) -> Verdict {
    let Judgement { valid, pass } = analysis::verdict(inputs.checks, inputs.targets);
    let sentence = match pass {
        None => no_result(inputs.checks).unwrap_or_else(|| invalid(inputs.checks)),
        Some(pass) => counted(pass, inputs),
    };
    Verdict { valid, pass, sentence }
}

/// Another number of users that somebody asked for: `5 to 20 users asked for (terminal)`.
pub fn load_change(change: &LoadChange) -> String {
    let by = match change.by {
        AskedBy::Terminal => "terminal",
        AskedBy::Queue => "plimsoll queue",
        AskedBy::Page => "page",
        AskedBy::File => "file",
    };
    format!("{} to {} users asked for ({by})", change.from, change.to)
}

/// The sentence of a run whose load was changed by hand, which was never to become a result. Absent for any other, and for one
/// that did not come to its end, which says more.
fn no_result(checks: &[ValidityCheck]) -> Option<String> {
    let mut broken = checks.iter().filter(|check| !check.ok);
    if broken.clone().any(|check| matches!(check.check, Check::Tiers | Check::Duration)) {
        return None;
    }
    let by_hand = broken.find(|check| check.check == Check::LoadByHand)?;
    Some(with_others("no result", by_hand, checks))
}

/// The sentence of a run that is not valid: why, and no figure of the stack.
pub fn invalid(checks: &[ValidityCheck]) -> String {
    match checks.iter().find(|check| !check.ok) {
        None => "not valid: no check was made".to_string(),
        Some(first) => with_others("not valid", first, checks),
    }
}

/// `not valid: WHY (and one more check failed)`.
fn with_others(word: &str, why: &ValidityCheck, checks: &[ValidityCheck]) -> String {
    let sentence = &why.sentence;
    match checks.iter().filter(|check| !check.ok).count() {
        0 | 1 => format!("{word}: {sentence}"),
        2 => format!("{word}: {sentence} (and one more check failed)"),
        all => format!("{word}: {sentence} (and {} more checks failed)", all - 1),
    }
}

fn counted(pass: bool, inputs: &VerdictInputs<'_>) -> String {
    let VerdictInputs { load, targets, metrics, operations, .. } = *inputs;
    let mut facts = vec![format!("{load}, {}", headline(metrics, operations))];
    let missed: Vec<&TargetOutcome> = targets.iter().filter(|target| !target.pass).collect();
    if missed.is_empty() {
        let margin = |target: &TargetOutcome| target.margin_ratio().unwrap_or(f64::INFINITY);
        let tightest = targets.iter().min_by(|a, b| margin(a).total_cmp(&margin(b)));
        facts.extend(tightest.map(met));
    } else {
        facts.extend(missed.into_iter().map(miss));
    }
    facts.extend(error_share(operations, targets));
    let word = match (targets.is_empty(), pass) {
        (true, _) => "no targets asked for",
        (_, true) => "passed",
        (_, false) => "failed",
    };
    let valid = match degraded(inputs.checks) {
        None => "valid".to_string(),
        Some(lost) => format!("valid but DEGRADED, {lost}"),
    };
    format!("{valid}: {word} — {}", facts.join("; "))
}

/// That agents were lost which the run was allowed to lose: `2 agents lost`.
fn degraded(checks: &[ValidityCheck]) -> Option<String> {
    let agents = checks.iter().find(|check| check.check == Check::FleetAgents)?;
    match agents.observed.unwrap_or_default() {
        ..1.0 => None,
        1.0 => Some("1 agent lost".to_string()),
        lost => Some(format!("{lost:.0} agents lost")),
    }
}

fn headline(metrics: &[MetricResult], operations: &[OperationResult]) -> String {
    match metrics.first() {
        Some(metric) if metric.unit.is_empty() => format!("{} {}", metric.title, number(metric.value)),
        Some(metric) if metric.unit == "s" => {
            format!("{} {}", metric.title, units::show_seconds(metric.value))
        }
        Some(metric) => format!("{} {}", number(metric.value), metric.unit),
        None => {
            let rows = operations.iter().filter(|row| row.kind == OperationKind::Operation);
            format!("{} operations/s", number(rows.map(|row| row.per_s).sum()))
        }
    }
}

fn met(target: &TargetOutcome) -> String {
    let wanted = &target.target;
    let (sign, right) = (sign(wanted), wanted.limit_text());
    let margin = target.margin_ratio().map(|margin| format!(" (margin {})", percent(margin)));
    format!("{} {} {sign} {right}{}", wanted.subject(), observed(target), margin.unwrap_or_default())
}

fn miss(target: &TargetOutcome) -> String {
    let wanted = &target.target;
    let (left, sign, right) = (wanted.subject(), sign(wanted), wanted.limit_text());
    if target.observed.is_none() {
        return format!("{left} has no samples, its limit is {right}");
    }
    if let Measure::Waiting(over_s) = wanted.measure {
        let (share, over) = (observed(target), units::show_seconds(over_s));
        return format!(
            "{share} of users had been waiting for longer than {over} at any moment, not {sign} {right}"
        );
    }
    let word = if wanted.measure.at_least() { "short" } else { "over" };
    let over = target.margin_ratio().map(|margin| format!(" ({word} by {})", percent(-margin)));
    let average = target.average_s.filter(|_| target.average_would_pass()).map(|average| {
        format!("; the average, {}, would have passed and hides it", units::show_seconds(average))
    });
    format!(
        "{left} {}, not {sign} {right}{}{}",
        observed(target),
        over.unwrap_or_default(),
        average.unwrap_or_default()
    )
}

fn sign(target: &QosTarget) -> char {
    if target.measure.at_least() { '>' } else { '<' }
}

fn observed(target: &TargetOutcome) -> String {
    let Some(value) = target.observed else { return "not observed".to_string() };
    match target.target.measure {
        Measure::Percentile(_) | Measure::Mean | Measure::Max => units::show_seconds(value),
        Measure::Errors | Measure::Waiting(_) => percent(value),
        Measure::Throughput => format!("{}/s", number(value)),
        Measure::Samples => number(value),
    }
}

/// Failures are said even where no target is about them.
fn error_share(operations: &[OperationResult], targets: &[TargetOutcome]) -> Option<String> {
    if targets.iter().any(|target| target.target.measure == Measure::Errors && !target.pass) {
        return None;
    }
    let rows = operations.iter().filter(|row| row.kind == OperationKind::Operation);
    let (all, failed) = rows.fold((0, 0), |(all, failed), row| {
        let errors: u64 = row.errors.values().sum();
        (all + row.completed + errors, failed + errors)
    });
    (failed > 0).then(|| format!("{} of operations failed", percent(failed as f64 / all as f64)))
}

#[cfg(test)]
mod tests;

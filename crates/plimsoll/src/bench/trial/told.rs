//! A trial in a line, for the course of a study.

use analysis::sentence;
use model::study::{By, ClauseSeen, Purpose, Trial};
use model::units;

/// `trial 3, search: 45 users, 934 operations/s; p95 8.20 ms < 300 ms`.
pub(super) fn line(trial: &Trial, arm: Option<&str>, by: By) -> String {
    let arm = arm.map(|label| format!("{label}, ")).unwrap_or_default();
    let head = format!(
        "trial {}, {}: {arm}{}",
        trial.number,
        purpose(trial.purpose),
        sentence::find::load(by, trial.load)
    );
    let figures = trial.measured.as_ref().and_then(|seen| seen.figure("throughput", None));
    let rate = figures.map(|figure| format!(", {} operations/s", sentence::number(figure.value)));
    format!("{head}{}; {}", rate.unwrap_or_default(), judged(trial))
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::WarmUp => "warm-up",
        Purpose::Ramp => "ramp",
        Purpose::Search => "search",
        Purpose::Confirm => "confirm",
        Purpose::Measure => "measure",
    }
}

fn judged(trial: &Trial) -> String {
    if let Some(fault) = trial.faults.first() {
        return format!("not valid: {}", fault.sentence);
    }
    let Some(seen) = &trial.measured else { return "nothing was measured".to_string() };
    let margin = |clause: &ClauseSeen| clause.margin.unwrap_or(f64::NEG_INFINITY);
    let worst = |missed: bool| {
        let some = seen.clauses.iter().filter(|clause| clause.pass != missed);
        some.max_by(|a, b| margin(a).total_cmp(&margin(b)))
    };
    let text = match (worst(true), worst(false)) {
        (Some(missed), _) => format!("missed: {}", said(missed)),
        (None, Some(met)) => format!("met: {}", said(met)),
        (None, None) => "no targets".to_string(),
    };
    match trial.warm_up_s {
        Some(_) => text,
        None => format!("{text}; it never settled"),
    }
}

/// A target with what was seen of it.
fn said(clause: &ClauseSeen) -> String {
    let seen = match clause.observed {
        None => "nothing was seen of it".to_string(),
        Some(value) => in_its_unit(&clause.clause, value),
    };
    format!("{} ({seen})", clause.clause)
}

/// The targets that are no times have names of their own.
fn in_its_unit(clause: &str, value: f64) -> String {
    let of = |word: &str| clause.split_whitespace().any(|part| part == word);
    if of("errors") || of("waiting") {
        return format!("{} %", sentence::number(value * 100.0));
    }
    if of("throughput") {
        return format!("{}/s", sentence::number(value));
    }
    if of("samples") {
        return sentence::number(value);
    }
    units::show_seconds(value)
}

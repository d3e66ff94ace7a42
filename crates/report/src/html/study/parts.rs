//! What every kind of study's page shows.

use model::StudyRecord;
use model::study::Trial;
use serde_json::{Value, json};

use super::super::thin_groups;
use crate::figures;
use crate::study::words;

/// From a run's id to the address of its own report, as seen from the study's page.
pub(super) type Link<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A figure at the top.
pub(super) fn figure(title: &str, value: &str) -> Value {
    json!({"title": title, "value": thin_groups(value)})
}

/// How a trial's mark looks.
pub(super) fn mark_class(record: &StudyRecord, trial: &Trial) -> &'static str {
    match words::verdict(record, trial) {
        "passed" => "passed",
        words::FEW => "few",
        "missed" | words::OVERLOADED => "failed",
        _ => "hollow",
    }
}

/// A trial as a row of a table.
pub(super) fn trial(record: &StudyRecord, trial: &Trial, link: Link<'_>) -> Value {
    let seen = trial.measured.as_ref();
    let value = |name: &str| seen.and_then(|seen| Some(seen.figure(name, None)?.value));
    let faults: Vec<Value> = trial
        .faults
        .iter()
        .map(|fault| json!({"name": fault.check.title(), "sentence": fault.sentence}))
        .collect();
    let verdict = words::verdict(record, trial);
    json!({
        "number": trial.number,
        "arm": record.arms.get(trial.arm).map(|arm| arm.label.as_str()),
        "block": trial.block + 1,
        "purpose": trial.purpose.word(),
        "load": thin_groups(&words::load(record, trial.arm, trial.load)),
        "load_number": thin_groups(&words::load_number(record, trial.arm, trial.load)),
        "warm_up": figures::duration(trial.warm_up_s),
        "window": figures::duration(Some(trial.window_s)),
        "began": figures::duration(Some(trial.began_s.round())),
        "per_s": figures::number(value("throughput")),
        "mean": figures::time(value("mean")),
        "p50": figures::time(value("p50")),
        "p95": figures::time(value("p95")),
        "p99": figures::time(value("p99")),
        "failed": figures::percent(seen.map(|seen| seen.failed_ratio)),
        "verdict": verdict,
        "pass": matches!(verdict, "passed" | words::FEW),
        "counts": !matches!(verdict, "not valid" | "not used"),
        "valid": trial.valid(),
        "fresh": trial.fresh,
        "faults": faults,
        "run": trial.run,
        "link": link(&trial.run),
    })
}

/// Failed operations in a sentence.
pub(super) fn errors(record: &StudyRecord) -> String {
    let seen = record.trials.iter().filter_map(|trial| Some((trial, trial.measured.as_ref()?.failed_ratio)));
    let Some((trial, most)) = seen.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "Nothing was counted.".to_string();
    };
    if most == 0.0 {
        return "No operation failed in any trial.".to_string();
    }
    let share = figures::percent(Some(most));
    let load = words::load(record, trial.arm, trial.load);
    format!(
        "Up to {share} of operations failed, in trial {} at {load}. Samples of them are with each trial's run.",
        trial.number
    )
}

//! What a diagnosis says: what holds the stack, how one sees that, what to try.

use model::diagnosis::{Clue, Diagnosis, Limited, Signal, Suspect, Try};
use model::units;

use super::{number, percent};
use crate::signals::find;

/// So many pieces of evidence fit into a sentence.
const MOST_CLUES: usize = 2;

/// A value with its unit where that isn't plain from the words around it: times, bytes and shares have it, counts don't.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "ratio" => percent(value),
        "s" => units::show_seconds(value),
        "bytes" => units::show_bytes(value.max(0.0) as u64),
        "bytes/s" => format!("{}/s", units::show_bytes(value.max(0.0) as u64)),
        _ => number(value),
    }
}

/// The answer in a sentence.
pub fn sentence(diagnosis: &Diagnosis, signals: &[Signal]) -> String {
    match (diagnosis.state, diagnosis.suspects.first()) {
        (Limited::Yes, Some(suspect)) => held(suspect),
        (Limited::No, _) => free(signals),
        (_, suspect) => unclear(suspect),
    }
}

/// `app`, `the machine`: who it is, for people.
pub fn who(tier: &str) -> String {
    match tier {
        "host" => "the machine".to_string(),
        "generator" => "the load generator".to_string(),
        "observers" => "what watches the stack".to_string(),
        tier => tier.to_string(),
    }
}

/// `app.pm.max_children = 4, 8`; what it does where it is no knob.
pub fn attempt(attempt: &Try) -> String {
    match &attempt.knob {
        Some(knob) => format!("{knob} = {}", attempt.values.join(", ")),
        None => attempt.why.clone(),
    }
}

/// That a suspect is the limit, how one sees it, what to try.
pub(crate) fn held(suspect: &Suspect) -> String {
    let seen = evidence(suspect);
    let seen = if seen.is_empty() { String::new() } else { format!(" ({seen})") };
    let attempt = suspect.tries.first().map(|first| {
        let colon = if first.knob.is_some() { "" } else { ":" };
        format!("; try{colon} {}", attempt(first))
    });
    let attempt = attempt.unwrap_or_default();
    format!("{} holds the stack: {}{seen}{attempt}", who(&suspect.tier), suspect.title)
}

/// What speaks for it, the heaviest first.
fn evidence(suspect: &Suspect) -> String {
    let speaks: Vec<&Clue> = suspect.evidence.iter().filter(|clue| clue.weight > 0.0).collect();
    let said: Vec<&str> = speaks.iter().take(MOST_CLUES).map(|clue| clue.sentence.as_str()).collect();
    said.join("; ")
}

fn free(signals: &[Signal]) -> String {
    let busy = find(signals, None, "stack.busy_ratio").map(|signal| signal.mean.clamp(0.0, 1.0));
    let room = busy.map(|busy| format!("; the stack's CPUs were {} busy", percent(busy))).unwrap_or_default();
    let met = find(signals, None, "run.missed_targets").map_or("", |_| ", and their targets are met");
    format!(
        "nothing holds the stack: the users set the pace{met}{room}; `plimsoll find` tells how many it carries"
    )
}

fn unclear(suspect: Option<&Suspect>) -> String {
    let likeliest = suspect.map(|suspect| {
        let sure = percent(suspect.sure_ratio);
        format!("; likeliest ({sure}) is {}: {}", who(&suspect.tier), suspect.title)
    });
    format!("something holds the stack, but what was seen doesn't tell what{}", likeliest.unwrap_or_default())
}

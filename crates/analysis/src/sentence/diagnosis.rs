//! What a diagnosis says: what holds the stack, how one sees that, what to try.

use model::diagnosis::{Clue, Diagnosis, Limited, SignalSummary, Suspect, Try};
use model::units;

use super::{number, percent};
use crate::signals::names::STACK_BUSY;
use crate::signals::{MISSED_TARGETS, find};

/// So many pieces of evidence fit into a sentence.
const MOST_CLUES: usize = 2;

/// CPUs as busy as this are no room that goes without saying.
const NEARLY_FULL: f64 = 0.7;

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
pub fn sentence(diagnosis: &Diagnosis, signals: &[SignalSummary]) -> String {
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

fn free(signals: &[SignalSummary]) -> String {
    let busy = find(signals, None, STACK_BUSY).map(|signal| signal.mean.clamp(0.0, 1.0));
    let met = find(signals, None, &MISSED_TARGETS.name).map_or("", |_| ", and their targets are met");
    let (yet, room) = match busy {
        None => ("", String::new()),
        Some(busy) if busy < NEARLY_FULL => ("", format!("; the stack's CPUs were {} busy", percent(busy))),
        Some(busy) => (" yet", format!("; but its CPUs were {} busy, and {}", percent(busy), more(busy))),
    };
    format!(
        "nothing holds the stack{yet}: the users set the pace{met}{room}; `plimsoll find` tells how many it carries"
    )
}

/// How much more load fits: an operation costs much the same CPU time at any load.
fn more(busy: f64) -> String {
    if busy > 0.98 {
        return "hardly any more load fits on them".to_string();
    }
    format!("{} times the load would fill them", number(1.0 / busy))
}

fn unclear(suspect: Option<&Suspect>) -> String {
    let likeliest = suspect.map(|suspect| {
        let sure = percent(suspect.sure_ratio);
        format!("; likeliest ({sure}) is {}: {}", who(&suspect.tier), suspect.title)
    });
    format!("something holds the stack, but what was seen doesn't tell what{}", likeliest.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::figure;

    #[test]
    fn of_cpus_that_are_nearly_full_it_is_said_how_much_more_load_fills_them() {
        let met = || figure("run.missed_targets", "", 0.0);
        let said = |busy: f64| free(&[figure("stack.busy_ratio", "ratio", busy), met()]);
        assert_eq!(
            said(0.33),
            "nothing holds the stack: the users set the pace, and their targets are met; the stack's CPUs were 33 % \
             busy; `plimsoll find` tells how many it carries"
        );
        assert_eq!(
            said(0.91),
            "nothing holds the stack yet: the users set the pace, and their targets are met; but its CPUs were 91 % \
             busy, and 1.1 times the load would fill them; `plimsoll find` tells how many it carries"
        );
        assert!(said(0.99).contains("99 % busy, and hardly any more load fits on them"), "{}", said(0.99));
        assert!(!free(&[]).contains("busy"), "{}", free(&[]));
    }
}

//! What a diagnosis says: what holds the stack, how one sees that, what to try.

use analysis::diagnosis::{ClueFacts, ClueSeen, DiagnosisFacts, Quantity, SuspectFacts};
use model::record::diagnosis::{Clue, ClueRole, Diagnosis, Limited, Mechanism, Suspect, Try};
use model::record::study::By;
use model::units::{self, number, percent};

/// The number of pieces of evidence that fit into a sentence.
const MAX_CLUES: usize = 2;

/// CPUs as busy as this are no room that goes without saying.
const NEARLY_FULL: f64 = 0.7;

/// A diagnosis as records have it; without a proof, which is made apart.
pub fn diagnosis(facts: &DiagnosisFacts) -> Diagnosis {
    let suspects: Vec<Suspect> = facts.suspects.iter().map(suspect).collect();
    let sentence = match (facts.state, suspects.first()) {
        (Limited::Yes, Some(suspect)) => held(suspect),
        (Limited::No, _) => free(facts.busy_ratio, facts.has_targets),
        (_, suspect) => unclear(suspect),
    };
    let sentence = match facts.ramp_up_s {
        None => sentence,
        Some((from_s, to_s)) => format!("before the steady state (seconds {from_s} to {to_s}): {sentence}"),
    };
    let doubt = if facts.of_spoiled_trials { "by trials that are not valid: " } else { "" };
    let sentence = format!("{doubt}{sentence}");
    let (ledger, unseen) = (facts.ledger.clone(), facts.unseen.clone());
    Diagnosis { state: facts.state, sentence, suspects, ledger, unseen, proof: None, line_proof: None }
}

fn suspect(facts: &SuspectFacts) -> Suspect {
    Suspect {
        rule: facts.rule.clone(),
        tier: facts.tier.clone(),
        resource: facts.resource.clone(),
        title: facts.title.replace("{wait}", &waits(&facts.mechanisms)),
        strengths: facts.strengths,
        sure_ratio: facts.sure_ratio,
        evidence: facts.evidence.iter().map(clue).collect(),
        tries: facts.tries.clone(),
    }
}

/// `: 97 % of it in fsync on sessions/sess_1, 2 % in write on sessions/sess_2`, `: in fsync on sessions/sess_1` where that is all; nothing
/// where nobody counted.
fn waits(mechanisms: &[Mechanism]) -> String {
    let told = |(index, one): (usize, &Mechanism)| {
        let of_it = if index == 0 { " of it" } else { "" };
        format!("{}{of_it} in {}", percent(one.share_ratio), mechanism(one))
    };
    match mechanisms {
        [] => String::new(),
        [all, ..] if all.share_ratio >= 0.995 => format!(": in {}", mechanism(all)),
        several => format!(": {}", several.iter().enumerate().map(told).collect::<Vec<_>>().join(", ")),
    }
}

/// `fsync on sessions/sess_1`.
fn mechanism(one: &Mechanism) -> String {
    let object = if one.object.is_empty() { String::new() } else { format!(" on {}", one.object) };
    let lock = if one.kernel_lock { " (a lock inside the kernel)" } else { "" };
    format!("{}{object}{lock}", one.call)
}

fn clue(facts: &ClueFacts) -> Clue {
    let ClueFacts { signal, value, strength_ratio, role, seen } = facts;
    Clue {
        signal: signal.clone(),
        value: *value,
        strength_ratio: *strength_ratio,
        role: *role,
        sentence: clue_sentence(seen),
    }
}

fn clue_sentence(seen: &ClueSeen) -> String {
    match seen {
        ClueSeen::Signal { template, value, limit, tier, callee } => template
            .replace("{value}", &quantity(value))
            .replace("{limit}", &limit.as_ref().map_or_else(|| "?".to_string(), quantity))
            .replace("{tier}", tier)
            .replace("{callee}", callee.as_deref().unwrap_or("the tier behind")),
        ClueSeen::Waited { ratio, tier, callee } => {
            format!("for {} of its work {tier} only waited for {callee}", percent(*ratio))
        }
        ClueSeen::Shape { by, from, before, before_ratio } => {
            let unit = if *by == By::Users { "users" } else { "per second" };
            let (from, before) = (number(*from), number(*before));
            format!("it shows from {from} {unit} on; at {before} it was {} likely", percent(*before_ratio))
        }
    }
}

/// A value with its unit where that isn't plain from the words around it: times, bytes and shares have it, counts don't.
fn quantity(Quantity { value, unit }: &Quantity) -> String {
    match unit.as_str() {
        "ratio" => percent(*value),
        "s" => units::show_seconds(*value),
        "bytes" => units::show_bytes(value.max(0.0) as u64),
        "bytes/s" => format!("{}/s", units::show_bytes(value.max(0.0) as u64)),
        _ => number(*value),
    }
}

/// `app`, `the machine`: who it is, for people.
fn who(tier: &str) -> String {
    match tier {
        "host" => "the machine".to_string(),
        "generator" => "the load generator".to_string(),
        "observers" => "what watches the stack".to_string(),
        "viewer" => "the laboratory's page".to_string(),
        tier => tier.to_string(),
    }
}

/// `app.pm.max_children = 4, 8`; what it does where it is no knob.
fn attempt(attempt: &Try) -> String {
    match &attempt.knob {
        Some(knob) => format!("{knob} = {}", attempt.values.join(", ")),
        None => attempt.why.clone(),
    }
}

/// That a suspect is the limit, how one sees it, what to try.
fn held(suspect: &Suspect) -> String {
    let seen = evidence(suspect);
    let seen = if seen.is_empty() { String::new() } else { format!(" ({seen})") };
    let attempt = suspect.tries.first().map(|first| {
        let colon = if first.knob.is_some() { "" } else { ":" };
        format!("; try{colon} {}", attempt(first))
    });
    let attempt = attempt.unwrap_or_default();
    format!("{} holds the stack: {}{seen}{attempt}", who(&suspect.tier), suspect.title)
}

/// What speaks for it, what is needed first.
fn evidence(suspect: &Suspect) -> String {
    let speaks: Vec<&Clue> = suspect.evidence.iter().filter(|clue| clue.role != ClueRole::Against).collect();
    let sentences: Vec<&str> = speaks.iter().take(MAX_CLUES).map(|clue| clue.sentence.as_str()).collect();
    sentences.join("; ")
}

fn free(busy_ratio: Option<f64>, has_targets: bool) -> String {
    let met = if has_targets { ", and their targets are met" } else { "" };
    let (yet, room) = match busy_ratio {
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
    use model::record::diagnosis::Strengths;

    use super::*;

    #[test]
    fn of_cpus_that_are_nearly_full_it_is_said_how_much_more_load_fills_them() {
        let at = |busy_ratio: f64| free(Some(busy_ratio), true);
        assert_eq!(
            at(0.33),
            "nothing holds the stack: the users set the pace, and their targets are met; the stack's CPUs were 33 % \
             busy; `plimsoll find` tells how many it carries"
        );
        assert_eq!(
            at(0.91),
            "nothing holds the stack yet: the users set the pace, and their targets are met; but its CPUs were 91 % \
             busy, and 1.1 times the load would fill them; `plimsoll find` tells how many it carries"
        );
        assert!(at(0.99).contains("99 % busy, and hardly any more load fits on them"), "{}", at(0.99));
        let unseen = free(None, false);
        assert!(!unseen.contains("busy") && !unseen.contains("targets"), "{unseen}");
    }

    fn clue(signal: &str, role: ClueRole, seen: ClueSeen) -> ClueFacts {
        ClueFacts { signal: signal.into(), value: 1.0, strength_ratio: 1.0, role, seen }
    }

    fn php_workers() -> SuspectFacts {
        let quantity = |value, unit: &str| Quantity { value, unit: unit.into() };
        let signal = |template: &str, value, limit| ClueSeen::Signal {
            template: template.into(),
            value,
            limit,
            tier: "app".into(),
            callee: None,
        };
        let busy =
            signal("{value} of {limit} PHP processes were busy", quantity(2.0, ""), Some(quantity(2.0, "")));
        let queue = signal("{value} requests waited in its queue", quantity(31.0, ""), None);
        let knob = Try {
            knob: Some("app.pm.max_children".into()),
            now: Some("5".into()),
            values: vec!["10".into(), "20".into()],
            why: "more at once".into(),
        };
        SuspectFacts {
            rule: "php-workers".into(),
            tier: "app".into(),
            resource: "workers".into(),
            title: "every PHP process is taken".into(),
            mechanisms: Vec::new(),
            strengths: Strengths::default(),
            sure_ratio: 0.9,
            evidence: vec![
                clue("workers.busy", ClueRole::Needed, busy),
                clue("queue.length", ClueRole::Supports, queue),
            ],
            tries: vec![knob],
        }
    }

    fn facts(state: Limited, suspects: Vec<SuspectFacts>) -> DiagnosisFacts {
        let (ledger, unseen) = (None, vec!["perf".to_string()]);
        DiagnosisFacts {
            state,
            suspects,
            ledger,
            unseen,
            busy_ratio: None,
            has_targets: true,
            ramp_up_s: None,
            of_spoiled_trials: false,
        }
    }

    #[test]
    fn the_sentence_names_tier_evidence_and_what_to_try() {
        let made = diagnosis(&facts(Limited::Yes, vec![php_workers()]));
        assert_eq!(
            made.sentence,
            "app holds the stack: every PHP process is taken (2 of 2 PHP processes were busy; 31 requests waited in its \
             queue); try app.pm.max_children = 10, 20"
        );
        assert_eq!(made.suspects[0].evidence[1].sentence, "31 requests waited in its queue");
        assert_eq!(made.unseen, ["perf"]);
        let unclear = diagnosis(&facts(Limited::Unclear, vec![php_workers()])).sentence;
        assert!(unclear.ends_with("likeliest (90 %) is app: every PHP process is taken"), "{unclear}");
        let bare = SuspectFacts { evidence: Vec::new(), tries: Vec::new(), ..php_workers() };
        let bare = diagnosis(&facts(Limited::Yes, vec![bare])).sentence;
        assert_eq!(bare, "app holds the stack: every PHP process is taken");
    }

    #[test]
    fn what_was_seen_before_the_steady_state_is_no_more_than_that() {
        let facts = DiagnosisFacts { ramp_up_s: Some((4.0, 9.0)), ..facts(Limited::No, Vec::new()) };
        let sentence = diagnosis(&facts).sentence;
        let expected =
            "before the steady state (seconds 4 to 9): nothing holds the stack: the users set the pace";
        assert!(sentence.starts_with(expected), "{sentence}");
    }

    #[test]
    fn a_wait_is_named_by_the_calls_that_it_was_in_and_by_nothing_where_nobody_counted() {
        let one = |call: &str, object: &str, share_ratio| Mechanism {
            call: call.into(),
            object: object.into(),
            kernel_lock: false,
            share_ratio,
        };
        let title = |mechanisms| {
            let facts =
                SuspectFacts { title: "it waits for a disk{wait}".into(), mechanisms, ..php_workers() };
            suspect(&facts).title
        };
        assert_eq!(title(Vec::new()), "it waits for a disk");
        assert_eq!(
            title(vec![one("fsync", "tmp/log", 0.97)]),
            "it waits for a disk: 97 % of it in fsync on tmp/log"
        );
        let two =
            vec![one("fsync", "tmp/log", 0.8), Mechanism { kernel_lock: true, ..one("openat", "", 0.2) }];
        assert_eq!(
            title(two),
            "it waits for a disk: 80 % of it in fsync on tmp/log, 20 % in openat (a lock inside the kernel)"
        );
    }

    #[test]
    fn each_kind_of_evidence_has_its_words() {
        let waited = ClueSeen::Waited { ratio: 0.6, tier: "app".into(), callee: "db".into() };
        assert_eq!(clue_sentence(&waited), "for 60 % of its work app only waited for db");
        let shape = |by| ClueSeen::Shape { by, from: 40.0, before: 39.0, before_ratio: 0.3 };
        assert_eq!(clue_sentence(&shape(By::Users)), "it shows from 40 users on; at 39 it was 30 % likely");
        let value = Quantity { value: 0.0123, unit: "s".into() };
        let template = "{tier} took {value} of {limit} for {callee}".into();
        let bare = ClueSeen::Signal { template, value, limit: None, tier: "app".into(), callee: None };
        assert_eq!(clue_sentence(&bare), "app took 12.3 ms of ? for the tier behind");
    }
}

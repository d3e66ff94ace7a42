//! Shape: what holds a stack at its line becomes visible where the line is. Evidence over the loads of a find.

use model::diagnosis::{Clue, Diagnosis, Limited, Suspect};

use crate::sentence::{self, number, percent};

/// What it adds to a suspect's log-odds that it became likely near the line.
const WEIGHT: f64 = 1.0;
/// Loads so near to the line, as factors, count as there.
const NEAR: (f64, f64) = (0.6, 1.3);

/// The diagnosis of a trial.
#[derive(Debug, Clone)]
pub struct AtLoad {
    /// Users, or arrivals per second.
    pub load: f64,
    /// By this trial's signals alone.
    pub diagnosis: Diagnosis,
}

/// The diagnosis of the trial at `line` or nearest above it, else below it, with what the trials at other loads add.
/// `unit` is what loads are counted in. Absent without trials.
pub fn at(line: f64, unit: &str, mut seen: Vec<AtLoad>) -> Option<Diagnosis> {
    seen.sort_by(|one, other| one.load.total_cmp(&other.load));
    // A hair of room: a confirming trial's load is rounded to whole users.
    let there = seen.iter().position(|one| one.load >= line * 0.999).unwrap_or(seen.len().checked_sub(1)?);
    let mut diagnosis = seen[there].diagnosis.clone();
    for suspect in &mut diagnosis.suspects {
        if let Some(clue) = clue(suspect, line, unit, &seen) {
            let odds = suspect.sure_ratio / (1.0 - suspect.sure_ratio).max(1e-12);
            let odds = odds * clue.weight.exp();
            suspect.sure_ratio = odds / (1.0 + odds);
            suspect.evidence.push(clue);
            suspect.evidence.sort_by(|one, other| other.weight.abs().total_cmp(&one.weight.abs()));
        }
    }
    diagnosis.suspects.sort_by(|one, other| other.sure_ratio.total_cmp(&one.sure_ratio));
    let first = diagnosis.suspects.first().filter(|first| first.sure_ratio >= 0.5);
    if let Some(first) = first {
        diagnosis.state = Limited::Yes;
        diagnosis.sentence = sentence::diagnosis::held(first);
    }
    Some(diagnosis)
}

/// That a suspect was unlikely at low loads and became likely near the line.
fn clue(suspect: &Suspect, line: f64, unit: &str, seen: &[AtLoad]) -> Option<Clue> {
    let sure = |one: &AtLoad| {
        let same = |other: &&Suspect| other.tier == suspect.tier && other.resource == suspect.resource;
        one.diagnosis.suspects.iter().find(same).map_or(0.0, |other| other.sure_ratio)
    };
    let before = seen.iter().take_while(|one| sure(one) < 0.5).last()?;
    let from = seen.iter().find(|one| sure(one) >= 0.5)?;
    let near = from.load >= line * NEAR.0 && before.load <= line * NEAR.1;
    near.then(|| Clue {
        signal: "shape".to_string(),
        value: from.load,
        strength_ratio: 1.0,
        weight: WEIGHT,
        sentence: format!(
            "it shows from {} {unit} on; at {} it was {} likely",
            number(from.load),
            number(before.load),
            percent(sure(before))
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(load: f64, workers: f64, cpu: f64) -> AtLoad {
        let suspect = |tier: &str, resource: &str, sure_ratio: f64| Suspect {
            rule: resource.to_string(),
            tier: tier.to_string(),
            resource: resource.to_string(),
            title: "it is full".to_string(),
            sure_ratio,
            evidence: Vec::new(),
            tries: Vec::new(),
        };
        let mut suspects = vec![suspect("app", "workers", workers), suspect("app", "cpu", cpu)];
        suspects.sort_by(|one, other| other.sure_ratio.total_cmp(&one.sure_ratio));
        let state = if suspects[0].sure_ratio >= 0.5 { Limited::Yes } else { Limited::No };
        let diagnosis = Diagnosis {
            state,
            sentence: String::new(),
            suspects,
            ledger: None,
            unseen: Vec::new(),
            proof: None,
        };
        AtLoad { load, diagnosis }
    }

    #[test]
    fn what_became_likely_at_the_line_is_likelier_than_what_always_was() {
        let seen =
            vec![trial(80.0, 0.9, 0.9), trial(10.0, 0.02, 0.9), trial(40.0, 0.7, 0.9), trial(39.0, 0.3, 0.9)];
        let found = at(40.0, "users", seen).expect("there are trials");
        assert_eq!(found.suspects[0].resource, "cpu", "the trial at the line counts, not the one far above");
        let workers = &found.suspects[1];
        assert_eq!(workers.evidence[0].sentence, "it shows from 40 users on; at 39 it was 30 % likely");
        assert!((workers.sure_ratio - 0.864).abs() < 1e-3, "e times the odds: {workers:?}");
        assert!(found.suspects[0].evidence.is_empty(), "it was there at every load");
        assert_eq!(found.sentence, "app holds the stack: it is full");
    }

    #[test]
    fn without_a_trial_at_or_above_the_line_the_highest_counts_and_without_any_nothing() {
        let found = at(100.0, "users", vec![trial(10.0, 0.1, 0.2)]).expect("there is a trial");
        assert_eq!(found.state, Limited::No);
        assert!(at(100.0, "users", Vec::new()).is_none());
    }
}

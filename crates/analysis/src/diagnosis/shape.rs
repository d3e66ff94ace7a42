//! Shape: what holds a stack at its line becomes visible where the line is. Evidence over the loads of a find.

use model::record::diagnosis::{ClueRole, Limited};
use model::record::study::By;

use super::{ClueFacts, ClueSeen, DiagnosisFacts, SuspectFacts};

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
    pub diagnosis: DiagnosisFacts,
}

/// The diagnosis of the trial at `line` or nearest above it, else below it, with what the trials at other loads add.
/// `by` is what loads are counted in. Absent without trials.
pub fn at(line: f64, by: By, mut seen: Vec<AtLoad>) -> Option<DiagnosisFacts> {
    seen.sort_by(|one, other| one.load.total_cmp(&other.load));
    // A hair of room: a confirming trial's load is rounded to whole users.
    let there = seen.iter().position(|one| one.load >= line * 0.999).unwrap_or(seen.len().checked_sub(1)?);
    let mut diagnosis = seen[there].diagnosis.clone();
    for suspect in &mut diagnosis.suspects {
        if let Some(clue) = clue(suspect, line, by, &seen) {
            let odds = suspect.sure_ratio / (1.0 - suspect.sure_ratio).max(1e-12);
            let odds = odds * WEIGHT.exp();
            suspect.sure_ratio = odds / (1.0 + odds);
            suspect.evidence.push(clue);
            suspect.evidence.sort_by_key(|clue| clue.role);
        }
    }
    diagnosis.suspects.sort_by(|one, other| other.sure_ratio.total_cmp(&one.sure_ratio));
    if diagnosis.suspects.first().is_some_and(|first| first.sure_ratio >= 0.5) {
        diagnosis.state = Limited::Yes;
    }
    Some(diagnosis)
}

/// That a suspect was unlikely at low loads and became likely near the line.
fn clue(suspect: &SuspectFacts, line: f64, by: By, seen: &[AtLoad]) -> Option<ClueFacts> {
    let sure = |one: &AtLoad| {
        let same = |other: &&SuspectFacts| other.tier == suspect.tier && other.resource == suspect.resource;
        one.diagnosis.suspects.iter().find(same).map_or(0.0, |other| other.sure_ratio)
    };
    let before = seen.iter().take_while(|one| sure(one) < 0.5).last()?;
    let from = seen.iter().find(|one| sure(one) >= 0.5)?;
    let near = from.load >= line * NEAR.0 && before.load <= line * NEAR.1;
    near.then(|| ClueFacts {
        signal: "shape".to_string(),
        value: from.load,
        strength_ratio: 1.0,
        role: ClueRole::Supports,
        seen: ClueSeen::Shape { by, from: from.load, before: before.load, before_ratio: sure(before) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(load: f64, workers: f64, cpu: f64) -> AtLoad {
        let suspect = |tier: &str, resource: &str, sure_ratio: f64| SuspectFacts {
            rule: resource.to_string(),
            tier: tier.to_string(),
            resource: resource.to_string(),
            title: "it is full".to_string(),
            mechanisms: Vec::new(),
            strengths: Default::default(),
            sure_ratio,
            evidence: Vec::new(),
            tries: Vec::new(),
        };
        let mut suspects = vec![suspect("app", "workers", workers), suspect("app", "cpu", cpu)];
        suspects.sort_by(|one, other| other.sure_ratio.total_cmp(&one.sure_ratio));
        let state = if suspects[0].sure_ratio >= 0.5 { Limited::Yes } else { Limited::No };
        let diagnosis = DiagnosisFacts {
            state,
            suspects,
            ledger: None,
            unseen: Vec::new(),
            busy_ratio: None,
            has_targets: false,
            ramp_up_s: None,
            of_spoiled_trials: false,
        };
        AtLoad { load, diagnosis }
    }

    #[test]
    fn what_became_likely_at_the_line_is_likelier_than_what_always_was() {
        let seen =
            vec![trial(80.0, 0.9, 0.9), trial(10.0, 0.02, 0.9), trial(40.0, 0.7, 0.9), trial(39.0, 0.3, 0.9)];
        let found = at(40.0, By::Users, seen).expect("there are trials");
        assert_eq!(found.suspects[0].resource, "cpu", "the trial at the line counts, not the one far above");
        let workers = &found.suspects[1];
        let shape = ClueSeen::Shape { by: By::Users, from: 40.0, before: 39.0, before_ratio: 0.3 };
        assert_eq!(workers.evidence[0].seen, shape);
        assert!((workers.sure_ratio - 0.864).abs() < 1e-3, "e times the odds: {workers:?}");
        assert!(found.suspects[0].evidence.is_empty(), "it was there at every load");
        assert_eq!(found.state, Limited::Yes);
    }

    #[test]
    fn without_a_trial_at_or_above_the_line_the_highest_counts_and_without_any_nothing() {
        let found = at(100.0, By::Users, vec![trial(10.0, 0.1, 0.2)]).expect("there is a trial");
        assert_eq!(found.state, Limited::No);
        assert!(at(100.0, By::Users, Vec::new()).is_none());
    }
}

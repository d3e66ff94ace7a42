//! A comparison as a suite of tests: one for each figure.

use model::StudyRecord;
use model::record::Outcome;
use model::record::study::{Compare, Effect};

use super::name;
use crate::study::view::{Case, Suite, Verdict};
use crate::study::words;

/// The figure that the sentence is about fails when the gate did not hold, and is in error when there is no conclusion,
/// no valid block, or a gate that could not be decided: what nobody knows must not be green. The other figures say what
/// came out for them.
pub(super) fn suite(record: &StudyRecord, compare: &Compare) -> Suite {
    let label = |arm: usize| record.arms.get(arm).map_or_else(String::new, |arm| arm.label.clone());
    let gate = compare.gate_ratio.map(|gate| ("gate_ratio", gate.to_string()));
    let properties = [
        ("a", label(0)),
        ("b", label(1)),
        ("load", compare.load.clone()),
        ("band_ratio", compare.band_ratio.to_string()),
    ];
    let verdict = verdict(record, compare);
    // All figures come from the same trials: their time is counted once.
    let case = |(index, effect): (usize, &Effect)| {
        let (took_s, verdict) = if index == 0 { (record.spent_s, verdict) } else { (0.0, Verdict::Success) };
        Case { name: format!("{} at {}", name(effect), compare.load), took_s, verdict }
    };
    let mut cases: Vec<Case> = compare.effects.iter().enumerate().map(case).collect();
    if cases.is_empty() {
        // A comparison that ended before its first block has no figure yet, but says so.
        cases.push(Case { name: compare.by.clone(), took_s: record.spent_s, verdict });
    }
    let line = |effect: &Effect| format!("{}: {}", name(effect), words::effect(effect));
    Suite {
        properties: properties.into_iter().chain(gate).collect(),
        cases,
        output: compare.effects.iter().map(line).collect(),
    }
}

/// Of the figure that decides.
fn verdict(record: &StudyRecord, compare: &Compare) -> Verdict {
    let ended = record.outcome == Outcome::Completed && compare.conclusion.is_some();
    let measured = compare.effects.first().is_some_and(|effect| effect.blocks > 0);
    match (compare.gate_ratio, compare.gate_held) {
        (_, Some(false)) => Verdict::Failure("gate"),
        _ if !ended => Verdict::Error("unfinished"),
        _ if !measured => Verdict::Error("not-valid"),
        (Some(_), None) => Verdict::Error("undecided"),
        _ => Verdict::Success,
    }
}

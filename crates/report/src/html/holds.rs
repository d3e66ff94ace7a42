//! A diagnosis as the templates see it.

use model::record::diagnosis::{Clue, ClueRole, Diagnosis, Doing, Limited, Proof, Suspect};
use model::record::line_proof::{LineProof, Move};
use serde_json::{Value, json};

use super::text::{thin, thin_groups, tier_class};
use crate::explained::{self, Part, Tried};
use crate::figures;
use crate::headline::sentence;

/// What `web/holds.html` shows.
pub(super) fn of(diagnosis: &Diagnosis, tried: Tried<'_>) -> Value {
    let (told, others) = explained::suspects(diagnosis);
    let suspects = told.iter().enumerate();
    let held = diagnosis.state == Limited::Yes;
    json!({
        "sentence": explained::answer(diagnosis),
        "ledger": diagnosis.ledger.as_ref().map(|ledger| json!({
            "sentence": explained::ledger_sentence(ledger),
            "parts": explained::parts(ledger).iter().map(part).collect::<Vec<_>>(),
        })),
        "suspects": suspects.map(|(index, one)| suspect(one, held && index == 0, tried)).collect::<Vec<_>>(),
        "others": others.iter().map(explained::named).collect::<Vec<_>>(),
        "proof": diagnosis.proof.as_ref().map(proof),
        "line_proof": diagnosis.line_proof.as_ref().map(line_proof),
        "unseen": diagnosis.unseen.iter().map(|one| sentence(one)).collect::<Vec<_>>(),
    })
}

fn line_proof(proof: &LineProof) -> Value {
    let times = |log: f64| figures::number(Some(log.exp()));
    let row = |one: &Move| {
        json!({
            "what": wording::intervention(&one.intervention),
            "times": one.margin.map_or(figures::NOTHING.to_string(), times),
            "interval": one.interval.map(|(low, high)| format!("{} to {}", times(low), times(high))),
            "line": one.line_factor.map(|factor| figures::number(Some(factor))),
            "pairs": one.pairs,
        })
    };
    json!({
        "sentence": sentence(&proof.sentence),
        "moved": wording::moved_target(proof),
        "study": proof.study,
        "rows": proof.moves.iter().map(row).collect::<Vec<_>>(),
    })
}

fn part(part: &Part) -> Value {
    let colour = part.tier.as_deref().map_or("rest".to_string(), |tier| tier_class(tier, 0));
    let waits = part.doing.filter(|doing| *doing != Doing::Running);
    let class = waits.map_or(colour.clone(), |doing| format!("{colour} waits {}", doing.word()));
    json!({
        "name": part.name,
        "class": class,
        "width": (part.share_ratio * 1000.0).round() / 10.0,
        "time": thin(&figures::time(Some(part.s_per_operation))),
        "share": thin(&figures::percent(Some(part.share_ratio))),
    })
}

fn suspect(suspect: &Suspect, limit: bool, tried: Tried<'_>) -> Value {
    let tries = suspect.tries.iter().map(|one| {
        json!({
            "change": explained::change(one),
            "why": sentence(&one.why),
            "command": explained::try_command(tried, one),
        })
    });
    json!({
        "title": sentence(&suspect.title).trim_end_matches('.'),
        "place": explained::location(suspect),
        "sure": explained::sure(suspect.sure_ratio),
        "percent": (suspect.sure_ratio.clamp(0.0, 1.0) * 100.0).round(),
        "limit": limit,
        "evidence": suspect.evidence.iter().map(clue).collect::<Vec<_>>(),
        "tries": tries.collect::<Vec<_>>(),
    })
}

fn clue(clue: &Clue) -> Value {
    let width = clue.strength_ratio.clamp(0.0, 1.0) * 100.0;
    json!({
        "direction": explained::direction(clue),
        "class": if clue.role == ClueRole::Against { "against" } else { "for" },
        "width": if width.is_finite() { width.round() } else { 0.0 },
        "sentence": clue.sentence,
    })
}

fn proof(proof: &Proof) -> Value {
    let rows = proof.handicaps.iter().map(|one| {
        let two = |value: f64| format!("{value:.2}");
        json!({
            "tier": one.tier,
            "what": format!("{} {}", one.what, explained::changed(one.change)),
            "suspect": one.suspect,
            "elasticity": one.elasticity.map_or_else(|| figures::NOTHING.to_string(), two),
            "interval": one.interval.map_or_else(
                || figures::NOTHING.to_string(),
                |(low, high)| format!("{} to {}", two(low), two(high)),
            ),
            "pairs": one.pairs,
        })
    });
    json!({
        "sentence": thin_groups(&sentence(&proof.sentence)),
        "window": thin(&figures::duration(Some(proof.window_s))),
        "rows": rows.collect::<Vec<_>>(),
    })
}

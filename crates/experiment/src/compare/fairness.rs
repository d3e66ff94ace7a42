//! Whether the figures of two arms may be held against each other at all: who fails more is not faster, and what is left
//! of an arm whose other trials broke is no fair sample of it.

use analysis::failures::{Failures, failed_more};
use model::record::study::{Failed, Lopsided, SpoilCause, Trial};

use super::{Block, Side, Spoil};

/// Answers that a turn's end cuts short say too little of what they took: more of them than this and trials don't take
/// turns any more.
const MAX_INTERRUPTED: f64 = 0.01;

/// The minimum number of valid blocks to say so where there are blocks: a single trial may have been unlucky.
const MIN_BLOCKS: usize = 3;

/// The minimum number of blocks that an arm must spoil to have spoiled them by itself, and how many times as many as the
/// other one it must exceed.
const MIN_SPOILED: u32 = 3;
const TIMES: u32 = 3;

/// Who failed clearly more, by the medians over the valid blocks.
pub(super) fn failed(pairs: &[&[Side<'_>; 2]]) -> Option<Failed> {
    if pairs.len() < MIN_BLOCKS {
        return None;
    }
    let typical = |arm: usize| {
        let all: Vec<Failures> = pairs.iter().map(|pair| failures(&pair[arm])).collect();
        Failures {
            operations: median(all.iter().map(|one| one.operations).collect()),
            waiting: median(all.iter().map(|one| one.waiting).collect()),
        }
    };
    failed_more(typical(0), typical(1))
}

/// What went wrong in a trial; a load line has nothing of the kind.
fn failures(side: &Side<'_>) -> Failures {
    let Side::Trial(trial) = side else { return Failures::default() };
    trial.measured.as_ref().map(Failures::of).unwrap_or_default()
}

/// The arm that spoiled far more blocks than the other.
pub(super) fn lopsided(blocks: &[Block<'_>]) -> Option<Lopsided> {
    let spoils: Vec<&Spoil> = blocks.iter().filter_map(|block| block.pair.as_ref().err()).collect();
    let of = |arm: usize| spoils.iter().filter(|spoil| spoil.arm == arm).count() as u32;
    (0..2).find_map(|arm| {
        let (spoiled, other) = (of(arm), of(1 - arm));
        let far = spoiled >= MIN_SPOILED && spoiled > TIMES * other;
        // Its sentence is made where the study is kept.
        far.then(|| Lopsided { arm, spoiled, other, fault: String::new(), cause: commonest(&spoils, arm) })
    })
}

/// What broke most often in an arm's spoiled blocks, as the first of them shows it.
fn commonest(spoils: &[&Spoil], arm: usize) -> Option<SpoilCause> {
    let own = || spoils.iter().filter(move |spoil| spoil.arm == arm);
    let count = |cause: &SpoilCause| own().filter(|spoil| spoil.cause.is_like(cause)).count();
    // From the back, because the last of equally large ones is taken.
    own().rev().max_by_key(|spoil| count(&spoil.cause)).map(|spoil| spoil.cause.clone())
}

/// What spoils a trial: answers too long for turns, else the first check that broke, or that nothing settled or was measured.
pub(super) fn spoil(trial: &Trial) -> Option<Spoil> {
    let cause = match (trial.interrupted_ratio, trial.faults.first()) {
        // Before checks, because it breaks some: what is to be sent while the end of a turn waits for answers is sent late.
        (Some(ratio), _) if ratio > MAX_INTERRUPTED => SpoilCause::LongAnswers { ratio },
        (_, Some(fault)) => SpoilCause::Check { check: fault.check.clone(), trial: trial.number },
        _ if trial.measured.is_none() => SpoilCause::Unmeasured,
        _ if trial.warm_up_s.is_none() => SpoilCause::Unsettled,
        _ => return None,
    };
    Some(Spoil { arm: trial.arm, cause })
}

fn median(values: Vec<f64>) -> f64 {
    analysis::median(values).unwrap_or(0.0)
}

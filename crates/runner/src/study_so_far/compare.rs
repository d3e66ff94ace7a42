//! A comparison so far: its blocks, and the effect that they show by the rule that judges at the end.

use experiment::compare::{Asked, Block, LOAD_LINE, blocks, judge};
use model::progress::study::{BlockProgress, CompareProgress, Known};
use model::record::study::{Arm, By, Compare, Trial};

use super::known::StudySoFar;

/// What is known after `trials` of what `asked` measures of each of `arms`. A block takes `block_s` before one is over.
pub fn compare(
    compare: &Compare,
    (asked, arms): (&Asked, &[Arm]),
    trials: &[Trial],
    block_s: f64,
) -> StudySoFar {
    let over = blocks(compare, asked, trials);
    let judgement = judge(compare, &over);
    let effect = judgement.effects.first().filter(|effect| effect.blocks > 0);
    let spent_s: f64 = trials.iter().map(|trial| trial.took_s).sum();
    let each_s = if over.is_empty() { block_s } else { spent_s / over.len() as f64 };
    let left_s = f64::from(compare.most_blocks.saturating_sub(judgement.valid)) * each_s;
    let below = wording::progress::compare(compare, judgement.valid + 1, effect, left_s);
    let by = compare.goal.as_ref().map_or(By::Users, |goal| goal.by);
    let known = Known::Compare(CompareProgress {
        arms: arms.iter().map(|arm| arm.label.clone()).collect(),
        figure: wording::compare::figure(&compare.by),
        unit: unit(&compare.by, by).to_string(),
        confidence_ratio: compare.confidence_ratio,
        max_blocks: compare.most_blocks,
        valid: judgement.valid,
        spoiled: judgement.spoiled,
        effect: effect.cloned(),
        change: effect.map(wording::compare::change),
        blocks: over.iter().map(|block| progress(compare, block, (by, trials))).collect(),
    });
    StudySoFar { text: below.clone(), below, left_s, known }
}

fn progress(compare: &Compare, block: &Block<'_>, (by, trials): (By, &[Trial])) -> BlockProgress {
    let spoil = block.pair.as_ref().err();
    BlockProgress {
        number: block.number,
        values: block.values(compare).map(<[f64; 2]>::from),
        spoiled_by: spoil.map(|spoil| wording::compare::spoiled_by(&mut spoil.cause.clone(), by, trials)),
    }
}

fn unit(figure: &str, by: By) -> &'static str {
    match (figure, by) {
        ("throughput", _) => "1/s",
        (LOAD_LINE, By::Users) => "users",
        (LOAD_LINE, By::Rate) => "1/s",
        _ => "seconds",
    }
}

#[cfg(test)]
mod tests {
    use model::record::study::Question;
    use testkit::studies::{self, CompareEnding};

    use super::*;

    #[test]
    fn the_effect_so_far_ends_as_that_of_the_record_and_every_block_is_there() {
        for ending in CompareEnding::ALL {
            let record = studies::compare(ending);
            let Question::Compare(question) = &record.question else { panic!("it is a comparison") };
            let asked = Asked::Window { load: 300.0 };
            let after = |number: usize| {
                let so_far = super::compare(question, (&asked, &record.arms), &record.trials[..number], 60.0);
                match so_far.known {
                    Known::Compare(compare) => compare,
                    other => panic!("{other:?}"),
                }
            };
            let begun = after(0);
            assert_eq!((&begun.effect, begun.blocks.len()), (&None, 0), "{ending:?}");
            let last = after(record.trials.len());
            assert_eq!(last.effect.as_ref(), question.effects.first(), "{ending:?}");
            assert_eq!(last.blocks.len() as u32, last.valid + last.spoiled, "{ending:?}");
            let valid = last.blocks.iter().filter(|block| block.values.is_some()).count();
            assert_eq!(valid as u32, last.valid, "{ending:?}");
            let spoiled = last.blocks.iter().filter_map(|block| block.spoiled_by.as_deref());
            assert!(spoiled.clone().all(|why| !why.is_empty()) && spoiled.count() as u32 == last.spoiled);
        }
    }
}

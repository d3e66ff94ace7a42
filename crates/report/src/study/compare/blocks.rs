//! A comparison's blocks: the ratios that its effect is made of.

use model::StudyRecord;
use model::record::study::{Compare, Trial};

/// One block that holds both arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairRatio {
    /// Counts from 1.
    pub(crate) block: u32,
    /// B/A of the figure that the sentence is about.
    pub(crate) ratio: f64,
}

/// The blocks in order. Where an arm has several trials in a block, the mean of their logarithms counts; a block
/// without a valid trial of each arm is left out.
pub(crate) fn of(record: &StudyRecord, compare: &Compare) -> Vec<PairRatio> {
    let operation = compare.effects.first().and_then(|effect| effect.operation.as_deref());
    let log = |arm: usize, block: u32| {
        let here = |trial: &&Trial| {
            trial.arm == arm && trial.block == block && trial.valid() && trial.warm_up_s.is_some()
        };
        let values = record
            .trials
            .iter()
            .filter(here)
            .filter_map(|trial| Some(trial.measured.as_ref()?.value(&compare.by, operation)?.ln()));
        mean(values)
    };
    let blocks = record.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
    let ratio = |block: u32| {
        let ratio = (log(1, block)? - log(0, block)?).exp();
        ratio.is_finite().then_some(PairRatio { block: block + 1, ratio })
    };
    (0..blocks).filter_map(ratio).collect()
}

/// The noise: standard deviation of the blocks' log ratios; absent for fewer than two.
pub(crate) fn noise_ratio(blocks: &[PairRatio]) -> Option<f64> {
    let logs = || blocks.iter().map(|block| block.ratio.ln());
    let mean = mean(logs())?;
    let squares: f64 = logs().map(|log| (log - mean).powi(2)).sum();
    (blocks.len() > 1).then(|| (squares / (blocks.len() - 1) as f64).sqrt())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::study::Question;
    use testkit::studies::{CompareEnding, compare};

    fn blocks(ending: CompareEnding) -> Vec<PairRatio> {
        let record = compare(ending);
        let Question::Compare(asked) = &record.question else { panic!("it is a comparison") };
        of(&record, asked)
    }

    #[test]
    fn the_effect_lies_in_the_middle_of_its_blocks_and_a_block_without_a_pair_is_left_out() {
        let record = compare(CompareEnding::Faster);
        let Question::Compare(asked) = &record.question else { panic!("it is a comparison") };
        let blocks_of = blocks(CompareEnding::Faster);
        let below = blocks_of.iter().filter(|block| block.ratio < asked.effects[0].ratio).count();
        assert!((3..=6).contains(&below) && blocks_of.len() == 9, "{below} of {} are below", blocks_of.len());
        let same: Vec<u32> = blocks(CompareEnding::Same).iter().map(|block| block.block).collect();
        assert!(same.len() == 9 && !same.contains(&4), "block 4 has a trial that is not valid: {same:?}");
    }

    #[test]
    fn noise_is_the_deviation_of_log_ratios() {
        let block = |ratio: f64| PairRatio { block: 1, ratio };
        let noise = noise_ratio(&[block(1.0), block(1.02f64), block(1.0 / 1.02)]).expect("three blocks");
        assert!((noise - 1.02f64.ln()).abs() < 1e-12, "{noise}");
        assert_eq!(noise_ratio(&[block(1.0)]), None);
    }
}

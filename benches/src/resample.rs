//! Comparisons made up of kept blocks: how often such blocks are judged rightly. What the blocks have in common, such
//! as what the machine did in those minutes, all resamples have, too.

use std::path::{Path, PathBuf};

use analysis::paired::{self, Looks, Terms};
use experiment::compare::{Asked, pairs};
use model::StudyRecord;
use model::random::Random;
use model::record::study::{Compare, Conclusion, Question};

use crate::Failure;

/// Comparisons of the same question, and how many are made of their blocks.
#[derive(Debug, clap::Args)]
pub(crate) struct Resample {
    /// How many comparisons are made up
    #[arg(long, default_value_t = 100)]
    times: u64,
    /// The kept comparisons: their `study.json`
    #[arg(required = true)]
    studies: Vec<PathBuf>,
}

/// Draws blocks of all studies with replacement, judges after each as `compare` does, and prints what was said.
pub(crate) fn run(asked: &Resample) -> Result<(), Failure> {
    let kept: Vec<(Compare, Vec<(f64, f64)>)> =
        asked.studies.iter().map(|path| blocks(path)).collect::<Result<_, _>>()?;
    let compare = &kept[0].0;
    let all: Vec<(f64, f64)> = kept.iter().flat_map(|(_, blocks)| blocks.clone()).collect();
    if all.is_empty() {
        return Err("the studies have no valid block".into());
    }
    let looks = Looks { confidence_ratio: compare.confidence_ratio, max_values: compare.most_blocks };
    let better = compare.effects.first().ok_or("the first study has no effect yet")?.better;
    let terms = Terms { better, band_ratio: compare.band_ratio, looks, seed: 1 };
    let mut said = [0u32; 4];
    let mut took = Vec::new();
    for time in 0..asked.times {
        let (conclusion, blocks) = one(&all, &terms, &mut Random::new(time));
        took.push(blocks);
        said[match conclusion {
            Conclusion::Faster => 0,
            Conclusion::Slower => 1,
            Conclusion::Same => 2,
            Conclusion::Open { .. } => 3,
        }] += 1;
    }
    took.sort_unstable();
    let effect = paired::effect(&all, &terms);
    println!("{} blocks of {} studies: B/A {:.4}", all.len(), kept.len(), effect.ratio);
    println!(
        "of {} made of them: {} faster, {} slower, {} no difference, {} open; half after {} blocks, nine in ten after {}",
        asked.times,
        said[0],
        said[1],
        said[2],
        said[3],
        took[took.len() / 2],
        took[took.len() * 9 / 10]
    );
    Ok(())
}

/// One comparison: what it says, after how many blocks.
fn one(all: &[(f64, f64)], terms: &Terms, random: &mut Random) -> (Conclusion, u32) {
    let mut drawn = Vec::new();
    loop {
        drawn.push(all[random.below(all.len())]);
        let effect = paired::effect(&drawn, terms);
        if effect.blocks == terms.looks.max_values || !matches!(effect.conclusion, Conclusion::Open { .. }) {
            return (effect.conclusion, effect.blocks);
        }
    }
}

/// What was compared, and the valid blocks' values of the figure that decides.
fn blocks(path: &Path) -> Result<(Compare, Vec<(f64, f64)>), Failure> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| named(&error))?;
    let study: StudyRecord = serde_json::from_slice(&text).map_err(|error| named(&error))?;
    let Question::Compare(compare) = study.question else {
        return Err(named(&"it is no comparison").into());
    };
    if compare.goal.is_some() {
        return Err(named(&"it compares load lines").into());
    }
    let pairs = pairs(&compare, &Asked::Window { load: 0.0 }, &study.trials);
    Ok((compare, pairs))
}

//! How weights become a probability, by plants that were run.

use std::path::PathBuf;

use analysis::diagnosis::calibration::{Calibration, Sample};

use super::table::{Row, Told};
use crate::Failure;

/// Folders that `scripts/blind.sh` filled.
#[derive(Debug, clap::Args)]
pub(crate) struct Fitted {
    /// Tables, as `plimsoll faults --json` prints them
    #[arg(required = true)]
    tables: Vec<PathBuf>,
}

/// Parts of which each is predicted by the others.
const PARTS: usize = 10;

/// Prints the parameters, and what they are worth on plants that they weren't fitted to.
pub(crate) fn fit(asked: &Fitted) -> Result<(), Failure> {
    let mut samples = Vec::new();
    for path in &asked.tables {
        let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let told: Told = serde_json::from_slice(&text)?;
        samples.extend(told.faults.iter().filter_map(sample));
    }
    if samples.len() < PARTS {
        return Err(format!("{} suspects are too few to fit anything to", samples.len()).into());
    }
    let Calibration { offset, slope, rival } = Calibration::fitted(&samples);
    println!("offset: {offset:.2}, slope: {slope:.2}, rival: {rival:.2}, by {} suspects", samples.len());
    let as_they_are = Calibration::fitted(&[]);
    println!("Brier score with the weights as they are: {:.3}", brier(&samples, |_| as_they_are));
    let without = |part: usize| {
        let others: Vec<Sample> = samples
            .iter()
            .enumerate()
            .filter(|(index, _)| index % PARTS != part)
            .map(|(_, sample)| *sample)
            .collect();
        Calibration::fitted(&others)
    };
    let by_others: Vec<Calibration> = (0..PARTS).map(without).collect();
    println!(
        "of each tenth by the fit to the others: {:.3}",
        brier(&samples, |index| by_others[index % PARTS])
    );
    Ok(())
}

/// The first suspect of a plant; nothing where it named none, or was not run.
fn sample(row: &Row) -> Option<Sample> {
    let mut suspects = row.suspects.iter().flatten();
    let (first, second) = (suspects.next()?, suspects.next());
    let rival_log_odds = second.map_or(f64::NEG_INFINITY, |second| second.log_odds);
    let right = row.named_first();
    Some(Sample { log_odds: first.log_odds, rival_log_odds, right })
}

/// Mean square of (probability − whether it was right), each by the calibration for its index.
fn brier(samples: &[Sample], by: impl Fn(usize) -> Calibration) -> f64 {
    let square = |(index, sample): (usize, &Sample)| {
        let probability = by(index).probability(sample.log_odds, sample.rival_log_odds);
        (probability - f64::from(u8::from(sample.right))).powi(2)
    };
    samples.iter().enumerate().map(square).sum::<f64>() / samples.len() as f64
}

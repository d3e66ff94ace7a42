//! What a sweep says, as people read it.

use std::collections::BTreeSet;

use model::study::{Arm, FindAnswer, Measurement, Sweep, Trial};

use super::{number, percent};

/// How many cells were measured, where the figure is highest and lowest, and how far repeats of a cell differ.
pub fn sweep(sweep: &Sweep, arms: &[Arm], trials: &[Trial]) -> String {
    let (name, unit) = match sweep.measurement {
        Measurement::Window { .. } => ("throughput", "/s"),
        Measurement::LoadLine(_) => ("the load line", ""),
    };
    let values: Vec<Vec<f64>> = (0..sweep.cells.len()).map(|arm| values(sweep, trials, arm)).collect();
    let measured = values.iter().filter(|values| !values.is_empty()).count();
    let times = if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) };
    let mut sentence = format!("{measured} of {} cells have a result, measured {times} each", values.len());
    let means: Vec<(usize, f64)> = values
        .iter()
        .enumerate()
        .filter(|(_, values)| !values.is_empty())
        .map(|(arm, v)| (arm, mean(v)))
        .collect();
    let highest = means.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let lowest = means.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let label = |arm: usize| arms.get(arm).map_or("?", |arm| arm.label.as_str());
    if let (Some((high_arm, high)), Some((low_arm, low))) = (highest, lowest)
        && high_arm != low_arm
    {
        sentence += &format!(
            "; {name} is highest, {}{unit}, with {}, and lowest, {}{unit}, with {}",
            number(*high),
            label(*high_arm),
            number(*low),
            label(*low_arm)
        );
    }
    if let Some(spread) = spread(&values) {
        sentence += &format!("; repeats of a cell differ by {} (standard deviation)", percent(spread));
    }
    let invalid: BTreeSet<usize> =
        trials.iter().filter(|trial| !trial.valid()).map(|trial| trial.arm).collect();
    match (&sweep.measurement, invalid.len()) {
        (Measurement::LoadLine(_), _) | (_, 0) => sentence,
        (_, 1) => sentence + "; trials of 1 cell were not valid",
        (_, cells) => sentence + &format!("; trials of {cells} cells were not valid"),
    }
}

/// What the valid repeats of a cell say.
fn values(sweep: &Sweep, trials: &[Trial], arm: usize) -> Vec<f64> {
    if let Measurement::LoadLine(_) = sweep.measurement {
        let line = |answer: &FindAnswer| match answer {
            FindAnswer::LoadLine(line) => Some(line.load),
            FindAnswer::NoAnswer(_) => None,
        };
        return sweep.cells[arm].answers.iter().filter_map(line).collect();
    }
    let of_arm = trials.iter().filter(|trial| trial.arm == arm && trial.valid());
    let seen = of_arm.filter_map(|trial| Some(trial.measured.as_ref()?.figure("throughput", None)?.value));
    seen.filter(|value| *value > 0.0).collect()
}

/// The geometric mean: figures differ by factors.
fn mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Standard deviation of the repeats' logarithms within cells, pooled; absent when no cell has two.
fn spread(cells: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0);
    for values in cells.iter().filter(|values| values.len() > 1) {
        let centre = mean(values).ln();
        squares += values.iter().map(|value| (value.ln() - centre).powi(2)).sum::<f64>();
        freedom += values.len() - 1;
    }
    (freedom > 0).then(|| (squares / freedom as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_differ_by_their_pooled_standard_deviation() {
        let spread =
            spread(&[vec![100.0, 102.0], vec![50.0], vec![200.0, 204.0]]).expect("two cells have two");
        let one = (102.0f64 / 100.0).ln() / 2.0f64.sqrt();
        assert!((spread - one).abs() < 1e-12, "{spread} {one}");
        assert_eq!(super::spread(&[vec![1.0], vec![]]), None);
    }
}

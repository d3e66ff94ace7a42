//! A sweep's cells: what every repeat said of each combination of levels.

use analysis::unpaired;
use model::StudyRecord;
use model::record::study::{FindAnswer, Measurement, Sweep, Trial};

/// Probability with which a window's interval holds.
const CONFIDENCE_RATIO: f64 = 0.95;

use crate::study::words;

/// A cell with the trials that count.
pub(crate) struct CellResult<'a> {
    /// Which of the study's arms.
    pub(crate) arm: usize,
    /// The number of the level of each factor.
    pub(crate) levels: &'a [usize],
    /// Its valid trials.
    pub(crate) trials: Vec<&'a Trial>,
    /// Its trials that are not valid.
    pub(crate) invalid: usize,
    /// Its load lines, when such are measured.
    pub(crate) answers: &'a [FindAnswer],
}

/// A figure of one repeat, with its interval where there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Repeat {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// The cells in the arms' order.
pub(crate) fn of<'a>(record: &'a StudyRecord, sweep: &'a Sweep) -> Vec<CellResult<'a>> {
    let cell = |(arm, cell): (usize, &'a model::record::study::Cell)| {
        let of_arm = || record.trials.iter().filter(move |trial| trial.arm == arm);
        CellResult {
            arm,
            levels: &cell.levels,
            trials: of_arm().filter(|trial| trial.valid()).collect(),
            invalid: of_arm().filter(|trial| words::verdict(record, trial) == "not valid").count(),
            answers: &cell.answers,
        }
    };
    sweep.cells.iter().enumerate().map(cell).collect()
}

/// The figures that a sweep's charts and matrices show, the most telling first.
pub(crate) fn figures(sweep: &Sweep) -> &'static [&'static str] {
    match sweep.measurement {
        Measurement::Window { .. } => &["throughput", "p95"],
        Measurement::LoadLine(_) => &["load_line"],
    }
}

impl CellResult<'_> {
    /// The figure in each repeat: of a window with its 95 % interval from its standard error, of a load line with
    /// its own interval.
    pub(crate) fn repeats(&self, figure: &str) -> Vec<Repeat> {
        if figure == "load_line" {
            let line = |answer: &FindAnswer| match answer {
                FindAnswer::LoadLine(line) => {
                    Some(Repeat { value: line.load, interval: Some((line.low, line.high)) })
                }
                FindAnswer::NoAnswer(_) => None,
            };
            return self.answers.iter().filter_map(line).collect();
        }
        let seen = |trial: &&Trial| {
            let figure = trial.measured.as_ref()?.figure(figure, None)?;
            Some(Repeat { value: figure.value, interval: unpaired::interval(figure, CONFIDENCE_RATIO) })
        };
        self.trials.iter().filter_map(seen).collect()
    }

    /// The geometric mean of the repeats; absent without any.
    pub(crate) fn value(&self, figure: &str) -> Option<f64> {
        let repeats = self.repeats(figure);
        let logs: f64 = repeats.iter().map(|repeat| repeat.value.ln()).sum();
        (!repeats.is_empty()).then(|| (logs / repeats.len() as f64).exp()).filter(|value| value.is_finite())
    }

    /// The mean of a tier's signal over the repeats that had it; absent where none had.
    pub(crate) fn signal(&self, name: &str) -> Option<f64> {
        let seen = |trial: &&Trial| Some(trial.measured.as_ref()?.signal(name)?.value);
        let values: Vec<f64> = self.trials.iter().filter_map(seen).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The cores that a tier kept busy, the mean over the repeats that had it; absent where none had.
    pub(crate) fn cpu_cores(&self, tier: &str) -> Option<f64> {
        let measured = self.trials.iter().filter_map(|trial| trial.measured.as_ref());
        let of_tier = measured.filter_map(|measured| measured.tiers.iter().find(|one| one.tier == tier));
        let cores: Vec<f64> = of_tier.map(|one| one.cpu_cores).collect();
        (!cores.is_empty()).then(|| cores.iter().sum::<f64>() / cores.len() as f64)
    }

    /// From the lowest lower end to the highest upper end of its load lines.
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        let ends = self.repeats("load_line").into_iter().filter_map(|repeat| repeat.interval);
        ends.reduce(|(low, high), (lower, higher)| (low.min(lower), high.max(higher)))
    }

    /// A trial that counts was beyond what the stack carried.
    pub(crate) fn overloaded(&self) -> bool {
        self.trials.iter().any(|trial| !trial.overloaded.is_empty())
    }

    /// The largest share of failed operations.
    pub(crate) fn failed_ratio(&self) -> Option<f64> {
        self.trials.iter().filter_map(|trial| Some(trial.measured.as_ref()?.failed_ratio)).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::study::Question;
    use testkit::studies::{SweepShape, sweep};

    #[test]
    fn a_cell_is_the_mean_of_its_valid_repeats() {
        let record = sweep(SweepShape::Users);
        let Question::Sweep(asked) = &record.question else { panic!("it is a sweep") };
        let cells = of(&record, asked);
        let counts: Vec<(usize, usize)> =
            cells.iter().map(|cell| (cell.trials.len(), cell.invalid)).collect();
        assert_eq!(counts, [(3, 1), (3, 0), (3, 0), (3, 0), (3, 0), (3, 0)], "that trial was made again");
        let repeats = cells[0].repeats("throughput");
        let product: f64 = repeats.iter().map(|repeat| repeat.value).product();
        assert!((cells[0].value("throughput").expect("a value").powi(3) / product - 1.0).abs() < 1e-9);
    }

    #[test]
    fn load_lines_are_values_and_a_cell_without_one_has_none() {
        let record = sweep(SweepShape::LoadLines);
        let Question::Sweep(asked) = &record.question else { panic!("it is a sweep") };
        let cells = of(&record, asked);
        let values: Vec<bool> = cells.iter().map(|cell| cell.value("load_line").is_some()).collect();
        assert_eq!(values, [true, true, false, true, false, true]);
        let (low, high) = cells[0].interval().expect("an interval");
        assert!(low < cells[0].value("load_line").unwrap_or(0.0) && high > low);
    }
}

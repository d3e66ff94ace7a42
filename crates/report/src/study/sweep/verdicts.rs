//! Whether cells met their targets by the percentiles that these ask for, and by averages, as some papers judge.

use model::StudyRecord;
use model::record::study::{Measurement, Sweep, Trial};

use super::cells::CellResult;
use crate::study::page::{Cell, Judged};

/// In how many of a cell's trials that count the targets were met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    trials: usize,
    met: usize,
    /// Of as many trials: with the average in the place of each percentile.
    met_by_average: usize,
}

/// The cell's verdict; absent where no target asks for a percentile or nothing counts, and where load lines are looked for, whose
/// trials are meant to miss targets.
pub(super) fn of(sweep: &Sweep, cell: &CellResult) -> Option<Verdict> {
    if !matches!(sweep.measurement, Measurement::Window { .. }) {
        return None;
    }
    let judged: Vec<(bool, bool)> =
        cell.trials.iter().filter_map(|trial| Some((trial.pass()?, passes_by_average(trial)?))).collect();
    let met = judged.iter().filter(|(met, _)| *met).count();
    let met_by_average = judged.iter().filter(|(_, by_average)| *by_average).count();
    (!judged.is_empty()).then_some(Verdict { trials: judged.len(), met, met_by_average })
}

/// Whether a trial would pass if each percentile's limit were one of the average; what asks for no percentile counts as it is.
fn passes_by_average(trial: &Trial) -> Option<bool> {
    let targets = &trial.measured.as_ref()?.targets;
    if !targets.iter().any(|outcome| outcome.target.measure.is_of_the_tail()) {
        return None;
    }
    Some(targets.iter().all(|outcome| outcome.mean_margin().map_or(outcome.pass, |margin| margin < 0.0)))
}

impl Verdict {
    /// The verdict as it is, and by averages.
    pub(super) fn cells(self) -> [Cell; 2] {
        [self.met, self.met_by_average].map(|met| match met {
            0 => Cell::judged("missed", Judged::Missed),
            all if all == self.trials => Cell::judged("met", Judged::Met),
            some => Cell::judged(format!("{some} of {} met", self.trials), Judged::Missed),
        })
    }

    /// A cell passes when all of its trials do.
    fn passes(self) -> [bool; 2] {
        [self.met, self.met_by_average].map(|met| met == self.trials)
    }
}

/// In which cells both verdicts disagree, in a sentence for either way; nothing where they agree.
pub(super) fn disagreements(record: &StudyRecord, sweep: &Sweep, cells: &[CellResult]) -> Vec<String> {
    let of_way = |by_average: bool| {
        let disagrees = |cell: &&CellResult| {
            of(sweep, cell).is_some_and(|verdict| verdict.passes() == [!by_average, by_average])
        };
        let labels = cells.iter().filter(disagrees);
        let labels: Vec<&str> =
            labels.filter_map(|cell| Some(record.arms.get(cell.arm)?.label.as_str())).collect();
        wording::sweep::by_average(by_average, &labels)
    };
    [true, false].into_iter().filter_map(of_way).collect()
}

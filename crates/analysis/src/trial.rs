//! What the window of a study's trial says: each target with its margin and how far that can be trusted, and the
//! figures that studies compare.

mod clause;
mod figure;
mod notable;

use model::catalogue::kit::Metric;
use model::record::TierResult;
use model::record::interval::OperationName;
use model::record::study::{Measured, TierCpu};
use model::{Interval, OperationInterval, OperationKind, QosTarget};

use crate::batch::Batches;
use crate::mixture;
use crate::steady::Steady;
pub use figure::tier_signals;
pub use notable::{fewest_samples, nearest_limit, overload_fault, share_of_limit, worst_missed};

/// Figures that a study wants beside those that every trial keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Also<'a> {
    /// Percentiles of all operations together and of each: 90.0.
    pub percentiles: &'a [f64],
    /// The kit's own figures.
    pub metrics: &'a [Metric],
    /// How the response times of all operations are distributed.
    pub response_times: bool,
}

/// What a window said, from its `seconds` (consecutive, all of them counting), the run's operation `names`, the plan's
/// `targets` and the run's rows of `tiers` over the same window. `None` when the window has no second.
///
/// `also` says what is kept beside the usual figures.
///
/// Targets are judged as [`crate::targets`] judges a run. Errors of estimate come from consecutive batches of the
/// window; `docs/method/intervals.md` has the formulas. An estimate's error is absent when the window has fewer than
/// four batches or the figure fewer samples than its percentile needs.
pub fn measured(
    seconds: &[Interval],
    names: &[OperationName],
    targets: &[QosTarget],
    tiers: &[TierResult],
    also: &Also<'_>,
) -> Option<Measured> {
    let mut batches = Batches::of(seconds.len());
    seconds.iter().for_each(|second| batches.push(second));
    measured_in(&batches, names, targets, tiers, also)
}

/// The same of a window whose seconds were merged into batches as they came: see [`measured`].
pub fn measured_in(
    batches: &Batches,
    names: &[OperationName],
    targets: &[QosTarget],
    tiers: &[TierResult],
    also: &Also<'_>,
) -> Option<Measured> {
    let window = Window { whole: batches.whole()?, batches, names };
    let all = window.of_all();
    let completed = all.whole.completed;
    let failed = all.whole.failed();
    Some(Measured {
        guest_spread_ratio: None,
        targets: clause::clauses(targets, &window),
        figures: figure::figures(&all, &window, also.percentiles),
        metrics: figure::metrics(also.metrics, &window),
        signals: Vec::new(),
        tiers: tiers.iter().filter_map(tier).collect(),
        failed_ratio: if completed + failed == 0 { 0.0 } else { failed as f64 / (completed + failed) as f64 },
        foreign_cores: None,
        only_under_way: false,
        response: also.response_times.then(|| mixture::response_times(&all.whole.response)).flatten(),
    })
}

fn tier(row: &TierResult) -> Option<TierCpu> {
    Some(TierCpu { tier: row.tier.clone(), cpu_cores: row.cpu_cores? })
}

/// A window, whole and in batches.
struct Window<'a> {
    whole: Steady,
    batches: &'a Batches,
    names: &'a [OperationName],
}

/// Everything seen of an operation, or of all together, in the window and in each of its batches.
struct Rows {
    whole: OperationInterval,
    parts: Vec<OperationInterval>,
    /// Length of the window, in seconds.
    whole_s: f64,
}

impl Window<'_> {
    /// What `of` finds in the window and in each of its batches.
    fn rows(&self, of: impl Fn(&Steady) -> OperationInterval) -> Rows {
        Rows {
            whole: of(&self.whole),
            parts: self.batches.parts().iter().map(&of).collect(),
            whole_s: self.whole.length_s(),
        }
    }

    /// All operations together.
    fn of_all(&self) -> Rows {
        self.rows(|steady| {
            let mut sum = OperationInterval::empty();
            let rows = self.names.iter().zip(&steady.whole().operations);
            let operations = rows.filter(|(name, _)| name.kind == OperationKind::Operation);
            operations.for_each(|(_, row)| sum.merge(row));
            sum
        })
    }

    /// The row of that index.
    fn of_row(&self, index: usize) -> Rows {
        let empty = OperationInterval::empty;
        self.rows(|steady| steady.whole().operations.get(index).cloned().unwrap_or_else(empty))
    }
}

#[cfg(test)]
mod tests;

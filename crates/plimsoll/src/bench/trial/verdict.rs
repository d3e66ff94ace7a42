//! What a run's checks mean for a trial, and what of its seconds the trial's figures need.

use model::interval::{OperationName, nothing};
use model::record::RunRecord;
use model::study::Fault;
use model::{Interval, OperationInterval, OperationKind};

/// The checks of the run that did not hold, for whoever reads the trial to make of them what they mean there: a stack
/// beyond its limits breaks some by itself. That no steady state was found is no fault; the trial says it in its
/// `warm_up_s`.
pub(super) fn faults(record: &RunRecord, unsettled: bool) -> Vec<Fault> {
    let broken = record.validity.iter().filter(|check| !check.ok);
    let counts = broken.filter(|check| !(unsettled && check.check == "duration"));
    counts.map(|check| Fault { check: check.check.clone(), sentence: check.sentence.clone() }).collect()
}

/// A second without what only the run's own record needs: service times, and the rows of requests.
pub(crate) fn slim(mut second: Interval, names: &[OperationName]) -> Interval {
    for (index, row) in second.operations.iter_mut().enumerate() {
        row.service = nothing();
        if names.get(index).is_none_or(|name| name.kind == OperationKind::Request) {
            *row = OperationInterval { response: nothing(), service: nothing(), ..row.clone() };
        }
    }
    second
}

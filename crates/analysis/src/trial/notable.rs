//! Which targets and checks of a trial there is something to say of.

use model::record::TargetOutcome;
use model::record::study::{Fault, Trial};

/// The target that a trial missed by the largest factor; of those of which nothing was observed the last.
pub fn worst_missed(trial: &Trial) -> Option<&TargetOutcome> {
    largest_margin(trial, |target| !target.pass)
}

/// The target that a trial came nearest to missing, or missed most; none of which too few samples were seen, or nothing.
pub fn nearest_limit(trial: &Trial) -> Option<&TargetOutcome> {
    let is_known =
        |target: &TargetOutcome| target.is_sampled() || target.margin.log.is_some_and(|margin| margin <= 0.0);
    largest_margin(trial, |target| is_known(target) && !target.is_of_nothing())
}

/// The target that has the smallest share of the samples that it needs; absent where all have enough.
pub fn fewest_samples(trial: &Trial) -> Option<&TargetOutcome> {
    let short = targets(trial).filter(|target| !target.is_sampled());
    let share = |target: &TargetOutcome| target.samples as f64 / target.samples_needed as f64;
    short.min_by(|one, other| share(one).total_cmp(&share(other)))
}

/// The check that says that a trial's load was not carried; where none says so, the first that broke.
pub fn overload_fault(trial: &Trial) -> Option<&Fault> {
    trial.faults.iter().find(|fault| fault.check.shows_overload()).or(trial.faults.first())
}

/// What was observed of a target as a share of its limit; absent where nothing tells it.
pub fn share_of_limit(target: &TargetOutcome) -> Option<f64> {
    // The margin of a share is reckoned with half an event more than there were.
    let margin = target.margin.log?;
    Some(target.observed.map_or_else(|| margin.exp(), |observed| observed / target.target.limit))
}

fn targets(trial: &Trial) -> impl Iterator<Item = &TargetOutcome> {
    trial.measured.iter().flat_map(|measured| &measured.targets)
}

fn largest_margin(trial: &Trial, counts: impl Fn(&TargetOutcome) -> bool) -> Option<&TargetOutcome> {
    let margin = |target: &&TargetOutcome| target.margin.log.unwrap_or(f64::NEG_INFINITY);
    let counted = targets(trial).filter(|target| counts(target));
    counted.max_by(|one, other| margin(one).total_cmp(&margin(other)))
}

//! What a trial of a find is good for: its margins, only the side on which it fell, or nothing.

use model::record::study::{Measured, Purpose, Question, Trial, TrialVerdict};
use model::record::{Check, CheckClass, TargetOutcome};

use crate::limits;

/// What a trial is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usability {
    /// The instrument held: its margins count.
    Full,
    /// It was overloaded, and so much so that its own checks broke: the load is too high, by how much is not known.
    Bound,
    /// Some targets had too few samples to be judged: of these only that they were not missed counts, of the others
    /// their margins.
    PassFail,
    /// It says nothing of the stack.
    Unusable(UnusableReason),
}

/// Why a trial says nothing of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableReason {
    /// Its figures were never meant to count.
    WarmUp,
    /// The generator was the limit.
    Generator,
    /// Processes that belong to nobody here took the CPU from the generator.
    Disturbed,
    /// The machine ran out of ports, descriptors or the like.
    Machine,
    /// No steady state was found.
    Unsettled,
    /// A target was missed, by too few samples to say so: a longer window would tell.
    Samples,
    /// Little's law was broken in a short window, by nothing but what was still under way at its end: a longer one would
    /// tell whether that ends.
    Short,
    /// A trial of the ramp that one on a stack set up anew has shown to be wrong.
    Overruled,
    /// Another check of the instrument broke, or nothing was measured.
    Instrument,
}

/// Seconds of a window that tells users who wait from those whose operations only take long.
pub const LONG_ENOUGH_S: f64 = 30.0;

/// Cores used by others from which on they, and not its own work, may be why the generator was late.
const DISTURBING_CORES: f64 = 0.2;

/// Whether `check` says of a window at a given load only that the stack could not carry it, so that its figures are those
/// of an overloaded stack, and hold; `of_users` are the names of the kit's figures of its users' time.
pub fn by_overload(check: &Check, of_users: &[&str]) -> bool {
    match check {
        Check::Cycle | Check::MixShares => true,
        Check::Metric(name) => of_users.contains(&name.as_str()),
        _ => false,
    }
}

/// Whether a trial of a search for a load line broke checks because the stack was overloaded: it is a bound and counts as one
/// that failed, instead of being not valid. `trials` are the study's; each arm and repeat of it is a search of its own.
pub fn overloaded<'a>(
    question: &Question,
    trials: impl Iterator<Item = &'a Trial> + Clone,
    trial: &Trial,
) -> bool {
    let searches = question.kind().goal().is_some();
    let of = |one: &Trial| (one.arm, one.block, one.conditions.clone());
    let own = trials.filter(|one| of(one) == of(trial));
    searches && !trial.valid() && usability(trial, &rising(own)) == Usability::Bound
}

/// What `trial` says among `trials`, those of its study.
pub fn trial_verdict(question: &Question, trials: &[Trial], trial: &Trial) -> TrialVerdict {
    match (trial.valid(), trial.pass()) {
        _ if !trial.counts_among(trials) => TrialVerdict::NotUsed,
        (false, _) => match trial.as_seen() {
            Some(true) => TrialVerdict::PassedAsSeen,
            Some(false) => TrialVerdict::Missed,
            None if overloaded(question, trials.iter(), trial) => TrialVerdict::Overloaded,
            None => TrialVerdict::NotValid,
        },
        (true, Some(true)) => TrialVerdict::Passed,
        (true, _) => TrialVerdict::Missed,
    }
}

/// What each trial is good for. `rising` are the targets that get worse with load, by their number in the plan.
pub(super) fn usability(trial: &Trial, rising: &[bool]) -> Usability {
    if trial.purpose == Purpose::WarmUp {
        return Usability::Unusable(UnusableReason::WarmUp);
    }
    let broken = |class: CheckClass| trial.faults.iter().any(|fault| fault.check.class() == Some(class));
    let foreign_cores = trial.measured.as_ref().and_then(|seen| seen.foreign_cores);
    if broken(CheckClass::Generator) && foreign_cores.is_some_and(|cores| cores >= DISTURBING_CORES) {
        return Usability::Unusable(UnusableReason::Disturbed);
    }
    if broken(CheckClass::Generator) {
        return Usability::Unusable(UnusableReason::Generator);
    }
    if broken(CheckClass::Machine) {
        return Usability::Unusable(UnusableReason::Machine);
    }
    let by_load = trial.faults.iter().all(|fault| fault.check.may_be_overload());
    // Few samples alone prove no overload: short windows and rare operations have them too.
    let few = trial.measured.is_some() && trial.faults.iter().all(|fault| fault.check == Check::Samples);
    let clauses = trial.measured.iter().flat_map(|seen| &seen.targets);
    let missed: Vec<&TargetOutcome> = clauses
        .zip(rising)
        .filter(|(clause, rising)| **rising && clause.is_missed())
        .map(|one| one.0)
        .collect();
    let surely = missed.iter().any(|clause| clause.is_sampled());
    let missed = !missed.is_empty();
    // No target need be missed for that: users whose answers outlast their cycles are not the load that was asked for.
    let not_carried = trial.faults.iter().any(|fault| fault.check.shows_overload());
    let short = trial.window_s + limits::MISSING_S < LONG_ENOUGH_S && lacks_only_what_is_under_way(trial);
    match (trial.valid(), trial.warm_up_s.is_some()) {
        (true, true) => Usability::Full,
        (true, false) if missed => Usability::Bound,
        (true, false) => Usability::Unusable(UnusableReason::Unsettled),
        (false, _) if short => Usability::Unusable(UnusableReason::Short),
        (false, _) if few && missed && !surely => Usability::Unusable(UnusableReason::Samples),
        (false, true) if few => Usability::PassFail,
        (false, false) if few && !missed => Usability::Unusable(UnusableReason::Unsettled),
        (false, _) if by_load && (missed || not_carried) => Usability::Bound,
        (false, _) => Usability::Unusable(UnusableReason::Instrument),
    }
}

/// A longer window mends all that broke: Little's law by what was under way at the end, and samples.
fn lacks_only_what_is_under_way(trial: &Trial) -> bool {
    let broken = || trial.faults.iter().map(|fault| &fault.check);
    let seen = trial.measured.as_ref().is_some_and(|seen| seen.only_under_way);
    seen && broken().any(|check| *check == Check::Little)
        && broken().all(|check| matches!(check, Check::Little | Check::Samples))
}

/// Whether each target gets worse with load. A target that asks for at least something (throughput, samples) gets
/// better with load as a rule: where it is missed at the lowest load it can't be what limits the highest. Only trials
/// whose instrument held and that settled can show that; until there is one, the others stand in.
pub(super) fn rising<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Vec<bool> {
    let counts = |trial: &Trial| trial.valid() && trial.warm_up_s.is_some();
    let Some(lowest) = lowest(trials.clone(), counts).or_else(|| lowest(trials, |_| true)) else {
        return Vec::new();
    };
    lowest.targets.iter().map(|clause| !(clause.target.measure.at_least() && clause.is_missed())).collect()
}

/// What the trial at the lowest load said, of those that count.
fn lowest<'a>(
    trials: impl Iterator<Item = &'a Trial>,
    counts: impl Fn(&Trial) -> bool,
) -> Option<&'a Measured> {
    let seen = trials.filter(|trial| trial.purpose != Purpose::WarmUp && counts(trial));
    let seen = seen.filter_map(|trial| Some((trial.load, trial.measured.as_ref()?)));
    seen.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, measured)| measured)
}

/// Whether the targets that get worse with load were met: absent when a trial doesn't say.
pub(super) fn passes(trial: &Trial, rising: &[bool]) -> Option<bool> {
    match usability(trial, rising) {
        Usability::Bound => Some(false),
        Usability::Unusable(_) => None,
        Usability::Full | Usability::PassFail => {
            let clauses = trial.measured.iter().flat_map(|seen| &seen.targets).zip(rising);
            // What never occurred is not met, and a fault of its own where samples were too few for it.
            let partial = !trial.faults.is_empty();
            let judged = clauses.filter(|(clause, _)| !partial || clause.is_sampled());
            Some(judged.into_iter().all(|(clause, rising)| clause.pass || !rising))
        }
    }
}

/// By how much, in ln(observed/limit), a trial on a stack set up anew must differ from a limit to overrule the ramp.
const CLEARLY: f64 = 0.5;

/// Between which loads a trial of the ramp is believed: one that failed only above the highest load at which a search or
/// confirming trial passed clearly, one that passed only below the lowest at which one failed clearly.
pub(super) fn ramp_counts(trials: &[Trial], rising: &[bool]) -> (f64, f64) {
    let anew = |trial: &&Trial| matches!(trial.purpose, Purpose::Search | Purpose::Confirm);
    let loads = |pass: bool| {
        let right = trials.iter().filter(anew).filter(move |trial| passes(trial, rising) == Some(pass));
        right.filter(move |trial| is_clear(trial, rising)).map(|trial| trial.load)
    };
    (loads(true).fold(f64::NEG_INFINITY, f64::max), loads(false).fold(f64::INFINITY, f64::min))
}

/// No target that gets worse with load is near its limit, or one is far beyond it.
fn is_clear(trial: &Trial, rising: &[bool]) -> bool {
    if usability(trial, rising) == Usability::Bound {
        return true;
    }
    let clauses = trial.measured.iter().flat_map(|seen| &seen.targets).zip(rising);
    let margins = clauses.filter(|(_, rising)| **rising).filter_map(|(clause, _)| clause.margin.log);
    margins.fold(f64::NEG_INFINITY, f64::max).abs() > CLEARLY
}

#[cfg(test)]
pub(super) mod tests;

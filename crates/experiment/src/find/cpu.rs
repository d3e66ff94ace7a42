//! How many users the CPU would be enough for, by the utilisation law: a resource that is busy for a share u of the time
//! at one load is busy all the time at 1/u of it (Denning and Buzen, "The operational analysis of queueing network
//! models", ACM Computing Surveys 10, 1978, section 4). What else holds a stack holds it below that. The ramp takes its
//! steps by it; the line itself is only ever measured.
//!
//! Where the CPU is full already more users only wait longer: throughput X is at its bound, and by the response time law (the
//! same, section 4) a mean response takes R = N/X - Z, with Z the rest of a user's cycle.

use model::record::instrument::INSTRUMENT;
use model::record::study::{By, Figure, Measured, Trial};

use super::case::Case;

/// From this share on the CPU is full.
pub(super) const FULL_RATIO: f64 = 0.9;

/// Below this share of the CPU what is seen is mostly not the users' work.
const MIN_BUSY_RATIO: f64 = 0.03;

/// The tier that users ask.
const WEB: &str = "web";

/// The load at which the stack's CPUs would be busy all the time; absent where too little of them was used to say.
pub(super) fn enough_for(case: &Case<'_>, trial: &Trial) -> Option<f64> {
    let busy = busy_ratio(case, trial.measured.as_ref()?)?;
    (busy >= MIN_BUSY_RATIO).then(|| trial.load / busy.min(1.0))
}

/// How many times as many users a stack has whose CPUs are full when the response time that is nearest to its limit, at `margin`
/// below it, has risen to `share` of that limit, if all of them rise alike; absent where it isn't asked for users, or too little
/// was measured.
pub(super) fn factor_where_full(case: &Case<'_>, trial: &Trial, share: f64, margin: f64) -> Option<f64> {
    if case.goal.by != By::Users {
        return None;
    }
    let seen = trial.measured.as_ref()?;
    let value = |name: &str| {
        let of_all = |figure: &&Figure| figure.name == name && figure.operation.is_none();
        seen.figures.iter().find(of_all).map(|figure| figure.value).filter(|value| *value > 0.0)
    };
    let (cycle_s, response_s) = (trial.load / value("throughput")?, value("mean")?);
    let rest_s = (cycle_s - response_s).max(0.0);
    Some((share * (-margin).exp() * response_s + rest_s) / (response_s + rest_s))
}

fn busy_ratio(case: &Case<'_>, seen: &Measured) -> Option<f64> {
    let tiers = || seen.tiers.iter().filter(|tier| !INSTRUMENT.contains(&tier.tier.as_str()));
    let cores: f64 = tiers().map(|tier| tier.cpu_cores).sum();
    let of_stack = case.goal.stack_cores.map(|all| cores / all);
    let web = tiers().find(|tier| tier.tier == WEB).map(|tier| tier.cpu_cores);
    let of_web = case.conditions.web_cores.zip(web).map(|(all, web)| web / all);
    of_stack.into_iter().chain(of_web).max_by(f64::total_cmp)
}

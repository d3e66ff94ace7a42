//! How many users the CPU would be enough for, by the utilisation law: a resource that is busy for a share u of the time
//! at one load is busy all the time at 1/u of it (Denning and Buzen, "The operational analysis of queueing network
//! models", ACM Computing Surveys 10, 1978, section 4). What else holds a stack holds it below that. The ramp takes its
//! steps by it; the line itself is only ever measured.

use model::record::study::{Measured, Trial};

use super::case::Case;

/// Below this share of the CPU what is seen is mostly not the users' work.
const MIN_BUSY_RATIO: f64 = 0.03;

/// The tier that users ask.
const WEB: &str = "web";

/// What is busy beside the stack.
const INSTRUMENT: [&str; 2] = ["generator", "observers"];

/// The load at which the stack's CPUs would be busy all the time; absent where too little of them was used to say.
pub(super) fn enough_for(case: &Case<'_>, trial: &Trial) -> Option<f64> {
    let busy = busy_ratio(case, trial.measured.as_ref()?)?;
    (busy >= MIN_BUSY_RATIO).then(|| trial.load / busy.min(1.0))
}

fn busy_ratio(case: &Case<'_>, seen: &Measured) -> Option<f64> {
    let tiers = || seen.tiers.iter().filter(|tier| !INSTRUMENT.contains(&tier.tier.as_str()));
    let cores: f64 = tiers().map(|tier| tier.cpu_cores).sum();
    let of_stack = case.goal.stack_cores.map(|all| cores / all);
    let web = tiers().find(|tier| tier.tier == WEB).map(|tier| tier.cpu_cores);
    let of_web = case.conditions.web_cores.zip(web).map(|(all, web)| web / all);
    of_stack.into_iter().chain(of_web).max_by(f64::total_cmp)
}

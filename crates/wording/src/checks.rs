//! The checks of the instrument by itself: each with what it found, and what to try where it broke.

mod fleet;
mod generator;
mod load;
mod measurement;
mod stack;

use analysis::{CheckOutcome, Finding};
use model::Problems;
use model::record::{Check, ValidityCheck};

pub use stack::abandoned;

use crate::asking::Asking;
use crate::samples;

/// The checks as records have them.
pub fn checks<'a>(
    outcomes: impl IntoIterator<Item = &'a CheckOutcome>,
    asking: Asking,
) -> Vec<ValidityCheck> {
    outcomes.into_iter().map(|outcome| check(outcome, asking)).collect()
}

/// One of them.
pub fn check(outcome: &CheckOutcome, asking: Asking) -> ValidityCheck {
    let CheckOutcome { check, ok, observed, limit, finding } = outcome;
    let sentence = sentence(finding, *ok, asking);
    ValidityCheck { check: check.clone(), ok: *ok, sentence, observed: *observed, limit: *limit }
}

/// That this machine has too few ports or descriptors for the users, found before they come; `problems` are what is missing.
pub fn no_room(problems: &Problems) -> ValidityCheck {
    let missing: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
    let sentence = missing.join("; ");
    ValidityCheck { check: Check::Room, ok: false, sentence, observed: None, limit: None }
}

fn sentence(finding: &Finding, ok: bool, asking: Asking) -> String {
    match finding {
        Finding::Tiers(events) => stack::tiers(events),
        Finding::Duration { steady_s, planned_s, end } => {
            measurement::duration(*steady_s, *planned_s, *end, asking)
        }
        Finding::Room { exhausted } => generator::room(*exhausted),
        Finding::Links(links) => stack::links(links),
        Finding::Operations { completed, failed, never, first } => {
            stack::operations((*completed, *failed), never.as_ref(), first.as_ref(), asking)
        }
        Finding::Viewer { cores } => measurement::viewer(*cores, ok),
        Finding::GeneratorCpu { used_ratio } => generator::cpu(*used_ratio, ok),
        Finding::GeneratorThread { used_ratio } => generator::thread(*used_ratio, ok),
        Finding::SendLag(lag) => generator::send_lag(lag, ok),
        Finding::FleetAgents { agents, lost } => fleet::agents(*agents, lost, ok),
        Finding::FleetGenerators(worst) => fleet::generators(worst.as_ref(), ok),
        Finding::FleetStart(worst) => fleet::start(worst.as_ref(), ok),
        Finding::FleetClock(worst) => fleet::clock(worst.as_ref(), ok),
        Finding::Ceiling { ceiling_per_s, answer_per_s, times } => {
            generator::ceiling(*ceiling_per_s, *answer_per_s, *times, ok)
        }
        Finding::LoadByHand(changes) => load::by_hand(changes),
        Finding::Users { mean, asked, left } => load::users(*mean, (*asked, *left), ok, asking),
        Finding::Arrivals { began, intended, pattern, fault } => {
            load::arrivals((*began, *intended), *pattern, *fault, asking)
        }
        Finding::Mix(draws) => load::mix(draws),
        Finding::MixShares { worst, points, open } => load::shares(worst, *points, *open, ok, asking),
        Finding::Pauses { by_cycles, mean_s, asked_s, fault } => {
            load::pauses(*by_cycles, (*mean_s, *asked_s), fault.as_ref())
        }
        Finding::Little { little, excuse } => measurement::little(little, *excuse, asking),
        Finding::Samples(samples) => samples::checked(samples, asking),
        Finding::Untimed { untimed, strictest_s } => stack::untimed(untimed.as_ref(), *strictest_s, ok),
        Finding::Alarms(alarms) => stack::alarms(alarms),
        Finding::Consistency { statements, broken, first } => {
            stack::consistency(*statements, *broken, first.as_ref())
        }
        Finding::Metric { bound, outside } => stack::metric(bound, *outside),
    }
}

#[cfg(test)]
mod tests;

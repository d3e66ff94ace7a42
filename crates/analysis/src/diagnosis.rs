//! What holds a stack: rules weighed against the signals of a run. `docs/method/diagnosis.md` says how.
//!
//! Pure: the same record, rules and services give the same diagnosis, so that one can be made anew from a stored run.

mod blame;
mod check;
mod facts;
pub mod shape;
mod tries;
mod weigh;
pub mod weights;

pub use check::check;
pub use facts::{ClueFacts, ClueSeen, DiagnosisFacts, Quantity, SuspectFacts};

use std::collections::BTreeMap;

use model::catalogue::rules::{About, Rule};
use model::record::TierSetup;
use model::record::calls::CallLedger;
use model::record::diagnosis::{Doing, Ledger, LedgerPart, Limited, Mechanism, SignalSummary};
use model::record::threads::ThreadsResult;
use model::{ServiceManifest, Signal};

use self::weights::Weights;
use crate::ledger;
use crate::signals::{
    FAILED, MISSED_TARGETS, RESPONSE_GROWTH, RESPONSE_SHARE, THROUGHPUT_GROWTH, find, has_elsewhere,
};

/// A suspect less likely than this isn't shown.
const MIN_SURE_RATIO: f64 = 0.02;
/// More suspects than this help nobody.
const MAX_SUSPECTS: usize = 8;
/// More failures than this are no accident.
const FAILED_RATIO: f64 = 0.01;
/// How many times as long as at a third of the users responses are, and a throughput that kept up with them so little.
const GROWN: (f64, f64) = (3.0, 0.5);

/// Users who wait for answers for more of their time than this don't set the pace.
const WAITING_SHARE: f64 = 0.75;

/// What is diagnosed.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// Every signal of the run.
    pub signals: &'a [SignalSummary],
    /// What the kernel counted of the tiers' calls, where it did.
    pub calls: Option<&'a CallLedger>,
    /// The tiers as they were set up, in the order of their start.
    pub tiers: &'a [TierSetup],
    /// What may hold a stack.
    pub rules: &'a [Rule],
    /// The tiers' services by name, for their titles and knobs.
    pub services: &'a BTreeMap<String, ServiceManifest>,
    /// What threads with a request were at, by a virtual machine's own word.
    pub threads: &'a [ThreadsResult],
    /// What could not be observed.
    pub unseen: &'a [String],
    /// A tier ended while it was watched.
    pub tier_ended: bool,
    /// Where the signals are not of a steady state: the seconds of the ramp-up that they are of.
    pub ramp_up_s: Option<(f64, f64)>,
}

/// The signals with those of the ledger, and the diagnosis that they give.
pub fn diagnose(case: &Case<'_>) -> (Vec<SignalSummary>, DiagnosisFacts) {
    let Weighing { signals, ledger, mut suspects } = weighing(case, &weights::IN_FORCE);
    suspects.retain(|suspect| suspect.sure_ratio >= MIN_SURE_RATIO);
    suspects.truncate(MAX_SUSPECTS);
    let state = match state(&suspects, &signals) {
        Limited::No if case.tier_ended => Limited::Unclear,
        state => state,
    };
    let facts = DiagnosisFacts {
        state,
        suspects,
        ledger,
        unseen: case.unseen.to_vec(),
        busy_ratio: find(&signals, None, "stack.busy_ratio").map(|signal| signal.mean.clamp(0.0, 1.0)),
        has_targets: find(&signals, None, "run.missed_targets").is_some(),
        ramp_up_s: case.ramp_up_s,
        of_spoiled_trials: false,
    };
    (signals, facts)
}

/// Everything of which a rule's needed evidence is there, the likeliest first, by these weights instead of those in force.
pub fn suspects(case: &Case<'_>, weights: &Weights) -> Vec<SuspectFacts> {
    weighing(case, weights).suspects
}

/// What rules made of a run.
struct Weighing {
    /// Those of the run, and those of the ledger.
    signals: Vec<SignalSummary>,
    ledger: Option<Ledger>,
    /// All of them, the likeliest first.
    suspects: Vec<SuspectFacts>,
}

fn weighing(case: &Case<'_>, weights: &Weights) -> Weighing {
    let order: Vec<&str> = case.tiers.iter().map(|tier| tier.tier.as_str()).collect();
    let mut signals: Vec<SignalSummary> =
        case.signals.iter().filter(|signal| !ledger::is_of_ledger(signal)).cloned().collect();
    let seen = |signals| ledger::Seen { signals, calls: case.calls };
    let ledger = ledger::ledger(&order, seen(&signals));
    if let Some(ledger) = &ledger {
        let more = ledger::signals(ledger, &order, seen(&signals));
        signals.extend(more);
    }
    let mut weighed = weighed(case, &signals, ledger.as_ref());
    blame::upstream(&order, &signals, weights, &mut weighed);
    leave_names_to_others(weights, &mut weighed);
    let mut suspects: Vec<SuspectFacts> = weighed.into_iter().map(|one| one.suspect(weights)).collect();
    suspects.sort_by(|one, other| other.sure_ratio.total_cmp(&one.sure_ratio));
    keep_likeliest(&mut suspects);
    Weighing { signals, ledger, suspects }
}

/// Each rule for each tier that it can be about.
fn weighed(case: &Case<'_>, signals: &[SignalSummary], ledger: Option<&Ledger>) -> Vec<weigh::Weighed> {
    let mut found = Vec::new();
    for rule in case.rules {
        let subjects: Vec<weigh::Subject<'_>> = match rule.about {
            About::Tier => weigh::Subject::tiers(case.tiers, &rule.services),
            // The machine of the controller isn't the stack's then.
            About::Host if has_elsewhere(signals) => Vec::new(),
            About::Host => vec![weigh::Subject::machine()],
            About::Generator => vec![weigh::Subject::named("generator")],
            About::Observers => vec![weigh::Subject::named("observers")],
        };
        for subject in subjects {
            if let Some(mut weighed) = weigh::weigh(rule, &subject, signals) {
                weighed.tries = tries::tries(rule, &subject, case);
                weighed.mechanisms = mechanisms(rule, subject.tier, ledger, case);
                found.push(weighed);
            }
        }
    }
    found
}

/// How `tier` waits in the way that `rule` names most: as the kernel counted, or by a virtual machine's word, whose threads look
/// idle to the kernel.
fn mechanisms(rule: &Rule, tier: &str, ledger: Option<&Ledger>, case: &Case<'_>) -> Vec<Mechanism> {
    if rule.of_loops {
        let of_loops = ledger::waits_of_loops(tier, &rule.waits, case.calls);
        if !of_loops.is_empty() {
            return of_loops;
        }
    }
    let of = |part: &&LedgerPart| part.tier == tier && rule.waits.contains(&part.doing);
    // The parts are the largest first.
    let Some(part) = ledger.into_iter().flat_map(|ledger| &ledger.parts).find(of) else { return Vec::new() };
    if part.mechanisms.is_empty() {
        ledger::waiting_methods(tier, part.doing, case.threads)
    } else {
        part.mechanisms.clone()
    }
}

/// A rule that only says in which call a tier waits is silent where another one knows what for.
fn leave_names_to_others(weights: &Weights, suspects: &mut Vec<weigh::Weighed>) {
    let knows = |one: &weigh::Weighed| !one.fallback && one.sure_ratio(weights) >= 0.5;
    let known: Vec<(String, Doing)> = suspects
        .iter()
        .filter(|one| knows(one))
        .flat_map(|one| one.waits.iter().map(|doing| (one.tier.clone(), *doing)))
        .collect();
    let is_known = |one: &weigh::Weighed| {
        one.waits.iter().any(|doing| known.iter().any(|(tier, known)| *tier == one.tier && known == doing))
    };
    suspects.retain(|one| !(one.fallback && is_known(one)));
}

/// Two rules may name the same resource: the likelier one, which comes first, stands for both.
fn keep_likeliest(suspects: &mut Vec<SuspectFacts>) {
    let mut named: Vec<(String, String)> = Vec::new();
    suspects.retain(|suspect| {
        let name = (suspect.tier.clone(), suspect.resource.clone());
        let fresh = !named.contains(&name);
        named.push(name);
        fresh
    });
}

/// Whether anything holds the stack: a suspect that is likelier than not; else nothing where the users set the pace
/// and their targets are met.
fn state(suspects: &[SuspectFacts], signals: &[SignalSummary]) -> Limited {
    if suspects.first().is_some_and(|suspect| suspect.sure_ratio >= 0.5) {
        return Limited::Yes;
    }
    let run = |signal: &Signal| find(signals, None, &signal.name).map(|signal| signal.mean);
    let missed = run(&MISSED_TARGETS).is_some_and(|share| share > 0.0);
    let failed = run(&FAILED).is_some_and(|share| share > FAILED_RATIO);
    let grown = run(&RESPONSE_GROWTH).is_some_and(|times| times > GROWN.0)
        && run(&THROUGHPUT_GROWTH).is_some_and(|growth| growth < GROWN.1);
    let waiting = run(&RESPONSE_SHARE).is_some_and(|share| share > WAITING_SHARE);
    if missed || failed || grown || waiting { Limited::Unclear } else { Limited::No }
}

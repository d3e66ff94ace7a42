//! One rule, one tier: how far each piece of evidence is there.

use model::catalogue::rules::{EvidenceRule, FigureOf, Rule};
use model::record::TierSetup;
use model::record::diagnosis::{ClueRole, Doing, Mechanism, SignalSummary, Strengths, Try};

use super::weights::Weights;
use super::{ClueFacts, ClueSeen, Quantity, SuspectFacts};
use crate::ledger;
use crate::signals::find;
use crate::signals::names::{HOST_BUSY, STACK_BUSY};

/// Evidence that is there less than this isn't told.
const MIN_STRENGTH_RATIO: f64 = 0.02;

/// What a rule is applied to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The tier's name; `host` for the machine.
    pub(super) tier: &'a str,
    /// As it was set up, when it is a tier of the stack.
    pub(super) setup: Option<&'a TierSetup>,
    /// The tier behind it.
    callee: Option<&'a str>,
    /// The tier that its own signals carry.
    own: Option<&'a str>,
    /// Whether users connect to it.
    is_front: bool,
}

impl<'a> Subject<'a> {
    /// The tiers that run one of `services`, any of them when that is empty. Each calls the one that started before
    /// it, and users call the last.
    pub(super) fn tiers(tiers: &'a [TierSetup], services: &[String]) -> Vec<Subject<'a>> {
        let subject = |index: usize, setup: &'a TierSetup| Subject {
            tier: &setup.tier,
            setup: Some(setup),
            callee: index.checked_sub(1).map(|before| tiers[before].tier.as_str()),
            own: Some(&setup.tier),
            is_front: index + 1 == tiers.len(),
        };
        let wanted = |setup: &TierSetup| services.is_empty() || services.contains(&setup.service);
        tiers
            .iter()
            .enumerate()
            .filter(|(_, setup)| wanted(setup))
            .map(|(index, setup)| subject(index, setup))
            .collect()
    }

    /// The machine.
    pub(super) fn machine() -> Subject<'a> {
        Subject { tier: "host", setup: None, callee: None, own: None, is_front: false }
    }

    /// The generator or the observers.
    pub(super) fn named(tier: &'a str) -> Subject<'a> {
        Subject { tier, setup: None, callee: None, own: Some(tier), is_front: false }
    }

    fn signal<'s>(&self, name: &str, signals: &'s [SignalSummary]) -> Option<&'s SignalSummary> {
        match name.split_once(':') {
            Some(("host", name)) => self.signal_of_host(name, signals),
            Some(("front", _)) if !self.is_front => None,
            Some(("run" | "front", name)) => find(signals, None, &format!("run.{name}")),
            Some(("callee", name)) => find(signals, Some(self.callee?), name),
            _ => find(signals, self.own, name),
        }
    }
}

impl Subject<'_> {
    /// A signal of its machine. Where that is another one than the run's controller, only how busy it was is known.
    fn signal_of_host<'s>(&self, name: &str, signals: &'s [SignalSummary]) -> Option<&'s SignalSummary> {
        match self.own.and_then(|own| find(signals, Some(own), HOST_BUSY)) {
            Some(busy) => (name == STACK_BUSY).then_some(busy),
            None => find(signals, None, name),
        }
    }
}

/// A rule that may hold.
#[derive(Debug, Clone)]
pub(super) struct Weighed {
    rule: String,
    pub(super) tier: String,
    resource: String,
    title: String,
    pub(super) cleared_by_callee: bool,
    pub(super) waits: Vec<Doing>,
    pub(super) fallback: bool,
    strengths: Strengths,
    clues: Vec<ClueFacts>,
    pub(super) tries: Vec<Try>,
    pub(super) mechanisms: Vec<Mechanism>,
}

impl Weighed {
    /// Its probability.
    pub(super) fn sure_ratio(&self, weights: &Weights) -> f64 {
        weights.probability(&self.strengths)
    }

    /// For `wait` of its work the tier only waited for `callee`, which explains its state so far.
    pub(super) fn clear(&mut self, callee_ratio: f64, wait: f64, callee: &str) {
        self.strengths.callee_ratio = callee_ratio;
        self.clues.push(ClueFacts {
            signal: ledger::of_work(Doing::WaitingForCallee).name.to_string(),
            value: wait,
            strength_ratio: callee_ratio,
            role: ClueRole::Against,
            seen: ClueSeen::Waited { ratio: wait, tier: self.tier.clone(), callee: callee.into() },
        });
    }

    /// As it is told: what is needed first, then what supports it, then what speaks against it; what is hardly there is left out.
    pub(super) fn suspect(mut self, weights: &Weights) -> SuspectFacts {
        self.clues.retain(|clue| clue.strength_ratio >= MIN_STRENGTH_RATIO);
        self.clues.sort_by(|one, other| {
            one.role.cmp(&other.role).then(other.strength_ratio.total_cmp(&one.strength_ratio))
        });
        SuspectFacts {
            sure_ratio: self.sure_ratio(weights),
            strengths: self.strengths,
            rule: self.rule,
            tier: self.tier,
            resource: self.resource,
            title: self.title,
            mechanisms: self.mechanisms,
            evidence: self.clues,
            tries: self.tries,
        }
    }
}

/// Weighs `rule` for `subject`; nothing where evidence that it needs is not there.
pub(super) fn weigh(rule: &Rule, subject: &Subject<'_>, signals: &[SignalSummary]) -> Option<Weighed> {
    let seen: Vec<(ClueRole, Option<ClueFacts>)> = rule
        .evidence
        .iter()
        .map(|evidence| {
            let signal = subject.signal(&evidence.signal, signals);
            (evidence.role, signal.and_then(|signal| clue(evidence, signal, subject)))
        })
        .collect();
    let strengths = strengths(&seen).filter(|strengths| strengths.needed_ratio > 0.0)?;
    Some(Weighed {
        rule: rule.name.clone(),
        tier: subject.tier.to_string(),
        resource: rule.resource.clone(),
        title: rule.title.replace("{tier}", subject.tier),
        cleared_by_callee: rule.cleared_by_callee,
        waits: rule.waits.clone(),
        fallback: rule.fallback,
        strengths,
        clues: seen.into_iter().filter_map(|(_, clue)| clue).collect(),
        tries: Vec::new(),
        mechanisms: Vec::new(),
    })
}

/// How far a rule's evidence is there; what nobody could see supports nothing and speaks against nothing. Nothing of a rule
/// that needs nothing.
fn strengths(seen: &[(ClueRole, Option<ClueFacts>)]) -> Option<Strengths> {
    let of = |wanted: ClueRole| {
        seen.iter()
            .filter(move |(role, _)| *role == wanted)
            .map(|(_, clue)| clue.as_ref().map(|clue| clue.strength_ratio))
    };
    let one_of = of(ClueRole::OneOf).map(|found| found.unwrap_or(0.0)).reduce(f64::max);
    let needed = of(ClueRole::Needed).map(|found| found.unwrap_or(0.0)).chain(one_of).reduce(f64::min)?;
    let supports: Vec<f64> = of(ClueRole::Supports).flatten().collect();
    let mean = supports.iter().sum::<f64>() / supports.len() as f64;
    Some(Strengths {
        needed_ratio: needed,
        supports_ratio: if supports.is_empty() { needed } else { mean },
        against_ratio: of(ClueRole::Against).flatten().fold(0.0, f64::max),
        callee_ratio: 0.0,
    })
}

fn clue(evidence: &EvidenceRule, signal: &SignalSummary, subject: &Subject<'_>) -> Option<ClueFacts> {
    let value = figure(evidence.figure, signal).filter(|value| value.is_finite())?;
    let strength_ratio = ((value - evidence.from) / (evidence.full - evidence.from)).clamp(0.0, 1.0);
    // A share of a limit is shown as both: `4.0 of 4 workers`.
    let (shown, unit) = match evidence.figure {
        FigureOf::OfLimit | FigureOf::Mean => (signal.mean, signal.unit.as_str()),
        FigureOf::Max => (value, signal.unit.as_str()),
        FigureOf::PerOperation | FigureOf::Growth => (value, ""),
    };
    let quantity = |value: f64, unit: &str| Quantity { value, unit: unit.into() };
    Some(ClueFacts {
        signal: evidence.signal.clone(),
        value,
        strength_ratio,
        role: evidence.role,
        seen: ClueSeen::Signal {
            template: evidence.say.clone(),
            value: quantity(shown, unit),
            limit: signal.limit.map(|limit| quantity(limit, &signal.unit)),
            tier: subject.tier.into(),
            callee: subject.callee.map(Into::into),
        },
    })
}

/// The figure of a signal that a rule asks for; absent where the signal doesn't have it.
pub(crate) fn figure(figure: FigureOf, signal: &SignalSummary) -> Option<f64> {
    let ratio = |below: Option<f64>| below.filter(|below| *below > 0.0).map(|below| signal.mean / below);
    match figure {
        FigureOf::Mean => Some(signal.mean),
        FigureOf::Max => Some(signal.max),
        FigureOf::OfLimit => ratio(signal.limit),
        FigureOf::PerOperation => signal.per_operation,
        FigureOf::Growth => ratio(signal.early),
    }
}

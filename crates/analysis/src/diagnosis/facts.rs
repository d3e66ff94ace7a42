//! What a diagnosis found, without words.

use model::record::diagnosis::{ClueRole, Ledger, Limited, Mechanism, Strengths, Try};
use model::record::study::By;

/// What holds a stack, and what speaks for it.
#[derive(Debug, Clone)]
pub struct DiagnosisFacts {
    /// Whether anything holds it.
    pub state: Limited,
    /// The likeliest first.
    pub suspects: Vec<SuspectFacts>,
    /// Where the time of an operation went, where that could be seen.
    pub ledger: Option<Ledger>,
    /// What could not be observed.
    pub unseen: Vec<String>,
    /// How busy the stack's CPUs were, of 1, where that was seen.
    pub busy_ratio: Option<f64>,
    /// The run had targets.
    pub has_targets: bool,
    /// The seconds of the ramp-up that it is of, where the run ended before its steady state.
    pub ramp_up_s: Option<(f64, f64)>,
    /// It is of a study's trials whose own checks say that their figures don't hold: there are no others.
    pub of_spoiled_trials: bool,
}

impl DiagnosisFacts {
    /// The same, of trials whose figures don't hold.
    pub fn of_spoiled_trials(self) -> DiagnosisFacts {
        DiagnosisFacts { of_spoiled_trials: true, ..self }
    }
}

/// A resource of a tier that may be the limit.
#[derive(Debug, Clone)]
pub struct SuspectFacts {
    /// The rule that names it.
    pub rule: String,
    /// web, app, db, cache, `generator`, `observers`; `host` for the machine.
    pub tier: String,
    /// The resource.
    pub resource: String,
    /// The rule's own title, with a place for `mechanisms`.
    pub title: String,
    /// How the tier waits in the way that the rule names, the most first; empty where nobody counted, or it names none.
    pub mechanisms: Vec<Mechanism>,
    /// What its probability follows from.
    pub strengths: Strengths,
    /// Probability that it is the limit.
    pub sure_ratio: f64,
    /// What speaks for it, then what speaks against it.
    pub evidence: Vec<ClueFacts>,
    /// What to try.
    pub tries: Vec<Try>,
}

/// One piece of evidence.
#[derive(Debug, Clone)]
pub struct ClueFacts {
    /// The signal that was weighed.
    pub signal: String,
    /// The figure that was weighed.
    pub value: f64,
    /// How far it was there: 0 not at all, 1 fully.
    pub strength_ratio: f64,
    /// What it is to the rule.
    pub role: ClueRole,
    /// What was seen.
    pub seen: ClueSeen,
}

/// What a piece of evidence is about.
#[derive(Debug, Clone, PartialEq)]
pub enum ClueSeen {
    /// A signal of a rule.
    Signal {
        /// The rule's own text with places for what follows.
        template: String,
        /// The figure that is shown.
        value: Quantity,
        /// What it can be at most.
        limit: Option<Quantity>,
        /// The tier.
        tier: String,
        /// The tier behind it.
        callee: Option<String>,
    },
    /// A caller only waited for a tier behind it that is to blame.
    Waited {
        /// For this share of its work.
        ratio: f64,
        /// The caller.
        tier: String,
        /// The tier behind it.
        callee: String,
    },
    /// The suspect became likely near the load line.
    Shape {
        /// What loads are counted in.
        by: By,
        /// The lowest load at which it was likely.
        from: f64,
        /// The highest load below at which it was not.
        before: f64,
        /// How likely it was there.
        before_ratio: f64,
    },
}

/// A value with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The value.
    pub value: f64,
    /// `s`, `bytes`, `bytes/s`, `ratio`, or what is counted.
    pub unit: String,
}

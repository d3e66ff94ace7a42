//! What holds a stack where it is: the signals, where the time went, and who is to blame, with the evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::Check;
use crate::record::line_proof::LineProof;

/// A series over the steady state, in figures that rules can weigh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalSummary {
    /// web, app, db, cache, `generator`, `observers`; absent for the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The series' name (`docs/reference/signals.md`): `workers.busy`, `cpu.cores`.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Mean over the steady state, weighted by time.
    pub mean: f64,
    /// The largest point of the steady state.
    pub max: f64,
    /// Mean over the part of the ramp-up in which at most a third of the users were there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<f64>,
    /// The most that it can be by the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// `mean` divided by the operations completed per second; for rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_operation: Option<f64>,
}

/// Where the time of a mean operation went: what the tiers' threads did while it was under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Mean response time of an operation, in seconds: what is divided up.
    pub response_s: f64,
    /// The parts, the largest first. They may add up to more than `response_s` where a tier works in parallel.
    pub parts: Vec<LedgerPart>,
    /// What no tier accounts for: waiting before a worker took the request; seconds. Never negative.
    pub unaccounted_s: f64,
}

/// One part of the time of a mean operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerPart {
    /// web, app, db, cache.
    pub tier: String,
    /// What its threads did.
    pub doing: Doing,
    /// Seconds of a mean operation.
    pub s_per_operation: f64,
    /// Of the response time.
    pub share_ratio: f64,
    /// In which calls its threads were blocked meanwhile, and on what, the most first; only of waits, where the kernel counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<Mechanism>,
}

/// A call in which threads wait, and on what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mechanism {
    /// The system call: `fsync`; `page fault`.
    pub call: String,
    /// On what: `sessions/sess_1`, `10.0.0.7:443`; empty where the call has nothing of the kind. With several the one with the most
    /// time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// It was a lock inside the kernel.
    #[serde(default, skip_serializing_if = "is_false")]
    pub kernel_lock: bool,
    /// Of the time that its threads waited in this way.
    pub share_ratio: f64,
}

/// What a tier does while it works on a request, or while it doesn't: a thread of it, or the kernel before one has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// On a CPU.
    Running,
    /// Ready to run, without a CPU.
    WaitingForCpu,
    /// Waits for the tier behind it.
    WaitingForCallee,
    /// Waits for the one who called it: an idle connection that is kept.
    WaitingForClient,
    /// Waits for a lock.
    WaitingForLock,
    /// Waits for a disk.
    WaitingForDisk,
    /// Sleeps until a time.
    Sleeping,
    /// Waits to be opened, accepted or read: no thread of the tier has it yet.
    Queued,
    /// Waits for work.
    Idle,
    /// Something else.
    Other,
}

impl Doing {
    /// All, in the order in which they are shown.
    pub const ALL: [Doing; 10] = [
        Doing::Running,
        Doing::WaitingForCpu,
        Doing::WaitingForLock,
        Doing::WaitingForDisk,
        Doing::Sleeping,
        Doing::WaitingForCallee,
        Doing::WaitingForClient,
        Doing::Queued,
        Doing::Idle,
        Doing::Other,
    ];

    /// The word in series' names: `threads.callee`.
    pub fn word(self) -> &'static str {
        match self {
            Doing::Running => "running",
            Doing::WaitingForCpu => "cpu_wait",
            Doing::WaitingForCallee => "callee",
            Doing::WaitingForClient => "client",
            Doing::WaitingForLock => "lock",
            Doing::WaitingForDisk => "disk",
            Doing::Sleeping => "sleep",
            Doing::Queued => "queue",
            Doing::Idle => "idle",
            Doing::Other => "other",
        }
    }

    /// For people: what the time went into.
    pub fn title(self) -> &'static str {
        match self {
            Doing::Running => "computing",
            Doing::WaitingForCpu => "waiting for a CPU",
            Doing::WaitingForCallee => "waiting for the tier behind",
            Doing::WaitingForClient => "waiting for its client",
            Doing::WaitingForLock => "waiting for a lock",
            Doing::WaitingForDisk => "waiting for a disk",
            Doing::Sleeping => "sleeping",
            Doing::Queued => "waiting in its queues",
            Doing::Idle => "waiting for work",
            Doing::Other => "something else",
        }
    }
}

/// What holds a stack, and how sure that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// Whether anything holds it.
    pub state: Limited,
    /// The answer for people: what holds it, how one sees that, what to try.
    pub sentence: String,
    /// What may hold it, the likeliest first; those that are hardly likely are left out.
    pub suspects: Vec<Suspect>,
    /// Where the time went, where the tiers' threads could be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// What would have told more but could not be seen, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// What was found by taking something away on purpose (`explain --prove`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Of a find: what moved the target that holds its line (`explain STUDY --prove`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_proof: Option<LineProof>,
}

/// Whether anything holds a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limited {
    /// The first suspect does, more likely than not.
    Yes,
    /// Nothing: the users set the pace, and there is room for more.
    No,
    /// Something does, but what was seen doesn't tell what.
    Unclear,
}

/// A resource of a tier that may be the limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// The rule that names it.
    pub rule: String,
    /// web, app, db, cache, `generator`, `observers`; `host` for the machine.
    pub tier: String,
    /// The resource: `cpu`, `workers`, `row locks` (`catalogue/rules`).
    pub resource: String,
    /// For people: `every PHP process is taken`.
    pub title: String,
    /// What its probability follows from.
    #[serde(default)]
    pub strengths: Strengths,
    /// Probability that it is the limit.
    pub sure_ratio: f64,
    /// What speaks for it, then what speaks against it.
    pub evidence: Vec<Clue>,
    /// What to try.
    pub tries: Vec<Try>,
}

/// What is known of a suspect, each from 0, not there at all, to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Strengths {
    /// Of what is needed the least.
    pub needed_ratio: f64,
    /// Of what supports it and was seen the mean; where nothing of that kind was, what is needed supports itself.
    pub supports_ratio: f64,
    /// Of what speaks against it the most.
    pub against_ratio: f64,
    /// How far waiting for a tier behind it, times how sure it is that this one is the limit, explains its state.
    pub callee_ratio: f64,
}

/// What a piece of evidence is to its rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClueRole {
    /// Without it, or without its signal, the rule is silent.
    Needed,
    /// Of those that are this to a rule at least one is needed.
    OneOf,
    /// It is there as a rule where the rule is right.
    #[default]
    Supports,
    /// Something else explains better what is needed.
    Against,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clue {
    /// The signal that was weighed.
    pub signal: String,
    /// The figure.
    pub value: f64,
    /// How far it was there: 0 not at all, 1 fully.
    pub strength_ratio: f64,
    /// What it is to its rule.
    #[serde(default)]
    pub role: ClueRole,
    /// For people: `5.0 of 5 PHP processes were busy`.
    pub sentence: String,
}

/// A setting to try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Try {
    /// `app.pm.max_children`; absent where it is no knob that helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knob: Option<String>,
    /// Its value in the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Values worth a comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// What it does, and what it may cost.
    pub why: String,
}

/// What happened to the throughput when something was taken away on purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// How much of it was taken.
    pub taken_ratio: f64,
    /// Seconds of each window.
    pub window_s: f64,
    /// The suspect first, then the innocent one, then what the suspect did with more.
    pub handicaps: Vec<Handicap>,
    /// Windows that don't count, with the others of their blocks; absent where all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// What follows from them.
    pub sentence: String,
}

/// Windows that don't count because the generator was no fair judge in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// How many.
    pub windows: u32,
    /// The check of the generator that broke in the first of them.
    pub check: Check,
    /// What was seen there.
    pub sentence: String,
}

/// How a resource was changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A part of it was taken.
    #[default]
    Taken,
    /// As large a part was added.
    Added,
    /// Each wait took longer: a part of the speed was taken.
    Lengthened,
}

/// One handicap and what it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Handicap {
    /// The tier that was handicapped.
    pub tier: String,
    /// What was changed: `15 % of its CPU time`, `25 for MaxRequestWorkers 50`, `each sleep`.
    pub what: String,
    /// How.
    #[serde(default)]
    pub change: Change,
    /// Whether it is the suspect.
    pub suspect: bool,
    /// Change of the log throughput divided by that of the log resource: about 1 for the limit, about 0 for others.
    pub elasticity: Option<f64>,
    /// What the ledger of the run lets one expect of a wait: its share of the time of an operation, pauses included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// Paired windows.
    pub pairs: u32,
    /// Those in which nothing completed with the handicap, and something did without: it stopped the stack.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_false(fact: &bool) -> bool {
    !*fact
}

/// A fault that was injected on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Injected {
    /// Its name in `catalogue/faults`; absent where it is none of these, but asked for otherwise (`--kill`, `--cut`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// For people.
    pub title: String,
    /// What was done, one sentence each.
    pub done: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_doing_has_a_word_of_its_own() {
        let mut words = Doing::ALL.map(Doing::word).to_vec();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Doing::ALL.len());
    }
}

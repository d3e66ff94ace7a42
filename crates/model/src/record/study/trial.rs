//! One trial of a study: a load that was driven for a window, and what was seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::Conditions;
use super::response_times::ResponseTimes;
use crate::record::instrument::INSTRUMENT;
use crate::record::target::in_study;
use crate::record::{Check, TargetOutcome};

/// The figure that is the stack's CPU time of an operation.
pub const CPU: &str = "cpu";

/// One trial. Its window begins where its steady state was found to begin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Counts from 1.
    pub number: u32,
    /// Which of the study's arms.
    pub arm: usize,
    /// The block or repeat that it belongs to, from 0; trials of one block are compared with each other.
    pub block: u32,
    /// What it was for.
    pub purpose: Purpose,
    /// Users, or arrivals per second.
    pub load: f64,
    /// What the find chose for its stack; absent where it chose nothing.
    #[serde(default, skip_serializing_if = "Conditions::are_the_arms")]
    pub conditions: Conditions,
    /// Its run's id, below the study's directory.
    pub run: String,
    /// Seconds since the study's first start (over all sittings) at which it began.
    pub began_s: f64,
    /// Seconds that it took, with setting the stack up.
    pub took_s: f64,
    /// The stack and its data set were set up anew for it.
    pub fresh: bool,
    /// Seconds from the end of the ramp-up to the steady state (MSER-5); absent when none was found.
    pub warm_up_s: Option<f64>,
    /// Seconds of the window that counts.
    pub window_s: f64,
    /// What the window said; absent when nothing was measured in it.
    pub measured: Option<Measured>,
    /// Checks of the instrument that did not hold; empty when the trial is valid.
    pub faults: Vec<Fault>,
    /// Where the trial took turns with that of the other arm, a second each: answers that were under way when a turn ended,
    /// as a share of all. What they took is too short by what was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_ratio: Option<f64>,
    /// Checks that did not hold because the load of a sweep was more than the stack carried: the trial counts, and its
    /// cell is overloaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overloaded: Vec<Fault>,
}

/// What a window said.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Each target in the plan's order.
    #[serde(rename = "clauses", with = "in_study")]
    #[schemars(schema_with = "in_study::schema")]
    pub targets: Vec<TargetOutcome>,
    /// Throughput, mean, standard deviation and percentiles of all operations and of each.
    pub figures: Vec<Figure>,
    /// The kit's own figures: each by its name, in its unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Figure>,
    /// Signals of tiers that the study asks for, each by `TIER.NAME` in its unit: means over the window. One that was not there is
    /// absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Figure>,
    /// Cores kept busy by each tier, the generator among them.
    pub tiers: Vec<TierCpu>,
    /// Failed operations as a share of all.
    pub failed_ratio: f64,
    /// Cores used by processes that are neither tiers nor the generator; absent where it could not be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_cores: Option<f64>,
    /// Little's law is broken in a steady window, and by nothing but what was still under way at its end: a longer one
    /// would tell whether users wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_under_way: bool,
    /// Of several guests: how far they were apart ([`crate::record::guest::spread_ratio`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest_spread_ratio: Option<f64>,
    /// Of a sweep at given loads: how the response times of all operations are distributed; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseTimes>,
}

impl Trial {
    /// The instrument held.
    pub fn valid(&self) -> bool {
        self.faults.is_empty() && self.measured.is_some()
    }

    /// What a trial says of which only `samples` broke: `true` when no target was missed, `false` when one was that had
    /// samples enough. Absent when anything else broke, or too few samples missed it.
    pub fn as_seen(&self) -> Option<bool> {
        if self.faults.is_empty() || self.faults.iter().any(|fault| fault.check != Check::Samples) {
            return None;
        }
        let targets = &self.measured.as_ref()?.targets;
        let mut missed = targets.iter().filter(|target| target.is_missed()).peekable();
        match missed.peek() {
            None => Some(true),
            Some(_) => missed.any(TargetOutcome::is_sampled).then_some(false),
        }
    }

    /// Only `samples` broke, and no target was missed.
    pub fn passed_as_seen(&self) -> bool {
        self.as_seen() == Some(true)
    }

    /// It was made to count, and under the conditions of the last trial of its search, one of `trials`.
    pub fn counts_among(&self, trials: &[Trial]) -> bool {
        let own = |one: &&Trial| (one.arm, one.block) == (self.arm, self.block);
        let last = trials.iter().rfind(own);
        self.purpose != Purpose::WarmUp && last.is_none_or(|last| last.conditions == self.conditions)
    }

    /// Every target was met; nothing is said of a trial without figures.
    pub fn pass(&self) -> Option<bool> {
        self.measured.as_ref().map(|seen| seen.targets.iter().all(|target| target.pass))
    }
}

impl Measured {
    /// The figure of that name and operation.
    pub fn figure(&self, name: &str, operation: Option<&str>) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name && figure.operation.as_deref() == operation)
    }

    /// The signal of that name, `web.calls.blocks`.
    pub fn signal(&self, name: &str) -> Option<&Figure> {
        self.signals.iter().find(|signal| signal.name == name)
    }

    /// The value of the figure of that name and operation: of [`CPU`], too, which follows from others.
    pub fn value(&self, name: &str, operation: Option<&str>) -> Option<f64> {
        match (name, operation) {
            (CPU, None) => self.cpu_s_per_operation(),
            _ => self.figure(name, operation).map(|figure| figure.value),
        }
    }

    /// CPU time that all tiers together spent for each operation that completed, in seconds; absent where no tier was
    /// watched or nothing completed.
    pub fn cpu_s_per_operation(&self) -> Option<f64> {
        let per_s = self.figure("throughput", None)?.value;
        let stack = self.tiers.iter().filter(|tier| !INSTRUMENT.contains(&tier.tier.as_str()));
        let cores = stack.map(|tier| tier.cpu_cores).reduce(|one, other| one + other)?;
        (per_s > 0.0).then(|| cores / per_s)
    }
}

/// What a trial is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Fills caches; its figures are not used.
    WarmUp,
    /// Looks for the region in which the answer lies.
    Ramp,
    /// Narrows the answer.
    Search,
    /// Shows that a load just below the answer passes, or one just above it fails.
    Confirm,
    /// Measures an arm of a comparison or a cell of a sweep.
    Measure,
}

impl Purpose {
    /// The word in results and on the terminal.
    pub fn word(self) -> &'static str {
        match self {
            Purpose::WarmUp => "warm-up",
            Purpose::Ramp => "ramp",
            Purpose::Search => "search",
            Purpose::Confirm => "confirm",
            Purpose::Measure => "measure",
        }
    }
}

/// What a trial says among the others of its study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialVerdict {
    /// Every target was met.
    Passed,
    /// No target was missed, but a rare operation gave too few samples.
    PassedAsSeen,
    /// A target was missed.
    Missed,
    /// Of a search for a load line: checks broke because the stack was overloaded. It counts as one that failed.
    Overloaded,
    /// The instrument did not hold.
    NotValid,
    /// It was not made to count, or the search went on under other conditions.
    NotUsed,
}

impl TrialVerdict {
    /// The words in results and on pages.
    pub const fn word(self) -> &'static str {
        match self {
            TrialVerdict::Passed => "passed",
            TrialVerdict::PassedAsSeen => "passed, few samples",
            TrialVerdict::Missed => "missed",
            TrialVerdict::Overloaded => "overloaded",
            TrialVerdict::NotValid => "not valid",
            TrialVerdict::NotUsed => "not used",
        }
    }
}

/// Something measured in a window, with how far it can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// `throughput`, `mean`, `sd` (standard deviation), `p50`, `p95`, `p99`, other percentiles that a study asks for; a metric's name; a
    /// signal's with its tier, `web.calls.blocks`.
    pub name: String,
    /// The operation; absent for all together.
    pub operation: Option<String>,
    /// The value: operations per second, or seconds.
    pub value: f64,
    /// Standard error of its natural logarithm, from batches; absent when there are too few.
    pub log_se: Option<f64>,
    /// Degrees of freedom of `log_se`: batches less one; absent in studies older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
}

/// Cores kept busy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TierCpu {
    /// web, app, db, cache, generator.
    pub tier: String,
    /// On average over the window.
    pub cpu_cores: f64,
}

/// A check of the instrument that did not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// Which.
    pub check: Check,
    /// What was seen.
    pub sentence: String,
}

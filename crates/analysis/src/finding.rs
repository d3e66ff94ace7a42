//! What each check of the instrument found: the figures, for whoever makes words of them.

use model::catalogue::load::Pattern;
use model::record::calls::Aborted;
use model::record::{Check, ConsistencyResult, Evidence, LinkResult, LoadChange, UntimedResult};
use model::{MemoryKill, QosTarget};

use crate::little::Little;
use crate::metric::Bound;

/// A check of the instrument by itself, as it came out.
#[derive(Debug, Clone)]
pub struct CheckOutcome {
    /// Which.
    pub check: Check,
    /// It holds.
    pub ok: bool,
    /// The figure.
    pub observed: Option<f64>,
    /// What it had to stay below, reach or be near.
    pub limit: Option<f64>,
    /// What was found.
    pub finding: Finding,
}

impl CheckOutcome {
    /// `figures` are the observed one and its limit, where there are any.
    pub(crate) fn new(check: Check, ok: bool, figures: Option<(f64, f64)>, finding: Finding) -> CheckOutcome {
        let (observed, limit) = figures.unzip();
        CheckOutcome { check, ok, observed, limit, finding }
    }
}

/// What a check found; whether that is right says [`CheckOutcome::ok`].
#[derive(Debug, Clone)]
pub enum Finding {
    /// The tiers that died or restarted.
    Tiers(Vec<TierEvent>),
    /// How long the steady state was, and how it came to its end.
    Duration {
        /// Seconds recorded.
        steady_s: f64,
        /// Seconds planned.
        planned_s: f64,
        /// Why it is as long as that.
        end: SteadyEnd,
    },
    /// Connections that the generator's machine had no port, descriptor or buffer for.
    Room {
        /// How many.
        exhausted: u64,
    },
    /// What the ways to tiers' own hosts did.
    Links(Vec<LinkResult>),
    /// The operations that ended.
    Operations {
        /// Completed.
        completed: u64,
        /// Failed.
        failed: u64,
        /// One of which none completed, and how many of it failed.
        never: Option<(String, u64)>,
        /// The first failure that was kept: of the operation that never completed, where others did.
        first: Option<Evidence>,
    },
    /// The CPU of the process that serves the laboratory's page.
    Viewer {
        /// 1 is all of one CPU.
        cores: f64,
    },
    /// Users that were asked for by hand, in their order.
    LoadByHand(Vec<LoadChange>),
    /// The generator's CPU as a share of its CPUs.
    GeneratorCpu {
        /// 1 is all of them.
        used_ratio: f64,
    },
    /// The CPU of its busiest thread as a share of one.
    GeneratorThread {
        /// 1 is all of it.
        used_ratio: f64,
    },
    /// How late it sent, and what may have delayed it.
    SendLag(SendLag),
    /// The agents of a fleet.
    FleetAgents {
        /// How many had a part in the run.
        agents: usize,
        /// Those that were lost, each with why.
        lost: Vec<(String, String)>,
    },
    /// The agent that is the furthest over a limit of its own, or the closest to one; nothing where none told anything.
    FleetGenerators(Option<OverloadedAgent>),
    /// The agent that began the latest after the time that was set; seconds, the bound of its clock included.
    FleetStart(Option<(f64, String)>),
    /// The agent whose clock moved the most; seconds.
    FleetClock(Option<(f64, String)>),
    /// How far the generator's ceiling is above an answer.
    Ceiling {
        /// Requests per second that the generator can make.
        ceiling_per_s: f64,
        /// Requests per second at the answer.
        answer_per_s: f64,
        /// The one divided by the other.
        times: f64,
    },
    /// Users at work.
    Users {
        /// Their mean number.
        mean: f64,
        /// Those asked for.
        asked: u32,
        /// How many of these were left on average to a fleet that went on without some of its agents.
        left: Option<f64>,
    },
    /// Arrivals of the open model.
    Arrivals {
        /// Those that began.
        began: u64,
        /// Those intended.
        intended: f64,
        /// As they were asked for.
        pattern: Pattern,
        /// What is wrong with them.
        fault: Option<ArrivalsFault>,
    },
    /// Draws from the mix.
    Mix(MixDraws),
    /// The session whose share is furthest off, in what is allowed.
    MixShares {
        /// That session.
        worst: SessionShare,
        /// The kit's points.
        points: f64,
        /// Users arrive, instead of a number of them staying.
        open: bool,
    },
    /// Pauses: thinks, or what was left of cycles.
    Pauses {
        /// They are the rest of cycles.
        by_cycles: bool,
        /// The mean as it was, of all, in seconds.
        mean_s: f64,
        /// The mean as it was drawn, of all.
        asked_s: f64,
        /// What is furthest off.
        fault: Option<PauseFault>,
    },
    /// Little's law.
    Little {
        /// Both of its sides.
        little: Little,
        /// What breaks it that is no fault of the instrument, and is told by another check or a target.
        excuse: Option<LittleExcuse>,
    },
    /// The samples of targets.
    Samples(Samples),
    /// What the script abandoned.
    Untimed {
        /// How much, and how long it took.
        untimed: Option<UntimedResult>,
        /// The strictest limit on times, in seconds.
        strictest_s: Option<f64>,
    },
    /// Alarms found in the tiers' logs.
    Alarms(Vec<LogAlarm>),
    /// The kit's consistency check.
    Consistency {
        /// Statements checked.
        statements: usize,
        /// Those that don't hold.
        broken: usize,
        /// The first of these.
        first: Option<ConsistencyResult>,
    },
    /// A figure of the kit's own.
    Metric {
        /// The figure and its bounds.
        bound: Bound,
        /// It is below or above them; not so where it was not judged.
        outside: bool,
    },
}

impl Finding {
    /// Whether more seconds may decide what is undecided yet.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Finding::Operations { completed, failed, .. } => completed + failed == 0,
            Finding::SendLag(lag) => lag.lag_s.is_none(),
            Finding::Mix(draws) => *draws == MixDraws::NotJudged,
            Finding::Samples(samples) => matches!(samples, Samples::Lacking { .. }),
            Finding::Untimed { untimed, .. } => untimed.as_ref().is_some_and(|some| some.p99_s.is_none()),
            Finding::Metric { bound, .. } => bound.value.is_none() || bound.lacks.is_some(),
            _ => false,
        }
    }
}

/// Why a steady state is as long as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SteadyEnd {
    /// It is as long as planned.
    Whole,
    /// It was planned to take less than a second.
    UnderASecond,
    /// None was found before it was given up.
    Unsettled {
        /// After that many seconds.
        after_s: f64,
    },
    /// The run was interrupted.
    Interrupted,
    /// The run was given up.
    Aborted,
    /// The run did not end.
    Unfinished,
    /// The run completed, but seconds are missing.
    Gaps,
}

/// How late the generator sent, and what was seen that makes one late.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SendLag {
    /// 99th percentile, or the worst where there are too few; absent when nothing was sent.
    pub lag_s: Option<f64>,
    /// The worst.
    pub worst_s: Option<f64>,
    /// Share of the time in which its threads waited for a CPU.
    pub cpu_wait_ratio: f64,
    /// Share of the CPU time that the host withheld.
    pub steal_ratio: Option<f64>,
    /// Cores used by processes that are neither tiers nor the generator.
    pub foreign_cores: Option<f64>,
    /// Share of its CPUs that it used itself.
    pub cpu_ratio: f64,
    /// Its CPUs are also the stack's.
    pub shares_cpus: bool,
}

/// What is wrong with arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalsFault {
    /// Some waited until a user was free.
    NoFreeUser {
        /// How many arrivals.
        waited: u64,
        /// How many users there are.
        users: u32,
    },
    /// More or fewer began than intended.
    OtherNumber,
    /// By the second they are not as dispersed as random ones.
    NotRandom,
}

/// Draws from the mix against its probabilities.
#[derive(Debug, Clone, PartialEq)]
pub enum MixDraws {
    /// There is one session.
    OneSession,
    /// Nothing is left to chance, or too little was drawn.
    NotJudged,
    /// Pearson's chi-square.
    ChiSquare {
        /// As it was.
        chi2: f64,
        /// Degrees of freedom.
        freedom: usize,
        /// The most that is allowed.
        limit: f64,
    },
    /// Sessions of probability 0 began.
    Impossible {
        /// How many.
        drawn: f64,
    },
    /// One came less often than chance gives.
    TooRare {
        /// The session.
        name: String,
        /// How often it came.
        drawn: f64,
        /// How often it was to come.
        asked: f64,
    },
}

/// What is wrong with pauses.
#[derive(Debug, Clone, PartialEq)]
pub struct PauseFault {
    /// After sessions of this name; absent for all together.
    pub session: Option<String>,
    /// The mean as it was, in seconds.
    pub seen_s: f64,
    /// The mean that was asked for.
    pub asked_s: f64,
    /// They were drawn right, and not kept.
    pub drawn_right: bool,
}

/// Whether targets have the samples that they need.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// There is no target.
    NoTarget,
    /// They have.
    Enough {
        /// Those of the target that has the fewest.
        fewest: u64,
    },
    /// One has not.
    Lacking {
        /// The target that lacks most.
        target: QosTarget,
        /// Samples that it has.
        samples: u64,
        /// Samples that it needs.
        needed: u64,
        /// Seconds of steady state that would give them; absent where nothing completed.
        enough_after_s: Option<f64>,
    },
}

/// A session's share as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionShare {
    /// The session.
    pub name: String,
    /// Its share of all that completed.
    pub ratio: f64,
    /// Its share in the long run.
    pub expected_ratio: f64,
    /// How far it may be off: the points of the kit, or more where chance alone does more.
    pub allowed_ratio: f64,
}

impl SessionShare {
    /// Its distance from the long run in what is allowed.
    pub(crate) fn excess(&self) -> f64 {
        (self.ratio - self.expected_ratio).abs() / self.allowed_ratio
    }
}

/// What breaks Little's law that is no fault of the instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LittleExcuse {
    /// Users who were never answered.
    Waiting,
    /// A tier ended: what was under way then is in one of the two sums alone.
    TierEnded,
}

/// What became of a tier that did not simply serve.
#[derive(Debug, Clone, PartialEq)]
pub enum TierFault {
    /// Its main process ended; how, in words: `killed by signal 9`.
    Died(String),
    /// The kernel ended it at the limit that was set for its memory.
    OutOfMemory(MemoryKill),
    /// Its main process was replaced.
    Restarted,
    /// One of its processes was ended because it waited where it was not to.
    Aborted(Aborted),
}

/// One of several instances of a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneOf {
    /// Which one, from 1.
    pub number: usize,
    /// How many there were.
    pub all: usize,
    /// How many of them went on.
    pub living: usize,
}

/// A tier that died or restarted during the run.
#[derive(Debug, Clone, PartialEq)]
pub struct TierEvent {
    /// web, app, db, cache.
    pub tier: String,
    /// Which of its instances it happened to, where there are several.
    pub instance: Option<OneOf>,
    /// What happened.
    pub fault: TierFault,
    /// Second of the run.
    pub second: u32,
    /// The last line of its own log, where there was one.
    pub log_line: Option<String>,
}

impl TierEvent {
    /// Whether none of the tier's instances is left.
    pub fn ends_the_tier(&self) -> bool {
        self.instance.is_none_or(|one| one.living == 0)
    }
}

/// A line of a tier's log that its service declares to mean trouble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogAlarm {
    /// web, app, db, cache.
    pub tier: String,
    /// The line, or the part of it that was matched.
    pub line: String,
    /// What it means for the result, from the service's manifest.
    pub means: String,
    /// Whether it makes the run invalid.
    pub invalid: bool,
    /// The signal's name by which rules know it.
    pub signal: Option<String>,
    /// How often it appeared.
    pub count: u64,
}

/// What of an agent is nearest to its limit, or beyond it.
#[derive(Debug, Clone, PartialEq)]
pub enum OverloadedAgent {
    /// CPU as a share of its CPUs.
    Cpu(String, f64),
    /// Its busiest thread's as a share of one.
    Thread(String, f64),
    /// Its send lag; seconds.
    Lag(String, f64),
}

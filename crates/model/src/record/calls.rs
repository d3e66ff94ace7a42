//! The ledger of calls: where the time of the tiers' threads went, by the call and the object that they waited for.
//!
//! The observer gives a [`CallStep`] each second; of those in the steady state [`CallLedger`] is made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::cell::Cell;
use super::diagnosis::Doing;
use super::stacks::{SlowWait, StackTime, WakeEdge};

/// What the kernel counted between two readings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallStep {
    /// When it was read, in seconds of the run.
    pub at_s: f64,
    /// Seconds since the reading before.
    pub took_s: f64,
    /// Of which calls were counted, too.
    pub counted_s: f64,
    /// The tiers' threads.
    pub lives: Vec<ThreadLives>,
    /// What they did.
    pub times: Vec<CellTime>,
    /// The calls that they made while calls were counted.
    pub counts: Vec<CallCount>,
    /// Where samples of them were.
    #[serde(default)]
    pub stacks: Vec<StackTime>,
    /// The longest waits, some of each kind.
    #[serde(default)]
    pub slow: Vec<SlowWait>,
    /// What had no room in the kernel's tables.
    pub lost: Lost,
    /// CPU seconds that counting took, by the kernel's own measure; absent where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_s: Option<f64>,
}

/// The threads of a tier in a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadLives {
    /// web, app, db, cache.
    pub tier: String,
    /// Those that were there at its end.
    pub threads: u64,
    /// Sum of the parts of their lifetimes that lie in the step, in seconds, by the kernel's times of their starts and ends.
    pub lived_s: f64,
    /// CPU seconds that the tier's cgroup used between the same two readings; absent where it couldn't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup_cpu_s: Option<f64>,
}

/// How long threads did it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellTime {
    /// What they did.
    #[serde(flatten)]
    pub cell: Cell,
    /// How often that ended or was read.
    pub count: u64,
    /// Seconds in all.
    pub s: f64,
    /// The longest in seconds.
    pub max_s: f64,
}

/// Calls of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallCount {
    /// web, app, db, cache.
    pub tier: String,
    /// The threads' name.
    #[serde(default)]
    pub thread: String,
    /// The system call.
    pub call: String,
    /// How many ended.
    pub count: u64,
    /// CPU seconds in them.
    pub cpu_s: f64,
}

/// What had no room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// Changes of state that went to `other` of their tier: the time is there, its call and object are not.
    pub cells: u64,
    /// Changes of state of threads that could not be followed: their time is missing.
    pub threads: u64,
    /// Calls that were not counted.
    pub calls: u64,
    /// Objects without a name.
    pub names: u64,
    /// Samples of stacks: a picture less, and no time.
    #[serde(default)]
    pub samples: u64,
}

impl Lost {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Lost) -> Lost {
        Lost {
            cells: self.cells + other.cells,
            threads: self.threads + other.threads,
            calls: self.calls + other.calls,
            names: self.names + other.names,
            samples: self.samples + other.samples,
        }
    }

    /// What came since `before`.
    #[must_use]
    pub fn minus(self, before: Lost) -> Lost {
        Lost {
            cells: self.cells.saturating_sub(before.cells),
            threads: self.threads.saturating_sub(before.threads),
            calls: self.calls.saturating_sub(before.calls),
            names: self.names.saturating_sub(before.names),
            samples: self.samples.saturating_sub(before.samples),
        }
    }

    /// All of them.
    pub fn all(self) -> u64 {
        self.cells + self.threads + self.calls + self.names + self.samples
    }
}

/// The ledger of calls over the steady state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallLedger {
    /// Seconds that it covers.
    pub length_s: f64,
    /// The share of them in which calls were counted, too.
    pub counted_ratio: f64,
    /// A table for each tier whose threads were followed.
    pub tiers: Vec<TierCalls>,
    /// Who waited for whom.
    pub waits: Vec<WaitEdge>,
    /// Where waits and computing happened, by samples; the longest time first. The last may be of all that are too short for
    /// a row: one for each tier, thread and what it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<StackTime>,
    /// By whom waits were ended, by the same samples; the longest time first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wakes: Vec<WakeEdge>,
    /// The longest waits, some of each kind; the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<SlowWait>,
    /// What had no room.
    pub lost: Lost,
    /// Changes of state that were counted.
    #[serde(default)]
    pub changes: u64,
    /// CPU time that counting took as a share of the machine's, by the kernel's own measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_ratio: Option<f64>,
}

/// What the threads of a tier did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TierCalls {
    /// web, app, db, cache.
    pub tier: String,
    /// Threads, on average.
    pub threads: f64,
    /// What they did, in mean threads, the largest first.
    pub doing: Vec<DoingThreads>,
    /// Sum of what they did divided by the sum of their lifetimes: 1 when nothing is missing or counted twice.
    pub closes_ratio: f64,
    /// Their CPU time divided by what the tier's cgroup says of the same time; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_agrees_ratio: Option<f64>,
    /// The share of their CPU time that was in calls of the kernel; absent where calls were not counted. Page faults and
    /// interrupts are in no call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_ratio: Option<f64>,
    /// Blocks by call and object, the longest time first; the last may be of all that are too short for a row.
    pub rows: Vec<CallRow>,
}

/// A process that was ended because one of its threads waited where it was not to (`--abort-on`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Aborted {
    /// web, app, db, cache.
    pub tier: String,
    /// The thread's name.
    pub thread: String,
    /// The system call in which it waited.
    pub call: String,
    /// On what.
    pub object: String,
    /// When the wait ended, in seconds of the run.
    pub at_s: f64,
    /// How long it was.
    pub waited_s: f64,
    /// The process.
    pub process: u32,
    /// What became of its core.
    pub core: Core,
}

/// What became of a process's core.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Core {
    /// It is in the run's directory, here.
    Kept(String),
    /// The machine gives cores to this program.
    GivenTo(String),
    /// There is none.
    #[default]
    Missing,
}

/// How many threads did something.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoingThreads {
    /// What.
    pub doing: Doing,
    /// Mean number of threads.
    pub threads: f64,
}

/// Blocks of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallRow {
    /// The threads' name.
    pub thread: String,
    /// The system call: `openat`; `page fault`.
    pub call: String,
    /// What the threads waited for; absent in the row of all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<Doing>,
    /// On what: `images/cover.jpg`, `db`; with several the one with the most time.
    pub object: String,
    /// Number of different objects.
    pub objects: u64,
    /// It was a lock inside the kernel.
    #[serde(default)]
    pub kernel_lock: bool,
    /// How often threads blocked.
    pub blocks: u64,
    /// Seconds blocked in all.
    pub blocked_s: f64,
    /// The longest block in seconds.
    pub max_s: f64,
    /// Calls a second of the threads with this name; absent where none were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_per_s: Option<f64>,
    /// CPU seconds of one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s_per_call: Option<f64>,
}

/// Calls in which an event loop waits for events.
pub const EVENT_WAITS: [&str; 6] =
    ["epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter", "poll", "select"];

/// Above this share of what was counted, what had no room makes the ledger worthless.
const MAX_LOST_RATIO: f64 = 0.01;
/// An account that differs by more than this from the lifetimes of its threads misses time, or counts some twice.
const CLOSES_RATIO: f64 = 0.03;

impl CallLedger {
    /// What had no room, as a share of all changes of state.
    pub fn lost_ratio(&self) -> f64 {
        (self.lost.threads + self.lost.cells) as f64 / self.changes.max(1) as f64
    }

    /// Whether so much had no room that what is left would mislead.
    pub fn is_withheld(&self) -> bool {
        self.lost_ratio() > MAX_LOST_RATIO
    }

    /// The account of a tier; absent where it was not followed, or can't be believed.
    pub fn account(&self, tier: &str) -> Option<&TierCalls> {
        let account = self.tiers.iter().find(|one| one.tier == tier)?;
        (!self.is_withheld() && account.closes()).then_some(account)
    }
}

impl TierCalls {
    /// Whether what its threads did is what they lived.
    pub fn closes(&self) -> bool {
        (self.closes_ratio - 1.0).abs() <= CLOSES_RATIO
    }

    /// The mean number of threads that did something.
    pub fn threads_doing(&self, doing: Doing) -> f64 {
        self.doing.iter().filter(|one| one.doing == doing).map(|one| one.threads).sum()
    }
}

/// How long the threads of a tier waited for somebody.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitEdge {
    /// The tier that waits.
    pub from: String,
    /// The tier or address that it waits for.
    pub to: String,
    /// Mean number of threads that wait.
    pub threads: f64,
    /// Seconds of a mean operation; absent where none completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s_per_operation: Option<f64>,
    /// Blocks a second.
    pub blocks_per_s: f64,
}

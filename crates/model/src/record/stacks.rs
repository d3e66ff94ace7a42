//! Where waits and computing happen: samples of stacks, and who ended the waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::diagnosis::Doing;

/// What a thread did, where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Stack {
    /// What it did; of a wait for a file without the file's name where times are added up.
    #[serde(flatten)]
    pub cell: Cell,
    /// The kernel's functions, the outermost first; of a thread that computed in its own program the file and, where the
    /// file names it, the function.
    pub frames: Vec<String>,
    /// Who ended the wait; absent where it was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken_by: Option<Waker>,
}

/// Who ended a wait. All is empty for an interrupt: of a disk, of a clock, of a network card.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Waker {
    /// The tier; empty where it is none, such as the load generator or the kernel.
    pub tier: String,
    /// The name of the thread; of the kernel's own the kind.
    pub thread: String,
    /// The call that it was in; empty where it was in none.
    pub call: String,
}

/// Time of threads with the same stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackTime {
    /// What they did.
    #[serde(flatten)]
    pub stack: Stack,
    /// Seconds that the samples stand for.
    pub s: f64,
    /// How many samples there are.
    pub samples: u64,
}

/// One wait that was long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowWait {
    /// What the thread did.
    #[serde(flatten)]
    pub stack: Stack,
    /// When it ended, in seconds of the run.
    pub at_s: f64,
    /// How long it was in seconds.
    pub s: f64,
}

/// By whom the waits of a tier were ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WakeEdge {
    /// The tier that waited.
    pub tier: String,
    /// What it did.
    pub doing: Doing,
    /// On what, where it is a callee or a lock.
    pub object: String,
    /// Who ended it.
    pub woken_by: Waker,
    /// Mean number of threads whose waits were ended so.
    pub threads: f64,
}

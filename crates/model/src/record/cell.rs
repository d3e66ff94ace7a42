//! What a thread did, as the ledger of calls tells it apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnosis::Doing;

/// What threads of a tier did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// web, app, db, cache.
    pub tier: String,
    /// The threads' name.
    pub thread: String,
    /// What they did.
    pub doing: Doing,
    /// The system call in which they were blocked: `openat`; `page fault` when it was none, empty when they weren't.
    pub call: String,
    /// On what: `images/cover.jpg`, `db`, `client`; empty where it can't be told.
    pub object: String,
    /// It was a lock inside the kernel.
    pub kernel_lock: bool,
}

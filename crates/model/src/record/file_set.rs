//! The kit's file set in a run's record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kit's file set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSetResult {
    /// Kit, size, seed, version and contents in one word.
    pub id: String,
    /// How many files.
    pub files: u64,
    /// Their lengths together.
    pub bytes: u64,
    /// How long making it took, when it was made; seconds.
    pub made_s: f64,
    /// Whether this run used one that was made earlier.
    pub reused: bool,
    /// What was in the page cache when users started; absent where the kit doesn't ask for a state of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheResult>,
}

/// The state of the page cache before users started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageCacheResult {
    /// `cold` or `warm`, as asked for.
    pub asked: String,
    /// Bytes of the file set that could not be evicted first: they count as somebody else's memory.
    pub left_bytes: u64,
    /// Bytes of the file set that were in memory when users started.
    pub resident_bytes: u64,
    /// That as a share of the set, in whole pages.
    pub resident_ratio: f64,
    /// How long evicting and reading took; seconds.
    pub took_s: f64,
}

//! The statements that a database's clients spend their time in, and how the database carries the dearest of them out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many clients were in statements that look alike, at one look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementSeen {
    /// db.
    pub tier: String,
    /// The statement with `?` in the place of each value.
    pub digest: String,
    /// Clients that were in one; several looks add up.
    pub clients: u64,
    /// Those of them that waited for a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_waits: Vec<RowWaitSeen>,
}

/// Clients that waited for rows of a table that somebody else had locked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowWait {
    /// `shop.products`.
    pub table: String,
    /// What its holder was in, without values; absent when that was no statement: its client did something else meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

/// How many clients waited so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowWaitSeen {
    /// For what.
    #[serde(flatten)]
    pub wait: RowWait,
    /// How many, at one look; several looks add up.
    pub clients: u64,
}

/// What is known of statements that look alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementFacts {
    /// db.
    pub tier: String,
    /// The statement with `?` in the place of each value.
    pub digest: String,
    /// One of them as it was.
    pub example: String,
    /// How the database carries it out, by its EXPLAIN.
    pub plan: Vec<PlanStep>,
}

/// Statements that look alike, over the steady state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementResult {
    /// db.
    pub tier: String,
    /// The statement with `?` in the place of each value.
    pub digest: String,
    /// Clients that were in one, on average over the looks.
    pub clients: f64,
    /// Of all clients that were in a statement.
    pub share_ratio: f64,
    /// Clients that were seen in one: how much the share can be trusted.
    pub seen: u64,
    /// One of them as it was; absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// How the database carries it out; of the dearest only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanStep>,
    /// Whom those that waited for a row waited for, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_waits: Vec<RowWaitResult>,
}

/// Clients that waited for rows of a table, and for whom.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowWaitResult {
    /// `shop.products`.
    pub table: String,
    /// The statement of the transaction that had locked them, without values; absent when it was in none: its client did something
    /// else meanwhile, and the transaction stayed open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Clients that waited, on average over the looks.
    pub clients: f64,
    /// How many were seen to.
    pub seen: u64,
}

/// A row of EXPLAIN.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// The table; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// How its rows are found: `const`, `eq_ref`, `ref`, `range`, `index`, `ALL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// The index that is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Rows that are expected to be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// What else is done: `Using filesort`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub extra: String,
}

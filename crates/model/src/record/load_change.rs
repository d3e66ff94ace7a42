//! A number of users that somebody asked for while they were there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Another number of users was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadChange {
    /// Seconds since the run's start.
    pub second: f64,
    /// Users that were asked for before.
    pub from: u32,
    /// Users that are asked for from then on.
    pub to: u32,
    /// Who asked.
    pub by: AskedBy,
}

/// Who asks for a number of users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskedBy {
    /// Whoever sits where the run was begun.
    Terminal,
    /// `plimsoll queue users`.
    Queue,
    /// The laboratory's page, or a program that uses its API.
    Page,
    /// Whoever writes the file of `--users-file`.
    #[default]
    File,
}

/// What the file of `--users-file` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsersWish {
    /// Users that are asked for.
    pub users: u32,
    /// Who asks.
    #[serde(default)]
    pub by: AskedBy,
}

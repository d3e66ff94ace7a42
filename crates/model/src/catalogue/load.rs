//! The load: how many users or arrivals there are over time, and how long each user stays.
//!
//! In the closed model a number of users is there, each of whom begins a session when the last one is over. In the
//! open model users arrive whether or not earlier ones are done. Both follow a [`Profile`].

mod profile;
pub(crate) mod request;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use profile::Profile;

use crate::catalogue::population::PopulationShare;
use crate::catalogue::think::Distribution;

/// How the users arrive and how long they stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Closed model: emulated users in steady state. With arrivals: the most that may be there at once.
    pub users: u32,
    /// Seconds over which they start, evenly; with stages all seconds before the measured one's level is held.
    pub ramp_up_s: f64,
    /// Seconds that count.
    pub steady_s: f64,
    /// Seconds over which they leave, evenly; with stages all seconds after the measured one.
    pub ramp_down_s: f64,
    /// Seed of all random streams.
    pub seed: u64,
    /// The open model: arrivals in steady state. Closed when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Levels one after another, instead of one; empty without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// How long a user lives before a new one takes its place; for ever when absent (with arrivals: one session).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Lifetime>,
    /// The number of sessions of all users together (with arrivals the number of these) instead of a length: the run ends
    /// with the last of them, and the steady state is as long as they take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// The share of each kind of users; empty where all are alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub populations: Vec<PopulationShare>,
    /// The number of users is changed by hand while they are there; absent where nobody can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<ByHand>,
}

/// A number of users that is changed by hand: `users` are the first ones, who come, as those who are asked for later, over the
/// length of the ramp-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByHand {
    /// No more than these can be asked for.
    pub max_users: u32,
}

/// Arrivals of the open model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrivals {
    /// How they follow each other.
    pub pattern: Pattern,
    /// What arrives.
    pub arriving: Arriving,
    /// Arrivals per second when the steady state begins.
    pub from_per_s: f64,
    /// Arrivals per second when it ends; in between the rate changes evenly.
    pub to_per_s: f64,
}

/// How arrivals follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// At random, independently of each other: exponential times between them.
    #[default]
    Poisson,
    /// Evenly.
    Constant,
}

/// What arrives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arriving {
    /// A new user, who follows its sessions for its lifetime and leaves: the partly open model.
    #[default]
    Sessions,
    /// A single session's worth of work for whichever user of a lasting pool is free: with a matrix, whose states are
    /// operations, the user's next operation.
    Operations,
}

/// One level of several.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// Users, or arrivals per second in the open model.
    pub level: f64,
    /// Seconds over which the level is approached, evenly, from the one before.
    pub ramp_s: f64,
    /// Seconds for which it is held.
    pub hold_s: f64,
}

/// One `[[stage]]` of a recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageRequest {
    /// Emulated users; or `rate`.
    pub users: Option<u32>,
    /// Arrivals: `200/s`; or `users`.
    pub rate: Option<String>,
    /// How long the level is held: `30s`.
    #[serde(rename = "for")]
    pub hold: String,
    /// How long it is approached before that, evenly from the level before; at once when absent.
    pub ramp: Option<String>,
    /// This stage's level, while it is held, is the steady state. The last stage when none says so.
    #[serde(default)]
    pub measure: bool,
}

/// How long a user lives. Every user draws its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lifetime {
    /// A number of sessions, rounded, at least one.
    Sessions(Distribution),
    /// A number of operations, rounded; the session under way is ended first.
    Operations(Distribution),
    /// A number of seconds; the session under way is ended first.
    Seconds(Distribution),
}

impl Lifetime {
    /// The distribution that each user draws from.
    pub fn distribution(&self) -> &Distribution {
        let (Lifetime::Sessions(drawn) | Lifetime::Operations(drawn) | Lifetime::Seconds(drawn)) = self;
        drawn
    }
}

impl Default for Load {
    /// One user for a minute, who is there at once and leaves at once.
    fn default() -> Load {
        Load {
            users: 1,
            ramp_up_s: 0.0,
            steady_s: 60.0,
            ramp_down_s: 0.0,
            seed: 1,
            arrivals: None,
            stages: Vec::new(),
            lifetime: None,
            sessions: None,
            populations: Vec::new(),
            by_hand: None,
        }
    }
}

/// A run by number of sessions has no other end, but every length has to be some number of seconds.
pub const NO_END_S: f64 = 1e6;

impl Load {
    /// Seconds from the first user's start to the last one's end.
    pub fn total_s(&self) -> f64 {
        self.ramp_up_s + self.steady_s + self.ramp_down_s
    }

    /// The steady state, in seconds since the run's start.
    pub fn steady_span_s(&self) -> (f64, f64) {
        (self.ramp_up_s, self.ramp_up_s + self.steady_s)
    }

    /// Users, or arrivals per second in the open model, over the whole run: from nothing to nothing.
    pub fn profile(&self) -> Profile {
        let mut points = vec![(0.0, 0.0)];
        if self.stages.is_empty() {
            let users = f64::from(self.users);
            let (from, to) = self.arrivals.map_or((users, users), |open| (open.from_per_s, open.to_per_s));
            let (begins_s, ends_s) = self.steady_span_s();
            points.extend([(begins_s, from), (ends_s, to), (self.total_s(), 0.0)]);
            return Profile::new(points);
        }
        let mut at_s = 0.0;
        for stage in &self.stages {
            points.push((at_s + stage.ramp_s, stage.level));
            at_s += stage.ramp_s + stage.hold_s;
            points.push((at_s, stage.level));
        }
        points.push((self.total_s().max(at_s), 0.0));
        Profile::new(points)
    }

    /// How many users there may be at once, at most.
    pub fn places(&self) -> u32 {
        match self.arrivals {
            Some(_) => self.users.max(1),
            None => {
                let by_hand = self.by_hand.map_or(0, |by_hand| by_hand.max_users);
                (self.profile().peak().ceil() as u32).max(by_hand).max(1)
            }
        }
    }

    /// More users than this never arrive over the whole run; absent in the closed model. Random arrivals have no most:
    /// it is ten standard deviations beyond what is expected.
    pub fn most_arrivals(&self) -> Option<u64> {
        let open = self.arrivals?;
        let profile = self.profile();
        let expected = profile.area(profile.end_s());
        let most = match open.pattern {
            Pattern::Poisson => expected + 10.0 * expected.sqrt() + 10.0,
            Pattern::Constant => expected + 1.0,
        };
        Some((most.ceil() as u64).min(self.sessions.unwrap_or(u64::MAX)))
    }

    /// The load doesn't change over the steady state.
    pub fn is_steady(&self) -> bool {
        self.arrivals.is_none_or(|open| open.from_per_s == open.to_per_s)
    }
}

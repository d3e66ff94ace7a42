//! What a controller wants of its agents, said once a second, whole each time: an agent that missed a word of it misses nothing, and one
//! that comes late knows all. The other way agents say in their heartbeats where they stand.

use std::collections::BTreeMap;

use engine::Slice;
use serde::{Deserialize, Serialize};

/// Counts up when a reader of the old ones would misread the new ones.
const VERSION: u32 = 1;

/// How far a run is to go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Fetch the bundle and look at it.
    Prepare,
    /// Make the generator ready.
    Arm,
    /// Agree to a time.
    Set {
        /// When the first second begins, by the controller's CLOCK_MONOTONIC.
        at_ns: i64,
    },
    /// Begin at that time.
    Go {
        /// The time that was set.
        at_ns: i64,
    },
    /// No new sessions.
    Stop,
    /// Nothing goes out any more.
    Abort,
    /// All users have gone: who watches says its last.
    Over,
}

/// The part of a run that is one agent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Of the agent's life in which it was given: another one has no part in it.
    pub incarnation: u64,
    /// By how much the agent's clock is ahead of the controller's.
    pub offset_ns: i64,
    /// The first of its lanes.
    first_lane: u32,
    /// The number of its lanes.
    lanes: u32,
    /// The number of all lanes of the run.
    all_lanes: u32,
}

impl Part {
    /// One agent's lanes.
    pub fn of(incarnation: u64, offset_ns: i64, slice: Slice) -> Part {
        let Slice { first, lanes, all } = slice;
        Part { incarnation, offset_ns, first_lane: first, lanes, all_lanes: all }
    }

    /// Its lanes; nothing where there can be none such.
    pub fn slice(&self) -> Option<Slice> {
        let end = self.first_lane.checked_add(self.lanes)?;
        let slice = Slice { first: self.first_lane, lanes: self.lanes, all: self.all_lanes };
        (self.lanes > 0 && end <= self.all_lanes).then_some(slice)
    }
}

/// That an agent watches tiers of its own machine; which ones stands in the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Of the agent's life to which it was given.
    pub incarnation: u64,
    /// By how much the agent's clock is ahead of the controller's.
    pub offset_ns: i64,
}

/// All that is one agent's in a run: a part of its users, tiers to be watched, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// By how much its clock is ahead of the controller's.
    pub offset_ns: i64,
    /// Its users.
    pub part: Option<Part>,
    /// Whether it watches tiers.
    pub watches: bool,
}

/// What is wanted of a run's agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// The run.
    pub run: String,
    /// How far it is to go.
    pub phase: Phase,
    /// The SHA-256 of its bundle.
    pub bundle: String,
    /// How long an agent goes on without a beacon.
    pub lease_s: u64,
    /// Who has a part in it, by the agents' names.
    pub parts: BTreeMap<String, Part>,
    /// Who watches tiers of its machine, by the agents' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub watches: BTreeMap<String, Watch>,
}

impl Want {
    /// What is that agent's in this life; nothing where it has no part.
    pub fn share_of(&self, agent: &str, incarnation: u64) -> Option<Share> {
        let part = self.parts.get(agent).filter(|part| part.incarnation == incarnation);
        let watch = self.watches.get(agent).filter(|watch| watch.incarnation == incarnation);
        let offset_ns = part.map(|part| part.offset_ns).or(watch.map(|watch| watch.offset_ns))?;
        Some(Share { offset_ns, part: part.cloned(), watches: watch.is_some() })
    }
}

/// A controller's claim to a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Higher than that of each controller before.
    pub epoch: u64,
    /// Who it is, for people.
    pub who: String,
}

impl Claim {
    /// The claim of `who`.
    pub fn of(epoch: u64, who: &str) -> Claim {
        Claim { epoch, who: who.to_string() }
    }
}

/// What is said each second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beacon {
    version: u32,
    /// Which of the run's controllers says it, counted from 1: a later one has taken over.
    pub epoch: u64,
    /// How often it has said something, counted from 1.
    pub counter: u64,
    /// When, by its CLOCK_MONOTONIC.
    pub said_ns: i64,
    /// Who says it, for people: the program, its process and its machine.
    #[serde(default)]
    pub who: String,
    /// Nothing where no run is wanted.
    pub want: Option<Want>,
}

impl Beacon {
    /// The `counter`th of a controller, said at `said_ns`.
    pub fn of(claim: &Claim, counter: u64, said_ns: i64, want: Option<Want>) -> Beacon {
        Beacon { version: VERSION, epoch: claim.epoch, counter, said_ns, who: claim.who.clone(), want }
    }

    /// As it is sent, and signed.
    ///
    /// # Errors
    /// It can't be written down.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(self).map_err(|error| error.to_string())
    }

    /// Reads what [`Self::encode`] wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Beacon, String> {
        let beacon: Beacon =
            serde_json::from_slice(bytes).map_err(|error| format!("it is no beacon: {error}"))?;
        if beacon.version > VERSION {
            return Err(format!(
                "it is of version {}, and this program knows {VERSION} and older ones",
                beacon.version
            ));
        }
        Ok(beacon)
    }
}

/// Where an agent stands in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// It has no part in a run.
    Idle,
    /// It fetches the bundle.
    Fetching,
    /// The bundle is there and what it should be.
    Checked,
    /// It makes its generator ready.
    Arming,
    /// Its threads stand ready.
    Armed,
    /// It will begin when it is told so.
    Agreed {
        /// At this time, by the controller's clock.
        at_ns: i64,
    },
    /// It stood still, since nobody told it in time to begin.
    Missed,
    /// Its users are there, or will be at the time that was set.
    Running,
    /// It has ended.
    Ended,
    /// It can't do what is wanted.
    Failed {
        /// Why.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beacon_is_read_as_it_was_said() {
        let slice = Slice { first: 2, lanes: 2, all: 4 };
        let parts = BTreeMap::from([("a1".to_string(), Part::of(7, -5, slice))]);
        let watches = BTreeMap::from([("db".to_string(), Watch { incarnation: 8, offset_ns: 3 })]);
        for phase in [Phase::Prepare, Phase::Set { at_ns: 9 }, Phase::Go { at_ns: 9 }, Phase::Abort] {
            let (run, bundle) = ("r-1".to_string(), "00ff".to_string());
            let (parts, watches) = (parts.clone(), watches.clone());
            let want = Want { run, phase, bundle, lease_s: 15, parts, watches };
            let beacon = Beacon::of(&Claim::of(1, "here"), 2, 3, Some(want));
            let read = Beacon::read(&beacon.encode().expect("it is written")).expect("it is read");
            assert_eq!(read, beacon);
            assert_eq!(read.want.expect("a run").parts["a1"].slice(), Some(slice));
        }
    }

    #[test]
    fn an_agent_drives_or_watches_or_does_both_in_the_life_that_is_named() {
        let part = Part::of(7, -5, Slice { first: 0, lanes: 1, all: 1 });
        let watch = Watch { incarnation: 7, offset_ns: -5 };
        // As it was written before there were observers.
        let old = br#"{"run":"r-1","phase":{"phase":"stop"},"bundle":"00ff","lease_s":15,"parts":{}}"#;
        let mut want: Want = serde_json::from_slice(old).expect("it is one");
        assert_eq!(want.share_of("a1", 7), None);
        want.watches.insert("a1".to_string(), watch);
        assert_eq!(want.share_of("a1", 7), Some(Share { offset_ns: -5, part: None, watches: true }));
        want.parts.insert("a1".to_string(), part.clone());
        assert_eq!(want.share_of("a1", 7), Some(Share { offset_ns: -5, part: Some(part), watches: true }));
        assert_eq!((want.share_of("a1", 8), want.share_of("a2", 7)), (None, None));
    }

    #[test]
    fn lanes_that_the_run_does_not_have_are_nobody_s() {
        for (first, lanes, all) in [(0, 0, 4), (3, 2, 4), (u32::MAX, 2, 4)] {
            let part = Part::of(1, 0, Slice { first, lanes, all });
            assert_eq!(part.slice(), None, "{part:?}");
        }
    }

    #[test]
    fn a_beacon_of_a_later_version_is_refused_and_so_is_rubbish() {
        let later = br#"{"version":2,"epoch":1,"counter":1,"said_ns":0,"want":null}"#;
        let refused = Beacon::read(later).expect_err("it is of version 2");
        assert!(refused.contains("version 2"), "{refused}");
        let refused = Beacon::read(b"{}").expect_err("it is none");
        assert!(refused.contains("no beacon"), "{refused}");
    }
}

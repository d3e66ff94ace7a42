//! What an agent says of itself once a second, whole each time, as a controller does with its beacons.

use serde::{Deserialize, Serialize};

use crate::want::Standing;

/// Counts up when a reader of the old ones would misread the new ones.
const VERSION: u32 = 1;

/// An agent's word of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    version: u32,
    /// Its name.
    pub agent: String,
    /// Which of its lives this is.
    pub incarnation: u64,
    /// The build that it is of.
    pub build: String,
    /// The CPUs on which it generates load.
    pub cpus: Vec<usize>,
    /// The process on its machine.
    pub pid: u32,
    /// The run that it has a part in.
    pub run: Option<String>,
    /// Where it stands there.
    pub standing: Standing,
    /// The number of messages of that run that it has told so far.
    pub told: u64,
    /// How long after the time that was set the last of its threads began; nanoseconds, and nothing before.
    pub late_ns: Option<u64>,
    /// What keeps it from telling them, where something does.
    pub problem: Option<String>,
    /// Why it doesn't believe the beacon that it heard last.
    pub refused: Option<String>,
}

impl Heartbeat {
    /// Of an agent that does nothing.
    pub fn of(agent: &str, incarnation: u64, build: &str, cpus: &[usize]) -> Heartbeat {
        Heartbeat {
            version: VERSION,
            agent: agent.to_string(),
            incarnation,
            build: build.to_string(),
            cpus: cpus.to_vec(),
            pid: std::process::id(),
            run: None,
            standing: Standing::Idle,
            told: 0,
            late_ns: None,
            problem: None,
            refused: None,
        }
    }

    /// As it is sent.
    pub(crate) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("text, numbers and no map")
    }

    /// Reads what [`Self::encode`] wrote; nothing where it is something else, or of a later version.
    pub(crate) fn read(bytes: &[u8]) -> Option<Heartbeat> {
        serde_json::from_slice::<Heartbeat>(bytes).ok().filter(|heartbeat| heartbeat.version <= VERSION)
    }
}

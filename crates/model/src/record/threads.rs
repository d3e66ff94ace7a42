//! What the threads of a virtual machine (a JVM) that have a request are at, by its own word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What such a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadState {
    /// It computes, is ready to, or is in a call of the system: a virtual machine doesn't tell these apart.
    Runnable,
    /// It waits to enter what one thread at a time may be in (`synchronized`).
    Blocked,
    /// It waits until another thread wakes it.
    Waiting,
    /// It waits until a time, or until another thread wakes it before.
    TimedWaiting,
}

/// What threads are at that are the same to whoever looks at them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlace {
    /// What it does.
    pub state: ThreadState,
    /// The innermost method that is not the platform's own: `org.mariadb.jdbc.client.socket.impl.PacketReader.readPacket`. Where all
    /// that were asked for are the platform's, the outermost of them.
    pub call: String,
    /// The class of what it waits for; absent where that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// The method, as `call`, of the thread that holds it; absent where nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

/// Threads at a place, at one look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadsSeen {
    /// web.
    pub tier: String,
    /// Where they were.
    #[serde(flatten)]
    pub place: ThreadPlace,
    /// How many.
    pub threads: u64,
}

/// Threads at a place, over the steady state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadsResult {
    /// web.
    pub tier: String,
    /// Where they were.
    #[serde(flatten)]
    pub place: ThreadPlace,
    /// Of all threads that were seen with a request.
    pub share_ratio: f64,
    /// How many were seen, all looks together: how much the share can be trusted.
    pub seen: u64,
}
